//! A reviewer's tools at work, the web as it may read it, and how a review is said: without an engine.

use std::{collections::BTreeMap, path::PathBuf};

use fro_agent::Arguments;
use fro_core::{
    Anchor, Login, Permission, RepoName, Secret, Side, Subject,
    conversation::outcome::{Failure, Outcome, Trouble},
    gate::{self, Policy},
};
use fro_review::{
    FileDiff, passes::Briefing, review::Ground, scoring::Thresholds, sensitivity::Sensitivity,
    shown_change::ShownChange, since::Since, web::MOST,
};
use fro_sim::World;
use serde_json::{Value, json};

use super::*;
use crate::settings::{ReviewSettings, WebSettings};

const SECRET: &str = "planted-secret-0123456789";

const PATCH: &str = "@@ -1,3 +1,3 @@\n fn tap() {\n-    rubber()\n+    silicone()\n }";

fn said(words: &str) -> Spoken {
    Spoken { who: Login::new("maya"), trust: Trust::Stranger, text: words.to_owned() }
}

fn briefing() -> Briefing {
    let change =
        ShownChange { shown: Vec::new(), left_out: Vec::new(), generated: Vec::new(), seen: Vec::new() };
    Briefing {
        title: said("Give the tap a new seal"),
        description: said("Fixes #1."),
        author: Login::new("maya"),
        change,
        known: Vec::new(),
        recalled: Vec::new(),
    }
}

fn review() -> Review {
    let file = FileDiff::from_patch("tap.rs", None, Some(PATCH)).unwrap();
    Review::new(Ground {
        thresholds: Thresholds::default(),
        sensitivity: Sensitivity::Plain,
        diff: fro_review::Diff::new(vec![file]),
        since: Since::Beginning,
        known: Vec::new(),
    })
}

fn texts() -> BTreeMap<String, String> {
    BTreeMap::from([("tap.rs".to_owned(), "fn tap() {\n    silicone()\n}\n".to_owned())])
}

fn redactor() -> fro_core::Redactor {
    fro_core::Redactor::knowing([&Secret::new(SECRET)])
}

fn passes() -> (Arc<ReviewTools>, Do) {
    let (tools, first) = ReviewTools::of_passes(review(), briefing(), texts(), redactor());
    (Arc::new(tools), first)
}

/// Calls a tool as the session does, by the name of its set.
async fn call(tools: &Arc<ReviewTools>, set: &str, tool: &str, arguments: Value) -> Result<String, String> {
    let arguments: Arguments = arguments.as_object().cloned().unwrap();
    let sets = ReviewTools::sets(tools);
    let set = sets.iter().find(|known| known.name() == set).unwrap();
    set.call(tool, arguments).await
}

fn remark(line: usize, body: &str, score: u8) -> Value {
    let assessment = json!({ "finding": "The tap leaks.", "assessment": "Water runs out.", "score": score });
    json!({ "file": "tap.rs", "line": line, "body": body, "assessment": assessment })
}

fn submitted(pass: u8) -> Value {
    json!({ "pass_number": pass, "summary": "Looked at it.", "has_blocking_issues": false })
}

#[tokio::test]
async fn four_passes_are_asked_for_one_after_the_other() {
    let (tools, first) = passes();
    let Do::Ask(mut asked) = first else { panic!("{first:?}") };
    for pass in 1..=4 {
        assert!(asked.contains(&format!("Pass {pass}")), "{asked}");
        call(&tools, "submit", "pass_results", submitted(pass)).await.unwrap();
        match tools.turn_ended(None) {
            Do::Ask(next) => asked = next,
            Do::Finish => assert_eq!(pass, 4),
            other => panic!("{other:?}"),
        }
    }
    assert!(tools.settle().findings.is_empty());
}

#[tokio::test]
async fn a_pass_cannot_be_handed_in_before_its_turn() {
    let (tools, _) = passes();
    let why = call(&tools, "submit", "pass_results", submitted(3)).await.unwrap_err();
    assert!(why.contains('1'), "{why}");
    assert!(matches!(tools.turn_ended(None), Do::Ask(_)), "who ends without handing in is reminded");
}

#[tokio::test]
async fn a_finding_is_collected_without_what_is_secret_in_it() {
    let (tools, _) = passes();
    call(&tools, "github", "post_review_comment", remark(2, &format!("It says {SECRET}."), 8)).await.unwrap();
    let settled = tools.settle();
    let [finding] = settled.findings.as_slice() else { panic!("{settled:?}") };
    assert_eq!((finding.anchor.path.as_str(), finding.anchor.line), ("tap.rs", 2));
    assert!(!finding.body.contains(SECRET), "{}", finding.body);
    assert!(tools.touched(&finding.anchor) > 0, "there is a function around it");
    assert_eq!(tools.texts(), texts());
}

#[tokio::test]
async fn a_call_that_cannot_be_understood_is_refused_with_the_reason() {
    let (tools, _) = passes();
    let mut strange = remark(2, "It drips.", 8);
    strange["colour"] = json!("red");
    for (tool, arguments) in [("post_review_comment", strange), ("merge", json!({}))] {
        let why = call(&tools, "github", tool, arguments).await.unwrap_err();
        assert!(!why.is_empty());
    }
    assert!(tools.settle().findings.is_empty());
}

#[tokio::test]
async fn a_reply_is_about_its_thread_alone() {
    let tools = Arc::new(ReviewTools::of_reply(review(), 7, briefing(), texts(), redactor()));
    let other = json!({ "thread_id": "8", "body": "No.", "is_concession": false });
    let why = call(&tools, "github", "reply_to_thread", other).await.unwrap_err();
    assert_eq!(why, "this is about thread 7 alone");
    for (set, tool, arguments) in [
        ("github", "post_review_comment", remark(2, "It drips.", 8)),
        ("submit", "pass_results", submitted(1)),
    ] {
        let why = call(&tools, set, tool, arguments).await.unwrap_err();
        assert_eq!(why, "this is no review: only the reply in thread 7 is to be answered");
    }
    let Do::Ask(reminder) = tools.turn_ended(None) else { panic!("nobody reminds the model") };
    assert!(reminder.contains('7'), "{reminder}");
    let Do::GiveUp { why, .. } = tools.turn_ended(None) else { panic!("it is reminded for ever") };
    assert_eq!(why, "the reply was never answered");
}

#[tokio::test]
async fn a_session_that_breaks_off_ends_the_review_with_the_reason() {
    let (tools, _) = passes();
    let Do::GiveUp { pass, why } = tools.turn_ended(Some("out of time".to_owned())) else {
        panic!("it goes on")
    };
    assert_eq!((pass, why.as_str()), (Pass::Diff, "out of time"));
    let reply = ReviewTools::of_reply(review(), 7, briefing(), texts(), redactor());
    assert!(
        matches!(reply.turn_ended(Some("refused".to_owned())), Do::GiveUp { why, .. } if why == "refused")
    );
}

#[test]
fn the_model_is_offered_two_sets_of_tools() {
    let names: Vec<_> = ReviewTools::lists()
        .iter()
        .flat_map(|list| list.tools.iter().map(|tool| format!("{}_{}", list.name, tool.name)))
        .collect();
    assert_eq!(
        names,
        [
            "github_get_run_state",
            "github_post_review_comment",
            "github_reply_to_thread",
            "github_resolve_thread",
            "submit_pass_results"
        ]
    );
}

#[test]
fn a_review_is_said_where_there_is_something_or_somebody_asked() {
    let anchor = || Anchor { path: "tap.rs".to_owned(), side: Side::Right, start_line: None, line: 2 };
    let some = [
        Writes { beside: vec![(anchor(), String::new())], ..Writes::default() },
        Writes { on_files: vec![("tap.rs".to_owned(), String::new())], ..Writes::default() },
        Writes { in_summary: vec![(anchor(), String::new())], ..Writes::default() },
    ];
    for writes in &some {
        assert_eq!(how_to_publish(ReviewWish::Unasked, false, writes), PublishAs::Review);
        assert_eq!(how_to_publish(ReviewWish::Asked, false, writes), PublishAs::Review);
        assert_eq!(how_to_publish(ReviewWish::Reply { root: 7 }, false, writes), PublishAs::Nothing);
    }
    let none = Writes::default();
    let check = |wish, broke_off, expect| {
        assert_eq!(how_to_publish(wish, broke_off, &none), expect, "{wish:?} {broke_off}");
    };
    check(ReviewWish::Unasked, false, PublishAs::Nothing);
    check(ReviewWish::Unasked, true, PublishAs::Comment);
    check(ReviewWish::Asked, false, PublishAs::Comment);
    check(ReviewWish::Asked, true, PublishAs::Comment);
    check(ReviewWish::Reply { root: 7 }, true, PublishAs::Nothing);
}

#[test]
fn a_review_that_broke_off_is_incomplete_whatever_it_found() {
    let stopped = (Pass::Security, "out of time".to_owned());
    let check = |stopped: Option<&(Pass, String)>, blocking, expect: &str| {
        assert_eq!(ReviewStatus::decide(stopped, blocking).word(), expect, "{stopped:?} {blocking}");
    };
    check(None, 0, "completed");
    check(None, 2, "has_blocking_issues");
    check(Some(&stopped), 0, "incomplete");
    check(Some(&stopped), 2, "incomplete");
}

#[test]
fn only_what_really_stops_a_session_stops_a_review() {
    let failed = |trouble: Trouble| Outcome::Failed { partial: None, failure: Failure::from(trouble) };
    let check = |outcome: Outcome, expect: bool| {
        let why = why_stopped(&outcome);
        assert_eq!(why.is_some(), expect, "{outcome:?}");
        assert!(why.is_none_or(|why| !why.ends_with('.')), "it stands in a sentence");
    };
    check(Outcome::Answered { text: "Done.".to_owned(), cut_short: false }, false);
    check(failed(Trouble::Silent), false);
    check(failed(Trouble::Auth), true);
    check(Outcome::OutOfTime { partial: None }, true);
    check(Outcome::Refused { partial: None }, true);
}

/// The web as one review has it, for an author who may do this much.
async fn web(author_may: Permission) -> (World, Option<Arc<WebTools>>) {
    let (world, folder) = (World::start().await.unwrap(), tempfile::tempdir().unwrap());
    let mut settings = crate::tests::settings(&world, &folder);
    settings.agent.hidden = vec![Secret::new(SECRET)];
    settings.review = ReviewSettings { web: Some(WebSettings::default()), ..ReviewSettings::default() };
    let process = Process::new(settings);
    let (repo, own) = (RepoName::parse("octo/garden").unwrap(), Login::new("fro-bot"));
    let permit = gate::permit_local_review(&repo, Subject::Repository, &own, &Policy::usual());
    let commits = Commits {
        base: "0".repeat(40),
        head: "1".repeat(40),
        title: String::new(),
        description: String::new(),
        author: own,
    };
    let mut pull = PullSoFar::of_commits(&permit, &commits);
    pull.author_may = author_may;
    let scope = ReviewScope { process: &process, permit: &permit, began: Timestamp::now() };
    let web = WebTools::open(scope, &pull);
    (world, web)
}

async fn fetch(web: &WebTools, url: &str) -> String {
    let arguments = json!({ "url": url }).as_object().cloned().unwrap();
    web.call("fetch", arguments).await.unwrap_err()
}

#[tokio::test]
async fn the_web_stays_shut_for_the_change_of_somebody_who_may_not_push() {
    assert!(web(Permission::Read).await.1.is_none());
    assert!(web(Permission::Write).await.1.is_some());
}

#[tokio::test]
async fn nothing_of_this_machine_and_nothing_secret_is_asked_for() {
    let (world, web) = web(Permission::Write).await;
    let web = web.unwrap();
    assert_eq!(web.summarize(), None, "nobody asked for anything");
    fetch(&web, &format!("{}/octo/garden", world.api_url())).await;
    let why = fetch(&web, &format!("https://example.org/?key={SECRET}")).await;
    assert_eq!(why, "the address carries a secret, so it is not asked");
    assert_eq!(world.traffic().len(), 0);
    assert_eq!(web.summarize().unwrap(), "0 pages of the web read, 2 refused");
    let why = web.call("search", json!({ "query": "taps" }).as_object().cloned().unwrap()).await.unwrap_err();
    assert!(why.contains("web_search"), "{why}");
    let offered: Vec<_> = web.list().tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(offered, ["fetch"], "who answers no searches offers none");
}

#[tokio::test]
async fn a_review_reads_so_many_pages_and_no_more() {
    let (_world, web) = web(Permission::Write).await;
    let web = web.unwrap();
    for _ in 0..MOST {
        fetch(&web, "http://127.0.0.1/").await;
    }
    let why = fetch(&web, "http://127.0.0.1/").await;
    assert!(why.contains("which is all there are"), "{why}");
    assert_eq!(web.summarize().unwrap(), format!("0 pages of the web read, {MOST} refused"));
}

#[test]
fn commits_of_a_clone_have_no_thread_and_nobody_above_their_author() {
    let (repo, own) = (RepoName::parse("octo/garden").unwrap(), Login::new("maya"));
    let permit = gate::permit_local_review(&repo, Subject::Repository, &own, &Policy::usual());
    let commits = Commits {
        base: "0".repeat(40),
        head: "1".repeat(40),
        title: "Mend the tap".to_owned(),
        description: "It dripped.".to_owned(),
        author: own.clone(),
    };
    let pull = PullSoFar::of_commits(&permit, &commits);
    assert_eq!((pull.number, pull.state.threads.len(), pull.seen_before()), (0, 0, None));
    assert_eq!(
        (pull.told.title.as_str(), pull.told.head.as_str()),
        ("Mend the tap", "1".repeat(40).as_str())
    );
    assert_eq!(pull.people(), [own]);
    assert!(!has_reply_to_judge(&pull, 7));
    let here = LocalClone {
        repo,
        checkout: PathBuf::from("/garden"),
        change: Change::Commits(commits),
        began: Timestamp::UNIX_EPOCH,
    };
    let job = local::job(&here, &permit, &pull);
    assert_eq!((job.origin.run.as_str(), job.origin.surface.as_str()), ("local-0", "terminal"));
    assert_eq!(job.head, Some("1".repeat(40)));
    assert!(job.work.is_err(), "a look changes nothing");
}
