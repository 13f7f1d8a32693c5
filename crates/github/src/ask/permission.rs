//! What may somebody do here?

use fro_core::{Login, Permission};
use serde::Deserialize;

use crate::{
    client::{GitHub, segment},
    error::{Attempted, Error},
};

#[derive(Deserialize)]
struct Collaborator {
    /// One of four words; `maintain` counts as `write` and `triage` as `read`.
    permission: String,
    /// The role itself, which an organisation may have made up.
    role_name: String,
    user: Option<UserId>,
}

#[derive(Deserialize)]
struct UserId {
    id: i64,
}

impl GitHub {
    /// Returns what a person or bot may do in the repository; someone unknown may do nothing.
    pub async fn permission(&self, login: &Login) -> Result<Permission, Error> {
        Ok(self.role(login).await?.map_or(Permission::None, |role| role.permission()))
    }

    /// Returns what an account may do in the repository that was once called this. A name can be given up and taken by
    /// somebody else, who is another number.
    pub async fn permission_of(&self, login: &Login, id: i64) -> Result<Permission, Error> {
        let role = self.role(login).await?;
        let own = role.filter(|role| role.user.as_ref().is_some_and(|user| user.id == id));
        Ok(own.map_or(Permission::None, |role| role.permission()))
    }

    async fn role(&self, login: &Login) -> Result<Option<Collaborator>, Error> {
        let aim =
            Attempted::new(format!("find out what @{login} may do in {}", self.repo()), "metadata: read");
        let path = format!("/repos/{}/collaborators/{}/permission", self.repo(), segment(login.as_str()));
        let answer = match self.get(&path).send().await {
            Err(error) if error.status() == Some(404) => return Ok(None),
            answer => answer.map_err(|error| aim.missed(error))?,
        };
        answer.json().map(Some).map_err(|error| aim.missed(error))
    }
}

impl Collaborator {
    fn permission(&self) -> Permission {
        let known =
            Permission::from_word(&self.role_name).or_else(|| Permission::from_word(&self.permission));
        known.unwrap_or(Permission::None)
    }
}
