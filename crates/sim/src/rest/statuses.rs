//! Commit statuses: said about a commit, listed, and what the newest of each context come to.

use axum::{Json, body::Bytes, http::StatusCode, response::Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{
        Shape,
        address::Path,
        paging::Paging,
        parsed, timestamp,
        visit::{Named, Visit},
    },
    state::{CommitState, CommitStatus, Node, Repo, node_id},
};

#[derive(Deserialize)]
struct NewStatus {
    state: String,
    description: Option<String>,
    target_url: Option<String>,
    context: Option<String>,
}

/// `POST /repos/{owner}/{repo}/statuses/{sha}`
pub(super) async fn create(
    visit: Visit,
    Path(Named { name }): Path<Named>,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let bare = visit.open_to_write().await?;
    let wanted: NewStatus = parsed(&body)?;
    let state_of = CommitState::read(&wanted.state);
    let state_of = state_of.ok_or_else(|| Problem::unprocessable("Validation Failed"))?;
    let oid = bare.commit(&name).await.map_err(|_| unknown(&name))?.oid;
    let creator = visit.login()?.to_owned();
    visit.change(|state| {
        let status = CommitStatus {
            id: state.next_id(),
            oid,
            context: wanted.context.unwrap_or_else(|| "default".to_owned()),
            state: state_of,
            description: wanted.description,
            target_url: wanted.target_url,
            creator,
            created_at: state.clock.now(),
        };
        visit.repo_mut(state)?.statuses.push(status.clone());
        let (shape, repo) = visit.view(state)?;
        Ok((StatusCode::CREATED, Json(shape.status(repo, &status))))
    })
}

/// `GET /repos/{owner}/{repo}/commits/{ref}/statuses`
pub(super) async fn list(
    visit: Visit,
    Path(Named { name }): Path<Named>,
    paging: Paging,
) -> Result<Response, Problem> {
    let oid = meant(&visit, &name).await?;
    visit.show(|shape, repo| {
        Ok(paging.answer(of_commit(repo, &oid).map(|status| shape.status(repo, status)).collect()))
    })
}

/// `GET /repos/{owner}/{repo}/commits/{ref}/status`
pub(super) async fn combined(
    visit: Visit,
    Path(Named { name }): Path<Named>,
    paging: Paging,
) -> Result<Response, Problem> {
    let oid = meant(&visit, &name).await?;
    visit.show(|shape, repo| {
        let newest = repo.newest_statuses(&oid);
        let states: Vec<_> = newest.iter().map(|status| status.state).collect();
        let commit = format!("{}/commits/{oid}", shape.repo_url(repo));
        let more = json!({
            "state": CommitState::of_all(&states).word(),
            "sha": oid,
            "repository": shape.repo(repo),
            "commit_url": commit,
            "url": format!("{commit}/status"),
        });
        let drawn = newest.into_iter().map(|status| shape.status(repo, status));
        Ok(paging.counted_with("statuses", drawn.collect(), more))
    })
}

/// The statuses of a commit, newest first.
fn of_commit<'a>(repo: &'a Repo, oid: &'a str) -> impl Iterator<Item = &'a CommitStatus> {
    repo.statuses.iter().rev().filter(move |status| status.oid == oid)
}

async fn meant(visit: &Visit, name: &str) -> Result<String, Problem> {
    let commit = visit.open().await?.commit(name).await;
    Ok(commit.map_err(|_| unknown(name))?.oid)
}

fn unknown(name: &str) -> Problem {
    Problem::unprocessable(&format!("No commit found for SHA: {name}"))
}

impl Shape<'_> {
    fn status(&self, repo: &Repo, status: &CommitStatus) -> Value {
        let creator = self.user(&status.creator);
        json!({
            "url": format!("{}/statuses/{}", self.repo_url(repo), status.oid),
            "avatar_url": creator["avatar_url"],
            "id": status.id,
            "node_id": node_id(Node::Status { repo: repo.id, id: status.id }),
            "state": status.state.word(),
            "description": status.description,
            "target_url": status.target_url,
            "context": status.context,
            "created_at": timestamp(status.created_at),
            "updated_at": timestamp(status.created_at),
            "creator": creator,
        })
    }
}
