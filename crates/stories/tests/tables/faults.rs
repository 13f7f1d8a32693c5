//! Every route of a run by everything that GitHub can do wrong: an answer, or a red run that says why.

use std::time::Duration;

use fro_sim::FaultKind;
use fro_stories::{Run, Sim};
use serde_json::json;

use crate::{
    happenings::{ALL, Call, HELP, Happening, REQUEST, Request, calls},
    posted::posted,
    table::fill,
};

/// What GitHub does wrong, and how a run that fails by it tells of it.
#[derive(Clone, Copy)]
struct Wrong {
    name: &'static str,
    kind: fn() -> FaultKind,
    told: &'static str,
}

const WRONGS: [Wrong; 8] = [
    Wrong { name: "502", kind: || FaultKind::Status(502), told: "answered 502" },
    Wrong { name: "429, Retry-After", kind: || limited(Some("1")), told: "answered 429" },
    Wrong { name: "429", kind: || limited(None), told: "answered 429" },
    Wrong { name: "cut before", kind: || FaultKind::Dropped, told: "the connection broke" },
    Wrong { name: "cut after", kind: || FaultKind::AnswerCut, told: "the connection broke" },
    Wrong {
        name: "slow",
        kind: || FaultKind::Delay(Duration::from_mins(10)),
        told: "no whole answer within",
    },
    Wrong { name: "malformed", kind: || FaultKind::MalformedJson, told: "cannot be understood" },
    Wrong { name: "oversized", kind: || FaultKind::Oversized(17 << 20), told: "larger than" },
];

fn limited(retry_after: Option<&str>) -> FaultKind {
    let headers = retry_after.map(|wait| ("retry-after".to_owned(), wait.to_owned())).into_iter().collect();
    FaultKind::Answer { status: 429, headers, body: "{\"message\":\"Too many requests\"}".to_owned() }
}

/// Where a fault strikes.
#[derive(Clone, Copy)]
struct Place {
    happening: Happening,
    request: Request,
    script: fn(&Sim),
    call: Call,
}

/// How long it lasts.
#[derive(Clone, Copy)]
enum Lasting {
    Once,
    Always,
}

/// Returns every call of a run that goes well, as a row.
async fn rows(happening: Happening, request: Request, script: fn(&Sim)) -> Vec<(String, Place)> {
    let sim = Sim::new().await;
    script(&sim);
    let run = (happening.begin)(&sim, request.text).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let calls = calls(&sim, 0);
    sim.finish_early().await;
    calls.into_iter().map(|call| (call.name(), Place { happening, request, script, call })).collect()
}

fn columns() -> [(&'static str, Wrong); 8] {
    WRONGS.map(|wrong| (wrong.name, wrong))
}

#[tokio::test]
async fn a_run_survives_every_passing_fault_of_every_route_or_says_why_not() {
    let rows = rows(ALL[0], HELP, |_| ()).await;
    let title = "Routes of a mention by passing faults: what was posted, exit code if red";
    fill(title, &rows, &columns(), async |place, wrong| cell(place, wrong, Lasting::Once).await).await;
}

#[tokio::test]
async fn a_run_on_any_surface_survives_every_lasting_fault_of_every_route_or_says_why_not() {
    for happening in [ALL[0], ALL[2], ALL[12]] {
        let rows = rows(happening, HELP, |_| ()).await;
        let title =
            format!("Routes of {} by lasting faults: what was posted, exit code if red", happening.name);
        fill(&title, &rows, &columns(), async |place, wrong| cell(place, wrong, Lasting::Always).await).await;
    }
}

/// Lets the model hand in a review.
fn review(sim: &Sim) {
    let remark = json!({ "path": "tap.rs", "line": 6, "body": "Silicone is fine." });
    let draft = json!({ "body": REQUEST.model, "comments": [remark] });
    sim.model().calls("answer_draft", draft);
    sim.model().says("I have handed it in.");
}

#[tokio::test]
async fn a_review_survives_every_lasting_fault_of_its_own_routes_or_says_why_not() {
    let mut rows = rows(Happening { place: "review of #2", ..ALL[5] }, REQUEST, review).await;
    rows.retain(|(_, place)| place.call.route.contains("/pulls/"));
    let title = "Routes of a review by lasting faults: what was posted, exit code if red";
    // Each cell needs the engine, and the other table has every kind.
    let columns: Vec<_> = columns().into_iter().step_by(2).collect();
    fill(title, &rows, &columns, async |place, wrong| cell(place, wrong, Lasting::Always).await).await;
}

/// Lets a run meet a fault and tells what came of it.
async fn cell(place: Place, wrong: Wrong, lasting: Lasting) -> String {
    let sim = Sim::new().await;
    (place.script)(&sim);
    let mut mention = (place.happening.begin)(&sim, place.request.text);
    if wrong.name == "slow" {
        mention = mention.variable("FRO_REQUEST_TIMEOUT", "2500");
    }
    let fault = place.call.arm(&sim, (wrong.kind)());
    match lasting {
        Lasting::Once => fault.times(1),
        Lasting::Always => fault.always(),
    }
    let run = mention.run().await;
    let told = judge(&sim, &run, place, wrong);
    sim.finish_early().await;
    told
}

/// An answer, or a red run with the right error; never two answers.
fn judge(sim: &Sim, run: &Run, place: Place, wrong: Wrong) -> String {
    let posted = posted(sim);
    let name = format!("{} × {}: {posted:#?}\n{run}", place.call.name(), wrong.name);
    assert!(posted.len() <= 1, "{name}");
    let is_answer = posted.iter().any(|posted| posted.body.contains(place.request.answer));
    match run.code {
        Some(0) => {
            assert!(is_answer, "{name}");
            "answered".to_owned()
        }
        Some(code) => {
            // What git says of it are git's words.
            let words = if place.call.route.contains(".git") { "git" } else { wrong.told };
            assert!(run.errors.contains(words), "{name}");
            assert_eq!(code, 3, "{name}");
            let left = match (posted.is_empty(), is_answer) {
                (true, _) => "nothing",
                (false, true) => "answer",
                (false, false) => "error told",
            };
            format!("{left}, {code}")
        }
        None => panic!("{name}"),
    }
}
