//! Several stores of one memory: S3 is the truth, the others follow, and what is told is true.

use std::time::Duration;

use fro_core::remembered::Audience;
use fro_memory::{
    CacheSettings, CacheUse, Keep, Keeping, Kept, Patience, Place, Recall, RecallTarget, Recollection,
    S3Settings, SessionSelection, Store, StoreSettings, Stored, Stores, keep, recall,
};
use fro_sim::state::CacheAccess;
use jiff::Timestamp;

use crate::{
    bucket::{Bucket, Fault},
    engine::{Engine, after, saved, say},
    github::GitHub,
};

const PREFIX: &str = "octo/garden";

fn noon() -> Timestamp {
    after(None).now
}

fn both(bucket: &Bucket, github: &GitHub, access: CacheAccess) -> StoreSettings {
    StoreSettings {
        s3: Some(bucket.settings(PREFIX)),
        cache: CacheUse::Service(Box::new(github.settings("main", access))),
        ..StoreSettings::default()
    }
}

fn remember(stores: &mut Stores, engine: &Engine) -> Recollection {
    let to = RecallTarget {
        engine_data: engine.data(),
        ledger: None,
        index: None,
        engine_version: None,
        audience: Audience::Insiders,
        given: SessionSelection::Everything,
    };
    stores.recall(to, noon())
}

/// Recalls, says something new and keeps it.
fn run(settings: &StoreSettings, number: u32, words: &str) -> (Recollection, Keeping) {
    let mut stores = Stores::open(settings);
    let engine = Engine::fresh();
    let told = remember(&mut stores, &engine);
    let engine = if engine.database().exists() { engine } else { Engine::with_sessions(0) };
    say(&mut engine.connect(), number, words);
    let keep = Keep::new(engine.data(), after(told.recall.head()));
    (told, stores.keep(&keep))
}

#[test]
fn a_save_goes_to_both_and_s3_is_asked_first() {
    let (bucket, github) = (Bucket::open(), GitHub::open());
    let settings = both(&bucket, &github, CacheAccess::Write);
    let (told, kept) = run(&settings, 1, "first");
    assert_eq!((told.recall, told.from, told.warnings), (Recall::Cold, None, Vec::new()));
    assert_eq!(kept.places, [(Place::S3, Stored::Saved), (Place::ActionsCache, Stored::Saved)]);
    assert_eq!(bucket.store(PREFIX).head().unwrap(), github.store().head().unwrap());

    let (told, kept) = run(&settings, 2, "second");
    assert_eq!((told.from, told.warnings), (Some(Place::S3), Vec::new()));
    assert_eq!(kept.warnings, Vec::<String>::new());
    let next = Engine::fresh();
    recall(&github.store(), next.data()).unwrap();
    assert_eq!([next.words("ses_00000001"), next.words("ses_00000002")], [["first"], ["second"]]);
}

#[test]
fn a_memory_of_the_cache_moves_into_a_new_bucket() {
    let (bucket, github) = (Bucket::open(), GitHub::open());
    let settings = both(&bucket, &github, CacheAccess::Write);
    run(&StoreSettings { s3: None, ..settings.clone() }, 1, "before S3");
    let (told, _) = run(&settings, 2, "with S3");
    assert_eq!((told.from, told.warnings), (Some(Place::S3), Vec::new()));
    let next = Engine::fresh();
    recall(&bucket.store(PREFIX), next.data()).unwrap();
    assert_eq!([next.words("ses_00000001"), next.words("ses_00000002")], [["before S3"], ["with S3"]]);
}

#[test]
fn what_was_saved_while_s3_was_down_is_brought_home() {
    let (bucket, github) = (Bucket::open(), GitHub::open());
    let settings = both(&bucket, &github, CacheAccess::Write);
    run(&settings, 1, "before");
    bucket.fail("/", Fault::Status(503));
    let (told, kept) = run(&settings, 2, "in between");
    assert_eq!((told.from, told.unread), (Some(Place::ActionsCache), vec![Place::S3]));
    assert_eq!(kept.places, [(Place::S3, Stored::Failed), (Place::ActionsCache, Stored::Saved)]);
    bucket.mend();

    let (told, kept) = run(&settings, 3, "after");
    assert_eq!((told.from, &told.warnings), (Some(Place::S3), &Vec::new()));
    assert_eq!(kept.places, [(Place::S3, Stored::Saved), (Place::ActionsCache, Stored::Saved)]);
    let next = Engine::fresh();
    recall(&bucket.store(PREFIX), next.data()).unwrap();
    let words = ["ses_00000001", "ses_00000002", "ses_00000003"].map(|session| next.words(session));
    assert_eq!(words, [["before"], ["in between"], ["after"]]);
}

#[test]
fn a_read_only_cache_is_told_once_with_the_remedy_and_never_called_saved() {
    let github = GitHub::open();
    let cache = CacheUse::Service(Box::new(github.settings("main", CacheAccess::ReadOnly)));
    let (told, kept) = run(&StoreSettings { cache, ..StoreSettings::default() }, 1, "unheard");
    assert_eq!((told.warnings, kept.kept), (Vec::new(), None));
    assert_eq!(kept.places, [(Place::ActionsCache, Stored::ReadOnly)]);
    insta::assert_debug_snapshot!(kept.warnings);
    assert_eq!(github.store().head().unwrap(), None);
}

#[test]
fn a_cache_that_is_not_there_is_asked_once_and_told_once() {
    // Nobody answers at this address: packets to it are lost, as with a firewall.
    let github = GitHub::open();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let settings = CacheSettings {
        url: format!("http://{}/", silent.local_addr().unwrap()),
        // Whoever waits for an answer instead of the lookup waits for an hour.
        patience: Patience {
            lookup: Duration::from_millis(200),
            answer: Duration::from_hours(1),
            ..Patience::default()
        },
        ..github.settings("main", CacheAccess::Write)
    };
    let cache = CacheUse::Service(Box::new(settings));
    let (told, kept) = run(&StoreSettings { cache, ..StoreSettings::default() }, 1, "unheard");
    silent.set_nonblocking(true).unwrap();
    let asked = std::iter::from_fn(|| silent.accept().ok()).count();
    assert_eq!((told.recall, told.warnings.len(), kept.warnings.len()), (Recall::Cold, 1, 0));
    assert_eq!(kept.places, [(Place::ActionsCache, Stored::Failed)]);
    assert_eq!(asked, 1, "a run waits for it once, and no save waits again");
    let Patience { connect, lookup, .. } = Patience::default();
    assert_eq!((connect, lookup), (Duration::from_secs(2), Duration::from_secs(2)));
    github.close();
}

#[test]
fn settings_that_cannot_be_used_are_told_and_the_run_goes_on() {
    let bucket = Bucket::open();
    let bad = S3Settings {
        endpoint: fro_memory::Endpoint::Custom("http://garden.example".to_owned()),
        ..bucket.settings(PREFIX)
    };
    let settings = StoreSettings {
        s3: Some(bad),
        cache: CacheUse::Unusable("the cache service is too old".to_owned()),
        warn_size: Some(1),
        folder: Some(tempfile::tempdir().unwrap().keep()),
    };
    let (told, kept) = run(&settings, 1, "in the folder");
    insta::assert_debug_snapshot!(told.warnings, @r#"
    [
        "the memory: cannot use S3 as a store: its endpoint `http://garden.example` is not https, and `s3-allow-insecure-endpoint` is not set",
        "the cache service is too old",
    ]
    "#);
    assert_eq!(kept.places, [(Place::Folder, Stored::Saved)]);
    assert!(matches!(kept.kept, Some(Kept::Saved { sessions: 1, .. })), "{:?}", kept.kept);
    insta::assert_debug_snapshot!(kept.warnings, @r#"
    [
        "the memory has 1 MB in 1 session, more than 0 MB (`memory-warn-size`); `session-retention` and `session-max-age` make it smaller",
    ]
    "#);
    std::fs::remove_dir_all(settings.folder.unwrap()).unwrap();
}

#[test]
fn a_damaged_truth_is_replaced_by_a_good_mirror() {
    let (bucket, github) = (Bucket::open(), GitHub::open());
    let settings = both(&bucket, &github, CacheAccess::Write);
    run(&settings, 1, "kept twice");
    for pack in crate::bucket::files(&bucket.files(&format!("{PREFIX}/3/packs"))) {
        std::fs::write(pack, "garbage").unwrap();
    }
    let (told, kept) = run(&settings, 2, "after the damage");
    assert_eq!((told.from, told.warnings.len()), (Some(Place::ActionsCache), 1));
    assert_eq!(kept.places, [(Place::S3, Stored::Saved), (Place::ActionsCache, Stored::Saved)]);
    let next = Engine::fresh();
    recall(&bucket.store(PREFIX), next.data()).unwrap();
    assert_eq!(
        [next.words("ses_00000001"), next.words("ses_00000002")],
        [["kept twice"], ["after the damage"]]
    );
}

#[test]
fn a_second_save_of_the_same_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::folder(folder.path()).unwrap();
    let engine = Engine::with_sessions(2);
    saved(&keep(&store, engine.data(), &after(None)).unwrap());
    let again = keep(&store, engine.data(), &after(None)).unwrap();
    let next = Engine::fresh();
    recall(&store, next.data()).unwrap();
    assert_eq!(next.remembers(), engine.remembers());
    assert_eq!(store.head().unwrap(), Some(saved(&again)));
}
