//! Sessions that everybody may read, and those that nobody may.

use fro_stories::{ISSUE, REPO, Run, Sim};
use serde_json::Value;

/// Returns the output of a run, if it has one.
fn output(sim: &Sim, name: &str) -> Option<String> {
    let outputs = fs_err::read_to_string(sim.folder().join("output")).unwrap_or_default();
    outputs.lines().find_map(|line| line.strip_prefix(&format!("{name}="))).map(str::to_owned)
}

/// Returns what each share holds.
fn shares(sim: &Sim) -> Vec<Vec<(String, Value)>> {
    sim.world().state(|state| state.shares.iter().map(|share| share.data.clone()).collect())
}

async fn mention(sim: &Sim, share: &str) -> Run {
    sim.mention("@fro-bot why is the floor wet?").with("share", share).run().await
}

#[tokio::test]
async fn a_session_on_a_public_repository_is_shared_and_linked() {
    let sim = Sim::new().await;
    sim.model().says("The hose leaks.");
    let card = sim.mention("@fro-bot why is the floor wet?").with("share", "auto").with("share-card", "true");
    let run = card.run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let shared = sim.world().state(|state| state.shares[0].clone());
    let url = format!("{}/share/{}", sim.world().api_url(), shared.id);
    assert_eq!(output(&sim, "share-url").as_ref(), Some(&url));
    assert!(run.answers[0].contains(&format!("[session]({url})")), "{run}");
    let card = "<img width=\"200\" alt=\"session\" src=\"https://social-cards.sst.dev/opencode-share/";
    assert!(
        run.answers[0].contains(card) && run.answers[0].contains(&format!("| Shared | {url} |")),
        "{run}"
    );

    let kinds: Vec<_> =
        shared.data.iter().map(|(key, _)| key.split('/').next().unwrap_or_default()).collect();
    assert_eq!((kinds[0], &kinds[kinds.len() - 2..]), ("session", &["session_diff", "model"][..]));
    let told = Value::from(shared.data.iter().map(|(_, data)| data.clone()).collect::<Vec<_>>()).to_string();
    assert!(told.contains("The hose leaks.") && told.contains("why is the floor wet?"), "{told}");

    // The same session goes on, and the second answer has a page of its own.
    sim.model().says("The seal leaks.");
    let again = mention(&sim, "auto").await;
    assert_eq!((again.code, shares(&sim).len()), (Some(0), 2), "{again}");
    sim.finish().await;
}

#[tokio::test]
async fn a_private_repository_is_shared_only_if_somebody_says_so() {
    let sim = Sim::new().await;
    sim.world().change(|state| state.repo_mut(fro_stories::REPO).unwrap().private = true);
    sim.model().says("The hose leaks.");
    let run = mention(&sim, "auto").await;
    assert_eq!((run.code, shares(&sim).len(), output(&sim, "share-url")), (Some(0), 0, None), "{run}");
    assert!(!run.answers[0].contains("[session]"), "{run}");
    sim.model().says("The hose leaks.");
    let run = mention(&sim, "true").await;
    assert_eq!((run.code, shares(&sim).len()), (Some(0), 1), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn github_is_asked_who_reads_what_the_event_does_not_tell() {
    let sim = Sim::new().await;
    for (private, expect) in [(false, 1), (true, 1)] {
        sim.world().change(|state| state.repo_mut(REPO).unwrap().private = private);
        let comment = sim.world().write_comment(REPO, ISSUE, "maya", "@fro-bot why is the floor wet?");
        let mut event = sim.world().comment_event(REPO, comment);
        event["repository"].as_object_mut().unwrap().remove("private");
        sim.model().says("The hose leaks.");
        let run = sim.event("issue_comment", &event, comment).with("share", "auto").run().await;
        assert_eq!((run.code, shares(&sim).len()), (Some(0), expect), "private: {private}\n{run}");
    }
    sim.finish().await;
}

#[tokio::test]
async fn a_run_that_nobody_is_to_see_is_not_shared() {
    let sim = Sim::new().await;
    sim.model().says("The hose leaks.");
    let quiet = sim.mention("@fro-bot why is the floor wet?").with("response-mode", "none");
    let run = quiet.with("share", "true").run().await;
    assert_eq!((run.code, shares(&sim).len()), (Some(0), 0), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn a_session_with_a_secret_in_it_is_not_shared() {
    let sim = Sim::new().await;
    let token = sim.world().token("fro-bot");
    sim.model().says(format!("It is {token}."));
    let run = mention(&sim, "true").await;
    assert_eq!((run.code, shares(&sim).len()), (Some(0), 0), "{run}");
    let told = run.only_comment();
    assert!(
        told.contains("the session was not shared: there are") && told.contains("secrets in it"),
        "{told}"
    );
}

#[tokio::test]
async fn a_share_host_that_fails_costs_the_link_and_nothing_else() {
    let sim = Sim::new().await;
    sim.world().faults().on("POST /api/share", fro_sim::FaultKind::Status(500)).always();
    sim.model().says("The hose leaks.");
    let run = mention(&sim, "true").await;
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.only_comment().contains("> ⚠️ the session was not shared: "), "{run}");
    assert_eq!(
        (sim.world().comments_by(fro_stories::REPO, ISSUE, "fro-bot").len(), shares(&sim).len()),
        (1, 0)
    );
    sim.finish().await;
}
