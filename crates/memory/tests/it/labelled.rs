//! Questions in other words find the session that answered them: a labelled set, one half tuned on, one held out, and a
//! smaller one of other fields that nothing was tuned on.
//!
//! `cargo test -p fro-memory --test it labelled -- --nocapture` prints the figures.

use fro_core::{
    continuity::{self, Likeness},
    remembered::Audience,
};
use fro_memory::{ExcerptKind, Index, Question, Sessions};
use rusqlite::{Connection, params};
use serde_json::json;

use crate::engine::{Engine, NOON, add_message, open_session};

/// A session that is asked for, and how.
struct Labelled {
    title: &'static str,
    request: &'static str,
    answer: &'static str,
    later_title: &'static str,
    later_words: &'static str,
    typed: &'static str,
}

/// The labelled sets: sessions that are tuned on and held out in turn, and those of other fields.
const SETS: [&str; 2] = [include_str!("../data/recall.txt"), include_str!("../data/unseen.txt")];

/// Returns the labelled sessions, those of the first set first.
fn labelled() -> Vec<Labelled> {
    SETS.into_iter().flat_map(read).collect()
}

/// Reads a labelled set.
fn read(set: &'static str) -> Vec<Labelled> {
    let read = |line: &'static str| {
        let fields: Vec<_> = line.split(" | ").collect();
        let [title, request, answer, later_title, later_words, typed] = fields[..] else { panic!("{line}") };
        Labelled { title, request, answer, later_title, later_words, typed }
    };
    set.lines().filter(|line| !line.starts_with('#')).map(read).collect()
}

/// Returns title, request and answer of the sessions that nobody asks for.
fn others() -> Vec<[String; 3]> {
    let three = |line: &'static str, kind: &str| -> Option<[&'static str; 3]> {
        line.strip_prefix(kind)?.split(" | ").collect::<Vec<_>>().try_into().ok()
    };
    let lines: Vec<_> = include_str!("../data/others.txt").lines().collect();
    let of = |kind: &str| lines.iter().filter_map(|line| three(line, kind)).collect::<Vec<_>>();
    let (parts, troubles) = (of("part: "), of("trouble: "));
    let fill = |text: &str, [part, file, does]: &[&str; 3]| {
        text.replace("{p}", part).replace("{f}", file).replace("{d}", does)
    };
    parts
        .iter()
        .flat_map(|part| troubles.iter().map(|trouble| trouble.map(|text| fill(text, part))))
        .collect()
}

/// Writes a prompt as a run does.
fn prompt(title: &str, request: &str) -> String {
    format!(
        "## Who you are\n\nYou are @fro-bot, a collaborator on the GitHub repository octo/garden. @maya mentioned you on \
         issue #7.\n\n## Where you are\n\n- Issue #7 of octo/garden, open\n- Title: `{title}`\n- Labels: none\n\n\
         ## The request\n\n@maya asks:\n<words-0123456789abcdef from=\"maya\" trust=\"maintainer\">\n@fro-bot {request}\n\
         </words-0123456789abcdef>\n\n## What you remember\n\nEarlier runs on this repository are kept.\n\n\
         From another session: ses_x\n<words-0123456789abcde0 from=\"ses_x\" trust=\"maintainer\">\nxyzzy words\n\
         </words-0123456789abcde0>\n\n## Task\n\nRespond to the comment above.\n\n\
         Follow all instructions and requirements listed in this prompt.\n"
    )
}

/// Adds a session of one question and one answer.
pub(crate) fn add(connection: &Connection, number: usize, [title, request, answer]: [&str; 3]) {
    let at = NOON + i64::try_from(number).unwrap() * 1_000;
    let session = id(number);
    open_session(connection, &session, at);
    connection.execute("UPDATE session SET title = ?1 WHERE id = ?2", [title, &session]).unwrap();
    let asked = format!("msg_{number:06}_a");
    let data = json!({ "role": "user", "time": { "created": at } }).to_string();
    connection
        .execute("INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)", params![asked, session, at, data])
        .unwrap();
    let part = json!({ "type": "text", "text": prompt(title, request) }).to_string();
    connection
        .execute(
            "INSERT INTO part VALUES ('prt_' || ?1, ?1, ?2, ?3, ?3, ?4)",
            params![asked, session, at, part],
        )
        .unwrap();
    add_message(connection, &session, &format!("msg_{number:06}_b"), at + 1, answer);
}

pub(crate) fn id(number: usize) -> String {
    format!("ses_{number:06}")
}

/// Returns the places of the sessions that are told of: of all that were found, those that are alike enough.
fn recalled(index: &Index, sessions: &Sessions, title: &str, words: &str, around: &[&str]) -> Vec<String> {
    let words = continuity::topic(title, words);
    let question = Question {
        words: &words,
        around,
        audience: Audience::Insiders,
        except: None,
        show: ExcerptKind::Answer,
    };
    let found = index.search(sessions, &question, 10).unwrap();
    let told = found.into_iter().filter(|found| {
        continuity::is_worth_telling(Likeness { weight: found.weight, shared: found.words.len() })
    });
    told.map(|found| found.session).collect()
}

fn typed(index: &Index, sessions: &Sessions, words: &str) -> Vec<String> {
    let found = index.search(sessions, &Question::typed(words), 10).unwrap();
    found.into_iter().map(|found| found.session).collect()
}

/// Returns an index over all sessions of the set.
fn indexed() -> (Engine, tempfile::TempDir, Index, Sessions) {
    let engine = Engine::with_sessions(0);
    let mut connection = engine.connect();
    let transaction = connection.transaction().unwrap();
    let (labelled, others) = (labelled(), others());
    for (number, session) in labelled.iter().enumerate() {
        add(&transaction, number, [session.title, session.request, session.answer]);
    }
    for (number, session) in others.iter().enumerate() {
        add(&transaction, labelled.len() + number, session.each_ref().map(String::as_str));
    }
    transaction.commit().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut index = Index::open(folder.path().join("index.db")).unwrap();
    let sessions = Sessions::open(engine.data()).unwrap().unwrap();
    assert!(index.refresh(&sessions, None).unwrap() >= 300);
    (engine, folder, index, sessions)
}

#[test]
fn questions_in_other_words_find_their_session_among_the_first_three() {
    let (_engine, _folder, index, sessions) = indexed();
    let labelled = labelled();
    let first = read(SETS[0]).len();
    assert!(first >= 100);
    let mut figures = Vec::new();
    for (group, name) in ["tuned on", "held out", "of other fields"].iter().enumerate() {
        let is_asked = |number: &usize| if *number < first { number % 2 == group } else { group == 2 };
        let asked: Vec<_> = labelled.iter().enumerate().filter(|(number, _)| is_asked(number)).collect();
        for way in ["recalled", "described", "typed"] {
            let is_found = |number: usize, session: &Labelled| {
                let found = match way {
                    "recalled" => recalled(&index, &sessions, session.later_title, session.later_words, &[]),
                    // As when an issue is opened: nobody asks for anything, and the words stand in its description.
                    "described" => {
                        recalled(&index, &sessions, session.later_title, "", &[session.later_words])
                    }
                    _ => typed(&index, &sessions, session.typed),
                };
                let is_found = found.iter().take(3).any(|found| *found == id(number));
                if !is_found && group != 1 {
                    println!("not {way}: {}", session.title);
                }
                is_found
            };
            let found = asked.iter().filter(|(number, session)| is_found(*number, session)).count();
            println!("{name}, {way}: {found} of {}", asked.len());
            figures.push((way, found * 100 / asked.len()));
        }
    }
    assert!(figures.iter().all(|(_, percent)| *percent >= 90), "{figures:?}");
}

/// The words of a question that was asked before are all in the old prompt, and none need be in the answer.
#[test]
fn the_same_question_again_finds_the_session_that_answered_it() {
    let (_engine, _folder, index, sessions) = indexed();
    let labelled = labelled();
    let again = labelled.iter().enumerate().filter(|(number, session)| {
        recalled(&index, &sessions, session.title, session.request, &[]).first() == Some(&id(*number))
    });
    assert_eq!(again.count(), labelled.len());
}

#[test]
fn the_words_of_the_harness_are_not_searched() {
    let (_engine, _folder, index, sessions) = indexed();
    for ours in ["collaborator", "xyzzy"] {
        // Ours stand in all sessions; one may have a word that is written almost like it.
        assert!(typed(&index, &sessions, ours).len() < 2, "{ours}");
    }
}

#[test]
fn a_slip_in_a_question_is_forgiven() {
    let (_engine, _folder, index, sessions) = indexed();
    let first = |words: &str| {
        let found = index.search(&sessions, &Question::typed(words), 1).unwrap();
        found.first().map(|found| found.title.clone()).unwrap_or_default()
    };
    assert_eq!(first("Wasserzälher"), "Der Wasserzähler zeigt negative Werte");
    assert_eq!(first("rebalanicng"), "Kafka consumer lags after rebalancing");
}

#[test]
fn parts_of_compounds_are_found_and_compounds_by_their_parts() {
    let (_engine, _folder, index, sessions) = indexed();
    let first = |words: &str| {
        let found = index.search(&sessions, &Question::typed(words), 1).unwrap();
        found.first().map(|found| found.title.clone()).unwrap_or_default()
    };
    assert_eq!(first("Zähler"), "Der Wasserzähler zeigt negative Werte");
    assert_eq!(first("Verbindungsabbruch nachts"), "Datenbankverbindung bricht nachts ab");
    assert_eq!(first("Verbindungen der Datenbanken"), "Datenbankverbindung bricht nachts ab");
    assert_eq!(first("задерживается письмо"), "Письма приходят с задержкой");
    assert_eq!(first("文字化け"), "日本語のファイル名が文字化けする");
    assert_eq!(first("ReadDeadline"), "Requests hang forever when the server drops the connection");
}
