//! Going back to an older release: it finds the last memory that it can read, and loses nothing of the newer one.

use fro_core::remembered::Audience;
use fro_memory::{
    Head, Keep, Provenance, Recall, RecallTarget, SessionSelection, Store, collect_garbage, recall_to,
};
use jiff::{SignedDuration, Timestamp};

use crate::engine::{Engine, after, saved, say};

#[test]
fn an_older_engine_finds_its_own_last_memory_and_what_it_adds_reaches_the_newer() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::folder(place.path()).unwrap();
    let engine = Engine::with_sessions(1);
    let old = save(&store, &engine, "1.18.33", None);
    say(&mut engine.connect(), 5, "said to 1.19");
    let middle = save(&store, &engine, "1.19.0", Some(&old));
    say(&mut engine.connect(), 6, "said to 1.19 again");
    let new = save(&store, &engine, "1.19.2", Some(&middle));
    let later = Timestamp::now() + SignedDuration::from_hours(1000);
    collect_garbage(&store, later, SignedDuration::from_hours(72)).unwrap();

    let back = Engine::fresh();
    let recalled = recall(&store, &back, "1.18.40");
    assert_eq!((recalled.head(), back.words("ses_00000000").len()), (Some(&old), 1));
    assert_eq!(back.words("ses_00000005"), Vec::<String>::new());
    assert_eq!(store.head().unwrap(), Some(new), "the newer memory stays where it is");

    say(&mut back.connect(), 7, "said to 1.18");
    save(&store, &back, "1.18.40", Some(&old));
    let forward = Engine::fresh();
    recall(&store, &forward, "1.19.2");
    let words = ["ses_00000005", "ses_00000006", "ses_00000007"].map(|session| forward.words(session));
    assert_eq!(words, [["said to 1.19"], ["said to 1.19 again"], ["said to 1.18"]]);
}

#[test]
fn a_memory_that_was_never_older_gives_a_clean_start() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::folder(place.path()).unwrap();
    let head = save(&store, &Engine::with_sessions(1), "1.19.0", None);
    let engine = Engine::fresh();
    let recalled = recall(&store, &engine, "1.18.33");
    assert!(matches!(recalled, Recall::Newer { .. }), "{recalled:?}");
    assert_eq!(store.head().unwrap(), Some(head));
}

fn save(store: &Store, engine: &Engine, version: &str, parent: Option<&Head>) -> Head {
    let provenance = Provenance { engine_version: version.to_owned(), ..after(parent) };
    saved(&Keep::new(engine.data(), provenance).save(store).unwrap())
}

fn recall(store: &Store, engine: &Engine, version: &str) -> Recall {
    let audience = Audience::Insiders;
    let to = RecallTarget {
        engine_data: engine.data(),
        ledger: None,
        index: None,
        engine_version: Some(version),
        audience,
        given: SessionSelection::Everything,
    };
    recall_to(store, to).unwrap()
}
