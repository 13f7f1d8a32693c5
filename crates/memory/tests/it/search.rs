//! What was said is found again, in any script, and the records of runs are kept with it.

use fro_core::remembered::Audience;
use fro_memory::{
    ExcerptKind, Figures, Index, Keep, Ledger, Page, Question, RecallTarget, Run, SessionSelection, Sessions,
    Store, Tokens, keep, recall, recall_to,
};
use serde_json::json;

use crate::engine::{Engine, NOON, add_message, after, saved, say};

const ALL: Page = Page { skip: 0, limit: 100 };

#[test]
fn what_was_said_is_found_by_its_words() {
    let engine = Engine::with_sessions(0);
    let mut connection = engine.connect();
    for (number, words) in (0..).zip([
        "The hose leaks at the tap.",
        "The tap is fine, the hose is not.",
        "软管在漏水，请修理。",
        "Шланг протекает у крана",
        "ホースから水が漏れています",
    ]) {
        say(&mut connection, number, words);
    }
    let tool = json!({ "type": "tool", "tool": "bash", "state": { "input": { "command": "grep valve" }, "output": "valve.rs:7" } });
    connection
        .execute(
            "INSERT INTO part VALUES ('prt_z', 'msg_00000001', 'ses_00000001', 1, 1, ?1)",
            [tool.to_string()],
        )
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut index = Index::open(folder.path().join("index.db")).unwrap();
    let sessions = Sessions::open(engine.data()).unwrap().unwrap();
    assert_eq!(index.refresh(&sessions, None).unwrap(), 5);

    let find = |index: &Index, question: &str| -> Vec<String> {
        let found = index.search(&sessions, &Question::typed(question), 10).unwrap();
        found.into_iter().map(|found| format!("{} {}", &found.session[11..], found.excerpt)).collect()
    };
    let both = [
        "0 The hose leaks at the tap.",
        "1 {\"command\":\"grep valve\"} valve.rs:7 The tap is fine, the hose is not.",
    ];
    assert_eq!(find(&index, "LEAKS hose"), both);
    let some = find(&index, "valve bucket");
    assert_eq!(some.iter().map(|found| &found[..1]).collect::<Vec<_>>(), ["1"]);
    assert_eq!(find(&index, "漏水"), ["2 软管在漏水，请修理。"]);
    assert_eq!(find(&index, "水 修理")[0], "2 软管在漏水，请修理。");
    assert_eq!(find(&index, "水").len(), 2);
    assert_eq!(find(&index, "протекает"), ["3 Шланг протекает у крана"]);
    assert_eq!(find(&index, "ホース"), ["4 ホースから水が漏れています"]);
    assert_eq!(find(&index, "valve.rs").len(), 1);
    assert_eq!(find(&index, "\"* OR NEAR( -"), Vec::<String>::new());

    add_message(&connection, "ses_00000000", "msg_new", NOON + 9, "A bucket helps.");
    engine.change(
        "DELETE FROM session WHERE id = 'ses_00000003'; DELETE FROM part WHERE session_id = 'ses_00000003'",
    );
    assert_eq!(index.refresh(&sessions, None).unwrap(), 1);
    assert_eq!(index.refresh(&sessions, None).unwrap(), 0);
    assert_eq!(find(&index, "bucket"), ["0 A bucket helps."]);
    assert_eq!(find(&index, "шланг"), Vec::<String>::new());
}

#[test]
fn more_and_rarer_words_come_first_and_of_equals_the_session_last_spoken_in() {
    let engine = Engine::with_sessions(0);
    let mut connection = engine.connect();
    // The engine's ids of sessions run backwards.
    for (number, words) in [
        (3, "The hose leaks."),
        (2, "The hose is green."),
        (1, "The bucket is full."),
        (0, "The hose leaks."),
    ] {
        say(&mut connection, number, words);
        let at = NOON + (3 - i64::from(number)) * 86_400_000;
        engine.change(&format!("UPDATE session SET time_updated = {at} WHERE id = 'ses_0000000{number}'"));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut index = Index::open(folder.path().join("index.db")).unwrap();
    let sessions = Sessions::open(engine.data()).unwrap().unwrap();
    index.refresh(&sessions, None).unwrap();
    let find = |index: &Index, question: &str| -> String {
        let found = index.search(&sessions, &Question::typed(question), 10).unwrap();
        found.into_iter().map(|found| found.session[11..].to_owned()).collect()
    };
    assert_eq!(find(&index, "leaks"), "03");
    assert_eq!(find(&index, "a leaking hose or bucket?"), "1032", "one word is rare, two are not");
    add_message(&connection, "ses_00000002", "msg_new", NOON + 999, "It leaks too: a bucket would help.");
    index.refresh(&sessions, None).unwrap();
    assert_eq!(&find(&index, "hose leaks bucket")[..1], "2", "a session is found once");
}

/// What may not be heard is not read either, however much of it there is.
#[test]
fn private_sessions_are_not_searched_for_the_public_and_cost_it_nothing() {
    let engine = Engine::with_sessions(0);
    let mut connection = engine.connect();
    let ledger = Ledger::open(engine.data().join("ledger.db")).unwrap();
    for number in 0..60 {
        say(&mut connection, number, "The hose leaks.");
        let visibility = if number < 3 { Audience::Everyone } else { Audience::Insiders };
        let session = format!("ses_{number:08}");
        ledger.record(&Run { visibility, ..run(&session, "octo/garden#7", &session, 1) }).unwrap();
    }
    engine.change("UPDATE session SET parent_id = 'ses_00000000' WHERE id = 'ses_00000001'");
    let folder = tempfile::tempdir().unwrap();
    let mut index = Index::open(folder.path().join("index.db")).unwrap();
    let sessions = Sessions::open(engine.data()).unwrap().unwrap();
    index.refresh(&sessions, Some(&ledger)).unwrap();
    let heard = |index: &Index| {
        let before = index.rows_read();
        let question = Question { audience: Audience::Everyone, ..Question::typed("leaking hose") };
        let found = index.search(&sessions, &question, 30).unwrap();
        (found.into_iter().map(|found| found.session).collect::<Vec<_>>(), index.rows_read() - before)
    };
    let (public, rows) = heard(&index);
    assert_eq!(public, ["ses_00000002", "ses_00000001", "ses_00000000"]);
    assert!(rows <= 40, "{rows}");
    assert_eq!(index.search(&sessions, &Question::typed("hose"), 99).unwrap().len(), 60);
    // A private run in a public session makes it private.
    let later = Run { visibility: Audience::Insiders, ..run("later", "octo/garden#8", "ses_00000002", 2) };
    ledger.record(&later).unwrap();
    assert_eq!(index.refresh(&sessions, Some(&ledger)).unwrap(), 1);
    assert_eq!(heard(&index).0, ["ses_00000001", "ses_00000000"]);
}

/// A search costs the same in any memory: counted in rows, since clocks depend on the machine.
#[test]
fn a_search_in_ten_thousand_sessions_reads_a_bounded_number_of_rows() {
    let engine = Engine::with_sessions(0);
    let mut connection = engine.connect();
    let transaction = connection.transaction().unwrap();
    for number in 0..10_000_u32 {
        let answer = format!("The hose leaks at valve{number} near bed{}, every day.", number % 100);
        crate::labelled::add(
            &transaction,
            number as usize,
            ["Water in the garden", "why is it wet?", &answer],
        );
    }
    transaction.commit().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("index.db");
    let sessions = Sessions::open(engine.data()).unwrap().unwrap();
    Index::open(&file).unwrap().refresh(&sessions, None).unwrap();
    let ledger = Ledger::open(folder.path().join("ledger.db")).unwrap();
    let rows = |words: &str, found: usize| {
        let own = folder.path().join("own.db");
        let index = Index::saved_or_made(&file, &own, &sessions, &ledger).unwrap();
        let question = Question { show: ExcerptKind::Answer, ..Question::typed(words) };
        assert_eq!(index.search(&sessions, &question, 5).unwrap().len(), found, "{words}");
        assert!(!own.exists(), "an index that was saved is used as it is");
        println!("{words}: {} rows, {} bytes of blocks", index.rows_read(), index.bytes_read());
        assert!(index.bytes_read() < 600_000, "{words}: {} bytes", index.bytes_read());
        index.rows_read()
    };
    assert!(rows("valve4711", 1) < 20);
    assert!(rows("leaking valve4711 in bed7", 5) < 1_500);
    // Every word stands in every session.
    assert!(rows("why does water leak from the hose in the garden every day, wet valve?", 5) < 8_000);
    let size = std::fs::metadata(&file).unwrap().len();
    assert!(size < 4_000_000, "{size} bytes");
}

#[test]
fn an_index_that_cannot_be_read_is_made_anew() {
    let engine = Engine::with_sessions(1);
    let sessions = Sessions::open(engine.data()).unwrap().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    std::fs::write(&path, "not an index".repeat(100)).unwrap();
    let mut index = Index::open(&path).unwrap();
    assert_eq!(index.refresh(&sessions, None).unwrap(), 1);
    drop(index);
    assert_eq!(Index::open(&path).unwrap().refresh(&sessions, None).unwrap(), 0);
}

#[test]
fn sessions_are_listed_and_read() {
    let engine = Engine::with_sessions(3);
    add_message(&engine.connect(), "ses_00000001", "msg_x", NOON + 99, "It still leaks.");
    engine.change("UPDATE session SET parent_id = 'ses_00000001' WHERE id = 'ses_00000002'");
    let sessions = Sessions::open(engine.data()).unwrap().unwrap();
    let ids: Vec<_> = sessions.list(ALL).unwrap().into_iter().map(|info| info.id).collect();
    assert_eq!(ids, ["ses_00000001", "ses_00000000"]);
    insta::assert_debug_snapshot!(sessions.info("ses_00000001").unwrap(), @r#"
    Some(
        Info {
            id: "ses_00000001",
            title: "a title",
            parent: None,
            directory: "/repo/a",
            created: 2026-11-15T12:00:00.001Z,
            updated: 2026-11-15T12:00:00.001Z,
            is_archived: false,
            cost: 0.0,
            messages: 2,
        },
    )
    "#);
    assert_eq!(sessions.info("ses_nobody").unwrap(), None);
    let said: Vec<_> =
        sessions.read("ses_00000001", ALL).unwrap().into_iter().map(|said| (said.role, said.text)).collect();
    let by = |text: &str| ("assistant".to_owned(), text.to_owned());
    assert_eq!(said, [by("The hose leaks."), by("It still leaks.")]);
    assert_eq!(sessions.read("ses_00000001", Page { skip: 1, limit: 1 }).unwrap().len(), 1);
    assert!(Sessions::open(Engine::fresh().data()).unwrap().is_none());
}

/// The engine's ids count milliseconds in 48 bits, which begin anew every nine years.
#[test]
fn words_are_read_in_the_order_of_time_when_ids_begin_anew() {
    let engine = Engine::with_sessions(1);
    let connection = engine.connect();
    add_message(&connection, "ses_00000000", "msg_000000000001", NOON + 99, "After that.");
    connection
        .execute(
            "INSERT INTO part VALUES ('prt_000000000000', 'msg_000000000001', 'ses_00000000', ?1, ?1, ?2)",
            (NOON + 100, r#"{"type": "text", "text": "And then."}"#),
        )
        .unwrap();
    let sessions = Sessions::open(engine.data()).unwrap().unwrap();
    let said: Vec<_> =
        sessions.read("ses_00000000", ALL).unwrap().into_iter().map(|said| said.text).collect();
    assert_eq!(said, ["The hose leaks.", "After that.\nAnd then."]);
}

#[test]
fn the_records_of_all_runs_come_together() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let engine = Engine::with_sessions(1);
    let first = Ledger::open(engine.data().join("ledger.db")).unwrap();
    first.record(&run("1", "octo/garden#7", "ses_00000000", 1)).unwrap();
    let save = |ledger: &Ledger, parent| {
        Keep::new(engine.data(), after(parent)).with_ledger(ledger.path()).save(&folder).unwrap()
    };
    let base = saved(&save(&first, None));

    let places = tempfile::tempdir().unwrap();
    let restored = |name: &str| {
        let path = places.path().join(name);
        let engine = Engine::fresh();
        recall_to(
            &folder,
            RecallTarget {
                engine_data: engine.data(),
                ledger: Some(&path),
                index: None,
                engine_version: None,
                audience: Audience::Insiders,
                given: SessionSelection::Everything,
            },
        )
        .unwrap();
        Ledger::open(path).unwrap()
    };
    let (ours, theirs) = (restored("ours"), restored("theirs"));
    theirs.record(&run("2", "octo/garden#7", "ses_b", 3)).unwrap();
    ours.record(&run("3", "octo/garden#8", "ses_c", 2)).unwrap();
    saved(&save(&theirs, Some(&base)));
    let head = saved(&save(&ours, Some(&base)));
    saved(&keep(&folder, engine.data(), &after(Some(&head))).unwrap());

    let all = restored("all");
    assert_eq!(all.newest(9).unwrap().into_iter().map(|run| run.id).collect::<Vec<_>>(), ["2", "3", "1"]);
    assert_eq!(all.session_of("octo/garden#7").unwrap().as_deref(), Some("ses_b"));
    assert_eq!(all.session_of("octo/garden#9").unwrap(), None);
    assert_eq!(all.runs_of("ses_c").unwrap(), [run("3", "octo/garden#8", "ses_c", 2)]);
    recall(&folder, Engine::fresh().data()).unwrap();
}

fn run(id: &str, subject: &str, session: &str, minute: i64) -> Run {
    Run {
        id: id.to_owned(),
        subject: subject.to_owned(),
        session: Some(session.to_owned()),
        ended_at: jiff::Timestamp::from_millisecond(NOON + minute * 60_000).unwrap(),
        surface: "github".to_owned(),
        event: "issue_comment".to_owned(),
        actor: "ada".to_owned(),
        trust: "maintainer".to_owned(),
        visibility: Audience::Everyone,
        outcome: "answered".to_owned(),
        links: vec!["https://example.com/1".to_owned()],
        figures: Figures {
            duration: 61_000,
            first_output: Some(9_000),
            cost: 1_234,
            tokens: Tokens { input: 10, output: 2 },
            recalled: vec!["ses_old".to_owned()],
            memory_calls: 2,
            exploration_calls: 5,
            is_warm: true,
        },
    }
}

/// Recalls a memory together with its index, as a run does.
fn recalled(store: &Store, index: &std::path::Path) -> Engine {
    let engine = Engine::fresh();
    let to = RecallTarget {
        engine_data: engine.data(),
        ledger: None,
        index: Some(index),
        engine_version: None,
        audience: Audience::Insiders,
        given: SessionSelection::Everything,
    };
    recall_to(store, to).unwrap();
    engine
}

#[test]
fn the_index_is_kept_with_the_memory_and_only_what_is_new_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::folder(folder.path().join("store")).unwrap();
    let place = |name: &str| folder.path().join(name);
    let first =
        Keep::new(Engine::with_sessions(3).data(), after(None)).with_index(&place("none")).save(&store);
    let engine = recalled(&store, &place("first"));
    let sessions = Sessions::open(engine.data()).unwrap().unwrap();
    assert_eq!(Index::open(place("first")).unwrap().refresh(&sessions, None).unwrap(), 0);

    say(&mut engine.connect(), 9, "The marble basin overflows.");
    let head = saved(&first.unwrap());
    let parent = after(Some(&head));
    saved(&Keep::new(engine.data(), parent).with_index(&place("first")).save(&store).unwrap());
    let engine = recalled(&store, &place("second"));
    let sessions = Sessions::open(engine.data()).unwrap().unwrap();
    let mut index = Index::open(place("second")).unwrap();
    assert_eq!(index.refresh(&sessions, None).unwrap(), 0);
    assert_eq!(
        index.search(&sessions, &Question::typed("marble basin"), 10).unwrap()[0].session,
        "ses_00000009"
    );
    assert_eq!(index.search(&sessions, &Question::typed("hose"), 10).unwrap().len(), 3);
}

#[test]
fn an_index_has_no_word_that_was_forgotten_or_taken_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::folder(folder.path().join("store")).unwrap();
    let index = folder.path().join("index");
    let engine = Engine::with_sessions(1);
    say(&mut engine.connect(), 8, "quokka");
    say(&mut engine.connect(), 9, "it is thesecretword0123");
    let head = saved(&Keep::new(engine.data(), after(None)).with_index(&index).save(&store).unwrap());
    recalled(&store, &index);
    let bytes = index_bytes(&index);
    let stands = |bytes: &[u8], word: &str| bytes.windows(word.len()).any(|window| window == word.as_bytes());
    assert!(stands(&bytes, "quokka") && stands(&bytes, "thesecretword0123"));

    let keep = Keep::new(engine.data(), after(Some(&head))).with_index(&index);
    let keep = keep.without([fro_core::Secret::new("thesecretword0123")]);
    saved(&keep.forgetting(["ses_00000008".to_owned()]).save(&store).unwrap());
    let clean = folder.path().join("clean");
    recalled(&store, &clean);
    let bytes = index_bytes(&clean);
    assert!(!stands(&bytes, "quokka") && !stands(&bytes, "thesecretword0123") && stands(&bytes, "hose"));
}

/// Returns an index with all its blocks.
fn index_bytes(index: &std::path::Path) -> Vec<u8> {
    let mut bytes = std::fs::read(index).unwrap();
    for block in std::fs::read_dir(format!("{}.blocks", index.display())).unwrap() {
        bytes.extend(std::fs::read(block.unwrap().path()).unwrap());
    }
    bytes
}

#[test]
fn an_index_of_somebody_else_s_making_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("index.db");
    drop(Index::open(&file).unwrap());
    let hostile = "CREATE TRIGGER x AFTER INSERT ON document BEGIN DELETE FROM document; END";
    rusqlite::Connection::open(&file).unwrap().execute_batch(hostile).unwrap();
    let engine = Engine::with_sessions(2);
    let sessions = Sessions::open(engine.data()).unwrap().unwrap();
    let mut index = Index::open(&file).unwrap();
    assert_eq!(index.refresh(&sessions, None).unwrap(), 2);
    assert_eq!(index.search(&sessions, &Question::typed("hose"), 10).unwrap().len(), 2);
}
