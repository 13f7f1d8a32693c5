//! Who did something, as GraphQL writes it.

use fro_core::Login;
use serde::{Deserialize, Deserializer, de};

#[derive(Deserialize)]
pub(crate) struct Actor {
    __typename: String,
    login: String,
}

impl Actor {
    /// Returns the login as REST and events write it: GraphQL leaves the `[bot]` out.
    pub(crate) fn login(self) -> Login {
        match self.__typename.as_str() {
            "Bot" if !self.login.ends_with("[bot]") => Login::new(self.login + "[bot]"),
            _ => Login::new(self.login),
        }
    }
}

/// Reads GraphQL's `BigInt`, which comes as a text.
pub(crate) fn big<'de, D: Deserializer<'de>>(value: D) -> Result<u64, D::Error> {
    let digits = String::deserialize(value)?;
    digits.parse().map_err(|_| de::Error::custom("expected a whole number in quotes"))
}
