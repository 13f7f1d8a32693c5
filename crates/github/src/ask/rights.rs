//! What may our token do here?

use serde::Deserialize;

use crate::{
    client::GitHub,
    error::{Attempted, Error},
};

/// The rights of a token on the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rights {
    /// Whether it may push.
    pub push: bool,
    /// Whether the repository is private.
    pub private: bool,
    /// The scopes of a classic personal access token, which reach beyond this repository.
    pub scopes: Option<String>,
}

#[derive(Deserialize)]
struct OwnRights {
    private: bool,
    #[serde(default)]
    permissions: Permissions,
}

#[derive(Deserialize, Default)]
struct Permissions {
    #[serde(default)]
    push: bool,
}

impl GitHub {
    /// Returns what our token may do in the repository.
    pub async fn rights(&self) -> Result<Rights, Error> {
        let aim = Attempted::new(format!("look at {}", self.repo()), "metadata: read");
        let answer = self.get(&format!("/repos/{}", self.repo())).send().await;
        let answer = answer.map_err(|error| aim.missed(error))?;
        let scopes = answer.header("x-oauth-scopes").filter(|scopes| !scopes.is_empty()).map(str::to_owned);
        let OwnRights { private, permissions } = answer.json().map_err(|error| aim.missed(error))?;
        Ok(Rights { push: permissions.push, private, scopes })
    }
}
