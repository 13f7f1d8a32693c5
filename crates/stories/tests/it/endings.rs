//! However a run ends, nothing of it stays.

use fro_sim::{model::Reply, state::Clock};
use fro_stories::{ISSUE, REPO, Signal, Sim, signal};
use jiff::{SignedDuration, Timestamp};
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

#[tokio::test]
async fn a_run_that_waited_for_its_runner_hears_what_was_said_meanwhile() {
    let sim = Sim::new().await;
    sim.model().plays(Reply::stall());
    let earlier = Timestamp::now() - SignedDuration::from_mins(5);
    sim.world().change(|state| state.clock = Clock::Counting(earlier));
    let asked = sim.world().write_comment(REPO, ISSUE, "maya", "@fro-bot think");
    sim.world().write_comment(REPO, ISSUE, "maya", "@fro-bot stop");
    sim.world().change(|state| state.clock = Clock::Real);
    let again = |attempt: &str| {
        let run = sim.mention("").again(asked).variable("GITHUB_RUN_ATTEMPT", attempt);
        run.with("timeout", "20000")
    };
    let run = again("1").run().await;
    assert_eq!((run.code, sim.model().seen().len()), (Some(0), 0), "{run}");
    assert!(run.log_and_errors().contains("stopped: @maya said so"), "{run}");
    // Whoever asks for a second attempt does not mean the word of before.
    let run = again("2").run().await;
    assert_eq!((run.code, sim.model().seen().len()), (Some(4), 1), "{run}");
    sim.finish_early().await;
}

#[tokio::test]
async fn a_run_hears_that_somebody_who_may_push_says_stop() {
    let sim = Sim::new().await;
    work_that_lasts(&sim);
    let run = sim.mention("@fro-bot sleep").start();
    sim.wait_for_file("begun").await;
    // A stranger's word, one on another subject and one in passing are heard by nobody.
    let other = sim.world().change(|state| state.open_issue(REPO, "maya", "Another", "")).unwrap();
    sim.world().write_comment(REPO, ISSUE, "mallory", "@fro-bot stop");
    sim.world().write_comment(REPO, other, "maya", "@fro-bot stop");
    sim.world().write_comment(REPO, ISSUE, "maya", "@fro-bot stop the leak, please");
    let stop = sim.mention("@fro-bot stop").variable("GITHUB_RUN_ID", "43").run().await;
    let run = run.end().await;
    assert_eq!((run.code, run.reactions.len()), (Some(0), 0), "{run}");
    assert_eq!(sim.labels(), ["bug"]);
    assert!(run.log_and_errors().contains("stopped: @maya said so"), "{run}");
    assert!(stop.only_comment().contains("Stopped: the work that was under way here has ended."), "{stop}");
    let again = sim.mention("@fro-bot stop").variable("GITHUB_RUN_ID", "44").run().await;
    assert!(again.answers.iter().any(|answer| answer.contains("There is nothing to stop")), "{again}");
    sim.finish().await;
}

/// Returns the supervisor of the engine's wall, below its harness.
fn wall_below(harness: u32) -> Option<u32> {
    let read = |path: String| fs_err::read_to_string(path).unwrap_or_default();
    let children = read(format!("/proc/{harness}/task/{harness}/children"));
    let threads = fs_err::read_dir(format!("/proc/{harness}/task")).ok()?.flatten();
    let lists = threads.map(|thread| read(thread.path().join("children").display().to_string()));
    let children = lists.fold(children, |all, list| all + " " + &list);
    let is_wall = |id: &u32| {
        let words = read(format!("/proc/{id}/cmdline"));
        words.split('\0').nth(1) == Some("wall") && words.contains("opencode")
    };
    children.split_whitespace().filter_map(|id| id.parse().ok()).find(is_wall)
}

#[tokio::test]
async fn of_an_engine_whose_wall_was_killed_nothing_is_believed() {
    // Without namespaces around it, an engine outlives its wall, and whoever plays this would have to end it.
    if !rustix::process::getuid().is_root() {
        return;
    }
    let sim = Sim::cloned().await;
    let command = "echo '// mended' >> tap.rs; echo begun > begun; sleep 300";
    sim.model().calls("bash", json!({"command": command, "description": "Works", "timeout": 600_000}));
    let run = sim.mention("@fro-bot fix it").start();
    sim.wait_for_file("begun").await;
    signal(wall_below(run.pid()).expect("the engine's wall stands"), Signal::KILL);
    let run = run.end().await;
    assert_ne!(run.code, Some(0), "{run}");
    assert!(
        !run.only_comment().contains("mended")
            && run.log_and_errors().contains("the wall's supervisor was killed"),
        "{run}"
    );
    let (listed, _) = sim.command(&["sessions", "list"]);
    assert!(!listed.contains("octo/garden#1"), "{listed}");
    sim.finish_early().await;
}
