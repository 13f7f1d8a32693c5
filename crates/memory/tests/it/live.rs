//! What others saved reaches an engine that is running, and nothing of its own is lost.

use fro_memory::{Refreshed, Store, keep, recall, refresh};

use crate::engine::{Engine, NOON, add_message, after, saved, say};

#[test]
fn a_running_engine_learns_what_others_saved() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let base = saved(&keep(&folder, Engine::with_sessions(2).data(), &after(None)).unwrap());
    let [running, other] = [Engine::fresh(), Engine::fresh()];
    for engine in [&running, &other] {
        recall(&folder, engine.data()).unwrap();
        engine.change("PRAGMA journal_mode = WAL");
    }
    assert_eq!(refresh(&folder, running.data(), Some(&base), soon()).unwrap(), Refreshed::Current);

    let open = running.connect();
    add_message(&open, "ses_00000000", "msg_running", NOON + 999, "of the running one");
    add_message(&other.connect(), "ses_00000000", "msg_other", NOON + 50, "of the other");
    say(&mut other.connect(), 7, "new");
    let head = saved(&keep(&folder, other.data(), &after(Some(&base))).unwrap());
    let refreshed = refresh(&folder, running.data(), Some(&base), soon()).unwrap();

    let Refreshed::Merged { head: now, merged } = refreshed else { panic!("{refreshed:?}") };
    assert_eq!((now, merged.joined), (head.clone(), vec!["ses_00000000".to_owned()]));
    assert_eq!(running.words("ses_00000000"), ["The hose leaks.", "of the running one", "of the other"]);
    assert_eq!(running.words("ses_00000007"), ["new"]);
    let newest: i64 = open.query_one("SELECT max(time_created) FROM message", [], |row| row.get(0)).unwrap();
    assert!(newest < soon().as_millisecond(), "a message in the future makes the engine talk to itself");
    add_message(&open, "ses_00000007", "msg_after", NOON + 200, "it goes on");
    saved(&keep(&folder, running.data(), &after(Some(&head))).unwrap());
    assert!(matches!(refresh(&folder, other.data(), Some(&head), soon()).unwrap(), Refreshed::Merged { .. }));
    assert_eq!(other.words("ses_00000007"), ["new", "it goes on"]);
}

/// One second after noon.
fn soon() -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(NOON + 1000).unwrap()
}
