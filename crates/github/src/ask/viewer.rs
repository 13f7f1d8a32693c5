//! Who are we?

use fro_core::Login;
use serde::Deserialize;

use crate::{
    client::GitHub,
    error::{Attempted, Error},
};

#[derive(Deserialize)]
struct ViewerAnswer {
    viewer: ViewerLogin,
}

#[derive(Deserialize)]
struct ViewerLogin {
    login: Login,
}

impl GitHub {
    /// Returns the account that our token belongs to.
    ///
    /// REST's `/user` is closed to the tokens of Apps, a workflow's own among them; GraphQL tells everyone.
    pub async fn viewer(&self) -> Result<Login, Error> {
        let aim = Attempted::new("find out whose token this is", "metadata: read");
        let data: ViewerAnswer =
            self.ask(include_str!("viewer.graphql"), ()).await.map_err(|cause| aim.missed(cause))?;
        Ok(data.viewer.login)
    }
}
