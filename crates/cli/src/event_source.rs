//! The event that a run answers: that of the workflow run, or one that was made up to try things out.

use fro_core::{Fault, RepoName};
use serde_json::{Map, Value, json};

use crate::{
    env::{self, Env},
    report,
};

/// Where sessions are shared that nobody but a developer asked for.
const MOCK_SHARE_HOST: &str = "https://dev.opncd.ai";

/// An event, and the environment that goes with it.
#[derive(Debug)]
pub(crate) struct EventSource {
    pub(crate) env: Env,
    pub(crate) name: String,
    pub(crate) payload: String,
}

impl EventSource {
    /// Reads what the workflow run is about: `MOCK_EVENT` if there is one and it may count, else the runner's event.
    pub(crate) fn in_workflow(env: &Env) -> Result<Self, Fault> {
        match env.text(env::MOCK_EVENT) {
            Some(text) if is_mocking_allowed(env) => Self::made_up(env, "the variable `MOCK_EVENT`", text),
            Some(_) => {
                report::warn(env, IGNORED);
                Self::really(env)
            }
            None => Self::really(env),
        }
    }

    /// Reads a made-up event, which everything afterwards takes for real.
    pub(crate) fn made_up(env: &Env, origin: &str, text: &str) -> Result<Self, Fault> {
        if !is_mocking_allowed(env) {
            return Err(Fault::yours(format!("{origin} holds a made-up event, and `CI` is `true`"), ALLOW));
        }
        let mock = Mock::read(text).map_err(|why| Fault::yours(format!("{origin} {why}"), EXAMPLE))?;
        report::warn(env, &format!("the event is made up: {origin} stands in for it"));
        let mut instead = vec![
            (env::GITHUB_REPOSITORY.to_owned(), mock.repo.to_string()),
            (env::GITHUB_ACTOR.to_owned(), mock.actor),
        ];
        let token = env.text(env::MOCK_TOKEN).map(str::to_owned);
        instead.extend(token.map(|token| ("INPUT_GITHUB-TOKEN".to_owned(), token)));
        if env.text(env::FRO_SHARE_URL).is_none() {
            instead.push((env::FRO_SHARE_URL.to_owned(), MOCK_SHARE_HOST.to_owned()));
        }
        Ok(Self { env: env.with(instead), name: mock.name, payload: mock.payload.to_string() })
    }

    /// Returns the repository that it happened in.
    pub(crate) fn repo(&self) -> Option<RepoName> {
        self.env.text(env::GITHUB_REPOSITORY).and_then(|name| RepoName::parse(name).ok())
    }

    fn really(env: &Env) -> Result<Self, Fault> {
        let unset = |name: &str| Fault::yours(format!("the variable `{name}` is not set"), ELSEWHERE);
        let name = env.text(env::GITHUB_EVENT_NAME).ok_or_else(|| unset(env::GITHUB_EVENT_NAME))?;
        let path = env.text(env::GITHUB_EVENT_PATH).ok_or_else(|| unset(env::GITHUB_EVENT_PATH))?;
        let payload = fs_err::read_to_string(path).map_err(|error| {
            Fault::yours(
                format!("cannot read the event file: {error}"),
                "`GITHUB_EVENT_PATH` names the file with the event's payload",
            )
        })?;
        Ok(Self { env: env.clone(), name: name.to_owned(), payload })
    }
}

const ELSEWHERE: &str = "`fro-bot action` is started by a workflow; to answer an event of your own try \
                         `fro-bot run --event FILE`, and to see a whole run on this machine `fro-bot demo`";

const IGNORED: &str =
    "the variable `MOCK_EVENT` is ignored: `CI` is `true` and the input `allow-mock-event` is not";

const ALLOW: &str = "in a workflow made-up events need the input `allow-mock-event: true`";

const EXAMPLE: &str = r#"it reads like {"eventName": "issue_comment", "payload": {…}, "repo": {"owner": "octo", "repo": "garden"}, "actor": "maya"}"#;

/// Tells whether made-up events count: on a developer's machine, or where a workflow says so.
fn is_mocking_allowed(env: &Env) -> bool {
    env.text(env::CI) != Some("true") || env.input("allow-mock-event") == Some("true")
}

/// A made-up event.
#[derive(Debug, PartialEq, Eq)]
struct Mock {
    name: String,
    payload: Value,
    repo: RepoName,
    actor: String,
}

impl Mock {
    /// Reads it, or names everything that is wrong with it.
    fn read(text: &str) -> Result<Self, String> {
        let told: Value = serde_json::from_str(text).map_err(|error| format!("is not JSON: {error}"))?;
        let Value::Object(told) = told else { return Err("is not a JSON object".to_owned()) };
        let word = |name: &str| told.get(name).and_then(Value::as_str).filter(|word| !word.is_empty());
        let payload = told.get("payload").and_then(Value::as_object);
        match (word("eventName"), payload, repo(&told), word("actor")) {
            (Some(name), Some(payload), Some(repo), Some(actor)) => Ok(Self {
                name: name.to_owned(),
                payload: placed(payload.clone(), &repo),
                repo,
                actor: actor.to_owned(),
            }),
            (name, payload, repo, actor) => {
                let wrong = [
                    (name.is_none(), "`eventName` (a text)"),
                    (payload.is_none(), "`payload` (an object)"),
                    (repo.is_none(), "`repo` (an object with `owner` and `repo`, or `owner/repo`)"),
                    (actor.is_none(), "`actor` (a text)"),
                ];
                let wrong: Vec<_> = wrong.into_iter().filter(|(bad, _)| *bad).map(|(_, what)| what).collect();
                Err(format!("has no usable {}", wrong.join(", ")))
            }
        }
    }
}

fn repo(told: &Map<String, Value>) -> Option<RepoName> {
    let name = match told.get("repo")? {
        Value::String(name) => name.clone(),
        parts => format!("{}/{}", parts.get("owner")?.as_str()?, parts.get("repo")?.as_str()?),
    };
    RepoName::parse(&name).ok()
}

/// Says in the payload too where it happened, as GitHub does.
fn placed(mut payload: Map<String, Value>, repo: &RepoName) -> Value {
    payload.entry("repository").or_insert_with(|| json!({ "full_name": repo.to_string() }));
    Value::Object(payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOCK: &str = r#"{"eventName": "issues", "payload": {"action": "opened"},
                           "repo": {"owner": "octo", "repo": "garden"}, "actor": "maya"}"#;

    fn env(pairs: &[(&str, &str)]) -> Env {
        Env::from_variables(pairs.iter().copied())
    }

    #[test]
    fn a_made_up_event_stands_in_for_the_real_one() {
        let happened =
            EventSource::in_workflow(&env(&[("MOCK_EVENT", MOCK), ("MOCK_TOKEN", "t-1")])).unwrap();
        assert_eq!(happened.name, "issues");
        assert_eq!(happened.payload, r#"{"action":"opened","repository":{"full_name":"octo/garden"}}"#);
        let told = |name| happened.env.text(name);
        assert_eq!((told("GITHUB_REPOSITORY"), told("GITHUB_ACTOR")), (Some("octo/garden"), Some("maya")));
        assert_eq!(happened.env.input("github-token"), Some("t-1"));
        assert_eq!(told("FRO_SHARE_URL"), Some(MOCK_SHARE_HOST));
    }

    #[test]
    fn in_a_workflow_it_counts_only_if_the_workflow_says_so() {
        let given = [("MOCK_EVENT", MOCK), ("CI", "true")];
        let ignored = EventSource::in_workflow(&env(&given)).unwrap_err();
        assert_eq!(ignored.what(), "the variable `GITHUB_EVENT_NAME` is not set");
        let refused = EventSource::made_up(&env(&given), "the file `x`", MOCK).unwrap_err();
        assert_eq!(refused.what(), "the file `x` holds a made-up event, and `CI` is `true`");
        let allowed = [given[0], given[1], ("INPUT_ALLOW-MOCK-EVENT", "true")];
        assert_eq!(EventSource::in_workflow(&env(&allowed)).unwrap().name, "issues");
    }

    #[test]
    fn everything_that_is_wrong_with_it_is_named() {
        let told = |text: &str| Mock::read(text).unwrap_err();
        insta::assert_snapshot!([told("{"), told("[]"), told("{}"), told(&MOCK.replace("octo", "../x"))].join("\n"), @"
        is not JSON: EOF while parsing an object at line 1 column 1
        is not a JSON object
        has no usable `eventName` (a text), `payload` (an object), `repo` (an object with `owner` and `repo`, or `owner/repo`), `actor` (a text)
        has no usable `repo` (an object with `owner` and `repo`, or `owner/repo`)
        ");
        let short = MOCK.replace(r#"{"owner": "octo", "repo": "garden"}"#, "\"octo/garden\"");
        assert_eq!(Mock::read(&short), Mock::read(MOCK));
    }
}
