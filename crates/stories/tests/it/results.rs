//! A result for later steps: JSON that fits the operator's schema.

use fro_stories::Sim;
use serde_json::json;

const SCHEMA: &str = r#"{ "type": "object", "required": ["severity"], "properties": { "severity": { "type": "integer", "maximum": 5 } } }"#;

#[tokio::test]
async fn the_agent_hands_in_a_result_until_it_fits() {
    let sim = Sim::new().await;
    let (model, output) = (sim.model(), sim.folder().join("output"));
    model.calls("result_submit", json!({ "severity": 9 }));
    model.calls("result_submit", json!({ "severity": 4 }));
    model.says("It is urgent.");
    let run = sim.mention("@fro-bot how bad is it?").with("output-schema", SCHEMA);
    let run = run.variable("GITHUB_OUTPUT", &output).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let told = model.seen()[1].tool_results().concat();
    assert!(told.contains("`/severity`: 9 is greater than the maximum of 5"), "{told}");
    let handed = fs_err::read_to_string(output).unwrap();
    let result: Vec<_> = handed.lines().filter(|line| line.starts_with("structured-output=")).collect();
    assert_eq!(result, [r#"structured-output={"severity":4}"#]);
    assert!(run.only_comment().contains("It is urgent."), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn a_result_that_is_missing_is_told_in_the_summary() {
    let sim = Sim::new().await;
    sim.model().says("It is urgent.");
    let run = sim.mention("@fro-bot how bad is it?").with("output-schema", SCHEMA).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let comment = run.only_comment();
    assert!(comment.contains("the agent handed in no result that fits"), "{comment}");
    sim.finish().await;
}
