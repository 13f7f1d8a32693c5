//! What an agent changes reaches people: pushed to a branch with a pull request, or told as left behind. The real engine
//! and git, and a little GitHub that takes the push.

use fro_agent::{Agent, Handover, Job, Offer, Process};
use fro_core::delegation::{Claim, DelegatedWork, OutputMode};
use fro_sim::World;
use serde_json::json;

use super::{REPO, ask, job, plan, request, settings};

/// Has the agent run a command in its clone and returns what it hands over.
async fn after(world: &World, command: &str) -> Handover {
    let folder = tempfile::tempdir().unwrap();
    let process = Process::new(settings(world, &folder));
    let (trigger, permit) = request(world, "@fro-bot fix the tap");
    let work = Claim::decide(&trigger, &permit, DelegatedWork::OnRequest, OutputMode::Auto);
    let usual = job(world, &folder);
    clone_from(world, &usual).await;
    let job = Job { permit, work, ..usual };
    let mut agent = Agent::open(&process, &job, &|_| {}).unwrap();
    let running = agent.prepare().await.unwrap().start(Offer::usual()).await.unwrap();
    let mut session = running.open_session(plan(&job, "The tap")).await.unwrap();
    let model = world.model();
    model.calls("bash", json!({ "command": command, "description": "work" }));
    model.says("Done.");
    ask(&mut session, "Fix the tap.").await;
    drop(session);
    let handover = agent.hand_over().await;
    agent.finish().await.cleaned.unwrap();
    handover
}

/// Makes the checkout one of the simulated repository, so that a push has something to go onto.
async fn clone_from(world: &World, job: &Job) {
    fs_err::remove_dir_all(&job.checkout).unwrap();
    let done = tokio::process::Command::new("git")
        .args(["clone", "--quiet", &world.clone_url(REPO)])
        .arg(&job.checkout)
        .status()
        .await;
    assert!(done.unwrap().success());
}

#[tokio::test]
async fn a_push_becomes_a_pull_request_with_the_words_of_the_commit() {
    let world = World::start().await.unwrap();
    let command = "echo '// mended' >> tap.rs && git commit -qam 'Mend the tap' && git push -q origin HEAD";
    let handover = Box::pin(after(&world, command)).await;
    let opened = world.state(|state| {
        let repo = state.repos.iter().find(|repo| repo.full_name() == REPO).unwrap();
        repo.issues.iter().find(|issue| issue.number > 3).map(|issue| (issue.number, issue.title.clone()))
    });
    let (number, title) = opened.unwrap_or_else(|| panic!("no pull request: {handover:?}"));
    assert_eq!(title, "Mend the tap");
    let [note] = handover.notes.as_slice() else { panic!("{handover:?}") };
    assert!(note.contains(&format!("#{number}")), "{note}");
    assert_eq!(handover.links.iter().map(|link| link.what).collect::<Vec<_>>(), ["Pull request", "Commit"]);
    assert_eq!(handover.warnings, [""; 0]);
}

#[tokio::test]
async fn a_change_that_was_not_pushed_is_told_as_left_behind() {
    let world = World::start().await.unwrap();
    let handover = Box::pin(after(&world, "echo '// mended' >> tap.rs")).await;
    let [note] = handover.notes.as_slice() else { panic!("{handover:?}") };
    assert!(note.contains("tap.rs"), "{note}");
    assert_eq!(handover.links.len(), 0);
}

#[tokio::test]
async fn a_push_that_is_refused_is_told_to_a_maintainer() {
    let world = World::start().await.unwrap();
    let command = "echo x >> tap.rs && git commit -qam x && git push -q origin HEAD:main; true";
    let handover = Box::pin(after(&world, command)).await;
    let [warning] = handover.warnings.as_slice() else { panic!("{handover:?}") };
    assert!(warning.contains("main"), "{warning}");
}
