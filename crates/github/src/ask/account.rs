//! Under which name and address do our commits stand?

use fro_core::Login;
use serde::Deserialize;

use crate::{
    client::GitHub,
    error::{Attempted, Error},
};

/// An account by its login and its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The login; an App's ends with `[bot]`.
    pub login: Login,
    /// The number, which makes the address of its commits.
    pub id: u64,
}

impl Account {
    /// Returns the address that GitHub knows its commits by.
    pub fn email(&self) -> String {
        format!("{}+{}@users.noreply.github.com", self.id, self.login)
    }
}

#[derive(Deserialize)]
struct AccountAnswer {
    viewer: ViewerAccount,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ViewerAccount {
    login: Login,
    database_id: u64,
}

impl GitHub {
    /// Returns the account that our token belongs to, with its number.
    pub async fn account(&self) -> Result<Account, Error> {
        let aim = Attempted::new("find out under which name to commit", "metadata: read");
        let data: AccountAnswer =
            self.ask(include_str!("account.graphql"), ()).await.map_err(|cause| aim.missed(cause))?;
        Ok(Account { login: data.viewer.login, id: data.viewer.database_id })
    }
}
