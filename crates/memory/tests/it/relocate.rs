//! A memory from another machine is at home here: at this path, by this clock.

use std::path::Path;

use fro_memory::{EngineStart, Relocation, relocate};
use jiff::SignedDuration;

use crate::engine::{Engine, NOON, add_message};

#[test]
fn sessions_move_to_this_checkout_and_stay_in_their_folders() {
    let engine = Engine::with_sessions(3);
    engine.change(
        "UPDATE session SET directory = '/repo/a/crates' WHERE id = 'ses_00000001';
         UPDATE session SET directory = '/elsewhere' WHERE id = 'ses_00000002';
         INSERT INTO project_directory VALUES ('prj', '/repo/a', NULL, 1), ('prj', '/repo/b', NULL, 1)",
    );
    let here = EngineStart { worktree: Path::new("/repo/b"), now: at(NOON + 60_000), continuing: None };
    assert_eq!(relocate(engine.data(), here).unwrap(), Relocation { moved: 3, set_back: None });
    assert_eq!(relocate(engine.data(), here).unwrap(), Relocation { moved: 0, set_back: None });
    assert_eq!(
        texts(&engine, "SELECT directory FROM session ORDER BY id"),
        ["/repo/b", "/repo/b/crates", "/repo/b"]
    );
    assert_eq!(texts(&engine, "SELECT worktree FROM project"), ["/repo/b"]);
    assert_eq!(texts(&engine, "SELECT directory FROM project_directory"), ["/repo/b"]);
}

#[test]
fn a_session_from_the_future_is_set_back_in_order() {
    let engine = Engine::with_sessions(2);
    add_message(&engine.connect(), "ses_00000000", "msg_x", NOON + 700_000, "later");
    let now = NOON + 100_000;
    let here = EngineStart { worktree: Path::new("/repo/a"), now: at(now), continuing: Some("ses_00000000") };
    let back = SignedDuration::from_millis(601_005);
    assert_eq!(relocate(engine.data(), here).unwrap(), Relocation { moved: 0, set_back: Some(back) });
    assert_eq!(relocate(engine.data(), here).unwrap(), Relocation { moved: 0, set_back: None });

    assert_eq!(engine.words("ses_00000000"), ["The hose leaks.", "later"]);
    let times = "SELECT time_created || ' ' || (data ->> '$.time.created') || ' ' || (data ->> '$.time.completed') FROM message \
                 WHERE id IN ('msg_x', 'msg_00000001') ORDER BY id DESC";
    let newest = now - 1005;
    assert_eq!(
        texts(&engine, times),
        [format!("{newest} {newest} {}", newest + 5), format!("{0} {0} {1}", NOON + 1, NOON + 6)]
    );
}

fn at(milliseconds: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(milliseconds).unwrap()
}

fn texts(engine: &Engine, sql: &str) -> Vec<String> {
    let connection = engine.connect();
    let mut statement = connection.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}
