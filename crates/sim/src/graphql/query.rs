//! The root of all questions.

use std::sync::Arc;

use async_graphql::{Context, ID, Object, Result, SimpleObject};
use jiff::Timestamp;

use crate::{
    graphql::{
        Asked,
        actor::{RepositoryOwner, User, Viewer},
        commit::Commit,
        connection::Window,
        cost::Cost,
        node::{self, Node},
        refusal::{missing, of_kind, withheld},
        repository::Repository,
        scalar::DateTime,
        search::{self, SearchResultItemConnection, SearchType},
    },
    hub::Hub,
    permission::to_read,
    state::{self, PersonKind, Pool},
};

/// So many node ids are looked up at once.
const MOST_IDS: usize = 100;

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

    /// A person by their login.
    async fn user(&self, context: &Context<'_>, login: String) -> Result<Option<User>> {
        let asked = context.data::<Arc<Asked>>()?;
        let person = asked.state.person(&login).filter(|person| person.kind == PersonKind::User);
        let message = format!("Could not resolve to a User with the login of '{login}'.");
        let found = person.map(|person| User::new(person, &asked.address));
        Ok(found.or_else(|| missing(context, &message)))
    }

    /// Whose repositories these are.
    async fn repository_owner(
        &self,
        context: &Context<'_>,
        login: String,
    ) -> Result<Option<RepositoryOwner>> {
        Ok(RepositoryOwner::find(context.data::<Arc<Asked>>()?, &login))
    }

    /// Anything by its node id.
    ///
    /// After `repository`: types are registered in this order, and a repository must be known before the threads in it,
    /// or pull requests would lack the fields that they share with issues.
    async fn node(&self, context: &Context<'_>, id: ID) -> Result<Option<Node>> {
        let asked = context.data::<Arc<Asked>>()?;
        found(context, asked, &id).await
    }

    /// Several things by their node ids.
    async fn nodes(&self, context: &Context<'_>, ids: Vec<ID>) -> Result<Vec<Option<Node>>> {
        let asked = context.data::<Arc<Asked>>()?;
        if ids.len() > MOST_IDS {
            let n = ids.len();
            let message = format!("You may not provide more than {MOST_IDS} node ids; you provided {n}.");
            return Err(of_kind("ARGUMENT_LIMIT", &message));
        }
        let mut nodes = Vec::new();
        for id in ids {
            nodes.push(found(context, asked, &id).await?);
        }
        Ok(nodes)
    }

    /// Things that a question finds, of one kind.
    async fn search(
        &self,
        context: &Context<'_>,
        query: String,
        #[graphql(name = "type")] kind: SearchType,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<SearchResultItemConnection> {
        let asked = context.data::<Arc<Asked>>()?;
        search::find(asked, &query, kind, &Window { first, last, before, after })
    }

    /// What is left of the hour.
    async fn rate_limit(&self, context: &Context<'_>) -> Result<Option<RateLimit>> {
        let asked = context.data::<Arc<Asked>>()?;
        let cost = context.data::<Cost>()?;
        let login = asked.caller.login().unwrap_or_default();
        let token = asked.state.tokens.iter().find(|token| token.login == login);
        Ok(token.map(|token| {
            let now = Timestamp::now();
            let points = cost.points();
            let (limit, used) = (token.limit(Pool::Graphql), token.used(Pool::Graphql, now) + points);
            RateLimit {
                limit,
                cost: points,
                node_count: cost.nodes,
                used,
                remaining: limit.saturating_sub(used),
                reset_at: DateTime(Pool::Graphql.reset(now)),
            }
        }))
    }
}

/// What is left of the hour.
#[derive(SimpleObject)]
struct RateLimit {
    limit: u64,
    cost: u64,
    node_count: u64,
    used: u64,
    remaining: u64,
    reset_at: DateTime,
}

/// Finds what an id stands for, or says why it is not told.
async fn found(context: &Context<'_>, asked: &Arc<Asked>, id: &ID) -> Result<Option<Node>> {
    let told = state::Node::parse(id);
    let repo = told.and_then(|node| asked.state.repo_of(node)).filter(|repo| asked.caller.sees(repo));
    if let (Some(repo), Some(node)) = (repo, told)
        && !asked.caller.may_read(repo, to_read(repo, node))
    {
        return Ok(withheld(context));
    }
    let message = format!("Could not resolve to a node with the global id of '{}'", id.as_str());
    Ok(looked_up(context, asked, id).await?.or_else(|| missing(context, &message)))
}

/// Looks for it in the state, and for a commit where git has them.
async fn looked_up(context: &Context<'_>, asked: &Arc<Asked>, id: &ID) -> Result<Option<Node>> {
    if let Some(node) = node::find(asked, id) {
        return Ok(Some(node));
    }
    let Some(node) = state::Node::parse(id) else { return Ok(None) };
    let repo = asked.state.repo_of(node).filter(|repo| asked.caller.sees(repo));
    let (Some(repo), Some(oid)) = (repo, node.oid()) else { return Ok(None) };
    let bare = context.data::<Arc<Hub>>()?.git.open(&repo.full_name()).await?;
    let commit = bare.commit(&oid).await.ok();
    Ok(commit.map(|commit| Node::Commit(Commit::of_git(asked, &Arc::new(repo.clone()), commit))))
}
