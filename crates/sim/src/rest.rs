//! The REST API over the state: routes, one file for each kind of thing.

mod checks;
mod comments;
mod contents;
mod etags;
mod git_data;
mod issues;
mod labels;
mod limits;
mod paging;
mod pulls;
mod reactions;
mod repos;
mod review_comments;
mod shape;
mod users;

use std::sync::Arc;

use axum::{
    Router,
    body::Bytes,
    routing::{delete, get, patch, post},
};
use serde::de::DeserializeOwned;

use crate::{auth::Caller, hub::Hub, problem::Problem, state::Repo};

pub(crate) use etags::tag;
pub(crate) use limits::count;
pub(crate) use shape::{Shape, timestamp};

/// The routes that are known.
pub(crate) fn routes() -> Router<Arc<Hub>> {
    const REPO: &str = "/repos/{owner}/{repo}";
    const ISSUE: &str = "/repos/{owner}/{repo}/issues/{number}";
    const COMMENT: &str = "/repos/{owner}/{repo}/issues/comments/{comment}";
    const PULL: &str = "/repos/{owner}/{repo}/pulls/{number}";
    const REVIEW_COMMENT: &str = "/repos/{owner}/{repo}/pulls/comments/{comment}";
    let at = |base: &str, rest: &str| format!("{base}{rest}");
    Router::new()
        .route("/", get(users::root))
        .route("/user", get(users::viewer))
        .route("/rate_limit", get(limits::show))
        .route(REPO, get(repos::show))
        .route(&at(REPO, "/collaborators/{login}/permission"), get(users::permission))
        .route(&at(REPO, "/labels"), get(labels::list).post(labels::create))
        .route(&at(REPO, "/labels/{name}"), get(labels::show))
        .route(&at(REPO, "/issues"), get(issues::list))
        .route(ISSUE, get(issues::show))
        .route(&at(ISSUE, "/comments"), get(comments::list).post(comments::create))
        .route(&at(ISSUE, "/labels"), get(labels::of_issue).post(labels::add))
        .route(&at(ISSUE, "/labels/{name}"), delete(labels::remove))
        .route(&at(ISSUE, "/reactions"), get(reactions::on_issue).post(reactions::react_to_issue))
        .route(&at(ISSUE, "/reactions/{reaction}"), delete(reactions::unreact_to_issue))
        .route(COMMENT, get(comments::show).patch(comments::update).delete(comments::delete))
        .route(&at(COMMENT, "/reactions"), get(reactions::on_comment).post(reactions::react_to_comment))
        .route(&at(COMMENT, "/reactions/{reaction}"), delete(reactions::unreact_to_comment))
        .merge(pulls_and_git())
        .route(&at(PULL, "/comments"), get(review_comments::list))
        .route(&at(PULL, "/comments/{comment}/replies"), post(review_comments::reply))
        .route(REVIEW_COMMENT, get(review_comments::show).patch(review_comments::update))
        .route(&at(REVIEW_COMMENT, "/reactions"), post(reactions::react_to_review_comment))
        .route(&at(REVIEW_COMMENT, "/reactions/{reaction}"), delete(reactions::unreact_to_review_comment))
}

/// The routes of pull requests, of what git holds and of what checks say.
fn pulls_and_git() -> Router<Arc<Hub>> {
    let at = |rest: &str| format!("/repos/{{owner}}/{{repo}}{rest}");
    Router::new()
        .route(&at("/pulls"), get(pulls::list).post(pulls::create))
        .route(&at("/pulls/{number}"), get(pulls::show))
        .route(&at("/pulls/{number}/files"), get(pulls::files))
        .route(&at("/pulls/{number}/commits"), get(pulls::commits))
        .route(&at("/readme"), get(contents::readme))
        .route(&at("/contents"), get(contents::root))
        .route(&at("/contents/{*path}"), get(contents::show))
        .route(&at("/commits"), get(git_data::list_commits))
        .route(&at("/commits/{name}"), get(git_data::show_commit))
        .route(&at("/commits/{name}/check-runs"), get(checks::of_commit))
        .route(&at("/git/commits/{oid}"), get(git_data::show_commit_object))
        .route(&at("/git/trees/{name}"), get(git_data::show_tree))
        .route(&at("/git/blobs"), post(git_data::create_blob))
        .route(&at("/git/blobs/{oid}"), get(git_data::show_blob))
        .route(&at("/git/ref/{*name}"), get(git_data::show_reference))
        .route(&at("/git/matching-refs/{*beginning}"), get(git_data::matching_references))
        .route(&at("/git/refs"), post(git_data::create_reference))
        .route(&at("/git/refs/{*name}"), patch(git_data::move_reference).delete(git_data::delete_reference))
        .route(&at("/check-runs"), post(checks::create))
        .route(&at("/check-runs/{id}"), get(checks::show).patch(checks::update))
}

/// Reads a JSON body whatever its content type says, as GitHub does.
fn parsed<T: DeserializeOwned>(body: &Bytes) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|_| Problem::no_json())
}

/// Finds a repository as far as the caller can see it. What may not be seen is not there.
fn seen<'a>(repo: Option<&'a Repo>, caller: &Caller) -> Result<&'a Repo, Problem> {
    repo.filter(|repo| caller.sees(repo)).ok_or_else(Problem::not_found)
}
