//! A run that is killed at any moment and started again: never two answers, and none only where the run is red.

use std::time::Duration;

use fro_sim::{FaultKind, model::Reply};
use fro_stories::{Launched, Mention, Sim};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::{
    happenings::{ALL, Call, HELP, Happening, REQUEST, Request, calls},
    posted::{marks, posted},
    table::fill,
};

/// When a run is killed.
#[derive(Clone, Copy)]
enum Moment {
    /// At a request to GitHub.
    At(Call),
    /// When the agent has its clone, and the engine starts.
    EngineStarting,
    /// While the model thinks.
    ModelThinking,
    /// While a tool of the agent works.
    ToolWorking,
}

/// What became of the request by which the run was killed, and what happened before it was run again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It was on its way.
    OnItsWay,
    /// It was done, and nobody heard of it.
    Done,
    /// The same, and the step after the run could still clean up.
    DoneThenPost,
}

/// Which attempt of the run is killed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attempt {
    First,
    Second,
}

#[derive(Clone, Copy)]
struct Row {
    happening: Happening,
    request: Request,
    attempt: Attempt,
    moment: Moment,
}

const FOREVER: Duration = Duration::from_hours(1);
const FATES: [(&str, Fate); 3] = [
    ("on its way", Fate::OnItsWay),
    ("done, answer withheld", Fate::Done),
    ("the same, then `post`", Fate::DoneThenPost),
];

/// Returns a row for every call of a run that goes well.
async fn rows(happening: Happening, request: Request, attempt: Attempt) -> Vec<(String, Row)> {
    let sim = Sim::new().await;
    sim.model().says(request.model);
    let mention = (happening.begin)(&sim, request.text);
    let run = mention.clone().run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let earlier = sim.world().calls().len();
    let calls = match attempt {
        Attempt::First => calls(&sim, 0),
        Attempt::Second => {
            assert_eq!(mention.run().await.code, Some(0));
            calls(&sim, earlier)
        }
    };
    sim.finish_early().await;
    let row = |call: Call| (call.name(), Row { happening, request, attempt, moment: Moment::At(call) });
    calls.into_iter().map(row).collect()
}

#[tokio::test]
async fn a_run_that_is_killed_at_any_request_is_answered_once_when_it_runs_again() {
    for (happening, attempt, word) in [
        (ALL[0], Attempt::First, "first"),
        (ALL[0], Attempt::Second, "second"),
        (ALL[2], Attempt::First, "first"),
        (ALL[12], Attempt::First, "first"),
    ] {
        let name = happening.name;
        let title = format!("{name}, {word} attempt killed: answers after the kill → after it ran again");
        fill(&title, &rows(happening, HELP, attempt).await, &FATES, cell).await;
    }
}

#[tokio::test]
async fn a_run_that_is_killed_while_the_engine_works_is_answered_once_when_it_runs_again() {
    let moments = [
        ("the engine starts", Moment::EngineStarting),
        ("the model thinks", Moment::ModelThinking),
        ("a tool works", Moment::ToolWorking),
    ];
    let row = |moment| Row { happening: ALL[0], request: REQUEST, attempt: Attempt::First, moment };
    let mut all = moments.map(|(name, moment)| (name.to_owned(), row(moment))).to_vec();
    for happening in [ALL[0], ALL[5]] {
        let rows = rows(happening, REQUEST, Attempt::First).await.into_iter();
        let answers = rows.filter(|(name, _)| name.starts_with(happening.route));
        all.extend(answers.map(|(name, row)| (format!("{}: {name}", happening.name), row)));
    }
    fill("Runs with the engine, killed: answers after the kill → after it ran again", &all, &FATES, cell)
        .await;
}

async fn cell(row: Row, fate: Fate) -> String {
    if fate != Fate::OnItsWay && !matches!(row.moment, Moment::At(Call { is_write: true, .. })) {
        return "–".to_owned();
    }
    let sim = Sim::new().await;
    let mention = (row.happening.begin)(&sim, row.request.text);
    if row.attempt == Attempt::Second {
        assert_eq!(mention.clone().run().await.code, Some(0));
    }
    arrange(&sim, row, fate);
    let run = mention.clone().start();
    reach(&sim, row.moment).await;
    kill(&run);
    let killed = run.end().await;
    assert_eq!(killed.code, None, "{killed}");
    sim.world().faults().heal();
    let before = posted(&sim).len();
    if fate == Fate::DoneThenPost {
        let post = mention.clone().post().run().await;
        assert_eq!(post.code, Some(0), "{post}");
        let left = marks(&sim);
        assert!(!left.iter().any(|mark| mark == "eyes" || mark == "agent: working"), "{left:?}\n{post}");
    }
    again(&sim, row, mention).await;
    // What a killed run leaves in the runner's folder goes with the runner.
    fs_err::remove_dir_all(sim.temp()).unwrap();
    fs_err::create_dir(sim.temp()).unwrap();
    sim.finish_early().await;
    format!("{before} → 1")
}

/// Runs again and sees that there is one answer then.
async fn again(sim: &Sim, row: Row, mention: Mention<'_>) {
    if sim.model().unplayed() == 0 {
        sim.model().says(row.request.model);
    }
    let run = mention.run().await;
    let posted = posted(sim);
    assert_eq!(run.code, Some(0), "{run}\n{posted:#?}");
    let [only] = posted.as_slice() else { panic!("{posted:#?}\n{run}") };
    assert_eq!(only.place, row.happening.place, "{run}");
    assert!(only.body.contains(row.request.answer), "{only:#?}\n{run}");
    assert_eq!(marks(sim), ["hooray"], "{run}");
}

/// Sets the trap before the run starts.
fn arrange(sim: &Sim, row: Row, fate: Fate) {
    match row.moment {
        Moment::At(call) => {
            let held = match fate {
                Fate::OnItsWay => FaultKind::Delay(FOREVER),
                Fate::Done | Fate::DoneThenPost => FaultKind::AnswerLate(FOREVER),
            };
            call.arm(sim, held).times(1);
            sim.model().says(row.request.model);
        }
        Moment::EngineStarting => sim.model().says(row.request.model),
        Moment::ModelThinking => sim.model().plays(Reply::stall()),
        Moment::ToolWorking => {
            let command = "touch begun; sleep 600";
            sim.model()
                .calls("bash", json!({ "command": command, "description": "Works", "timeout": 700_000 }));
        }
    }
}

/// Waits until the run is there.
async fn reach(sim: &Sim, moment: Moment) {
    match moment {
        Moment::At(_) => sim.world().faults().wait_until_held().await,
        Moment::EngineStarting => until(|| sim.clone_of_agent().is_some()).await,
        Moment::ModelThinking => sim.model().wait_for_calls(1).await,
        Moment::ToolWorking => {
            until(|| sim.clone_of_agent().is_some_and(|clone| clone.join("begun").exists())).await;
        }
    }
}

async fn until(fact: impl Fn() -> bool) {
    let waiting = async {
        while !fact() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(2), waiting).await.expect("the run gets there");
}

fn kill(run: &Launched<'_>) {
    let pid = Pid::from_raw(i32::try_from(run.pid()).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}
