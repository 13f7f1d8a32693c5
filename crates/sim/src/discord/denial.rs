//! How Discord says no: a status, a code of its own and a sentence.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

/// A refusal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Denial {
    status: StatusCode,
    code: u32,
    message: String,
    errors: Option<Value>,
}

impl Denial {
    pub(crate) fn unauthorized() -> Self {
        Self::new(401, 0, "401: Unauthorized")
    }

    /// No such address.
    pub(crate) fn no_route() -> Self {
        Self::new(404, 0, "404: Not Found")
    }

    /// The channel is not for the bot to see.
    pub(crate) fn no_access() -> Self {
        Self::new(403, 50001, "Missing Access")
    }

    /// The bot sees it, but may not do this.
    pub(crate) fn no_permission() -> Self {
        Self::new(403, 50013, "Missing Permissions")
    }

    pub(crate) fn unknown(what: Unknown) -> Self {
        let (code, name) = match what {
            Unknown::Channel => (10003, "Unknown Channel"),
            Unknown::Guild => (10004, "Unknown Guild"),
            Unknown::Member => (10007, "Unknown Member"),
            Unknown::Message => (10008, "Unknown Message"),
            Unknown::Webhook => (10015, "Unknown Webhook"),
            Unknown::Interaction => (10062, "Unknown interaction"),
            Unknown::Application => (10002, "Unknown Application"),
        };
        Self::new(404, code, name)
    }

    /// Something else, in Discord's own number and words.
    pub(crate) fn new(status: u16, code: u32, message: &str) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, code, message: message.to_owned(), errors: None }
    }

    /// A part of the form cannot be taken: where it is, and why.
    pub(crate) fn form(path: &str, code: &str, message: &str) -> Self {
        let reason = json!({ "_errors": [{ "code": code, "message": message }] });
        let errors = path.rsplit('.').fold(reason, |inner, part| json!({ part: inner }));
        Self { errors: Some(errors), ..Self::new(400, 50035, "Invalid Form Body") }
    }

    /// A text or list of the form is too long.
    pub(crate) fn too_long(path: &str, most: usize) -> Self {
        Self::form(path, "BASE_TYPE_MAX_LENGTH", &format!("Must be {most} or fewer in length."))
    }

    /// The form lacks something.
    pub(crate) fn required(path: &str) -> Self {
        Self::form(path, "BASE_TYPE_REQUIRED", "This field is required")
    }
}

/// What was not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    Application,
    Channel,
    Guild,
    Interaction,
    Member,
    Message,
    Webhook,
}

impl IntoResponse for Denial {
    fn into_response(self) -> Response {
        let mut body = json!({ "message": self.message, "code": self.code });
        if let Some(errors) = self.errors {
            body["errors"] = errors;
        }
        (self.status, Json(body)).into_response()
    }
}
