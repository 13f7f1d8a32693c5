//! The payload of an event: read or refused, and what is read can be decided on.

#![no_main]

use fro_core::{
    Decision, Login, Permission, RepoName,
    event::{self, Event, Reading},
    gate::{self, Answered, Facts, Policy},
    say::marker::Marker,
};
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 10] = [
    "issue_comment",
    "pull_request_review_comment",
    "issues",
    "pull_request",
    "pull_request_target",
    "discussion",
    "discussion_comment",
    "schedule",
    "workflow_dispatch",
    "push",
];

fuzz_target!(|data: &[u8]| {
    let Some((first, payload)) = data.split_first() else { return };
    let payload = String::from_utf8_lossy(payload).into_owned();
    let repo = RepoName::parse("octo/garden").expect("this is a repository's name");
    let name = NAMES[usize::from(*first) % NAMES.len()].to_owned();
    let event = Event { name, payload, repo, actor: Login::new("maya"), prompt: Some("Water.".to_owned()) };
    let Ok(Reading::Trigger(trigger)) = event::read(&event) else { return };
    let policy = Policy::usual();
    drop(gate::glance(&trigger, &policy));
    let facts = Facts { own: Login::new("fro-bot"), permission: Permission::Write, answered: Answered::No };
    if let Decision::Run(permit, _) = gate::decide(&trigger, &facts, &policy) {
        drop((permit.subject(), permit.surface().clone()));
    }
    let marker = Marker::new("42", &trigger).to_string();
    assert_eq!((marker.lines().count(), marker.matches("-->").count()), (1, 1), "{marker}");
});
