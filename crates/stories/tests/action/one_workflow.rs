//! The one workflow that `fro-bot init` writes, played for each kind of event: exactly one job runs, answers, and remembers.
//!
//! `FRO_TEST_WORKFLOW` names a file that was just written, to be played instead of the one in the docs.

use std::{collections::BTreeSet, env};

use fro_stories::{REPO, Sim, project};
use serde_json::{Value, json};

use crate::examples::{CACHE_MODE, SUMMARY, scripted};

/// The pull request of octo/garden.
const PULL: u64 = 2;

fn workflow() -> String {
    let named = env::var_os("FRO_TEST_WORKFLOW").map(Into::into);
    fs_err::read_to_string(named.unwrap_or_else(|| project().join("docs/examples/fro-bot.yaml"))).unwrap()
}

/// Plays an event, and checks that this job alone ran, that it went well, and that it remembers; returns its log.
///
/// A job has the cache that GitHub gives to its event, unless it says `cache-mode: write`.
async fn plays(sim: &Sim, job: &str, event: &str, payload: &Value) -> String {
    let text = workflow();
    let (_, jobs) = text.split_once("\njobs:\n").unwrap();
    let block = jobs.split(&format!("  {job}:\n")).nth(1).unwrap();
    let asks_for_more = block.split("\n\n").next().unwrap().contains(CACHE_MODE);
    let playing = scripted(sim, &text.replace(CACHE_MODE, ""), event, payload);
    let playing = if asks_for_more { playing.with_cache() } else { playing.with_usual_cache() };
    let worked = playing.run().await;
    let ran: BTreeSet<_> = worked.log.lines().filter(|line| line.contains("Job succeeded")).collect();
    let only = ran.iter().all(|line| line.contains(&format!("/{job}")));
    assert!(worked.code == Some(0) && ran.len() == 1 && only, "{ran:?}\n{}", worked.log);
    assert_eq!(sim.model().seen().len(), 1, "{}", worked.log);
    assert!(worked.log.contains("::set-output:: memory-saved=true"), "{}", worked.log);
    worked.log
}

/// Returns what we said in conversations, threads and discussions.
fn answers(sim: &Sim) -> Vec<String> {
    let in_threads = sim.world().state(|state| {
        let threads = state.issue(REPO, PULL).and_then(|issue| issue.pull.as_ref()).unwrap().threads.iter();
        let comments = threads.flat_map(|thread| &thread.comments);
        let discussions = state.repo(REPO).unwrap().discussions.iter();
        let discussed = discussions.flat_map(|discussion| &discussion.comments);
        let discussed = discussed.flat_map(|top| std::iter::once(&top.comment).chain(&top.replies));
        let own = comments.chain(discussed).filter(|comment| comment.author == "fro-bot");
        own.map(|comment| comment.body.clone()).collect::<Vec<_>>()
    });
    let said = [1, PULL].map(|number| sim.world().comments_by(REPO, number, "fro-bot"));
    said.concat().into_iter().chain(in_threads).collect()
}

/// Plays an event that is answered where people talk.
async fn is_answered(sim: Sim, job: &str, event: &str, payload: &Value) {
    let log = plays(&sim, job, event, payload).await;
    let answers = answers(&sim);
    let sound = matches!(answers.as_slice(), [only] if only.contains("It is the seal."));
    assert!(sound, "{answers:?}\n{log}");
    sim.finish().await;
}

/// Plays an event that is answered on the run's page.
async fn is_told(job: &str, event: &str, mut payload: Value) {
    let sim = Sim::new().await;
    payload["repository"] = sim.world().issue_event(REPO, 1, "opened", "maya")["repository"].clone();
    let log = plays(&sim, job, event, &payload).await;
    assert!(log.contains(SUMMARY) && answers(&sim).is_empty(), "{log}");
    sim.finish().await;
}

#[tokio::test]
async fn a_mention_is_answered() {
    let sim = Sim::new().await;
    let comment = sim.world().write_comment(REPO, 1, "maya", "@fro-bot why is the floor wet?");
    let event = sim.world().comment_event(REPO, comment);
    is_answered(sim, "mentions", "issue_comment", &event).await;
}

#[tokio::test]
async fn a_mention_in_a_thread_is_answered() {
    let sim = Sim::new().await;
    let begun = sim.world().change(|state| state.begin_thread(REPO, PULL, "maya", "@fro-bot rubber again?"));
    let event = sim.world().review_comment_event(REPO, begun.unwrap());
    is_answered(sim, "threads", "pull_request_review_comment", &event).await;
}

#[tokio::test]
async fn a_discussion_is_answered() {
    let sim = Sim::new().await;
    let begun =
        sim.world().change(|state| state.begin_discussion(REPO, "maya", "Ideas", "@fro-bot, what grows?"));
    let event = sim.world().discussion_event(REPO, begun.unwrap());
    is_answered(sim, "discussions", "discussion", &event).await;
}

#[tokio::test]
async fn a_discussion_s_comment_is_answered() {
    let sim = Sim::new().await;
    let comment = sim.world().change(|state| {
        let number = state.begin_discussion(REPO, "octo", "Ideas", "What shall we grow?").unwrap();
        state.discuss(REPO, number, "maya", "@fro-bot which tomatoes?").unwrap()
    });
    let event = sim.world().discussion_comment_event(REPO, comment);
    is_answered(sim, "discussions", "discussion_comment", &event).await;
}

#[tokio::test]
async fn a_new_issue_is_answered() {
    let sim = Sim::new().await;
    let event = sim.world().issue_event(REPO, 1, "opened", "maya");
    is_answered(sim, "issues", "issues", &event).await;
}

#[tokio::test]
async fn a_pull_request_is_answered() {
    let sim = Sim::new().await;
    let event = sim.world().pull_event(REPO, PULL, "opened", "maya");
    is_answered(sim, "pulls", "pull_request", &event).await;
}

#[tokio::test]
async fn a_schedule_is_answered_on_the_run_s_page() {
    is_told("schedule", "schedule", json!({ "schedule": "23 6 * * 1" })).await;
}

#[tokio::test]
async fn a_task_by_hand_is_answered_on_the_run_s_page() {
    let event = json!({ "inputs": { "prompt": "Which taps drip?" }, "ref": "refs/heads/main" });
    is_told("dispatch", "workflow_dispatch", event).await;
}
