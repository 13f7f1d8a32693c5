//! Each kind of trigger, from its event to the answer on its own surface.

use fro_sim::{FaultKind, model::Reply};
use fro_stories::{Mention, REPO, Run, Sim, forms, normal};
use insta::assert_snapshot;

/// The pull request of octo/garden.
const PULL: u64 = 2;

/// Runs something that is answered, and returns the first thing that the model was told.
async fn answered(sim: &Sim, happened: Mention<'_>) -> (Run, String) {
    sim.model().says("It is the seal.");
    let run = happened.run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let told = sim.model().seen()[0].last_user();
    (run, told)
}

/// Returns the directive that the model was given.
fn task(told: &str) -> &str {
    let start = told.find("## Task").expect("there is a task");
    told[start..].split("## How to answer").next().expect("there is a first part").trim()
}

fn comments(sim: &Sim, number: u64) -> Vec<String> {
    sim.world().comments_by(REPO, number, "fro-bot").iter().map(|body| normal(body)).collect()
}

/// Returns the reactions and the labels on an issue or a pull request.
fn marks(sim: &Sim, number: u64) -> (Vec<String>, Vec<String>) {
    sim.world().state(|state| {
        let issue = state.issue(REPO, number).expect("the issue is there");
        let own = issue.reactions.iter().filter(|reaction| reaction.author == "fro-bot");
        (own.map(|reaction| reaction.content.word().to_owned()).collect(), issue.labels.clone())
    })
}

#[tokio::test]
async fn an_issue_that_a_stranger_opens_is_triaged() {
    let sim = Sim::new().await;
    let event = sim.world().issue_event(REPO, 1, "opened", "mallory");
    let (_, told) = answered(&sim, sim.event("issues", &event, 0)).await;
    assert_snapshot!(told);
    let answers = comments(&sim, 1);
    assert_eq!(answers.len(), 1);
    assert_snapshot!(answers[0]);
    assert_eq!(marks(&sim, 1), (vec!["hooray".to_owned()], vec!["bug".to_owned()]));
    sim.finish().await;
}

#[tokio::test]
async fn an_edit_that_calls_us_is_answered() {
    let sim = Sim::new().await;
    let before = sim.world().state(|state| state.issue(REPO, 3).unwrap().body.clone());
    sim.world().change(|state| state.issue_mut(REPO, 3).unwrap().body.push_str(" @fro-bot, which ones?"));
    let mut event = sim.world().issue_event(REPO, 3, "edited", "maya");
    event["changes"]["body"]["from"] = before.into();
    let (_, told) = answered(&sim, sim.event("issues", &event, 0)).await;
    assert!(task(&told).contains("Respond to the words that the edit of this issue added."), "{told}");
    let request = told.split("## The request").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    assert!(
        request.contains("@maya asks:") && request.contains(">\n@fro-bot, which ones?\n</words-"),
        "{request}"
    );
    assert_eq!(comments(&sim, 3).len(), 1);
    sim.finish().await;
}

#[tokio::test]
async fn a_pull_request_is_reviewed_with_its_change_in_sight() {
    let sim = Sim::new().await;
    sim.world().change(|state| state.begin_thread(REPO, PULL, "octo", "Rubber again?"));
    let event = sim.world().pull_event(REPO, PULL, "opened", "maya");
    let (_, told) = answered(&sim, sim.event("pull_request", &event, 0)).await;
    assert_snapshot!(normal(&told));
    assert_eq!(comments(&sim, PULL).len(), 1);
    assert_eq!(marks(&sim, PULL), (vec!["hooray".to_owned()], vec![]));
    sim.finish().await;
}

#[tokio::test]
async fn a_state_that_was_just_answered_is_not_answered_again() {
    let sim = Sim::new().await;
    let event = sim.world().pull_event(REPO, PULL, "opened", "maya");
    answered(&sim, sim.event("pull_request", &event, 0)).await;
    let event = sim.world().pull_event(REPO, PULL, "reopened", "maya");
    let again = sim.event("pull_request", &event, 0).variable("GITHUB_RUN_ID", "43").run().await;
    assert_eq!((again.code, comments(&sim, PULL).len()), (Some(0), 1), "{again}");
    assert!(again.log.contains("pull request #2 was answered in this state a moment ago"), "{again}");
    sim.finish().await;
}

#[tokio::test]
async fn a_fork_without_secrets_ends_quietly_and_costs_no_request() {
    let sim = Sim::new().await;
    sim.world().change(|state| {
        let pull = state.issue_mut(REPO, PULL).unwrap().pull.as_mut().unwrap();
        pull.head_repo = Some("mallory/garden".to_owned());
    });
    let event = sim.world().pull_event(REPO, PULL, "opened", "mallory");
    let run = sim.event("pull_request", &event, 0).with("auth-json", "").run().await;
    assert_eq!((run.code, sim.world().traffic().len()), (Some(0), 0), "{run}");
    assert!(run.log.contains("the workflow can start on `pull_request_target`"), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn a_review_comment_is_answered_in_its_thread() {
    let sim = Sim::new().await;
    let root = sim.world().change(|state| state.begin_thread(REPO, PULL, "octo", "Rubber again?").unwrap());
    let ask = |state: &mut fro_sim::state::State| {
        state.reply_in_thread(REPO, root, "maya", "@fro-bot is it?").unwrap()
    };
    let comment = sim.world().change(ask);
    let event = sim.world().review_comment_event(REPO, comment);
    let (_, told) = answered(&sim, sim.event("pull_request_review_comment", &event, comment)).await;
    assert_snapshot!(task(&told));
    assert_snapshot!(thread(&sim).join("\n---8<---\n"));
    assert_eq!(comments(&sim, PULL), Vec::<String>::new());

    // A second attempt of the same run edits the reply.
    sim.model().says("It is the hose.");
    let again = sim.event("pull_request_review_comment", &event, comment).run().await;
    assert_eq!((again.code, thread(&sim).len()), (Some(0), 3), "{again}");
    assert!(thread(&sim)[2].contains("It is the hose."));
    sim.finish().await;
}

/// Returns what stands in the first thread, our reactions included.
fn thread(sim: &Sim) -> Vec<String> {
    sim.world().state(|state| {
        let pull = state.issue(REPO, PULL).and_then(|issue| issue.pull.as_ref()).expect("it is there");
        let comments = pull.threads[0].comments.iter();
        let said = comments.map(|comment| {
            let reactions: Vec<_> =
                comment.reactions.iter().map(|reaction| reaction.content.word()).collect();
            format!("@{} {reactions:?}\n{}", comment.author, normal(&comment.body))
        });
        said.collect()
    })
}

#[tokio::test]
async fn a_discussion_is_answered_by_a_comment() {
    let sim = Sim::new().await;
    let number = sim.world().change(|state| {
        state.begin_discussion(REPO, "maya", "Ideas", "@fro-bot, what shall we grow?").unwrap()
    });
    let event = sim.world().discussion_event(REPO, number);
    let (_, told) = answered(&sim, sim.event("discussion", &event, 0)).await;
    assert_snapshot!(normal(&told));
    assert_snapshot!(discussed(&sim, number));
    let asked = sim.world().traffic();
    let labelled = asked.iter().filter(|exchange| exchange.request.contains("LabelsToLabelable")).count();
    let worn =
        sim.world().state(|state| state.repo(REPO).unwrap().discussion(number).unwrap().labels.clone());
    assert_eq!((labelled, worn), (1, Vec::new()), "put on and taken off");
    sim.finish().await;
}

#[tokio::test]
async fn a_discussion_comment_is_answered_below_it_even_if_it_is_a_reply() {
    let sim = Sim::new().await;
    let (number, comment) = sim.world().change(|state| {
        let number = state.begin_discussion(REPO, "octo", "Ideas", "What shall we grow?").unwrap();
        let top = state.discuss(REPO, number, "rita", "Tomatoes").unwrap();
        (number, state.reply_in_discussion(REPO, top, "maya", "@fro-bot which ones?").unwrap())
    });
    let event = sim.world().discussion_comment_event(REPO, comment);
    let (_, told) = answered(&sim, sim.event("discussion_comment", &event, 0)).await;
    assert!(task(&told).contains("Respond to the discussion comment above."), "{told}");
    assert_snapshot!(discussed(&sim, number));

    sim.model().says("It is the hose.");
    let again = sim.event("discussion_comment", &event, 0).run().await;
    assert_eq!(again.code, Some(0), "{again}");
    assert_eq!(discussed(&sim, number).matches("@fro-bot [").count(), 1, "edited, not posted again");
    sim.finish().await;
}

/// Returns a discussion as people see it.
fn discussed(sim: &Sim, number: u64) -> String {
    sim.world().state(|state| {
        let discussion = state.repo(REPO).and_then(|repo| repo.discussion(number)).expect("it is there");
        let words = |reactions: &[fro_sim::state::Reaction]| {
            reactions.iter().map(|reaction| reaction.content.word()).collect::<Vec<_>>()
        };
        let mut text = format!("{} {:?}\n", discussion.title, words(&discussion.reactions));
        for top in &discussion.comments {
            let said = |comment: &fro_sim::state::Comment| {
                format!("@{} {:?}\n{}\n", comment.author, words(&comment.reactions), normal(&comment.body))
            };
            text.push_str(&said(&top.comment));
            for reply in &top.replies {
                text.push_str("↳ ");
                text.push_str(&said(reply));
            }
        }
        text
    })
}

#[tokio::test]
async fn a_schedule_works_on_its_prompt_and_writes_to_the_run_s_page() {
    for name in forms(["schedule", "workflow_dispatch"]) {
        let sim = Sim::new().await;
        let event = serde_json::json!({ "schedule": "0 6 * * *" });
        let happened = sim.event(name, &event, 0).with("prompt", "Water the beds.");
        let (_, told) = answered(&sim, happened).await;
        let first = task(&told).lines().nth(2);
        assert_eq!(first, Some("Water the beds."), "{told}");
        assert!(sim.run_page().contains("It is the seal."), "{}", sim.run_page());
        assert!(sim.world().traffic().iter().all(|call| call.path == "/graphql" || call.method == "GET"));
        sim.finish().await;
    }
}

#[tokio::test]
async fn a_schedule_without_a_prompt_is_a_failed_run() {
    let sim = Sim::new().await;
    let run = sim.event("schedule", &serde_json::json!({}), 0).with("prompt", "  ").run().await;
    assert_eq!((run.code, sim.world().traffic().len()), (Some(1), 0), "{run}");
    assert_snapshot!(run.errors);
    sim.finish().await;
}

#[tokio::test]
async fn a_call_for_help_is_answered_without_the_engine() {
    let sim = Sim::new().await;
    let run = sim.mention("@fro-bot hlep").run().await;
    assert_eq!((run.code, sim.model().seen().len()), (Some(0), 0), "{run}");
    assert_snapshot!(run.only_comment());
    assert_eq!(run.reactions, ["fro-bot: hooray"]);
    sim.finish().await;
}

#[tokio::test]
async fn a_model_error_is_told_on_the_right_surface() {
    let sim = Sim::new().await;
    let comment = sim.world().change(|state| state.begin_thread(REPO, PULL, "maya", "@fro-bot?").unwrap());
    let event = sim.world().review_comment_event(REPO, comment);
    sim.model().plays(Reply::status(401));
    let run = sim.event("pull_request_review_comment", &event, comment).run().await;
    assert_eq!(run.code, Some(2), "{run}");
    let thread = thread(&sim);
    assert!(
        thread[0].starts_with("@maya [\"confused\"]") && thread[1].contains("(`model_auth`)"),
        "{thread:?}"
    );
    sim.finish().await;
}

#[tokio::test]
async fn a_reply_that_cannot_be_delivered_fails_the_run() {
    let sim = Sim::new().await;
    let comment = sim.world().change(|state| state.begin_thread(REPO, PULL, "maya", "@fro-bot?").unwrap());
    let event = sim.world().review_comment_event(REPO, comment);
    sim.model().says("Nobody will read this.");
    let route = "POST /repos/{owner}/{repo}/pulls/{number}/comments/{comment}/replies";
    sim.world().faults().on(route, FaultKind::Status(503)).always();
    let run = sim.event("pull_request_review_comment", &event, comment).run().await;
    assert_eq!((run.code, thread(&sim).len()), (Some(3), 1), "{run}");
    sim.finish().await;
}
