//! What GitHub answered in JSON, before `gh` has it: without what opens something, and without what other repositories say.

use fro_core::RepoName;
use serde_json::Value;

/// Fields that open something.
const CREDENTIALS: [&str; 1] = ["temp_clone_token"];

/// What of an issue of another repository is told.
const NAMES: [&str; 7] = ["html_url", "number", "pull_request", "repository_url", "state", "title", "url"];

/// What is told of whoever the token belongs to: what everybody sees.
const PUBLIC: [&str; 8] = ["avatar_url", "html_url", "id", "login", "name", "node_id", "type", "url"];

/// Takes everything out of what GitHub says of the token's owner that not everybody sees.
pub(super) fn leave_public(owner: &mut Value) {
    if let Value::Object(fields) = owner {
        fields.retain(|name, _| PUBLIC.contains(&name.as_str()));
    }
}

/// Takes out of an answer what is not for the agent, and tells whether there was anything.
pub(super) fn prune(answer: &mut Value, repo: &RepoName) -> bool {
    match answer {
        Value::Object(fields) => {
            let before = fields.len();
            fields.retain(|name, _| !CREDENTIALS.contains(&name.as_str()));
            let place = fields.get("repository_url").and_then(Value::as_str);
            if place.is_some_and(|place| !is_of(place, repo)) {
                fields.retain(|name, _| NAMES.contains(&name.as_str()));
            }
            let pruned = fields.len() < before;
            fields.values_mut().fold(pruned, |pruned, value| prune(value, repo) || pruned)
        }
        Value::Array(items) => {
            items.iter_mut().filter_map(|item| prune(item, repo).then_some(())).count() > 0
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn is_of(place: &str, repo: &RepoName) -> bool {
    let own = format!("/repos/{repo}");
    let end = place.len().checked_sub(own.len()).and_then(|start| place.get(start..));
    end.is_some_and(|end| end.eq_ignore_ascii_case(&own))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_another_repository_says_is_told_by_its_title() {
        let issue = |repo: &str| json!({ "number": 1, "title": "T", "body": "B", "user": {}, "repository_url": format!("https://api.github.com/repos/{repo}") });
        let mut answer = json!([{ "event": "cross-referenced", "source": { "issue": issue("octo/cellar") } }, issue("Octo/Garden")]);
        assert!(prune(&mut answer, &RepoName::parse("octo/garden").unwrap()));
        let told = json!([
            { "event": "cross-referenced", "source": { "issue": { "number": 1, "title": "T", "repository_url": "https://api.github.com/repos/octo/cellar" } } },
            issue("Octo/Garden"),
        ]);
        assert_eq!(answer, told);
    }

    #[test]
    fn of_the_owner_everybody_s_knowledge_is_told() {
        let mut owner = json!({ "login": "maya", "id": 7, "email": "maya@home.example", "plan": {}, "two_factor_authentication": true });
        leave_public(&mut owner);
        assert_eq!(owner, json!({ "login": "maya", "id": 7 }));
    }

    #[test]
    fn a_token_for_cloning_is_not_told() {
        let mut answer =
            json!({ "id": 1, "temp_clone_token": "ABCD", "parent": { "temp_clone_token": null } });
        assert!(prune(&mut answer, &RepoName::parse("octo/garden").unwrap()));
        assert_eq!(answer, json!({ "id": 1, "parent": {} }));
    }
}
