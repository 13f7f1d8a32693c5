//! The lists of what a request may be made of, one for each dialect.

mod chat;
mod google;
mod messages;
mod responses;

use crate::models::{dialect::Dialect, shape::Fields};

/// Returns the fields of a turn at a path below a provider's base.
pub(super) fn select(dialect: Dialect, path: &str) -> Fields {
    match dialect {
        Dialect::Messages => messages::BODY,
        Dialect::Google => google::BODY,
        Dialect::Responses | Dialect::Azure if path == "responses" => responses::BODY,
        Dialect::Chat | Dialect::Responses | Dialect::Azure => chat::BODY,
    }
}
