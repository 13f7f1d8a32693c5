//! Each event, from its payload to its trigger.

use super::*;
use crate::place::NodeId;

/// Returns an event of octo/garden that maya set off.
pub(crate) fn event(name: &str, payload: &str) -> Event {
    Event {
        name: name.to_owned(),
        payload: payload.to_owned(),
        repo: RepoName::parse("octo/garden").unwrap(),
        actor: Login::new("maya"),
        prompt: Some("Water the beds.".to_owned()),
    }
}

/// Returns what such an event asks for.
pub(crate) fn trigger(name: &str, payload: &str) -> Trigger {
    match read(&event(name, payload)) {
        Ok(Reading::Trigger(trigger)) => trigger,
        other => panic!("{name} is no trigger: {other:?}"),
    }
}

fn skipped(name: &str, payload: &str) -> String {
    match read(&event(name, payload)) {
        Ok(Reading::Skip(reason)) => format!("{}: {reason}", reason.word()),
        other => panic!("{name} is not skipped: {other:?}"),
    }
}

const COMMENT: &str = r#"{
    "action": "created",
    "comment": {"id": 99, "body": "@fro-bot why?", "user": {"login": "maya"}},
    "issue": {"number": 7, "locked": false, "pull_request": {"url": "…"}},
    "repository": {"full_name": "octo/garden"}
}"#;

const REVIEW_COMMENT: &str = r#"{
    "action": "created",
    "comment": {
        "id": 55, "in_reply_to_id": 50, "body": "@fro-bot is this right?", "user": {"login": "maya"},
        "path": "src/main.ts", "line": 42, "original_line": 40, "commit_id": "89e6c98d",
        "diff_hunk": "@@ -10,3 +10,5 @@\n+new code"
    },
    "pull_request": {"number": 2, "locked": false, "head": {"sha": "89e6c98d", "repo": {"full_name": "octo/garden"}}},
    "repository": {"full_name": "octo/garden"}
}"#;

const ISSUE: &str = r#"{
    "action": "opened",
    "issue": {"number": 7, "body": "@fro-bot: it is wet", "user": {"login": "mallory"}, "labels": [{"name": "bug"}]},
    "changes": {"body": {"from": "It is wet"}},
    "sender": {"login": "maya"},
    "repository": {"full_name": "octo/garden"}
}"#;

const PULL: &str = r#"{
    "action": "opened",
    "pull_request": {
        "number": 2, "body": null, "user": {"login": "rita"}, "draft": false, "locked": false, "labels": [],
        "head": {"sha": "89e6c98d", "repo": {"full_name": "octo/garden"}}
    },
    "requested_reviewer": {"login": "fro-bot"},
    "sender": {"login": "maya"},
    "repository": {"full_name": "octo/garden"}
}"#;

const DISCUSSION: &str = r#"{
    "action": "created",
    "discussion": {"number": 5, "node_id": "D_5", "body": "@fro-bot, ideas?", "user": {"login": "maya"}},
    "comment": {"id": 88, "node_id": "DC_88", "body": "@fro-bot more ideas?", "user": {"login": "maya"}},
    "repository": {"full_name": "octo/garden"}
}"#;

/// Returns one trigger of each kind that a prompt or a marker tells apart.
pub(crate) fn all() -> Vec<Trigger> {
    vec![
        trigger("issue_comment", COMMENT),
        trigger("pull_request_review_comment", REVIEW_COMMENT),
        trigger("issues", ISSUE),
        trigger("issues", &ISSUE.replace("opened", "edited")),
        trigger("pull_request", PULL),
        trigger("pull_request", &PULL.replace("opened", "synchronize")),
        trigger("pull_request_target", &PULL.replace("opened", "review_requested")),
        trigger("discussion", DISCUSSION),
        trigger("discussion_comment", DISCUSSION),
        trigger("schedule", "{\"schedule\": \"0 6 * * *\"}"),
        trigger("workflow_dispatch", "{\"inputs\": {}}"),
    ]
}

#[test]
fn every_event_is_read_with_its_place() {
    let told: Vec<_> = all()
        .iter()
        .map(|trigger| {
            let (name, subject, asker) = (trigger.event_name(), trigger.subject(), trigger.asker());
            format!(
                "{name}: {subject}, @{asker}, 👀 on {:?}, answer to {:?}",
                trigger.target(),
                trigger.surface()
            )
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn only_what_happens_to_a_pull_request_names_a_commit() {
    for trigger in all() {
        let named = matches!(trigger, Trigger::Pull(_)).then_some("89e6c98d");
        assert_eq!(trigger.commit(), named, "{}", trigger.event_name());
    }
}

#[test]
fn a_review_comment_knows_its_place_in_the_code() {
    let Trigger::ReviewComment(comment) = trigger("pull_request_review_comment", REVIEW_COMMENT) else {
        panic!("not a review comment")
    };
    let expect = CodePlace {
        path: "src/main.ts".to_owned(),
        line: Some(42),
        original_line: Some(40),
        diff_hunk: "@@ -10,3 +10,5 @@\n+new code".to_owned(),
        commit_id: "89e6c98d".to_owned(),
    };
    assert_eq!((comment.anchor, comment.root, comment.head), (expect, 50, Head::Here));
    let first = REVIEW_COMMENT.replace("\"in_reply_to_id\": 50, ", "");
    let surface = trigger("pull_request_review_comment", &first).surface();
    assert_eq!(surface, Surface::ReviewThread { pull: 2, root: 55 });
}

#[test]
fn a_fork_is_known_by_its_full_name() {
    let head = |payload: &str| match trigger("pull_request", payload) {
        Trigger::Pull(pull) => pull.head,
        other => panic!("{other:?}"),
    };
    assert_eq!(head(PULL), Head::Here);
    assert_eq!(
        head(&PULL.replace("{\"full_name\": \"octo/garden\"}}", "{\"full_name\": \"mallory/garden\"}}")),
        Head::Fork
    );
    assert_eq!(head(&PULL.replace("{\"full_name\": \"octo/garden\"}}", "null}")), Head::Fork);
}

#[test]
fn a_deleted_account_is_a_ghost() {
    let gone = ISSUE.replace("{\"login\": \"mallory\"}", "null");
    assert_eq!(trigger("issues", &gone).asker().as_str(), "ghost");
}

#[test]
fn an_edited_comment_is_not_a_new_one() {
    let expect = "action_not_created: the comment was edited, not created";
    assert_eq!(skipped("issue_comment", &COMMENT.replace("created", "edited")), expect);
    assert_eq!(skipped("discussion_comment", &DISCUSSION.replace("created", "edited")), expect);
    assert_eq!(skipped("pull_request_review_comment", &REVIEW_COMMENT.replace("created", "edited")), expect);
}

#[test]
fn skips_unsupported_actions() {
    let told = [
        skipped("issues", "{\"action\": \"closed\"}"),
        skipped("pull_request", "{\"action\": \"closed\"}"),
        skipped("pull_request_target", "{\"action\": \"labeled\"}"),
        skipped("discussion", "{\"action\": \"answered\"}"),
        skipped("pull_request", "{\"action\": \"review_requested\", \"requested_team\": {}}"),
        skipped("push", "{}"),
    ];
    insta::assert_snapshot!(told.join("\n"), @"
    action_not_supported: `issues` is answered, but not when it is `closed`
    action_not_supported: `pull_request` is answered, but not when it is `closed`
    action_not_supported: `pull_request_target` is answered, but not when it is `labeled`
    action_not_supported: `discussion` is answered, but not when it is `answered`
    others_review: somebody else was asked to review
    unsupported_event: `push` is not an event that fro-bot answers
    ");
}

#[test]
fn classifies_issues_event() {
    assert!(matches!(trigger("issues", ISSUE), Trigger::Issue(_)));
}

#[test]
fn classifies_pull_request_event() {
    assert!(matches!(trigger("pull_request", PULL), Trigger::Pull(_)));
}

#[test]
fn classifies_pull_request_review_comment_event() {
    let read = trigger("pull_request_review_comment", REVIEW_COMMENT);
    assert!(matches!(read, Trigger::ReviewComment(_)));
}

#[test]
fn classifies_schedule_event() {
    let kind = |name: &str| match trigger(name, "{}") {
        Trigger::Order(order) => order.kind,
        other => panic!("{other:?}"),
    };
    assert_eq!(kind("schedule"), OrderKind::Schedule);
    assert_eq!(kind("workflow_dispatch"), OrderKind::Dispatch);
}

#[test]
fn fails_when_prompt_is_empty_for_schedule() {
    for prompt in [None, Some("  \n".to_owned())] {
        let event = Event { prompt, ..event("schedule", "{}") };
        let Ok(Reading::Skip(reason)) = read(&event) else { panic!("not skipped") };
        assert_eq!((reason.word(), reason.fails_the_run()), ("prompt_required", true));
    }
}

#[test]
fn allows_when_prompt_is_provided() {
    assert_eq!(trigger("schedule", "{}").words(), "Water the beds.");
    assert_eq!(trigger("workflow_dispatch", "").words(), "Water the beds.");
}

#[test]
fn a_broken_event_is_named() {
    let told = |payload: &str| read(&event("issue_comment", payload)).unwrap_err().what().to_owned();
    let told = [
        told("{\"action\":"),
        told(&COMMENT.replace("\"id\": 99,", "")),
        told(&COMMENT.replace("octo/garden", "octo/../x")),
    ];
    insta::assert_snapshot!(told.join("\n"), @"
    cannot read the event `issue_comment`: EOF while parsing a value at line 1 column 10
    cannot read the event `issue_comment`: its payload has no `comment.id`
    cannot read the event `issue_comment`: `octo/../x` is not a repository name like `octo/garden`
    ");
}

#[test]
fn a_discussion_is_known_by_its_node() {
    let Trigger::Discussion(discussion) = trigger("discussion", DISCUSSION) else { panic!("not one") };
    assert_eq!((discussion.number, discussion.id), (5, NodeId::new("D_5")));
}
