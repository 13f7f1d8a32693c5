//! What a payload must have, so that everything that it lacks is named at once: a deserializer stops at the first.

use serde_json::Value;

/// Returns the fields without which an event cannot be read.
fn fields(event: &str) -> &'static [&'static str] {
    match event {
        "issue_comment" => &["action", "comment.id", "comment.body", "issue.number", "repository.full_name"],
        "pull_request_review_comment" => &[
            "action",
            "comment.id",
            "comment.body",
            "comment.path",
            "pull_request.number",
            "pull_request.head.sha",
            "repository.full_name",
        ],
        "issues" => &["action", "issue.number", "repository.full_name"],
        "pull_request" | "pull_request_target" => {
            &["action", "pull_request.number", "pull_request.head.sha", "repository.full_name"]
        }
        "discussion" => &["action", "discussion.number", "discussion.node_id", "repository.full_name"],
        "discussion_comment" => &[
            "action",
            "comment.id",
            "comment.node_id",
            "comment.body",
            "discussion.number",
            "discussion.node_id",
            "repository.full_name",
        ],
        _ => &[],
    }
}

/// Returns the fields that a payload lacks; none if it is no JSON at all.
pub(super) fn missing(event: &str, payload: &str) -> Vec<&'static str> {
    let Ok(payload) = serde_json::from_str::<Value>(payload) else { return Vec::new() };
    let lacks = |field: &&&str| {
        let value = field.split('.').try_fold(&payload, |value, part| value.get(part));
        value.is_none_or(Value::is_null)
    };
    fields(event).iter().filter(lacks).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::super::{read, tests::event};
    use super::*;

    const EVENTS: [&str; 7] = [
        "issue_comment",
        "pull_request_review_comment",
        "issues",
        "pull_request",
        "pull_request_target",
        "discussion",
        "discussion_comment",
    ];

    /// Returns a payload of an event with these fields and nothing else.
    fn with(event: &str, fields: &[&str]) -> Value {
        let is_new = event.contains("comment") || event.contains("discussion");
        let mut payload = Value::Null;
        for field in fields {
            let value = match *field {
                "action" if is_new => "created".into(),
                "action" => "opened".into(),
                "repository.full_name" => "octo/garden".into(),
                name if ["number", "id"].contains(&name.rsplit('.').next().unwrap_or_default()) => 7.into(),
                _ => "x".into(),
            };
            let at = field.split('.').fold(&mut payload, |value, part| &mut value[part]);
            *at = value;
        }
        payload
    }

    #[test]
    fn a_payload_with_the_required_fields_can_be_read_and_without_any_of_them_it_cannot() {
        for name in EVENTS {
            let all = fields(name);
            assert!(read(&event(name, &with(name, all).to_string())).is_ok(), "{name}");
            for field in all {
                let rest: Vec<_> = all.iter().copied().filter(|other| other != field).collect();
                let fault = read(&event(name, &with(name, &rest).to_string())).unwrap_err();
                let expect = format!("cannot read the event `{name}`: its payload has no `{field}`");
                assert_eq!(fault.what(), expect);
            }
        }
    }

    #[test]
    fn everything_that_is_missing_is_named_at_once() {
        let payload = with("pull_request", &["action", "repository.full_name", "issue.number"]).to_string();
        let fault = read(&event("pull_request", &payload)).unwrap_err();
        insta::assert_snapshot!(fault.what(), @"cannot read the event `pull_request`: its payload has no `pull_request.number`, `pull_request.head.sha`");
        assert_eq!(missing("issue_comment", "{").len(), 0, "what is no JSON has no fields");
    }
}
