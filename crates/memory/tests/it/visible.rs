//! Who may see what: a public subject never recalls private sessions, and saving does not lose them.

use fro_core::remembered::Audience;
use fro_memory::{
    Figures, Keep, Kept, Ledger, Recall, RecallTarget, Run, SessionSelection, Store, recall_to,
};

use crate::engine::{Engine, NOON, add_message, after, open_session, saved};

const OPEN: &str = "ses_open";
const OWN: &str = "ses_own";

#[test]
fn the_public_sees_neither_private_sessions_nor_what_is_left_of_them() {
    let (store, folder) = organisation();
    let engine = Engine::fresh();
    let recalled = recall(&folder, &engine, Audience::Everyone);
    assert!(matches!(recalled, Recall::Warm { sessions: 2, .. }), "{recalled:?}");
    let seen: Vec<_> = engine.remembers().into_iter().map(|(id, words, _)| (id, words)).collect();
    let pair = |id: &str, words: &str| (id.to_owned(), words.to_owned());
    assert_eq!(seen, [pair("ses_child", "a child's words"), pair(OPEN, "open words")]);
    let raw = std::fs::read(engine.database()).unwrap();
    for secret in ["hushed words", "nobody's words"] {
        assert!(
            !raw.windows(secret.len()).any(|bytes| bytes == secret.as_bytes()),
            "{secret} are still there"
        );
    }
    assert!(!engine.home().join("storage/session_diff/ses_hushed.json").exists());
    assert!(engine.home().join("storage/session_diff/ses_open.json").exists());
    drop(store);
}

#[test]
fn what_was_hidden_is_still_there_after_a_public_run() {
    let (_store, folder) = organisation();
    let engine = Engine::fresh();
    let head = recall(&folder, &engine, Audience::Everyone).head().unwrap().clone();
    open_session(&engine.connect(), OWN, NOON + 50);
    add_message(&engine.connect(), OWN, "msg_own", NOON + 50, "own words");
    let keep =
        Keep::new(engine.data(), after(Some(&head))).only([OWN.to_owned()]).seen_by(Audience::Everyone);
    let kept = keep.save(&folder).unwrap();
    let Kept::Saved { sessions: 5, report, .. } = kept else { panic!("{kept:?}") };
    assert_eq!(report.left_out, Vec::<String>::new());

    let insider = Engine::fresh();
    recall(&folder, &insider, Audience::Insiders);
    let words = ["ses_hushed", "ses_unknown", OPEN, OWN].map(|session| insider.words(session));
    assert_eq!(words, [["hushed words"], ["nobody's words"], ["open words"], ["own words"]]);
    assert_eq!(insider.read("session_diff/ses_hushed.json"), "[\"hushed\"]");
}

/// The agent may write the engine's database: neither a lost parent nor a public one makes a session public.
#[test]
fn the_public_sees_no_session_whose_parents_do_not_show_that_it_is_public() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let engine = Engine::with_sessions(0);
    let connection = engine.connect();
    let ledger = Ledger::open(engine.data().join("ledger.db")).unwrap();
    for session in [OPEN, "ses_orphan", "ses_known_orphan", "ses_moved", "ses_ring", "ses_ring_too"] {
        open_session(&connection, session, NOON);
        add_message(&connection, session, &session.replace("ses", "msg"), NOON, "words");
    }
    for (session, parent) in [
        ("ses_orphan", "ses_gone"),
        ("ses_known_orphan", "ses_gone"),
        ("ses_moved", OPEN),
        ("ses_ring", "ses_ring_too"),
        ("ses_ring_too", "ses_ring"),
    ] {
        engine.change(&format!("UPDATE session SET parent_id = '{parent}' WHERE id = '{session}'"));
    }
    for session in [OPEN, "ses_gone", "ses_known_orphan", "ses_ring"] {
        ledger.record(&run(session, session, Audience::Everyone)).unwrap();
    }
    ledger.record(&run("moved", "ses_moved", Audience::Insiders)).unwrap();
    saved(&Keep::new(engine.data(), after(None)).with_ledger(ledger.path()).save(&folder).unwrap());

    let outsider = Engine::fresh();
    recall(&folder, &outsider, Audience::Everyone);
    assert_eq!(outsider.remembers().iter().map(|(id, ..)| id.as_str()).collect::<Vec<_>>(), [OPEN]);
    let insider = Engine::fresh();
    recall(&folder, &insider, Audience::Insiders);
    assert_eq!(insider.remembers().len(), 6);
}

/// The memory of an organisation: a public session with a child, a private one, and one that nobody knows.
fn organisation() -> (tempfile::TempDir, Store) {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let engine = Engine::with_sessions(0);
    let connection = engine.connect();
    let said = [
        (OPEN, "open words"),
        ("ses_child", "a child's words"),
        ("ses_hushed", "hushed words"),
        ("ses_unknown", "nobody's words"),
    ];
    for (session, words) in said {
        open_session(&connection, session, NOON);
        add_message(&connection, session, &session.replace("ses", "msg"), NOON, words);
    }
    engine.change(&format!("UPDATE session SET parent_id = '{OPEN}' WHERE id = 'ses_child'"));
    engine.write("session_diff/ses_open.json", "[]");
    engine.write("session_diff/ses_hushed.json", "[\"hushed\"]");
    let ledger = Ledger::open(engine.data().join("ledger.db")).unwrap();
    ledger.record(&run("1", OPEN, Audience::Everyone)).unwrap();
    ledger.record(&run("2", "ses_hushed", Audience::Everyone)).unwrap();
    ledger.record(&run("3", "ses_hushed", Audience::Insiders)).unwrap();
    saved(&Keep::new(engine.data(), after(None)).with_ledger(ledger.path()).save(&folder).unwrap());
    (store, folder)
}

fn recall(store: &Store, engine: &Engine, audience: Audience) -> Recall {
    let to = RecallTarget {
        engine_data: engine.data(),
        ledger: None,
        index: None,
        engine_version: None,
        audience,
        given: SessionSelection::Everything,
    };
    recall_to(store, to).unwrap()
}

fn run(id: &str, session: &str, visibility: Audience) -> Run {
    Run {
        id: id.to_owned(),
        subject: "octo/garden#7".to_owned(),
        session: Some(session.to_owned()),
        ended_at: jiff::Timestamp::from_millisecond(NOON).unwrap(),
        surface: "github".to_owned(),
        event: "issue_comment".to_owned(),
        actor: "ada".to_owned(),
        trust: "maintainer".to_owned(),
        visibility,
        outcome: "answered".to_owned(),
        links: Vec::new(),
        figures: Figures::default(),
    }
}
