//! `progress: comment`: the one comment begins as the agent's to-do list and becomes the answer.

use std::time::Duration;

use fro_stories::{REPO, Sim, normal};
use insta::assert_snapshot;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

const PULL: u64 = 2;

/// A list of two things, as the model writes it down.
fn list(first: &str, second: &str) -> Value {
    json!({ "todos": [
        { "content": "Look at the tap", "status": first, "priority": "high" },
        { "content": "Tell @maya", "status": second, "priority": "low" },
    ] })
}

/// Waits until the only comment says this.
async fn wait_for(sim: &Sim, words: &str) {
    let said = async {
        while !sim.answers().iter().any(|answer| answer.contains(words)) {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_mins(2), said).await.expect("the comment is written");
}

/// Returns what was written as or into comments, in order.
fn writes(sim: &Sim) -> Vec<(String, String)> {
    let traffic = sim.world().traffic().into_iter();
    let writes = traffic.filter(|call| call.path.contains("/comments") && !call.path.contains("/reactions"));
    let writes = writes.filter(|call| ["POST", "PATCH", "DELETE"].contains(&call.method.as_str()));
    let body = |text: &str| serde_json::from_str::<Value>(text).ok()?["body"].as_str().map(str::to_owned);
    writes.map(|call| (call.method.clone(), body(&call.request).unwrap_or_default())).collect()
}

#[tokio::test]
async fn the_comment_begins_as_the_to_do_list_and_becomes_the_answer() {
    let sim = Sim::new().await;
    sim.model().calls("todowrite", list("in_progress", "pending"));
    sim.model().calls("todowrite", list("completed", "in_progress"));
    let wait = json!({ "command": "until [ -e go ]; do sleep 0.1; done", "description": "Waits" });
    sim.model().calls("bash", wait);
    sim.model().calls("todowrite", list("completed", "completed"));
    sim.model().says("It is the seal.");
    let run = sim.mention("@fro-bot why?").with("progress", "comment").start();
    wait_for(&sim, "0 of 2 done").await;
    wait_for(&sim, "1 of 2 done").await;
    fs_err::write(sim.clone_of_agent().expect("the agent has one").join("go"), "").unwrap();
    let run = run.end().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.only_comment().contains("It is the seal."), "{run}");

    let writes = writes(&sim);
    let methods: Vec<_> = writes.iter().map(|(method, _)| method.as_str()).collect();
    assert_eq!(methods[..2], ["POST", "PATCH"], "{writes:#?}");
    assert!(methods[1..].iter().all(|method| *method == "PATCH"), "{methods:?}");
    let shown = [&writes[0].1, &writes[1].1, &writes.last().unwrap().1].map(|body| normal(body));
    // How long it took differs from run to run.
    insta::with_settings!({ filters => [(r"after [\d.]+ m?s", "after …")] }, {
        assert_snapshot!(shown.join("\n---8<---\n"));
    });
    sim.finish().await;
}

#[tokio::test]
async fn a_comment_whose_answer_is_a_review_is_taken_away() {
    let sim = Sim::new().await;
    sim.model().calls("todowrite", list("completed", "completed"));
    let remark = json!([{ "path": "tap.rs", "line": 6, "body": "Silicone is fine." }]);
    sim.model().calls("answer_draft", json!({ "body": "One remark.", "comments": remark }));
    sim.model().says("I have handed it in.");
    let event = sim.world().pull_event(REPO, PULL, "opened", "maya");
    let run = sim.event("pull_request", &event, 0).with("progress", "comment").run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let methods: Vec<_> = writes(&sim).into_iter().map(|(method, _)| method).collect();
    assert_eq!(methods, ["POST", "DELETE"]);
    assert_eq!(sim.world().comments_by(REPO, PULL, "fro-bot"), [""; 0]);
    let reviews = sim.world().state(|state| {
        let pull = state.issue(REPO, PULL).and_then(|issue| issue.pull.as_ref()).expect("it is there");
        pull.reviews.iter().filter(|review| review.body.contains("One remark.")).count()
    });
    assert_eq!(reviews, 1);
    sim.finish().await;
}
