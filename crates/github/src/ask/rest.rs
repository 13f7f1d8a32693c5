//! Parts that many of REST's answers have.

use fro_core::Login;
use serde::Deserialize;

/// Whoever wrote something.
#[derive(Deserialize)]
pub(crate) struct RestUser {
    pub(crate) login: Login,
}

/// Whoever wrote something, where it matters whether that is a person.
#[derive(Deserialize)]
pub(crate) struct RestAccount {
    pub(crate) login: Login,
    #[serde(rename = "type", default)]
    kind: String,
}

impl RestAccount {
    /// Tells whether this is an App.
    pub(crate) fn is_bot(&self) -> bool {
        self.kind == "Bot"
    }
}

/// A repository by its name.
#[derive(Deserialize)]
pub(crate) struct RestRepository {
    pub(crate) full_name: String,
}
