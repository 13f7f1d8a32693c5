//! What the reviewer takes up, in whose name, and what it leaves alone.

use super::*;
use crate::{
    event::{Event, Reading, read},
    gate::{Answered, Decision, Facts, decide},
    names::Permission,
};

const NAME: &str = "review-my-code-bot";

fn policy() -> Policy {
    Policy { role: Role::Reviewer, mention: Login::new(NAME), ..Policy::usual() }
}

fn happened(name: &str, payload: &str) -> Reading {
    let event = Event {
        name: name.to_owned(),
        payload: payload.to_owned(),
        repo: crate::names::RepoName::parse("octo/garden").unwrap(),
        actor: Login::new("maya"),
        prompt: None,
    };
    read(&event).unwrap()
}

fn beside_code(author: &str, reply_to: &str, body: &str) -> String {
    format!(
        r#"{{"action": "created", "repository": {{"full_name": "octo/garden"}},
            "comment": {{"id": 55, {reply_to} "body": {}, "user": {{"login": "{author}"}}, "path": "tap.rs"}},
            "pull_request": {{"number": 2, "head": {{"sha": "a1", "repo": {{"full_name": "octo/garden"}}}}}}}}"#,
        serde_json::Value::from(body)
    )
}

fn pull(action: &str, draft: bool) -> String {
    format!(
        r#"{{"action": "{action}", "repository": {{"full_name": "octo/garden"}}, "sender": {{"login": "rita"}},
            "pull_request": {{"number": 2, "body": "", "user": {{"login": "rita"}}, "draft": {draft},
                              "head": {{"sha": "a1", "repo": {{"full_name": "octo/garden"}}}}}}}}"#
    )
}

fn comment(on_pull: bool, body: &str) -> String {
    let pull = if on_pull { r#", "pull_request": {}"# } else { "" };
    format!(
        r#"{{"action": "created", "repository": {{"full_name": "octo/garden"}}, "issue": {{"number": 2{pull}}},
            "comment": {{"id": 9, "body": "{body}", "user": {{"login": "maya"}}}}}}"#
    )
}

fn describe_decision(name: &str, payload: &str, permission: Permission) -> String {
    let trigger = match happened(name, payload) {
        Reading::Trigger(trigger) => trigger,
        Reading::Skip(reason) => return reason.word().to_owned(),
    };
    let facts = Facts { own: Login::new("fro-bot[bot]"), permission, answered: Answered::No };
    match decide(&trigger, &facts, &policy()) {
        Decision::Run(permit, task) => {
            format!("{task:?} for {}: {:?}", permit.asker(), permit.reach())
        }
        Decision::Skip(reason) => reason.word().to_owned(),
    }
}

#[test]
fn pull_requests_are_reviewed_when_they_are_new_ready_or_changed() {
    for action in ["opened", "synchronize", "reopened", "ready_for_review"] {
        for event in ["pull_request", "pull_request_target"] {
            let decided = describe_decision(event, &pull(action, false), Permission::None);
            assert_eq!(decided, "Review(Unasked) for rita: ReadOnly", "{event} {action}");
        }
        assert_eq!(describe_decision("pull_request", &pull(action, true), Permission::None), "draft_pr");
    }
    assert_eq!(
        describe_decision("pull_request", &pull("closed", false), Permission::None),
        "action_not_supported"
    );
}

#[test]
fn a_mention_asks_for_a_review_or_a_question_even_on_drafts() {
    let table = [
        ("@review-my-code-bot", "Review(Asked) for maya: Answer"),
        ("@review-my-code-bot review", "Review(Asked) for maya: Answer"),
        ("@review-my-code-bot, please review this again", "Review(Asked) for maya: Answer"),
        ("@review-my-code-bot why is 42 wrong?", "Answer for maya: Answer"),
        ("looks good", "no_mention"),
    ];
    for (words, expect) in table {
        assert_eq!(
            describe_decision("issue_comment", &comment(true, words), Permission::Write),
            expect,
            "{words}"
        );
    }
    let mention = comment(true, "@review-my-code-bot");
    assert_eq!(describe_decision("issue_comment", &mention, Permission::Read), "unauthorized_author");
}

#[test]
fn a_reply_is_heard_whoever_wrote_it_but_not_our_own() {
    let reply = r#""in_reply_to_id": 50,"#;
    let heard = |author, to, body| {
        describe_decision("pull_request_review_comment", &beside_code(author, to, body), Permission::None)
    };
    assert_eq!(heard("rita", reply, "It cannot be empty."), "Review(Reply { root: 50 }) for rita: ReadOnly");
    assert_eq!(heard("rita", "", "Nice."), "no_reply");
    assert_eq!(heard("fro-bot[bot]", reply, "Because."), "self_comment");
    assert_eq!(heard("maya", reply, "It stands.\n\n```rmcoc\n{}\n```"), "self_comment");
    assert_eq!(
        heard("rita", reply, "> It stands.\n>\n> ```rmcoc\n> {}\n> ```\n\nIt does not."),
        "Review(Reply { root: 50 }) for rita: ReadOnly",
        "a quoted block is not ours"
    );
    let answer = "<!-- fro-bot run=42 event=review-comment-55 -->\nBecause water is wet.";
    assert_eq!(
        heard("maya", reply, answer),
        "self_comment",
        "with a person's token it is written by a person"
    );
    assert_eq!(heard("rita", reply, "@review-my-code-bot why?"), "unauthorized_author");
}

#[test]
fn what_is_not_about_a_pull_request_is_left_alone() {
    assert_eq!(
        describe_decision("issue_comment", &comment(false, "@review-my-code-bot"), Permission::Write),
        "no_pull_request"
    );
    assert_eq!(describe_decision("merge_group", "{}", Permission::Write), "unsupported_event");
}
