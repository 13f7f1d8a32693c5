//! However a run ends, nothing of it stays.

use fro_sim::model::Reply;
use fro_stories::{Signal, Sim, signal};
use serde_json::json;

/// The engine's shell is busy with a child that has left its process group.
fn work_that_lasts(sim: &Sim) {
    let command = "setsid sh -c 'echo begun > begun; sleep 300' & sleep 300";
    sim.model().calls("bash", json!({"command": command, "description": "Sleeps", "timeout": 600_000}));
}

#[tokio::test]
async fn an_interrupted_run_stops_its_engine_and_takes_the_eyes_away() {
    let sim = Sim::new().await;
    work_that_lasts(&sim);
    let run = sim.mention("@fro-bot sleep").start();
    sim.wait_for_file("begun").await;
    signal(run.pid(), Signal::INT);
    let run = run.end().await;
    assert_eq!((run.code, run.answers.len(), run.reactions.len()), (Some(130), 0, 0), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn a_killed_harness_leaves_no_engine() {
    let sim = Sim::new().await;
    work_that_lasts(&sim);
    let run = sim.mention("@fro-bot sleep").start();
    sim.wait_for_file("begun").await;
    signal(run.pid(), Signal::KILL);
    assert_eq!(run.end().await.code, None);
    fs_err::remove_dir_all(sim.temp()).unwrap_or_default();
    fs_err::create_dir_all(sim.temp()).unwrap();
    sim.finish().await;
}

#[tokio::test]
async fn a_run_interrupted_while_the_model_thinks_ends_at_once() {
    let sim = Sim::new().await;
    sim.model().plays(Reply::stall());
    let run = sim.mention("@fro-bot think").start();
    sim.model().wait_for_calls(1).await;
    signal(run.pid(), Signal::TERM);
    assert_eq!(run.end().await.code, Some(130));
    sim.finish().await;
}
