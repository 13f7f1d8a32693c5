//! Every trigger by every ending: answered, model error, out of time, delivery refused.

use fro_sim::{FaultKind, model::Reply};
use fro_stories::{Mention, Sim};

use crate::{
    happenings::{ALL, Happening, PAGE, REQUEST},
    posted::{Posted, posted},
    table::fill,
};

/// How a run can end.
#[derive(Clone, Copy)]
struct Ending {
    name: &'static str,
    /// Sets the stage for it.
    arrange: for<'a> fn(&'a Sim, &Happening, Mention<'a>) -> Mention<'a>,
    /// The run's exit code.
    code: i32,
    /// What people read, or nothing if nothing can be posted.
    posted: Option<&'static str>,
    /// What the log says.
    told: &'static str,
}

const ENDINGS: [Ending; 4] = [
    Ending {
        name: "answered",
        arrange: |sim, _, mention| {
            sim.model().says(REQUEST.model);
            mention
        },
        code: 0,
        posted: Some(REQUEST.answer),
        told: "posted: ",
    },
    Ending {
        name: "model error",
        arrange: |sim, _, mention| {
            sim.model().plays(Reply::status(401));
            mention
        },
        code: 2,
        posted: Some("(`model_auth`)"),
        told: "posted: ",
    },
    Ending {
        name: "out of time",
        arrange: |sim, _, mention| {
            sim.model().plays(Reply::stall());
            mention.with("timeout", "15000")
        },
        code: 4,
        posted: Some("(`out_of_time`)"),
        told: "posted: ",
    },
    Ending { name: "delivery refused", arrange: refuse, code: 2, posted: None, told: "hint: " },
];

/// From the moment on that the model is asked, nothing can be posted.
fn refuse<'a>(sim: &'a Sim, happening: &Happening, mention: Mention<'a>) -> Mention<'a> {
    let (faults, route) = (sim.world().faults().clone(), happening.route);
    sim.model().plays(Reply::answering(move |_| {
        if route != PAGE {
            faults.on(route, FaultKind::Status(403)).always();
        }
        Reply::text("Nobody will read this.")
    }));
    match route {
        // A folder stands where the file should be.
        PAGE => mention.variable("GITHUB_STEP_SUMMARY", sim.checkout()),
        _ => mention,
    }
}

#[tokio::test]
async fn every_trigger_ends_in_one_honest_answer_or_in_a_red_run() {
    let rows = ALL.map(|happening| (happening.name.to_owned(), happening));
    let columns = ENDINGS.map(|ending| (ending.name, ending));
    fill("Triggers by endings: where it was posted, exit code", &rows, &columns, cell).await;
}

async fn cell(happening: Happening, ending: Ending) -> String {
    let sim = Sim::new().await;
    let mention = (happening.begin)(&sim, REQUEST.text);
    let run = (ending.arrange)(&sim, &happening, mention).run().await;
    let name = format!("{} × {}", happening.name, ending.name);
    assert_eq!(run.code, Some(ending.code), "{name}: {run}");
    assert!(run.log_and_errors().contains(ending.told), "{name}: {run}");
    let posted = posted(&sim);
    let told = match (posted.as_slice(), ending.posted) {
        ([], None) => "nothing".to_owned(),
        ([Posted { place, body }], Some(text)) => {
            assert_eq!(place, happening.place, "{name}: {body}");
            assert!(body.starts_with("<!-- fro-bot run=42 event="), "{name}: {body}");
            assert!(body.contains(text) && body.contains("<summary>"), "{name}: {body}");
            place.clone()
        }
        (posted, _) => panic!("{name}: {posted:#?}\n{run}"),
    };
    sim.finish_early().await;
    format!("{told}, {}", ending.code)
}
