//! A cancelled job: the runner asks twice, then kills, and the step after cleans up what is left.

use fro_sim::model::Reply;
use fro_stories::{Run, Signal, Sim, signal};
use serde_json::json;

/// Lets the step after the run do its work, and checks that nothing is left open.
async fn clean_up(sim: &Sim, cancelled: &Run) {
    let post = sim.mention("").again(cancelled.comment).by_node().post().run().await;
    assert_eq!((post.code, post.answers.len(), post.reactions.len()), (Some(0), 0, 0), "{post}");
    assert_eq!(sim.labels(), ["bug"]);
}

/// Asks again on the same issue, and checks that the cancelled run is remembered.
async fn go_on(sim: &Sim) {
    sim.model().says("It is.");
    let next = sim.mention("@fro-bot well?").variable("GITHUB_RUN_ID", "43").run().await;
    assert_eq!(next.code, Some(0), "{next}");
    let seen = sim.model().seen();
    let (first, last) = (seen.first().unwrap(), seen.last().unwrap());
    assert_eq!(first.session, last.session);
    assert!(last.render().contains("is it the brass coupling?"), "{}", last.render());
}

#[tokio::test]
async fn a_run_that_is_asked_to_stop_ends_with_everything_in_order() {
    let sim = Sim::new().await;
    sim.model().plays(Reply::stall());
    let run = sim.mention("@fro-bot is it the brass coupling?").by_node().start();
    sim.model().wait_for_calls(1).await;
    let cancelled = run.cancel().await;
    assert_eq!(cancelled.code, Some(130), "{cancelled}");
    assert!(cancelled.log.contains("memory saved: 1 session"), "{cancelled}");
    clean_up(&sim, &cancelled).await;
    go_on(&sim).await;
    sim.finish().await;
}

/// The shell, and a child that has left its process group, will not hear of it.
#[tokio::test]
async fn a_shell_that_does_not_listen_is_gone_all_the_same() {
    let sim = Sim::new().await;
    let deaf = "trap '' INT TERM HUP; setsid sh -c \"trap '' INT TERM HUP; echo begun > begun; sleep 300\" & sleep 300";
    sim.model().calls("bash", json!({"command": deaf, "description": "Sleeps", "timeout": 600_000}));
    let run = sim.mention("@fro-bot is it the brass coupling?").by_node().start();
    sim.wait_for_file("begun").await;
    let cancelled = run.cancel().await;
    clean_up(&sim, &cancelled).await;
    go_on(&sim).await;
    sim.finish().await;
}

#[tokio::test]
async fn a_run_that_hangs_is_killed_and_the_step_after_puts_it_in_order() {
    let sim = Sim::new().await;
    sim.model().plays(Reply::stall());
    let run = sim.mention("@fro-bot is it the brass coupling?").by_node().start();
    sim.model().wait_for_calls(1).await;
    signal(run.harness(), Signal::STOP);
    let cancelled = run.cancel().await;
    assert_eq!((cancelled.code, cancelled.reactions.len()), (None, 1), "{cancelled}");
    clean_up(&sim, &cancelled).await;
    go_on(&sim).await;
    sim.finish().await;
}
