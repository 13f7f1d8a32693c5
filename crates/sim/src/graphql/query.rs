//! The root of all questions.

use std::sync::Arc;

use async_graphql::{Context, ID, Object, Result};

use crate::graphql::{
    Asked,
    actor::Viewer,
    node::{self, Node},
    refusal::missing,
    repository::Repository,
};

pub(super) struct Query;

#[Object]
impl Query {
    /// The account behind the token.
    async fn viewer(&self, context: &Context<'_>) -> Result<Viewer> {
        let asked = context.data::<Arc<Asked>>()?;
        let login = asked.caller.login().unwrap_or_default();
        let person = asked.state.person(login).ok_or("the account of this token is gone")?;
        Ok(Viewer::new(person, &asked.address))
    }

    /// A repository by its owner and name.
    async fn repository(
        &self,
        context: &Context<'_>,
        owner: String,
        name: String,
    ) -> Result<Option<Repository>> {
        let asked = context.data::<Arc<Asked>>()?;
        let full_name = format!("{owner}/{name}");
        let Some(repo) = asked.state.repo(&full_name).filter(|repo| asked.caller.sees(repo)) else {
            let message = format!("Could not resolve to a Repository with the name '{full_name}'.");
            return Ok(missing(context, &message));
        };
        Ok(Some(Repository { asked: Arc::clone(asked), repo: Arc::new(repo.clone()) }))
    }

    /// Anything by its node id.
    ///
    /// After `repository`: types are registered in this order, and a repository must be known before the threads in it,
    /// or pull requests would lack the fields that they share with issues.
    async fn node(&self, context: &Context<'_>, id: ID) -> Result<Option<Node>> {
        let asked = context.data::<Arc<Asked>>()?;
        let message = format!("Could not resolve to a node with the global id of '{}'", id.as_str());
        Ok(node::find(asked, &id).or_else(|| missing(context, &message)))
    }
}
