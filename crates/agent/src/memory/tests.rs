//! Who hears what of earlier sessions: a database as the engine lays it out, a ledger, and readers of both.

use fro_core::{
    Reach,
    continuity::LastSession,
    tool_call::{ListPage, Read, SessionSearch},
};
use fro_memory::{ExcerptKind, Run};
use rusqlite::{Connection, params};
use serde_json::json;

use super::*;
use crate::tests::{origin, permit};

/// Noon of the day on which everything was said, in milliseconds.
const NOON: i64 = 1_794_744_000_000;

/// A memory with sessions in it.
struct Remembers {
    folder: TempDir,
    database: Connection,
    ledger: Ledger,
}

impl Remembers {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("opencode")).unwrap();
        let database = Connection::open(folder.path().join("opencode/opencode.db")).unwrap();
        database.execute_batch(include_str!("../../../memory/tests/it/schema.sql")).unwrap();
        let ledger = Ledger::open(folder.path().join("ledger.db")).unwrap();
        Self { folder, database, ledger }
    }

    /// Adds a session, which another one may have opened.
    fn session(&self, id: &str, parent: Option<&str>, words: &str) {
        let sql = "INSERT INTO session (id, project_id, parent_id, slug, directory, title, version, time_created, \
                   time_updated) VALUES (?1, 'prj', ?2, 'slug', '/repo', 'about ' || ?1, '1.18.33', ?3, ?3)";
        self.database.execute(sql, params![id, parent, NOON]).unwrap();
        let message = format!("msg_{id}");
        let data = json!({ "role": "assistant", "time": { "created": NOON } }).to_string();
        self.database
            .execute("INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)", params![message, id, NOON, data])
            .unwrap();
        let part = json!({ "type": "text", "text": words }).to_string();
        self.database
            .execute(
                "INSERT INTO part VALUES ('prt_' || ?2, ?1, ?2, ?3, ?3, ?4)",
                params![message, id, NOON, part],
            )
            .unwrap();
    }

    /// Notes a run that a session served: on which issue, at which place, and who could read it there.
    fn run(&self, session: &str, issue: u32, (surface, visibility): (&str, Audience)) {
        let (permit, origin) = (permit(Reach::Work), origin());
        let row = RowOwner { permit: &permit, origin: &origin, audience: Some(visibility) }.begun(session);
        let (id, subject) = (format!("{session}/{surface}"), format!("octo/garden#{issue}"));
        self.ledger.record(&Run { id, subject, surface: surface.to_owned(), ..row }).unwrap();
    }

    /// Returns what answers a reader's questions.
    fn read_by(&self, audience: Audience, here: &str) -> SessionArchive {
        let folder = self.folder.path();
        let indexes = Indexes { saved: folder.join("saved-index.db"), own: folder.join("index.db") };
        let reader = Reader { audience, here: here.to_owned() };
        SessionArchive::new(folder.to_owned(), None, folder.join("ledger.db"), indexes, reader)
    }
}

/// A garden with one session of each kind.
fn garden() -> Remembers {
    let garden = Remembers::new();
    garden.session("ses_public", None, "The seal of the greenhouse tap is hard.");
    garden.run("ses_public", 7, ("github", Audience::Everyone));
    garden.session("ses_private", None, "The seal of the private greenhouse tap is soft.");
    garden.run("ses_private", 8, ("github", Audience::Insiders));
    garden.session("ses_unknown", None, "The seal of a greenhouse tap that nobody asked about.");
    garden.session("ses_child", Some("ses_private"), "A helper looked at the greenhouse tap and its seal.");
    garden.session(
        "ses_hidden",
        None,
        "The seal was talked of in a hidden channel about the greenhouse tap.",
    );
    garden.run("ses_hidden", 9, ("discord:5", Audience::Insiders));
    garden
}

/// Asks by every tool there is, and returns of which sessions something was told.
fn heard(archive: &SessionArchive) -> Vec<&'static str> {
    let search = SessionSearch { query: "greenhouse tap seal".to_owned(), limit: None };
    let told = [
        archive.list(ListPage::default()).unwrap(),
        archive.search(&search, "ses_own").unwrap(),
        format!("{:?}", archive.elsewhere(&topic("greenhouse tap seal"), None, ExcerptKind::Place).unwrap()),
    ];
    let all = ["ses_public", "ses_private", "ses_unknown", "ses_child", "ses_hidden"];
    let by_name = |id: &&str| {
        let read = Read { session_id: (*id).to_owned(), skip: 0, limit: None };
        let chosen = matches!(archive.last_in(id).unwrap(), LastSession::Here { .. });
        let ways = [
            told.iter().any(|text| text.contains(*id)),
            archive.read(&read).unwrap().is_some(),
            archive.info(id).unwrap().is_some(),
            chosen,
        ];
        assert!(ways.iter().all(|way| *way == ways[1]), "{id}: one way tells more than another: {ways:?}");
        ways[1]
    };
    // A child is in no list, and is read by those who may hear its parent.
    let child = archive.info("ses_child").unwrap().map(|_| "ses_child");
    all.into_iter().filter(|id| *id != "ses_child").filter(by_name).chain(child).collect()
}

fn topic(words: &str) -> Topic {
    Topic { words: words.to_owned(), around: Vec::new() }
}

#[test]
fn every_way_to_a_session_asks_who_may_hear_it() {
    let garden = garden();
    let public = garden.read_by(Audience::Everyone, "github");
    assert_eq!(heard(&public), ["ses_public"]);
    // Nobody knows who may hear a session that the ledger does not know, so that it counts as private.
    let insider = garden.read_by(Audience::Insiders, "github");
    assert_eq!(heard(&insider), ["ses_public", "ses_private", "ses_unknown", "ses_child"]);
    let there = garden.read_by(Audience::Insiders, "discord:5");
    assert_eq!(heard(&there), ["ses_public", "ses_private", "ses_unknown", "ses_hidden", "ses_child"]);
}

#[test]
fn one_private_run_makes_a_session_private() {
    let garden = garden();
    garden.run("ses_public", 8, ("discord", Audience::Insiders));
    assert_eq!(heard(&garden.read_by(Audience::Everyone, "github")), [""; 0]);
}

#[test]
fn a_subject_goes_on_where_it_was_last_unless_that_is_gone_or_private() {
    let garden = garden();
    garden.run("ses_gone", 6, ("github", Audience::Everyone));
    let public = garden.read_by(Audience::Everyone, "github");
    let last = |issue: u32| match public.last(&format!("octo/garden#{issue}")).unwrap() {
        LastSession::Here { session, bytes } => {
            assert!(bytes > 0);
            session.id
        }
        other => format!("{other:?}"),
    };
    assert_eq!([7, 8, 6, 5].map(last), ["ses_public", "Private", "Gone", "None"]);
}

#[test]
fn who_begins_anew_is_told_how_the_last_session_ended() {
    let garden = garden();
    let archive = garden.read_by(Audience::Everyone, "github");
    let last = archive.last("octo/garden#7").unwrap();
    let told = |continuity: Continuity| {
        let ending = archive.ending(&last, &continuity).unwrap();
        ending.map(|(session, said)| (session.id, said.len()))
    };
    let once = Some(("ses_public".to_owned(), 1));
    assert_eq!(told(Continuity::Fresh(Fresh::Full)), once);
    assert_eq!(told(Continuity::Fresh(Fresh::LessTrusted)), once);
    assert_eq!(told(Continuity::Fresh(Fresh::Order)), None);
    assert_eq!(told(Continuity::Continued("ses_public".to_owned())), None, "it has them before it");
}

#[test]
fn a_search_leaves_out_the_session_that_asks() {
    let garden = garden();
    let archive = garden.read_by(Audience::Insiders, "github");
    let search = SessionSearch { query: "greenhouse tap".to_owned(), limit: Some(5) };
    assert!(!archive.search(&search, "ses_public").unwrap().contains("ses_public"));
    let besides =
        archive.elsewhere(&topic("greenhouse tap seal"), Some("ses_public"), ExcerptKind::Place).unwrap();
    assert!(besides.iter().all(|place| place.session.id != "ses_public"), "{besides:?}");
}

#[test]
fn pages_are_cut_after_what_may_not_be_heard_was_taken_out() {
    let garden = garden();
    let archive = garden.read_by(Audience::Insiders, "github");
    let page = |skip, limit| archive.list(ListPage { skip, limit: Some(limit) }).unwrap();
    let (first, second, third) = (page(0, 1), page(1, 1), page(2, 1));
    let ids = ["ses_private", "ses_public"];
    let named = |text: &str| ids.iter().filter(|id| text.contains(**id)).count();
    assert_eq!([&first, &second, &third].map(|text| named(text)), [1, 1, 0], "{first}\n{second}\n{third}");
    assert_ne!(first, second);
}

#[test]
fn what_was_said_in_a_hidden_channel_is_told_in_no_other() {
    let garden = garden();
    garden.session("ses_elsewhere", None, "Another hidden channel talked about the greenhouse tap.");
    garden.run("ses_elsewhere", 10, ("discord:6", Audience::Insiders));
    let here = garden.read_by(Audience::Insiders, "discord:5");
    let there = garden.read_by(Audience::Insiders, "discord:6");
    let told = |archive: &SessionArchive, id: &str| archive.info(id).unwrap().is_some();
    assert_eq!((told(&here, "ses_hidden"), told(&here, "ses_elsewhere")), (true, false));
    assert_eq!((told(&there, "ses_hidden"), told(&there, "ses_elsewhere")), (false, true));
    let search = SessionSearch { query: "hidden channel greenhouse tap".to_owned(), limit: None };
    assert!(!here.search(&search, "ses_own").unwrap().contains("ses_elsewhere"));
    assert!(!there.search(&search, "ses_own").unwrap().contains("ses_hidden"));
}

#[test]
fn a_subject_is_told_with_its_runs_and_with_no_session_that_may_not_be_heard() {
    let garden = garden();
    let public = garden.read_by(Audience::Everyone, "github");
    let status =
        |issue: u32| public.subject_status(&format!("octo/garden#{issue}"), "hit".to_owned()).unwrap();
    let heard = |issue: u32| (status(issue).past.len(), status(issue).session.map(|session| session.id));
    assert_eq!(heard(7), (1, Some("ses_public".to_owned())));
    assert_eq!(heard(8), (1, None), "the run was here for everyone to see, its session is private");
    assert_eq!(heard(5), (0, None));
    assert_eq!(status(5).memory, "hit");
}
