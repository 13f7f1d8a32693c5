//! How an answer is delivered: folded when it is outdated, cut when it is too long, quiet when nobody is to be told.

use std::{path::Path, time::Duration};

use fro_sim::{FaultKind, state::Comment};
use fro_stories::{REPO, Sim, normal};
use insta::assert_snapshot;

const PULL: u64 = 2;
const GRAPHQL: &str = "POST /graphql";

/// Pushes a commit to the branch of the pull request, as its author does.
async fn push(sim: &Sim, folder: &Path) {
    let token = sim.world().token("maya");
    let address = sim.world().clone_url(REPO).replace("://", &format!("://x-access-token:{token}@"));
    let script = format!(
        "git clone -q --branch new-seal {address} . 2>/dev/null || git pull -q; echo wet >> tap.rs; \
         git -c user.name=Maya -c user.email=maya@garden.example commit -qam 'Wet it' && git push -q"
    );
    let mut shell = tokio::process::Command::new("sh");
    shell.args(["-c", &script]).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
    assert!(shell.status().await.is_ok_and(|status| status.success()), "the push failed");
}

/// Returns our comments on the pull request, each with why it is folded.
fn comments(sim: &Sim, number: u64) -> Vec<(String, Option<String>)> {
    sim.world().state(|state| {
        let comments = state.issue(REPO, number).expect("it is there").comments.iter();
        let own = comments.filter(|comment| comment.author == "fro-bot");
        own.map(|Comment { body, minimized, .. }| (normal(body), minimized.clone())).collect()
    })
}

/// Returns why each of our reviews is folded.
fn reviews(sim: &Sim) -> Vec<Option<String>> {
    sim.world().state(|state| {
        let pull = state.issue(REPO, PULL).and_then(|issue| issue.pull.as_ref()).expect("it is there");
        pull.reviews.iter().map(|review| review.minimized.clone()).collect()
    })
}

#[tokio::test]
async fn a_new_push_folds_the_answers_to_earlier_ones() {
    let (sim, clone) = (Sim::new().await, tempfile::TempDir::new().unwrap());
    let remark = serde_json::json!([{ "path": "tap.rs", "line": 6, "body": "Silicone is fine." }]);
    sim.model().calls("answer_draft", serde_json::json!({ "body": "One remark.", "comments": remark }));
    sim.model().says("I have handed it in.");
    let opened = sim.world().pull_event(REPO, PULL, "opened", "maya");
    let first = sim.event("pull_request", &opened, 0).run().await;
    assert_eq!((first.code, reviews(&sim)), (Some(0), vec![None]), "{first}");

    // What people say, what others wrote in our words, and what somebody asked for stay as they are.
    sim.model().says("As you asked.");
    let asked = sim.world().write_comment(REPO, PULL, "maya", "@fro-bot why?");
    let asked = sim.world().comment_event(REPO, asked);
    sim.event("issue_comment", &asked, 0).variable("GITHUB_RUN_ID", "43").run().await;
    sim.world().write_comment(REPO, PULL, "mallory", "<!-- fro-bot run=1 event=pull-2-0123 -->\nNot ours.");

    push(&sim, clone.path()).await;
    sim.model().says("The seal is right.");
    let pushed = sim.world().pull_event(REPO, PULL, "synchronize", "maya");
    let second = sim.event("pull_request", &pushed, 0).variable("GITHUB_RUN_ID", "44").run().await;
    assert_eq!((second.code, reviews(&sim)), (Some(0), vec![Some("outdated".to_owned())]), "{second}");

    push(&sim, clone.path()).await;
    sim.model().says("Still right.");
    let pushed = sim.world().pull_event(REPO, PULL, "synchronize", "maya");
    sim.event("pull_request", &pushed, 0).variable("GITHUB_RUN_ID", "45").run().await;
    let folded: Vec<_> = comments(&sim, PULL).into_iter().map(|(_, folded)| folded).collect();
    assert_eq!(folded, [None, Some("outdated".to_owned()), None]);
    let others = sim.world().state(|state| {
        let comments = &state.issue(REPO, PULL).unwrap().comments;
        comments.iter().filter(|comment| comment.author != "fro-bot").all(|other| other.minimized.is_none())
    });
    assert!(others);
    sim.finish().await;
}

#[tokio::test]
async fn a_second_attempt_at_an_older_push_does_not_fold_the_newer_answer() {
    let (sim, clone) = (Sim::new().await, tempfile::TempDir::new().unwrap());
    let opened = sim.world().pull_event(REPO, PULL, "opened", "maya");
    sim.model().says("The first.");
    sim.event("pull_request", &opened, 0).run().await;
    push(&sim, clone.path()).await;
    let pushed = sim.world().pull_event(REPO, PULL, "synchronize", "maya");
    sim.model().says("The second.");
    sim.event("pull_request", &pushed, 0).variable("GITHUB_RUN_ID", "43").run().await;
    sim.model().says("The first, again.");
    let again = sim.event("pull_request", &opened, 0).run().await;
    assert_eq!(again.code, Some(0), "{again}");
    let told: Vec<_> = comments(&sim, PULL)
        .into_iter()
        .map(|(body, folded)| (body.lines().nth(1).unwrap_or_default().to_owned(), folded))
        .collect();
    let expect =
        [("The first, again.".to_owned(), Some("outdated".to_owned())), ("The second.".to_owned(), None)];
    assert_eq!(told, expect);
    sim.finish().await;
}

#[tokio::test]
async fn a_summary_can_stand_in_a_comment_of_its_own() {
    let sim = Sim::new().await;
    sim.model().says("The hose leaks.");
    let first = sim.mention("@fro-bot why?").with("summary", "separate").run().await;
    let [answer, summary] = first.answers.as_slice() else { panic!("{first}") };
    assert_snapshot!(normal(answer));
    assert_snapshot!(normal(summary));

    // A second attempt edits both.
    sim.model().says("The seal leaks.");
    let again = sim.mention("").again(first.comment).with("summary", "separate").run().await;
    assert_eq!((again.code, again.answers.len()), (Some(0), 2), "{again}");
    assert!(
        again.answers[0].contains("The seal leaks.") && again.answers[1].contains("part=summary"),
        "{again}"
    );
    sim.finish().await;
}

#[tokio::test]
async fn a_run_that_is_not_to_respond_leaves_everything_on_its_page() {
    let sim = Sim::new().await;
    sim.model().says("The hose leaks.");
    let run = sim.mention("@fro-bot why?").with("response-mode", "none").run().await;
    assert_eq!((run.code, run.answers.len(), run.reactions.len()), (Some(0), 0, 0), "{run}");
    let page = sim.run_page();
    assert!(page.contains("The hose leaks.") && page.contains("| Event | `issue_comment` |"), "{page}");
    let reads = sim.world().traffic().iter().all(|call| call.path == "/graphql" || call.method == "GET");
    assert!(reads, "{:?}", sim.world().traffic());
    sim.finish().await;
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_whole_on_the_run_s_page() {
    let sim = Sim::new().await;
    let long = "It is wet. ".repeat(9_000);
    sim.model().says(format!("{long}\n\nThe end."));
    let run = sim.mention("@fro-bot why?").run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let comment = run.only_comment();
    assert!(comment.len() < 65_536 && !comment.contains("The end."), "{}", comment.len());
    let link =
        format!("the whole answer is on [the run's page]({}/{REPO}/actions/runs/42)", sim.world().api_url());
    assert!(run.answers[0].contains(&link), "{}", &run.answers[0][60_000..]);
    assert!(sim.run_page().contains("The end."));
    sim.finish().await;
}

#[tokio::test]
async fn every_run_accounts_for_itself_on_its_page_and_in_its_outputs() {
    let sim = Sim::new().await;
    sim.model().says("The hose leaks.");
    let run = sim.mention("@fro-bot why?").run().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert_snapshot!(normal(&sim.run_page()));
    let outputs = fs_err::read_to_string(sim.folder().join("output")).unwrap();
    let value = |name: &str| {
        let line = outputs.lines().find_map(|line| line.strip_prefix(&format!("{name}=")));
        line.unwrap_or_else(|| panic!("no `{name}` in {outputs}")).to_owned()
    };
    assert!(value("duration").parse::<u64>().unwrap() < 600);
    assert!(value("cost").parse::<f64>().unwrap() > 0.0);
    let tokens: serde_json::Value = serde_json::from_str(&value("tokens")).unwrap();
    assert!(tokens["input"].as_u64().unwrap() > 0 && tokens["output"].as_u64().unwrap() > 0, "{tokens}");
    assert!(value("comment-url").starts_with("http") && value("session-id").starts_with("ses_"));
    sim.finish().await;
}

#[tokio::test]
async fn an_answer_that_cannot_be_posted_is_not_lost() {
    let sim = Sim::new().await;
    sim.model().says("The hose leaks.");
    let route = "POST /repos/{owner}/{repo}/issues/{number}/comments";
    sim.world().faults().on(route, FaultKind::Status(403)).always();
    let run = sim.mention("@fro-bot why?").run().await;
    assert!(run.code != Some(0) && run.answers.is_empty(), "{run}");
    let outputs = fs_err::read_to_string(sim.folder().join("output")).unwrap();
    assert!(!outputs.contains("comment-url"), "{outputs}");
    let page = sim.run_page();
    assert!(
        page.contains("> ❌ The answer could not be posted.") && page.contains("The hose leaks."),
        "{page}"
    );
    sim.finish().await;
}

#[tokio::test]
async fn without_graphql_an_earlier_review_is_found_all_the_same() {
    let sim = Sim::new().await;
    let remark = serde_json::json!([{ "path": "tap.rs", "line": 6, "body": "Silicone is fine." }]);
    sim.model().calls("answer_draft", serde_json::json!({ "body": "One remark.", "comments": remark }));
    sim.model().says("I have handed it in.");
    let event = sim.world().pull_event(REPO, PULL, "opened", "maya");
    let first = sim.event("pull_request", &event, 0).run().await;
    assert_eq!(first.code, Some(0), "{first}");

    // Who we are is still told, then nothing more.
    sim.world().faults().on(GRAPHQL, FaultKind::Delay(Duration::ZERO)).times(1);
    sim.world().faults().on(GRAPHQL, FaultKind::Status(502)).always();
    sim.model().says("The seal is right.");
    let again = sim.event("pull_request", &event, 0).run().await;
    assert_eq!((again.code, reviews(&sim).len(), comments(&sim, PULL).len()), (Some(0), 1, 0), "{again}");
    sim.finish().await;
}

#[tokio::test]
async fn an_earlier_answer_is_found_however_much_was_said_since() {
    let sim = Sim::new().await;
    sim.model().says("First.");
    let first = sim.mention("@fro-bot why?").run().await;
    for n in 0..60 {
        sim.world().write_comment(REPO, 1, "rita", &format!("Me too, {n}."));
    }
    sim.model().says("Second.");
    let second = sim.mention("").again(first.comment).run().await;
    assert_eq!(second.code, Some(0), "{second}");
    assert!(second.only_comment().contains("Second."), "{second}");
    sim.finish().await;
}
