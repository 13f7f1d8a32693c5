//! Every payload that GitHub's own examples have, decided without a panic; `scripts/payloads` brings them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends by a panic")]

use std::fmt::Write as _;

use fro_core::{
    Decision, Login, Permission, RepoName,
    event::{self, Event, Reading},
    gate::{self, Answered, Facts, Policy},
};
use serde_json::{Value, json};

const EXAMPLES: &str = include_str!(env!("FRO_WEBHOOKS"));

/// What we answer; everything else is to be left alone.
const SUPPORTED: [&str; 7] = [
    "discussion",
    "discussion_comment",
    "issue_comment",
    "issues",
    "pull_request",
    "pull_request_review_comment",
    "workflow_dispatch",
];

/// Decides on a payload, for somebody who may push, with the words that it has.
fn decided(name: &str, payload: &Value) -> String {
    let event = Event {
        name: name.to_owned(),
        payload: payload.to_string(),
        repo: RepoName::parse("octo/garden").unwrap(),
        actor: Login::new("maya"),
        prompt: Some("Water the beds.".to_owned()),
    };
    let trigger = match event::read(&event) {
        Ok(Reading::Trigger(trigger)) => trigger,
        Ok(Reading::Skip(reason)) => return reason.word().to_owned(),
        Err(fault) => return format!("a fault: {}", fault.what()),
    };
    let facts = Facts { own: Login::new("fro-bot"), permission: Permission::Write, answered: Answered::No };
    match gate::decide(&trigger, &facts, &Policy::usual()) {
        Decision::Run(permit, _) => {
            format!("run on {} of {}: {:?}", permit.subject(), permit.repo(), permit.reach())
        }
        Decision::Skip(reason) => reason.word().to_owned(),
    }
}

/// Puts a call for us into every text that people write.
fn calling(mut payload: Value) -> Value {
    for part in ["comment", "issue", "discussion"] {
        if let Some(body) = payload.pointer_mut(&format!("/{part}/body")) {
            *body = "@fro-bot, why?".into();
        }
    }
    // Of an edited text only what the edit added is a call.
    if payload["action"] == "edited" {
        payload["changes"] = json!({ "body": { "from": "Why?" } });
    }
    payload
}

#[test]
fn all_examples_are_decided() {
    let all: Vec<Value> = serde_json::from_str(EXAMPLES).unwrap();
    let (mut n, mut table, mut ignored) = (0, String::new(), 0);
    for event in &all {
        let name = event["name"].as_str().unwrap();
        for example in event["examples"].as_array().unwrap() {
            n += 1;
            let (plain, called) = (decided(name, example), decided(name, &calling(example.clone())));
            if SUPPORTED.contains(&name) {
                let action = example["action"].as_str().unwrap_or("–");
                let called = if called == plain { String::new() } else { format!("; called: {called}") };
                let _ = writeln!(table, "{name} {action}: {plain}{called}");
            } else {
                assert_eq!(
                    (plain.as_str(), called.as_str()),
                    ("unsupported_event", "unsupported_event"),
                    "{name}"
                );
                ignored += 1;
            }
        }
    }
    println!(
        "{n} payloads: {ignored} are of events that are not answered, {} decided one by one",
        n - ignored
    );
    assert_eq!(n, 329);
    insta::assert_snapshot!(table);
}
