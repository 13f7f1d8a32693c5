//! `fro-bot sessions` and `fro-bot memory`, on every kind of store.

#[expect(dead_code, reason = "the tests of the memory itself need more of it")]
#[path = "../../../memory/tests/it/bucket/server.rs"]
mod bucket;
#[expect(dead_code, reason = "the tests of the memory itself need more of it")]
#[path = "../../../memory/tests/it/engine.rs"]
pub(crate) mod engine;
mod place;

use fro_core::remembered::Audience;
use fro_memory::{Figures, Ledger, Run};
use jiff::Timestamp;
use serde_json::Value;

use engine::{Engine, add_message};
use place::Place;

use crate::terminal::on_terminal;

/// Older than anything that a clock of today calls young.
const LONG_AGO: i64 = 1_500_000_000_000;

/// Returns an engine with three sessions, of which two belong to issues of two people.
fn garden() -> Engine {
    let engine = Engine::with_sessions(3);
    engine
        .change(&format!("UPDATE session SET time_created = {LONG_AGO}, time_updated = {LONG_AGO} + rowid"));
    add_message(&engine.connect(), "ses_00000001", "msg_more", LONG_AGO + 9, "The brass coupling drips.");
    engine.change("INSERT INTO credential VALUES ('crd', 'github', 'a token')");
    let ledger = Ledger::open(engine.data().join("fro-bot-ledger.db")).unwrap();
    for (number, actor) in [(0, "maya"), (1, "rita")] {
        let subject = format!("octo/garden#{number}");
        ledger.record(&run(&subject, &format!("ses_{number:08}"), actor)).unwrap();
    }
    engine
}

pub(crate) fn run(subject: &str, session: &str, actor: &str) -> Run {
    Run {
        id: subject.to_owned(),
        subject: subject.to_owned(),
        session: Some(session.to_owned()),
        ended_at: Timestamp::from_millisecond(LONG_AGO).unwrap(),
        surface: "github".to_owned(),
        event: "issue_comment".to_owned(),
        actor: actor.to_owned(),
        trust: "maintainer".to_owned(),
        visibility: Audience::Everyone,
        outcome: "answered".to_owned(),
        links: Vec::new(),
        figures: Figures { duration: 1_000, first_output: Some(1_000), is_warm: true, ..Figures::default() },
    }
}

/// What a person does to a memory, from its first save to the last word that must be gone.
fn looked_after(place: &Place) -> String {
    let engine = garden();
    let folder = tempfile::tempdir().unwrap();
    let pulled = folder.path().join("pulled");
    let needles = folder.path().join("needles");
    fs_err::write(&needles, "no-such-value\nbrass coupling\n").unwrap();
    let (pulled, needles) = (pulled.to_str().unwrap(), needles.to_str().unwrap());
    let steps: [&[&str]; 19] = [
        &["memory", "status"],
        &["memory", "push", engine.data().to_str().unwrap()],
        &["memory", "status"],
        &["sessions", "list"],
        &["sessions", "search", "coupling"],
        &["sessions", "read", "ses_00000001"],
        &["sessions", "info", "ses_00000001"],
        &["memory", "stats"],
        &["memory", "verify"],
        &["memory", "verify", "--secrets", needles],
        &["sessions", "prune", "--keep", "2", "--days", "0", "--dry-run"],
        &["sessions", "prune", "--keep", "2", "--days", "0"],
        &["memory", "pull", pulled],
        &["memory", "push", pulled],
        &["memory", "forget", "--person", "@Rita", "--dry-run"],
        &["memory", "forget", "--person", "@Rita", "--at-once"],
        &["memory", "forget", "--subject", "octo/garden#1"],
        &["sessions", "list"],
        &["memory", "verify", "--secrets", needles],
    ];
    let told = steps.map(|step| {
        let words = step.iter().map(|word| if word.starts_with('/') { "…" } else { word });
        let words: Vec<_> = words.collect();
        format!("$ fro-bot {}\n{}", words.join(" "), place.run(step).normal())
    });
    told.concat()
}

#[test]
fn a_folder_is_looked_after() {
    insta::assert_snapshot!(looked_after(&Place::folder()));
}

#[test]
fn a_bucket_is_looked_after() {
    insta::assert_snapshot!(looked_after(&Place::bucket()));
}

#[test]
fn the_actions_cache_is_looked_after() {
    insta::assert_snapshot!(looked_after(&Place::cache()));
}

#[test]
fn everything_is_there_as_json() {
    let place = Place::folder();
    place.run(&["memory", "push", garden().data().to_str().unwrap()]);
    let commands: [&[&str]; 8] = [
        &["memory", "status"],
        &["memory", "verify"],
        &["memory", "stats"],
        &["sessions", "list", "--limit", "1"],
        &["sessions", "search", "coupling"],
        &["sessions", "read", "ses_00000001", "--skip", "1"],
        &["sessions", "info", "ses_00000001"],
        &["memory", "forget", "--session", "ses_00000001"],
    ];
    let told = commands.map(|command| {
        let printed = place.run(&[command, &["--json"]].concat());
        let value: Value = serde_json::from_str(&printed.output).unwrap();
        assert!(value.is_object() || value.is_array(), "{value}");
        format!("$ fro-bot {}\n{}", command.join(" "), printed.normal())
    });
    insta::assert_snapshot!(told.concat());
}

#[test]
fn looking_at_a_damaged_memory_leaves_it_where_it_is() {
    let place = Place::folder();
    place.run(&["memory", "push", garden().data().to_str().unwrap()]);
    place.spoil("packs");
    let verified = place.run(&["memory", "verify"]);
    assert!(
        verified.code == Some(1) && verified.output.contains("is not what its name says"),
        "{verified:?}"
    );
    let listed = place.run(&["sessions", "list"]);
    assert_eq!(listed.code, Some(2), "{listed:?}");
    insta::assert_snapshot!(place.run(&["memory", "status"]).normal());
}

/// The sessions are short, so that all that there is lies there twice.
#[test]
fn a_damaged_copy_costs_nothing_and_is_repaired() {
    for kind in ["packs", "manifests"] {
        let place = Place::folder();
        place.run(&["memory", "push", garden().data().to_str().unwrap()]);
        place.flip(kind);
        assert_eq!(place.run(&["memory", "verify"]).code, Some(1), "{kind}");
        assert_eq!(place.run(&["sessions", "list"]).code, Some(0), "{kind}");
        let repaired = place.run(&["memory", "verify", "--repair"]);
        assert!(repaired.errors.contains("1 object repaired from the copies in it"), "{kind}: {repaired:?}");
        assert_eq!(repaired.code, Some(0), "{kind}: {repaired:?}");
    }
}

#[test]
fn whoever_waits_at_a_terminal_sees_for_what() {
    let place = Place::folder();
    place.run(&["memory", "push", garden().data().to_str().unwrap()]);
    let shown = on_terminal(&place.command(&["memory", "verify"]), "");
    let (waiting, result) = shown.split_once("sound").unwrap();
    assert!(waiting.contains("reading every byte of the memory"), "{shown:?}");
    assert!(!result.contains("reading every byte"), "what was waited for is wiped away: {shown:?}");
    let quiet = on_terminal(&place.command(&["memory", "verify", "--quiet"]), "");
    assert!(!quiet.contains("reading every byte"), "{quiet:?}");
    let piped = place.run(&["memory", "verify"]);
    assert_eq!(piped.errors, "", "a pipe is told after ten seconds at the earliest");
}

#[test]
fn a_bucket_that_cannot_be_reached_is_no_damage() {
    let verified = Place::dead_bucket().run(&["memory", "verify"]);
    assert!(
        verified.output.contains("S3: not verified: cannot list the objects in S3: it cannot be reached"),
        "{verified:?}"
    );
    assert_eq!(verified.code, Some(3), "{verified:?}");
}

#[test]
fn whoever_names_no_memory_is_helped() {
    let place = Place::nowhere();
    insta::assert_snapshot!(
        [
            place.run(&["memory", "status"]).normal(),
            place.run(&["memory", "status", "--memory", "/no/such/folder"]).normal(),
            place.run(&["memory", "status", "--s3-bucket", "memories", "--aws-region", "x"]).normal(),
            place.run(&["memory", "status", "--s3-bucket", "memories", "--repo", "garden"]).normal(),
        ]
        .concat()
    );
}

#[test]
fn the_help_says_it_all() {
    let place = Place::nowhere();
    let commands: [&[&str]; 5] =
        [&["sessions"], &["sessions", "list"], &["memory"], &["memory", "verify"], &["memory", "forget"]];
    let help = commands.map(|command| place.run(&[command, &["--help"]].concat()).output);
    insta::assert_snapshot!(help.join("\n────\n"));
}
