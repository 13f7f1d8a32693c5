//! The reviewer over whole runs: what it says, what it leaves unsaid, and what becomes of its threads.

use fro_stories::{Mention, REPO, Run, Sim, normal};
use insta::assert_snapshot;
use serde_json::{Value, json};

const PULL: u64 = 2;

/// Lets the reviewer meet an event.
fn reviewer<'a>(sim: &'a Sim, name: &str, payload: &Value) -> Mention<'a> {
    sim.event(name, payload, 0).variable("FRO_ROLE", "review")
}

async fn pushed(sim: &Sim, action: &str) -> Run {
    let event = sim.world().pull_event(REPO, PULL, action, "maya");
    reviewer(sim, "pull_request", &event).run().await
}

fn finding(file: &str, line: usize, finding: &str, score: u64) -> Value {
    let assessment = json!({ "finding": finding, "assessment": "It matters.", "score": score });
    json!({ "file": file, "line": line, "body": format!("{finding} See for yourself."), "assessment": assessment })
}

fn posts(sim: &Sim, finding: Value) {
    sim.model().calls("github_post_review_comment", finding);
}

/// Lets the model end a pass.
fn submits(sim: &Sim, pass: u64) {
    let results = json!({ "pass_number": pass, "summary": "Looked.", "has_blocking_issues": true });
    sim.model().calls("submit_pass_results", results);
    sim.model().says(format!("Pass {pass} is done."));
}

fn submits_all(sim: &Sim, passes: std::ops::RangeInclusive<u64>) {
    passes.for_each(|pass| submits(sim, pass));
}

/// Returns the reviews and the threads as people see them.
fn shown(sim: &Sim) -> String {
    sim.world().state(|state| {
        let pull = state.issue(REPO, PULL).and_then(|issue| issue.pull.as_ref()).expect("it is there");
        let own = |login: &str| login == "fro-bot";
        let reviews = pull.reviews.iter().filter(|review| own(&review.author));
        let reviews = reviews.map(|review| format!("review: {}", said(&review.body)));
        let ours = pull
            .threads
            .iter()
            .filter(|thread| thread.comments.first().is_some_and(|first| own(&first.author)));
        let threads = ours.map(|thread| {
            let comments =
                thread.comments.iter().map(|comment| format!("@{}: {}", comment.author, said(&comment.body)));
            let place = format!("{}:{:?} resolved={}", thread.path, thread.line, thread.resolved);
            format!("{place}\n{}", comments.collect::<Vec<_>>().join("\n"))
        });
        reviews.chain(threads).collect::<Vec<_>>().join("\n---8<---\n")
    })
}

/// Returns a text without its summary, marker and commit ids.
fn said(body: &str) -> String {
    let body = body.split("\n<details>").next().unwrap_or(body);
    let hex = regex::Regex::new(r"[0-9a-f]{16,40}").expect("it is sound");
    let short = regex::Regex::new(r"`[0-9a-f]{7}`").expect("it is sound");
    normal(&short.replace_all(&hex.replace_all(body, "…"), "`…`"))
}

/// Returns what was written on GitHub.
fn writes(sim: &Sim) -> Vec<String> {
    let calls = sim.world().calls().into_iter();
    calls.filter(|call| !call.starts_with("GET ") && !call.contains("git-upload-pack")).collect()
}

#[tokio::test]
async fn findings_of_all_passes_are_one_review() {
    let sim = Sim::new().await;
    posts(&sim, finding("tap.rs", 6, "The comment about silicone is a nit.", 2));
    posts(&sim, finding("tap.rs", 7, "`open` ignores that silicone swells in hot water.", 7));
    submits_all(&sim, 1..=4);
    let run = pushed(&sim, "opened").await;
    assert_eq!(run.code, Some(0), "{run}");
    assert_snapshot!(shown(&sim));
    assert_snapshot!(writes(&sim).join("\n"));
    sim.finish().await;
}

#[tokio::test]
async fn a_change_without_findings_is_met_with_silence() {
    let sim = Sim::new().await;
    posts(&sim, finding("tap.rs", 6, "The comment about silicone is a nit.", 4));
    submits_all(&sim, 1..=4);
    let run = pushed(&sim, "opened").await;
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(shown(&sim), "");
    assert_eq!(sim.world().comments_by(REPO, PULL, "fro-bot"), [""; 0]);
    // Questions are all that it asked, and GraphQL takes those by POST.
    assert!(writes(&sim).iter().all(|call| call == "POST /graphql"), "{:?}", writes(&sim));
    assert!(!sim.world().traffic().iter().any(|call| call.request.contains("mutation")));
    assert!(run.log.contains("reviewed: 0 findings, nothing was posted"), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn who_asks_for_a_review_is_always_answered() {
    let sim = Sim::new().await;
    submits_all(&sim, 1..=4);
    let comment = sim.world().write_comment(REPO, PULL, "maya", "@review-my-code-bot");
    let event = sim.world().comment_event(REPO, comment);
    let run = sim.event("issue_comment", &event, comment).variable("FRO_ROLE", "review").run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let answers = sim.world().comments_by(REPO, PULL, "fro-bot");
    let [only] = answers.as_slice() else { panic!("{answers:?}") };
    assert!(only.contains("No finding at or above 5/10 in `"), "{only}");
    assert_eq!(sim.reactions(comment), ["fro-bot: hooray"]);
    sim.finish().await;
}

#[tokio::test]
async fn a_pass_that_is_never_submitted_is_told_with_what_was_found() {
    let sim = Sim::new().await;
    posts(&sim, finding("tap.rs", 7, "`open` ignores that silicone swells in hot water.", 7));
    sim.model().says("I am done.");
    sim.model().says("Really.");
    let run = pushed(&sim, "opened").await;
    assert_eq!(run.code, Some(4), "{run}");
    assert!(shown(&sim).contains("it ended in pass 1 of 4 (pass 1 was never submitted)"), "{}", shown(&sim));
    assert!(shown(&sim).contains("@fro-bot: `open` ignores"), "{}", shown(&sim));
    sim.finish().await;
}
