//! Runs that started alike and saved at the same time: nothing that was said is lost.

use std::thread;

use proptest::prelude::{ProptestConfig, any, proptest};

use fro_memory::{Head, Keep, Kept, Report, Store, keep, recall};

use crate::engine::{Engine, NOON, add_message, after, open_session, saved, say};

const SHARED: &str = "ses_00000000";

#[test]
fn turns_of_both_follow_each_other_whole() {
    let world = World::new(2);
    let (theirs, ours) = (world.engine(), world.engine());
    turn(&theirs, SHARED, "b", 3);
    turn(&ours, SHARED, "a", 3);
    ours.change(&format!("UPDATE session SET title = 'renamed' WHERE id = '{SHARED}'"));
    ours.change(&format!("INSERT INTO todo VALUES ('{SHARED}', 'mop up', 'open', 'high', 0, 1, 1)"));
    world.keep(&theirs);
    let report = world.keep(&ours);

    assert_eq!((report.races, report.merged.joined.as_slice()), (1, &[SHARED.to_owned()][..]));
    let next = world.recall();
    assert_eq!(next.words(SHARED), ["The hose leaks.", "b 0", "b 1", "b 2", "a 0", "a 1", "a 2"]);
    let row: (String, f64, i64, i64) = next
        .connect()
        .query_one(
            "SELECT title, cost, tokens_input, (SELECT count(*) FROM todo) FROM session WHERE id = ?1",
            [SHARED],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
        .unwrap();
    assert_eq!((row.0.as_str(), (row.1 * 100.0).round(), row.2, row.3), ("renamed", 7.0, 70, 1));
    let disagreeing: i64 = next
        .connect()
        .query_one(
            "SELECT count(*) FROM message WHERE time_created != data ->> '$.time.created'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(disagreeing, 0);
}

#[test]
fn each_side_keeps_what_only_it_changed() {
    let world = World::new(5);
    let (theirs, ours) = (world.engine(), world.engine());
    turn(&theirs, "ses_00000001", "b", 1);
    say(&mut theirs.connect(), 11, "new of theirs");
    delete(&theirs, "ses_00000002");
    turn(&ours, "ses_00000003", "a", 1);
    say(&mut ours.connect(), 12, "new of ours");
    delete(&ours, "ses_00000004");
    delete(&ours, "ses_00000001");
    turn(&ours, "ses_00000002", "a", 1);
    world.keep(&theirs);
    let report = world.keep(&ours);

    assert_eq!(report.merged, fro_memory::Merged::default());
    let words: Vec<_> = world
        .recall()
        .remembers()
        .into_iter()
        .map(|(id, words, _)| format!("{} {words}", &id[10..]))
        .collect();
    insta::assert_debug_snapshot!(words, @r#"
    [
        "00 The hose leaks.",
        "01 The hose leaks.",
        "01 b 0",
        "02 The hose leaks.",
        "02 a 0",
        "03 The hose leaks.",
        "03 a 0",
        "11 new of theirs",
        "12 new of ours",
    ]
    "#);
}

#[test]
fn a_compaction_makes_a_fork_once() {
    let world = World::new(1);
    let (theirs, ours) = (world.engine(), world.engine());
    turn(&theirs, SHARED, "b", 1);
    turn(&ours, SHARED, "a", 1);
    let part = format!(r#"{{"type":"compaction","text":"shorter","tail_start_id":"{SHARED}"}}"#);
    ours.connect()
        .execute("INSERT INTO part VALUES ('prt_x', 'msg_a_0_ses_00000000', ?1, 1, 1, ?2)", [SHARED, &part])
        .unwrap();
    world.keep(&theirs);
    let report = world.keep(&ours);
    let [(from, fork)] = report.merged.forked.as_slice() else { panic!("{report:?}") };
    assert_eq!(from, SHARED);

    let next = world.recall();
    assert_eq!(next.words(SHARED), ["The hose leaks.", "b 0"]);
    assert_eq!(next.words(fork), ["The hose leaks.", "a 0", "shorter"]);
    let about: (String, String) = next
        .connect()
        .query_one(
            "SELECT title, (SELECT data ->> '$.tail_start_id' FROM part WHERE session_id = ?1 AND data LIKE '%compaction%') \
             FROM session WHERE id = ?1",
            [fork],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!(about, ("a title (fork #1)".to_owned(), fork.clone()));

    world.keep(&ours);
    assert_eq!(world.recall().remembers(), next.remembers());
}

#[test]
fn ten_runs_at_once_lose_no_turn() {
    let world = World::new(10);
    let engines: Vec<_> = (0..10).map(|_| world.engine()).collect();
    for (run, engine) in (0..).zip(&engines) {
        turn(engine, SHARED, &format!("run {run}"), 2);
        turn(engine, &format!("ses_{run:08}"), &format!("own {run}"), 1);
        say(&mut engine.connect(), 100 + run, "fresh");
    }
    thread::scope(|scope| {
        for engine in &engines {
            scope.spawn(|| world.keep(engine));
        }
    });

    let next = world.recall();
    let shared = next.words(SHARED);
    assert_eq!(shared.len(), 1 + 10 * 2 + 1, "{shared:?}");
    for run in 0..10 {
        let place = |words: &str| shared.iter().position(|said| said == words).unwrap();
        assert_eq!(place(&format!("run {run} 0")) + 1, place(&format!("run {run} 1")), "{shared:?}");
        assert_eq!(next.words(&format!("ses_{:08}", 100 + run)), ["fresh"]);
        assert!(next.words(&format!("ses_{run:08}")).contains(&format!("own {run} 0")));
    }
}

#[test]
fn a_newer_engine_takes_in_an_older_memory_and_an_older_engine_spoils_none() {
    let world = World::new(1);
    let (older, newer) = (world.engine(), world.engine());
    newer.change(
        "ALTER TABLE session ADD COLUMN mood text; INSERT INTO migration VALUES ('20270101_third', 3)",
    );
    turn(&older, SHARED, "old", 1);
    turn(&newer, SHARED, "new", 1);
    let late = world.engine();
    turn(&late, SHARED, "late", 1);
    world.keep(&older);
    world.keep(&newer);
    world.keep(&late);

    let next = world.recall();
    assert_eq!(next.words(SHARED), ["The hose leaks.", "new 0", "old 0", "late 0"]);
    let columns: i64 = next
        .connect()
        .query_one("SELECT count(*) FROM pragma_table_info('session') WHERE name = 'mood'", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(columns, 1);
}

#[test]
fn engines_that_grew_apart_are_not_mixed() {
    let world = World::new(1);
    let (theirs, ours) = (world.engine(), world.engine());
    theirs.change("INSERT INTO migration VALUES ('theirs', 3)");
    ours.change("INSERT INTO migration VALUES ('ours', 3)");
    turn(&ours, SHARED, "a", 1);
    turn(&theirs, SHARED, "b", 2);
    world.keep(&theirs);
    let head = world.folder.head().unwrap();
    let kept = keep(&world.folder, ours.data(), &after(Some(&world.base))).unwrap();
    assert!(matches!(&kept, Kept::Raced { sessions: 1, now, .. } if *now == head), "{kept:?}");
    assert_eq!(world.folder.head().unwrap(), head);
}

#[test]
fn without_a_known_beginning_everything_is_united() {
    let world = World::new(1);
    let ours = Engine::with_sessions(0);
    say(&mut ours.connect(), 7, "from nowhere");
    let kept = keep(&world.folder, ours.data(), &after(None)).unwrap();
    assert!(matches!(kept, Kept::Saved { sessions: 2, .. }), "{kept:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Whatever two runs say, in whichever sessions: all of it is there afterwards, each side's turns in its own order,
    /// saving again changes nothing, and swapping the two changes only which of them comes first.
    #[test]
    fn merging_loses_nothing_and_is_done_once(deeds in proptest::collection::vec((any::<bool>(), 0..4_u32, 1..3_u32), 0..8)) {
        let mut ends = Vec::new();
        for is_swapped in [false, true] {
            let world = World::new(3);
            let sides = [world.engine(), world.engine()];
            for (number, (side, session, turns)) in deeds.iter().enumerate() {
                let session = format!("ses_{session:08}");
                let engine = &sides[usize::from(*side)];
                if engine.words(&session).is_empty() {
                    open_session(&engine.connect(), &session, NOON);
                }
                turn(engine, &session, &format!("deed {number}"), *turns);
            }
            let order = if is_swapped { [1, 0] } else { [0, 1] };
            for side in order {
                world.keep(&sides[side]);
            }
            let end = world.recall();
            for side in &sides {
                for session in 0..4 {
                    let session = format!("ses_{session:08}");
                    let all = end.words(&session);
                    let mut rest = all.iter();
                    for said in side.words(&session) {
                        assert!(rest.any(|word| *word == said), "{said} is not in {all:?} in its place");
                    }
                }
            }
            for side in order {
                world.keep(&sides[side]);
            }
            assert_eq!(world.recall().remembers(), end.remembers());
            let mut said = end.remembers();
            said.sort();
            ends.push(said);
        }
        assert_eq!(ends[0], ends[1]);
    }
}

/// A store with a save, from which all engines of a story start.
struct World {
    folder: Store,
    base: Head,
    store: tempfile::TempDir,
}

impl World {
    fn new(sessions: u32) -> Self {
        let store = tempfile::tempdir().unwrap();
        let folder = Store::folder(store.path()).unwrap();
        let base = saved(&keep(&folder, Engine::with_sessions(sessions).data(), &after(None)).unwrap());
        Self { folder, base, store }
    }

    /// Returns an engine that starts from the first save.
    fn engine(&self) -> Engine {
        let first = tempfile::tempdir().unwrap();
        let folder = Store::folder(first.path()).unwrap();
        for kind in ["manifests", "packs"] {
            for entry in std::fs::read_dir(self.store.path().join("3").join(kind)).unwrap() {
                let path = entry.unwrap().path();
                std::fs::copy(&path, first.path().join("3").join(kind).join(path.file_name().unwrap()))
                    .unwrap();
            }
        }
        folder.advance(None, &self.base).unwrap();
        let engine = Engine::fresh();
        recall(&folder, engine.data()).unwrap();
        engine
    }

    /// Returns an engine that starts from the newest save.
    fn recall(&self) -> Engine {
        let engine = Engine::fresh();
        recall(&self.folder, engine.data()).unwrap();
        engine
    }

    #[track_caller]
    fn keep(&self, engine: &Engine) -> Report {
        let kept = Keep::new(engine.data(), after(Some(&self.base))).save(&self.folder).unwrap();
        let Kept::Saved { report, .. } = kept else { panic!("{kept:?}") };
        report
    }
}

/// Says so many things in a session, one second after the other.
fn turn(engine: &Engine, session: &str, words: &str, messages: u32) {
    let connection = engine.connect();
    let sql = "SELECT coalesce(max(time_created), 0) FROM message WHERE session_id = ?1";
    let last: i64 = connection.query_one(sql, [session], |row| row.get(0)).unwrap();
    for number in 0..messages {
        let id = format!("msg_{}_{number}_{session}", words.replace(' ', "-"));
        let at = last.max(NOON) + 1000 * i64::from(number + 1);
        add_message(&connection, session, &id, at, &format!("{words} {number}"));
    }
    connection.execute("UPDATE event_sequence SET seq = seq + 1 WHERE aggregate_id = ?1", [session]).unwrap();
}

fn delete(engine: &Engine, session: &str) {
    engine.change(&format!(
        "DELETE FROM session WHERE id = '{session}'; DELETE FROM event_sequence WHERE aggregate_id = '{session}'"
    ));
}
