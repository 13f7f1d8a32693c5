//! What the reviewer's inputs come to, and what is said about those that cannot be meant.

use fro_core::Fault;
use fro_run::Settings;
use jiff::Timestamp;

use super::*;
use crate::settings::of_action;

fn read(inputs: &[(&str, &str)]) -> Result<Settings, Fault> {
    let variable =
        |(name, value): &(&str, &str)| (format!("INPUT_{}", name.to_uppercase()), (*value).to_owned());
    let given = [
        ("FRO_ROLE", "review"),
        ("GITHUB_REPOSITORY", "octo/garden"),
        ("GITHUB_STEP_SUMMARY", "page.md"),
        ("INPUT_GITHUB-TOKEN", "t"),
    ];
    let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let env = Env::from_variables(inputs.iter().map(variable).chain(given));
    of_action(&env, "schedule", String::new(), Timestamp::UNIX_EPOCH).map(|(settings, _)| settings)
}

fn check_thresholds(inputs: &[(&str, &str)], expect: (u8, usize, u8)) {
    let told = read(inputs).unwrap().review.thresholds;
    assert_eq!((told.problem.get(), told.elevation, told.blocking.get()), expect, "{inputs:?}");
}

#[test]
fn thresholds_are_what_is_given_and_the_usual_ones_otherwise() {
    check_thresholds(&[], (5, 5, 9));
    check_thresholds(&[("problem_score_threshold", "6"), ("score_elevation_threshold", "3")], (6, 3, 9));
    check_thresholds(&[("blocking_score_threshold", "7")], (5, 5, 7));
    // The older name counts where the other is left out.
    check_thresholds(&[("problem_threshold", "7")], (7, 5, 9));
    check_thresholds(&[("problem_threshold", "7"), ("problem_score_threshold", "3")], (3, 5, 9));
    check_thresholds(&[("problem_threshold", "7"), ("problem_score_threshold", "")], (7, 5, 9));
    // What is not said cannot block.
    check_thresholds(&[("problem_score_threshold", "10")], (10, 5, 10));
}

#[test]
fn what_cannot_be_meant_is_told() {
    let wrong = [
        &[("problem_score_threshold", "0")][..],
        &[("problem_score_threshold", "11")],
        &[("problem_threshold", "high")],
        &[("score_elevation_threshold", "1")],
        &[("problem_score_threshold", "7"), ("blocking_score_threshold", "6")],
        &[("sensitive_data", "yes")],
        &[("generated_files", "hidden")],
        &[("enable_web", "on")],
        &[("check_run", "1")],
        &[("web_search_url", "https://search.example.org/?q={query}")],
        &[("opencode_api_key", "planted-key-0123456789")],
    ];
    let told = wrong.map(|inputs| {
        let told = read(inputs).expect_err("it is told").what().to_owned();
        assert!(!told.contains("planted-key"), "{told}");
        told
    });
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn the_reviewer_has_a_name_of_its_own_and_looks_at_no_drafts() {
    let settings = read(&[]).unwrap();
    assert_eq!(settings.policy.role, Role::Reviewer);
    assert_eq!(settings.policy.mention.as_str(), "review-my-code-bot");
    assert_eq!(settings.policy.drafts, fro_core::gate::DraftPulls::Skipped);
    let review = settings.review;
    assert!(review.web.is_none() && review.state_key.is_none(), "{review:?}");
    assert_eq!((review.declared, review.generated), (Declared::Unsaid, Generated::Named));
    assert_eq!(review.check_runs, CheckRuns::Off);
    let called = read(&[("mention", "@second-pair-of-eyes")]).unwrap();
    assert_eq!(called.policy.mention.as_str(), "second-pair-of-eyes");
    let given =
        read(&[("enable_web", "true"), ("sensitive_data", "true"), ("state_key", "k")]).unwrap().review;
    assert!(given.web.is_some() && given.state_key.is_some());
    assert_eq!(given.declared, Declared::Sensitive);
}

#[test]
fn one_key_is_the_key_of_the_model_s_provider() {
    let key = ("opencode_api_key", "planted-key-0123456789");
    let given = read(&[("model", "openrouter/some/model"), key]).unwrap();
    let keys = format!("{:?}", given.agent.engine.keys);
    assert!(keys.contains("openrouter") && !keys.contains("planted-key"), "{keys}");
    assert_eq!(given.policy.secrets, fro_core::gate::Secrets::Given);
}
