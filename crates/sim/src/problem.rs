//! Refusals in GitHub's own words and shapes.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

/// Why a request is refused.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    message: String,
    errors: Vec<Value>,
}

impl Problem {
    pub(crate) fn bad_credentials() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "Bad credentials")
    }

    pub(crate) fn requires_authentication() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "Requires authentication")
    }

    /// Whoever asks is not who they say, in these words.
    pub(crate) fn unauthorized(message: &str) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, message)
    }

    /// The token is good, but not for this.
    pub(crate) fn not_accessible() -> Self {
        Self::forbidden("Resource not accessible by integration")
    }

    pub(crate) fn forbidden(message: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    /// This cannot be done to it as it is.
    pub(crate) fn not_allowed(message: &str) -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, message)
    }

    /// What is wanted does not go with how things stand.
    pub(crate) fn conflict(message: &str) -> Self {
        Self::new(StatusCode::CONFLICT, message)
    }

    /// It is not there any more, or switched off.
    pub(crate) fn gone(message: &str) -> Self {
        Self::new(StatusCode::GONE, message)
    }

    pub(crate) fn not_found() -> Self {
        Self::missing("Not Found")
    }

    /// Not there, with words of its own.
    pub(crate) fn missing(message: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    pub(crate) fn no_json() -> Self {
        Self::new(StatusCode::BAD_REQUEST, "Problems parsing JSON")
    }

    /// The body is JSON, but not what a route can take.
    pub(crate) fn no_object() -> Self {
        Self::new(StatusCode::BAD_REQUEST, "Body should be a JSON object")
    }

    /// The body lacks something that must be there.
    pub(crate) fn not_supplied(field: &str) -> Self {
        let message = format!("Invalid request.\n\n\"{field}\" wasn't supplied.");
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, &message)
    }

    /// The body is well formed but cannot be taken.
    pub(crate) fn invalid(error: Value) -> Self {
        Self { errors: vec![error], ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Validation Failed") }
    }

    /// Something in the body cannot be, as reviews say it: in a plain sentence.
    pub(crate) fn unprocessable_entity(sentence: &str) -> Self {
        let errors = vec![sentence.into()];
        Self { errors, ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Unprocessable Entity") }
    }

    /// Something in the body cannot be, in these words.
    pub(crate) fn unprocessable(message: &str) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// It would be too much.
    pub(crate) fn too_large(message: &str, error: Value) -> Self {
        Self { errors: vec![error], ..Self::new(StatusCode::NOT_ACCEPTABLE, message) }
    }

    fn new(status: StatusCode, message: &str) -> Self {
        Self { status, message: message.to_owned(), errors: Vec::new() }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut body = json!({
            "message": self.message,
            "documentation_url": "https://docs.github.com/rest",
            "status": self.status.as_str(),
        });
        if !self.errors.is_empty() {
            body["errors"] = self.errors.into();
        }
        (self.status, Json(body)).into_response()
    }
}
