//! What may somebody do here?

use fro_core::{Login, Permission};
use serde::Deserialize;

use crate::{
    client::{GitHub, segment},
    error::{Aim, Error},
};

#[derive(Deserialize)]
struct Role {
    /// One of four words; `maintain` counts as `write` and `triage` as `read`.
    permission: String,
    /// The role itself, which an organisation may have made up.
    role_name: String,
}

impl GitHub {
    /// Returns what a person or bot may do in the repository; someone unknown may do nothing.
    pub async fn permission(&self, login: &Login) -> Result<Permission, Error> {
        let aim = Aim::new(format!("find out what @{login} may do in {}", self.repo()), "metadata: read");
        let path = format!("/repos/{}/collaborators/{}/permission", self.repo(), segment(login.as_str()));
        let answer = match self.get(&path).send().await {
            Err(error) if error.status() == Some(404) => return Ok(Permission::None),
            answer => answer.map_err(|error| aim.missed(error))?,
        };
        let role: Role = answer.json().map_err(|error| aim.missed(error))?;
        let known =
            Permission::from_word(&role.role_name).or_else(|| Permission::from_word(&role.permission));
        Ok(known.unwrap_or(Permission::None))
    }
}
