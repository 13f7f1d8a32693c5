//! A memory kept on one machine is there on the next.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    sync::{
        atomic::{AtomicU32, Ordering},
        mpsc::{self, Receiver, TryRecvError},
    },
    thread,
};

use fro_core::remembered::Audience;
use fro_memory::{Error, Flaw, Kept, Recall, RecallTarget, SessionSelection, Store, keep, recall, recall_to};

use crate::engine::{Engine, after, saved, say};

#[test]
fn what_one_engine_knew_the_next_one_knows() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let before = Engine::with_sessions(3);
    let kept = keep(&folder, before.data(), &after(None)).unwrap();
    let Kept::Saved { head, sessions: 3, bytes, uploaded, .. } = kept else { panic!("{kept:?}") };
    // Packed, and nearly all of it twice, since these sessions are so short.
    assert!(uploaded < 2 * bytes, "{uploaded} of {bytes}");

    let next = Engine::fresh();
    let recalled = recall(&folder, next.data()).unwrap();

    let saved_at = "2026-11-15T12:00:00Z".parse().unwrap();
    assert_eq!(
        recalled,
        Recall::Warm { head, sessions: 3, bytes, saved_at, engine: "1.18.33".to_owned(), instead_of: None }
    );
    assert_eq!(next.files(), ["opencode.db"]);
    assert_eq!(next.remembers(), before.remembers());
    assert_eq!(next.database().metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn saves_follow_each_other() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let engine = Engine::with_sessions(1);
    let first = saved(&keep(&folder, engine.data(), &after(None)).unwrap());
    say(&mut engine.connect(), 1, "It still leaks.");
    saved(&keep(&folder, engine.data(), &after(Some(&first))).unwrap());

    let next = Engine::fresh();
    recall(&folder, next.data()).unwrap();
    assert_eq!(next.remembers(), engine.remembers());
}

#[test]
fn an_unchanged_memory_costs_a_manifest() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let engine = Engine::with_sessions(50);
    let first = saved(&keep(&folder, engine.data(), &after(None)).unwrap());
    let second = keep(&folder, engine.data(), &after(Some(&first))).unwrap();
    assert!(matches!(second, Kept::Saved { uploaded: 1..4000, .. }), "{second:?}");
}

#[test]
fn a_save_while_the_engine_writes_is_one_moment_of_it() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let engine = Engine::with_sessions(1);
    let written = AtomicU32::new(1);

    thread::scope(|scope| {
        let (running, stop) = mpsc::channel::<()>();
        scope.spawn(|| write_until(stop, &engine, &written));
        let mut parent = None;
        for _ in 0..5 {
            let earliest = written.load(Ordering::SeqCst);
            while written.load(Ordering::SeqCst) == earliest {
                thread::yield_now();
            }
            let kept = keep(&folder, engine.data(), &after(parent.as_ref())).unwrap();
            let latest = written.load(Ordering::SeqCst) + 1;
            let Kept::Saved { sessions, .. } = kept else { panic!("{kept:?}") };
            assert!((earliest..=latest).contains(&sessions), "{earliest} <= {sessions} <= {latest}");
            let next = Engine::fresh();
            recall(&folder, next.data()).unwrap();
            assert_eq!(next.remembers().len(), sessions as usize);
            parent = kept.head().cloned();
        }
        drop(running);
    });
}

/// Adds sessions until the other end of the channel is gone, as it is after a failed assertion too.
#[expect(clippy::needless_pass_by_value, reason = "a receiver belongs to one thread")]
fn write_until(stop: Receiver<()>, engine: &Engine, written: &AtomicU32) {
    let mut connection = engine.connect();
    while stop.try_recv() == Err(TryRecvError::Empty) {
        say(&mut connection, written.load(Ordering::SeqCst), &"drip ".repeat(2000));
        written.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn files_of_the_engine_come_along_and_credentials_do_not() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let engine = Engine::with_sessions(1);
    let large = "a hose, ".repeat(1_000_000);
    for (place, content) in
        [(".version", "1"), ("empty", ""), ("session_diff/ses_1.json", "[]"), ("large", &large)]
    {
        engine.write(place, content);
    }
    engine.write("auth.json", "hush");
    std::os::unix::fs::symlink("/etc/hostname", engine.home().join("storage/link")).unwrap();
    std::os::unix::fs::symlink("/etc", engine.home().join("storage/folder")).unwrap();
    saved(&keep(&folder, engine.data(), &after(None)).unwrap());

    let next = Engine::fresh();
    recall(&folder, next.data()).unwrap();
    assert_eq!(next.files(), ["opencode.db", "storage"]);
    let mut files: Vec<_> = fs::read_dir(next.home().join("storage"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, [".version", "empty", "large", "session_diff"]);
    assert_eq!(
        [next.read(".version"), next.read("empty"), next.read("session_diff/ses_1.json")],
        ["1", "", "[]"]
    );
    assert!(next.read("large") == large);
}

#[test]
fn a_long_file_of_which_only_the_beginning_changed_comes_back() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let engine = Engine::with_sessions(1);
    let words: Vec<String> = (0..1_200_000_u32).map(|number| format!("{number:07} ")).collect();
    let long = words.concat();
    engine.write("long", &long);
    let first = saved(&keep(&folder, engine.data(), &after(None)).unwrap());
    let changed = format!("changed {}", &long[8..]);
    engine.write("long", &changed);
    saved(&keep(&folder, engine.data(), &after(Some(&first))).unwrap());

    let next = Engine::fresh();
    recall(&folder, next.data()).unwrap();
    assert!(next.read("long") == changed);
}

#[test]
fn a_memory_of_a_newer_engine_is_left_for_it() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let head = saved(&keep(&folder, Engine::with_sessions(1).data(), &after(None)).unwrap());
    let engine = Engine::fresh();
    let to = |version| RecallTarget {
        engine_data: engine.data(),
        ledger: None,
        index: None,
        engine_version: Some(version),
        audience: Audience::Insiders,
        given: SessionSelection::Everything,
    };
    let why = Flaw::EngineNewer { found: "1.18.33".to_owned(), ours: "1.15.4".to_owned() };
    assert_eq!(recall_to(&folder, to("1.15.4")).unwrap(), Recall::Newer { why });
    assert_eq!(folder.head().unwrap(), Some(head));
    assert!(matches!(recall_to(&folder, to("1.18.34")).unwrap(), Recall::Warm { .. }));
}

#[test]
fn a_log_left_by_a_killed_engine_is_part_of_the_memory() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let running = Engine::with_sessions(0);
    let mut open = running.connect();
    say(&mut open, 0, "Said last.");
    let killed = Engine::fresh();
    fs::create_dir(killed.data().join("opencode")).unwrap();
    for file in ["opencode.db", "opencode.db-wal"] {
        fs::copy(running.data().join("opencode").join(file), killed.data().join("opencode").join(file))
            .unwrap();
    }
    drop(open);

    let kept = keep(&folder, killed.data(), &after(None)).unwrap();
    assert!(matches!(kept, Kept::Saved { sessions: 1, .. }), "{kept:?}");
}

#[test]
fn an_engine_that_never_ran_has_nothing_to_keep_or_recall() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let engine = Engine::fresh();
    assert_eq!(recall(&folder, engine.data()).unwrap(), Recall::Cold);
    assert_eq!(keep(&folder, engine.data(), &after(None)).unwrap(), Kept::Nothing);
    fs::create_dir(engine.data().join("opencode")).unwrap();
    fs::write(engine.database(), "").unwrap();
    assert_eq!(keep(&folder, engine.data(), &after(None)).unwrap(), Kept::Nothing);
    assert_eq!(keep(&folder, &engine.data().join("nowhere"), &after(None)).unwrap(), Kept::Nothing);
    assert_eq!(folder.head().unwrap(), None);
}

#[test]
fn a_database_or_a_log_that_is_there_is_not_overwritten() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    saved(&keep(&folder, Engine::with_sessions(1).data(), &after(None)).unwrap());
    for left_behind in ["opencode.db", "opencode.db-wal"] {
        let engine = Engine::fresh();
        let path = engine.data().join("opencode").join(left_behind);
        fs::create_dir(engine.data().join("opencode")).unwrap();
        fs::write(&path, "precious").unwrap();
        let refused = recall(&folder, engine.data()).unwrap_err();
        assert!(matches!(refused, Error::Occupied(_)), "{refused:?}");
        assert_eq!(fs::read_to_string(path).unwrap(), "precious");
    }
}

#[test]
fn a_link_in_place_of_the_database_is_not_followed() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let other = Engine::with_sessions(1);
    let by_file = Engine::fresh();
    fs::create_dir(by_file.data().join("opencode")).unwrap();
    std::os::unix::fs::symlink(other.database(), by_file.database()).unwrap();
    let by_folder = Engine::fresh();
    std::os::unix::fs::symlink(other.data().join("opencode"), by_folder.data().join("opencode")).unwrap();

    let refused = keep(&folder, by_file.data(), &after(None)).unwrap_err();
    assert!(matches!(refused, Error::Flawed(Flaw::Unsound(_))), "{refused:?}");
    let refused = keep(&folder, by_folder.data(), &after(None)).unwrap_err();
    assert!(matches!(refused, Error::Sqlite { .. }), "{refused:?}");
    assert_eq!(folder.head().unwrap(), None);
}
