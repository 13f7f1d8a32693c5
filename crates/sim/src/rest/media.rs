//! Media types: the form in which a client asks for an answer, such as a diff, or people's words as HTML.

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderMap, HeaderValue, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, to_vec};

use crate::page::markdown;

/// What the header `Accept` asks for: `application/vnd.github[.v3][.form][+json]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Media {
    version: &'static str,
    /// Such as `diff` or `full`; empty if nothing in particular is wanted.
    form: String,
    is_json: bool,
}

impl Media {
    pub(super) fn read(headers: &HeaderMap) -> Self {
        let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let mut kinds = accepted.split(',').map(|kind| kind.split(';').next().unwrap_or_default().trim());
        let own = kinds.find_map(|kind| kind.strip_prefix("application/vnd.github"));
        let Some(own) = own else { return Self { version: "", form: String::new(), is_json: true } };
        let (own, is_json) = own.strip_suffix("+json").map_or((own, false), |own| (own, true));
        let (version, form) = own.strip_prefix(".v3").map_or(("", own), |form| (".v3", form));
        Self { version, form: form.trim_start_matches('.').to_owned(), is_json }
    }

    /// Whether this form is wanted.
    pub(super) fn is(&self, form: &str) -> bool {
        self.form == form
    }

    /// What the header `X-GitHub-Media-Type` says was understood.
    pub(super) fn understood(&self) -> String {
        let param = if self.form.is_empty() { String::new() } else { format!("; param={}", self.form) };
        let format = if self.is_json || self.form.is_empty() { "; format=json" } else { "" };
        format!("github.v3{param}{format}")
    }

    /// Answers in the form that was asked for, and says which one it is.
    pub(super) fn answer(&self, body: impl Into<Body>) -> Response {
        let json = if self.is_json { "+json" } else { "" };
        let kind = format!("application/vnd.github{}.{}{json}; charset=utf-8", self.version, self.form);
        ([(header::CONTENT_TYPE, kind)], body.into()).into_response()
    }
}

/// Puts people's words into an answer in the form that was asked for: as text, as HTML, or in all forms.
pub(crate) async fn reword(request: Request, next: Next) -> Response {
    let media = Media::read(request.headers());
    let response = next.run(request).await;
    let json = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if !json || !["text", "html", "full"].contains(&media.form.as_str()) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let Ok(mut told) = serde_json::from_slice::<Value>(&bytes) else {
        return Response::from_parts(parts, bytes.into());
    };
    let listed = if told.is_array() { Some(&mut told) } else { told.get_mut("items") };
    match listed.and_then(Value::as_array_mut) {
        Some(entries) => entries.iter_mut().for_each(|entry| spell(entry, &media.form)),
        None => spell(&mut told, &media.form),
    }
    let bytes = to_vec(&told).unwrap_or_default();
    parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    Response::from_parts(parts, bytes.into())
}

/// Changes the words of one thing that somebody wrote.
fn spell(said: &mut Value, form: &str) {
    let Some(fields) = said.as_object_mut() else { return };
    if !fields.contains_key("user") && !fields.contains_key("author") {
        return;
    }
    let Some(body) = fields.get("body").cloned() else { return };
    let written = |put: fn(&str) -> String| body.as_str().map_or(Value::Null, |body| put(body).into());
    if form != "text" {
        fields.insert("body_html".to_owned(), written(markdown::to_html));
    }
    if form != "html" {
        fields.insert("body_text".to_owned(), written(markdown::to_text));
    }
    if form != "full" {
        fields.remove("body");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(accept: &str) -> Media {
        Media::read(&HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_str(accept).unwrap())]))
    }

    #[test]
    fn what_was_understood_is_said_as_github_says_it() {
        assert_eq!(read("*/*").understood(), "github.v3; format=json");
        assert_eq!(read("application/vnd.github+json").understood(), "github.v3; format=json");
        assert_eq!(
            read("application/vnd.github.full+json").understood(),
            "github.v3; param=full; format=json"
        );
        assert_eq!(
            read("application/vnd.github.v3.full+json"),
            Media { version: ".v3", ..read("application/vnd.github.full+json") }
        );
        assert_eq!(read("application/vnd.github.v3.diff").understood(), "github.v3; param=diff");
    }
}
