//! `fro-bot review` on a clone: findings are printed, and nothing is posted.

use fro_stories::{Mention, Sim, wrong_in_sarif};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::reviewer::{MANUAL, SWELLS, finding, posts, submits_all, tap, writes};

/// Lets somebody type `fro-bot review` in the checkout.
fn typed<'a>(sim: &'a Sim, arguments: &[&str]) -> Mention<'a> {
    sim.event("none", &json!({}), 0).typed("review", arguments)
}

#[tokio::test]
async fn what_is_staged_is_reviewed_before_it_is_committed() {
    let sim = Sim::new().await;
    sim.stage("tap.rs", &tap("", "let seal = \"silicone\";"));
    posts(&sim, finding("tap.rs", 7, SWELLS, 7));
    posts(&sim, finding("tap.rs", 5, MANUAL, 3));
    submits_all(&sim, 1..=4);
    let run = typed(&sim, &["--staged"]).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let head = regex::Regex::new(r"in [0-9a-f]{7}").expect("it is sound");
    assert_snapshot!(head.replace_all(&run.log, "in …"));
    assert_eq!(sim.world().calls(), [""; 0], "GitHub is not even asked");
    let told = sim.model().seen().first().expect("it was asked").last_user();
    assert!(told.contains("+    let seal = \"silicone\";"), "{told}");
    sim.finish().await;
}

#[tokio::test]
async fn a_range_is_told_as_sarif_and_fails_at_the_gate() {
    let sim = Sim::new().await;
    sim.commit("tap.rs", &tap("", "let seal = \"silicone\";"));
    sim.commit("new hose.rs", "fn hose() {}\n");
    posts(&sim, finding("tap.rs", 7, SWELLS, 9));
    posts(&sim, finding("new hose.rs", 1, MANUAL, 5));
    submits_all(&sim, 1..=4);
    let run = typed(&sim, &["main~2..main", "--sarif"]).run().await;
    assert_eq!(run.code, Some(5), "{run}");
    assert_eq!(wrong_in_sarif(&run.log), "", "{run}");
    let told: Value = serde_json::from_str(&run.log).expect("nothing else is printed");
    let results = told["runs"][0]["results"].as_array().expect("there are results");
    let levels: Vec<_> = results.iter().map(|result| &result["level"]).collect();
    assert_eq!(levels, ["warning", "error"]);
    assert!(
        !wrong_in_sarif(&run.log.replace("\"warning\"", "\"loud\"")).is_empty(),
        "the schema is looked at"
    );
    sim.finish().await;
}

#[tokio::test]
async fn a_pull_request_is_reviewed_from_a_clone_and_hears_nothing_of_it() {
    let sim = Sim::cloned().await;
    posts(&sim, finding("tap.rs", 7, SWELLS, 7));
    submits_all(&sim, 1..=4);
    let run = typed(&sim, &["--pr", "2", "--json"]).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let told: Value = serde_json::from_str(&run.log).expect("nothing else is printed");
    assert_eq!(told["findings"][0]["finding"], SWELLS);
    assert!(writes(&sim).iter().all(|call| call == "POST /graphql"), "{:?}", writes(&sim));
    assert!(!sim.world().traffic().iter().any(|call| call.request.contains("mutation")));
    sim.finish().await;
}

#[tokio::test]
async fn what_cannot_be_reviewed_is_named() {
    let sim = Sim::new().await;
    let same = typed(&sim, &["main"]).run().await;
    let told = [
        same.errors,
        typed(&sim, &["nowhere..main"]).run().await.errors,
        typed(&sim, &["--staged"]).run().await.errors,
        typed(&sim, &["--pr", "2"]).variable("INPUT_GITHUB-TOKEN", "").run().await.errors,
        typed(&sim, &["main", "--input", "problem_score_treshold=7"]).run().await.errors,
        typed(&sim, &["main"]).variable("GITHUB_WORKSPACE", "/").run().await.errors,
    ];
    assert_snapshot!(told.join("\n---8<---\n"));
    assert_eq!(same.code, Some(0));
    sim.finish().await;
}
