//! The GraphQL API, executed over the state: whatever a client selects, renames or spreads, it gets exactly that.

#![expect(clippy::unused_async, reason = "a resolver is an async function, even if nothing in it waits")]
#![expect(clippy::too_many_arguments, reason = "a field has the arguments that GitHub gives it")]

mod absent;
mod actor;
mod changed_file;
mod check;
mod commit;
mod connection;
mod cost;
mod discussion;
mod discussion_comment;
mod git_object;
mod issue;
mod issue_comment;
mod label;
mod mutation;
mod node;
mod nullness;
mod pull_request;
mod query;
mod reaction;
mod reference;
mod refusal;
mod release;
mod repository;
mod repository_facts;
mod review;
mod review_comment;
mod review_request;
mod review_thread;
mod scalar;
mod search;
mod status;
mod thread;
mod timeline;
mod variables;

use std::sync::{Arc, LazyLock};

use async_graphql::{EmptySubscription, Request, Schema};
use axum::{Extension, Json, body::Bytes, extract::State};
use serde_json::{Value, json};

use crate::{auth::Caller, hub::Hub, problem::Problem, routes::Routes, state};

/// The route of the API.
pub(crate) fn routes() -> Routes {
    Routes::below("").on("POST /graphql", answer)
}

/// What every resolver of one question knows: the state at its beginning, and who asks.
struct Asked {
    state: state::State,
    address: String,
    caller: Caller,
}

impl Asked {
    /// Who asks; nobody gets this far without a name.
    fn login(&self) -> &str {
        self.caller.login().unwrap_or_default()
    }

    /// Takes the state as it is now.
    fn now(hub: &Hub, caller: Caller) -> Arc<Self> {
        Arc::new(Self { state: hub.read(Clone::clone), address: hub.address.clone(), caller })
    }
}

static SCHEMA: LazyLock<Schema<query::Query, mutation::Mutation, EmptySubscription>> = LazyLock::new(|| {
    let schema = Schema::build(query::Query, mutation::Mutation::default(), EmptySubscription);
    schema.extension(nullness::Noticing).finish()
});

/// How many points of the hour an answer took; found among its extensions.
#[derive(Clone, Copy)]
pub(crate) struct Points(pub(crate) u64);

async fn answer(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    body: Bytes,
) -> Result<(Extension<Points>, Json<Value>), Problem> {
    caller.login()?;
    let mut question: Request = serde_json::from_slice(&body).map_err(|_| Problem::no_json())?;
    let cost = cost::Cost::count(&mut question);
    let points = Extension(Points(cost.points()));
    if question.query.trim().is_empty() {
        let message = "A query attribute must be specified and must be a string.";
        return Ok((points, Json(json!({ "errors": [{ "message": message }] }))));
    }
    if let Some(refusal) = cost.refusal().or_else(|| variables::refusal(&mut question)) {
        return Ok((points, Json(refusal)));
    }
    let asked = Asked::now(&hub, caller);
    let failures = nullness::Failures::default();
    let variables = variables::declared(&mut question);
    let response = SCHEMA.execute(question.data(asked).data(hub).data(cost).data(failures.clone())).await;
    Ok((points, Json(refusal::as_github_writes_them(response, &failures, &variables))))
}
