//! A request of the engine's, held against the plan: a turn of a configured model passes, nothing else does.

use std::fmt;

use serde::{
    Deserializer as _,
    de::{IgnoredAny, MapAccess, Visitor},
};

use crate::models::{
    dialect::ModelPlace,
    plan::{Plan, Route},
};

/// Where an admitted request goes.
pub(super) struct Admitted<'a> {
    pub(super) route: &'a Route,
    pub(super) url: String,
    pub(super) model: String,
}

/// Why a request goes nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("only POST is passed on")]
    Method,
    #[error("the path `{0}` is not passed on")]
    Path(String),
    #[error("the model `{0}` is not configured")]
    Model(String),
    #[error("the body does not name one model")]
    Body,
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the run's budget of ${0} is spent")]
    Budget(String),
}

impl Refusal {
    /// Returns the word by which the harness knows its own refusals again.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Budget(_) => "run_budget",
            Self::Method | Self::Path(_) | Self::Model(_) | Self::Body | Self::TooLarge(_) => "run_proxy",
        }
    }

    /// Returns a status that the engine takes for final.
    pub(super) fn status(&self) -> u16 {
        match self {
            Self::Budget(_) => 402,
            Self::TooLarge(_) => 413,
            Self::Method | Self::Path(_) | Self::Model(_) | Self::Body => 403,
        }
    }
}

impl Plan {
    /// Decides on a request to `path`, which begins with the provider's name, with its query.
    pub(super) fn admit(
        &self,
        path: &str,
        query: Option<&str>,
        body: &[u8],
    ) -> Result<Admitted<'_>, Refusal> {
        let refused = || Refusal::Path(path.chars().take(100).collect());
        let (id, rest) = path.trim_start_matches('/').split_once('/').ok_or_else(refused)?;
        let route = self.routes.get(id).ok_or_else(refused)?;
        if !route.dialect.admits(rest, &route.models) {
            return Err(refused());
        }
        let model = match route.dialect.model_place() {
            ModelPlace::Body => named_model(body).ok_or(Refusal::Body)?,
            ModelPlace::Path => {
                let named = rest.split(['/', ':']).nth(1).unwrap_or_default();
                named.to_owned()
            }
        };
        if !route.models.contains(&model) {
            return Err(Refusal::Model(model.chars().take(100).collect()));
        }
        let query = match query {
            Some(query) if is_plain(query) => format!("?{query}"),
            Some(_) => return Err(refused()),
            None => String::new(),
        };
        Ok(Admitted { route, url: format!("{}/{rest}{query}", route.base), model })
    }
}

/// Tells whether a query is of the kind that providers want: `alt=sse`, `api-version=2025-04-01`.
fn is_plain(query: &str) -> bool {
    query.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"=&-._".contains(&byte))
}

/// Returns the body's model if there is exactly one: of two the provider might take the other.
fn named_model(body: &[u8]) -> Option<String> {
    let mut json = serde_json::Deserializer::from_slice(body);
    let model = json.deserialize_map(Model).ok()?;
    json.end().ok()?;
    model
}

struct Model;

impl<'de> Visitor<'de> for Model {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a model")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut models: Vec<String> = Vec::new();
        while let Some(name) = fields.next_key::<String>()? {
            match name.as_str() {
                "model" => models.push(fields.next_value()?),
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        let only = models.pop();
        Ok(only.filter(|_| models.is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::models::Keys;

    #[track_caller]
    fn check(path: &str, body: &str, expected: &str) {
        let config = json!({"provider": {"mine": {
            "npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "http://10.0.0.5/v1"},
        }}, "small_model": "google/gemini-x"});
        let plan = Plan::draw(&config, Some("mine/m1"), &Keys::default()).unwrap();
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let decision = match plan.admit(path, query, body.as_bytes()) {
            Ok(admitted) => admitted.url,
            Err(refusal) => refusal.to_string(),
        };
        assert_eq!(decision, expected);
    }

    #[test]
    fn a_turn_of_the_configured_model_passes() {
        check(
            "/mine/chat/completions",
            r#"{"model": "m1", "x": [{"model": "y"}]}"#,
            "http://10.0.0.5/v1/chat/completions",
        );
        check(
            "/google/models/gemini-x:streamGenerateContent?alt=sse",
            "{}",
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-x:streamGenerateContent?alt=sse",
        );
    }

    #[test]
    fn another_path_does_not() {
        check("/mine/files", r#"{"model": "m1"}"#, "the path `/mine/files` is not passed on");
        check(
            "/mine/chat/completions/",
            r#"{"model": "m1"}"#,
            "the path `/mine/chat/completions/` is not passed on",
        );
        check(
            "/mine/../x/chat/completions",
            r#"{"model": "m1"}"#,
            "the path `/mine/../x/chat/completions` is not passed on",
        );
        check(
            "/other/chat/completions",
            r#"{"model": "m1"}"#,
            "the path `/other/chat/completions` is not passed on",
        );
        check(
            "/mine/chat/completions?a=%2e",
            r#"{"model": "m1"}"#,
            "the path `/mine/chat/completions` is not passed on",
        );
        check(
            "/google/models/gemini-pro:generateContent",
            "{}",
            "the path `/google/models/gemini-pro:generateContent` is not passed on",
        );
    }

    #[test]
    fn another_model_does_not() {
        check("/mine/chat/completions", r#"{"model": "m2"}"#, "the model `m2` is not configured");
        check(
            "/mine/chat/completions",
            r#"{"model": "m2", "model": "m1"}"#,
            "the body does not name one model",
        );
        check(
            "/mine/chat/completions",
            r#"{"model": "m2", "mod\u0065l": "m1"}"#,
            "the body does not name one model",
        );
        check("/mine/chat/completions", "{}", "the body does not name one model");
        check("/mine/chat/completions", r#"{"model": ["m1"]}"#, "the body does not name one model");
        check("/mine/chat/completions", r#"[{"model": "m1"}]"#, "the body does not name one model");
        check(
            "/mine/chat/completions",
            r#"{"model": "m1"} {"model": "m2"}"#,
            "the body does not name one model",
        );
    }
}
