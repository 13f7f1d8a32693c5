//! Remarks beside the code: one review, at places that GitHub takes, given once.

use fro_sim::FaultKind;
use fro_stories::{REPO, Sim, normal};
use insta::assert_snapshot;
use serde_json::json;

const PULL: u64 = 2;

/// Lets the model hand in an answer with remarks: on a line, near one, far away, and on a file that is not changed.
fn hand_in(sim: &Sim) {
    let comments = json!([
        { "path": "tap.rs", "line": 6, "start_line": 5, "body": "Silicone is fine." },
        { "path": "tap.rs", "line": 14, "body": "Is this used?" },
        { "path": "tap.rs", "line": 400, "body": "Far away." },
        { "path": "hose.rs", "line": 3, "body": "The hose is old too." },
    ]);
    sim.model().calls("answer_draft", json!({ "body": "Two remarks.", "comments": comments }));
    sim.model().says("I have handed it in.");
}

/// Returns the reviews and the remarks as people see them.
fn reviewed(sim: &Sim) -> String {
    sim.world().state(|state| {
        let pull = state.issue(REPO, PULL).and_then(|issue| issue.pull.as_ref()).expect("it is there");
        let reviews =
            pull.reviews.iter().map(|review| format!("@{}: {}", review.author, normal(&review.body)));
        let threads = pull.threads.iter().map(|thread| {
            let body = thread.comments.first().map(|first| first.body.clone()).unwrap_or_default();
            format!("{}:{:?} {body}", thread.path, thread.line)
        });
        reviews.chain(threads).collect::<Vec<_>>().join("\n---8<---\n")
    })
}

#[tokio::test]
async fn an_answer_with_remarks_is_one_review() {
    let sim = Sim::new().await;
    hand_in(&sim);
    let event = sim.world().pull_event(REPO, PULL, "opened", "maya");
    let run = sim.event("pull_request", &event, 0).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert_snapshot!(reviewed(&sim));
    assert_eq!(sim.world().comments_by(REPO, PULL, "fro-bot"), [""; 0]);

    // A second attempt edits the review, and its remarks stand in the text.
    hand_in(&sim);
    let again = sim.event("pull_request", &event, 0).run().await;
    assert_eq!(again.code, Some(0), "{again}");
    let reviewed = reviewed(&sim);
    assert_eq!(reviewed.matches("@fro-bot:").count(), 1, "{reviewed}");
    assert_eq!(reviewed.matches("Silicone is fine.").count(), 2, "{reviewed}");
    sim.finish().await;
}

#[tokio::test]
async fn a_review_whose_receipt_was_lost_is_given_once() {
    let sim = Sim::new().await;
    hand_in(&sim);
    sim.world().faults().on("POST /repos/{owner}/{repo}/pulls/{number}/reviews", FaultKind::AnswerWithheld);
    let event = sim.world().pull_event(REPO, PULL, "opened", "maya");
    let run = sim.event("pull_request", &event, 0).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(reviewed(&sim).matches("@fro-bot:").count(), 1);
    sim.finish().await;
}

#[tokio::test]
async fn remarks_that_github_does_not_take_stand_in_the_answer() {
    let sim = Sim::new().await;
    hand_in(&sim);
    sim.world().faults().on("POST /repos/{owner}/{repo}/pulls/{number}/reviews", FaultKind::Status(422));
    let event = sim.world().pull_event(REPO, PULL, "opened", "maya");
    let run = sim.event("pull_request", &event, 0).run().await;
    assert_eq!((run.code, reviewed(&sim).as_str()), (Some(0), ""), "{run}");
    let comments = sim.world().comments_by(REPO, PULL, "fro-bot");
    assert_eq!(comments.len(), 1);
    assert!(comments[0].contains("- `tap.rs:5-6`: Silicone is fine."), "{}", comments[0]);
    sim.finish().await;
}
