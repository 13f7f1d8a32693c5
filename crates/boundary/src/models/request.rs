//! A request of the engine's, held against the plan: a turn of a configured model passes, made of what is on the list
//! of its dialect, and written anew.

use bytes::Bytes;

use crate::models::{
    dialect::ModelPlace,
    fields,
    json::Json,
    plan::{Plan, Route},
    shape::SiftResult,
};

/// A request that passes, as it is sent.
pub(super) struct Admitted<'a> {
    pub(super) route: &'a Route,
    pub(super) url: String,
    pub(super) model: String,
    pub(super) body: Bytes,
    pub(super) sifted: SiftResult,
    /// The most tokens that the answer may have, if the request says so.
    pub(super) most_output: Option<u64>,
}

/// Why a request goes nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ModelRefusal {
    #[error("only POST is passed on")]
    Method,
    #[error("the path `{0}` is not passed on")]
    Path(String),
    #[error("the model `{0}` is not configured")]
    Model(String),
    #[error("the body is no JSON object with one model, and each field once")]
    Body,
    #[error("`{0}` is not passed on to a provider")]
    Part(String),
    #[error("`{0}` has to be in the request itself (`data:`); an address is not passed on to a provider")]
    Remote(String),
    #[error("`{0}` has to be a whole number")]
    Count(&'static str),
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the body did not come within {0} s")]
    TooSlow(u64),
    #[error("the run's budget of ${0} is spent")]
    Budget(String),
}

impl ModelRefusal {
    /// Refuses a word of the client's in its place.
    pub(super) fn part(place: &str, word: &str) -> Self {
        Self::Part(format!("{place} {}", shown(word)).trim_start().to_owned())
    }

    /// Returns the word by which the harness knows its own refusals again.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Budget(_) => "run_budget",
            _ => "run_proxy",
        }
    }

    /// Returns a status that the engine takes for final.
    pub(super) fn status(&self) -> u16 {
        match self {
            Self::Budget(_) => 402,
            Self::TooLarge(_) => 413,
            Self::Body | Self::Count(_) => 400,
            Self::Method
            | Self::Path(_)
            | Self::Model(_)
            | Self::Part(_)
            | Self::Remote(_)
            | Self::TooSlow(_) => 403,
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
    ) -> Result<Admitted<'_>, ModelRefusal> {
        let refused = || ModelRefusal::Path(shown(path));
        let (id, rest) = path.trim_start_matches('/').split_once('/').ok_or_else(refused)?;
        let route = self.routes.get(id).ok_or_else(refused)?;
        if !route.dialect.admits(rest, &route.models) {
            return Err(refused());
        }
        let query = match query {
            Some(query) if query.split('&').all(is_known) => format!("?{query}"),
            Some(_) => return Err(refused()),
            None => String::new(),
        };
        let mut json = Json::parse(body).ok_or(ModelRefusal::Body)?;
        let model = match route.dialect.model_place() {
            ModelPlace::Body => json.get("model").and_then(Json::as_text).ok_or(ModelRefusal::Body)?,
            ModelPlace::Path => rest.split(['/', ':']).nth(1).unwrap_or_default(),
        };
        let model = model.to_owned();
        if !route.models.contains(&model) {
            return Err(ModelRefusal::Model(shown(&model)));
        }
        let mut sifted = SiftResult::default();
        sifted
            .body(&mut json, fields::select(route.dialect, rest), |name, value| route.wants(name, value))?;
        let most_output = most_output(&json)?;
        let body = serde_json::to_vec(&json).map_err(|_| ModelRefusal::Body)?.into();
        let url = format!("{}/{rest}{query}", route.base);
        Ok(Admitted { route, url, model, body, sifted, most_output })
    }
}

/// Returns a client's words as they are told and logged: short, and on one line.
fn shown(words: &str) -> String {
    words.chars().take(100).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Tells whether a part of a query is one that engines send. Others could be a key, or ask for another kind of answer.
fn is_known(part: &str) -> bool {
    let is_version = |version: &str| {
        !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    matches!(part, "alt=sse" | "beta=true") || part.strip_prefix("api-version=").is_some_and(is_version)
}

/// Returns the most tokens that an answer may have. Of several names, nobody knows which one the provider goes by.
fn most_output(body: &Json) -> Result<Option<u64>, ModelRefusal> {
    let ours =
        ["max_completion_tokens", "max_tokens", "max_output_tokens"].map(|name| (body.get(name), name));
    let google = body.get("generationConfig").and_then(|config| config.get("maxOutputTokens"));
    let mut most = None;
    for (limit, name) in ours.into_iter().chain([(google, "maxOutputTokens")]) {
        match limit {
            None | Some(Json::Null) => {}
            // Another provider might read it as a number.
            Some(limit) => most = most.max(Some(limit.as_count().ok_or(ModelRefusal::Count(name))?)),
        }
    }
    Ok(most)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::models::Keys;

    #[track_caller]
    fn check(path: &str, body: &str, expected: &str) {
        let keys = Keys::parse(r#"{"google": {"type": "api", "key": "k-0123456789"}}"#).unwrap();
        let config = json!({"provider": {"mine": {
            "npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "http://10.0.0.5/v1"},
        }}, "small_model": "google/gemini-x"});
        let plan = Plan::draw(&config, Some("mine/m1"), &keys).unwrap();
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
            r#"{"model": "m1", "stop": [{"model": "y"}]}"#,
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
            "the body is no JSON object with one model, and each field once",
        );
        check(
            "/mine/chat/completions",
            r#"{"model": "m2", "mod\u0065l": "m1"}"#,
            "the body is no JSON object with one model, and each field once",
        );
        check(
            "/mine/chat/completions",
            "{}",
            "the body is no JSON object with one model, and each field once",
        );
        check(
            "/mine/chat/completions",
            r#"{"model": ["m1"]}"#,
            "the body is no JSON object with one model, and each field once",
        );
        check(
            "/mine/chat/completions",
            r#"[{"model": "m1"}]"#,
            "the body is no JSON object with one model, and each field once",
        );
        check(
            "/mine/chat/completions",
            r#"{"model": "m1"} {"model": "m2"}"#,
            "the body is no JSON object with one model, and each field once",
        );
    }
}
