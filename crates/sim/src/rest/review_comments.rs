//! Comments beside the code of pull requests.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, Query, State},
    http::StatusCode,
    response::Response,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    auth::Caller,
    hub::Hub,
    problem::Problem,
    rest::{Shape, comments::text_of, paging::Paging, seen, timestamp},
    state::{Comment, Issue, Node, Repo, ReviewThread, Role, node_id},
};

/// In which order comments are asked for.
#[derive(Deserialize)]
pub(super) struct Order {
    direction: Option<String>,
}

/// `GET /repos/{owner}/{repo}/pulls/{number}/comments`
pub(super) async fn list(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, number)): Path<(String, String, u64)>,
    Query(order): Query<Order>,
    paging: Paging,
) -> Result<Response, Problem> {
    hub.read(|state| {
        let repo = seen(state.repo(&format!("{owner}/{repo}")), &caller)?;
        let issue = repo.issue(number).ok_or_else(Problem::not_found)?;
        let pull = issue.pull.as_ref().ok_or_else(Problem::not_found)?;
        let shape = Shape { state, address: &hub.address };
        let pairs =
            pull.threads.iter().flat_map(|thread| thread.comments.iter().map(move |said| (thread, said)));
        let mut pairs: Vec<_> = pairs.collect();
        pairs.sort_by_key(|(_, comment)| comment.id);
        if order.direction.as_deref() == Some("desc") {
            pairs.reverse();
        }
        let shapes =
            pairs.into_iter().map(|(thread, comment)| shape.review_comment(repo, issue, thread, comment));
        Ok(paging.answer(shapes.collect()))
    })
}

/// `GET /repos/{owner}/{repo}/pulls/comments/{comment}`
pub(super) async fn show(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, id)): Path<(String, String, u64)>,
) -> Result<Json<Value>, Problem> {
    hub.read(|state| {
        let repo = seen(state.repo(&format!("{owner}/{repo}")), &caller)?;
        shown(Shape { state, address: &hub.address }, repo, id)
    })
}

/// `POST /repos/{owner}/{repo}/pulls/{number}/comments/{comment}/replies`
pub(super) async fn reply(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, number, root)): Path<(String, String, u64, u64)>,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let (login, full_name) = (caller.login()?, format!("{owner}/{repo}"));
    hub.change(|state| {
        let repo = seen(state.repo(&full_name), &caller)?;
        let issue = repo.issue(number).ok_or_else(Problem::not_found)?;
        if issue.locked && !caller.has(Role::Write, repo) {
            return Err(Problem::forbidden("Unable to create comment because issue is locked."));
        }
        let text = text_of(&body)?;
        // Only a thread's first comment can be replied to.
        let id = state.reply_in_thread(&full_name, root, login, &text).ok_or_else(Problem::not_found)?;
        let repo = seen(state.repo(&full_name), &caller)?;
        Ok((StatusCode::CREATED, shown(Shape { state, address: &hub.address }, repo, id)?))
    })
}

/// `PATCH /repos/{owner}/{repo}/pulls/comments/{comment}`
pub(super) async fn update(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, id)): Path<(String, String, u64)>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let (login, full_name) = (caller.login()?, format!("{owner}/{repo}"));
    hub.change(|state| {
        let repo = seen(state.repo(&full_name), &caller)?;
        let (_, _, comment) = repo.review_comment(id).ok_or_else(Problem::not_found)?;
        if !comment.author.eq_ignore_ascii_case(login) && !caller.has(Role::Write, repo) {
            return Err(Problem::forbidden("Must have admin rights to Repository."));
        }
        let (text, now) = (text_of(&body)?, state.clock.now());
        if let Some(comment) = state.repo_mut(&full_name).and_then(|repo| repo.review_comment_mut(id)) {
            comment.body = text;
            comment.updated_at = now;
        }
        let repo = seen(state.repo(&full_name), &caller)?;
        shown(Shape { state, address: &hub.address }, repo, id)
    })
}

fn shown(shape: Shape<'_>, repo: &Repo, id: u64) -> Result<Json<Value>, Problem> {
    let (issue, thread, comment) = repo.review_comment(id).ok_or_else(Problem::not_found)?;
    Ok(Json(shape.review_comment(repo, issue, thread, comment)))
}

impl Shape<'_> {
    pub(crate) fn review_comment(
        &self,
        repo: &Repo,
        issue: &Issue,
        thread: &ReviewThread,
        comment: &Comment,
    ) -> Value {
        let (repo_url, id) = (self.repo_url(repo), comment.id);
        let pull_url = format!("{repo_url}/pulls/{}", issue.number);
        let commit = issue.pull.as_ref().map(|pull| pull.head_oid.clone());
        let mut shape = json!({
            "url": format!("{repo_url}/pulls/comments/{id}"),
            "html_url": format!("{}#discussion_r{id}", self.page(repo, issue)),
            "pull_request_url": pull_url,
            "id": id,
            "node_id": node_id(Node::ReviewComment { repo: repo.id, id }),
            "user": self.user(&comment.author),
            "created_at": timestamp(comment.created_at),
            "updated_at": timestamp(comment.updated_at),
            "author_association": comment.association.word(),
            "body": comment.body,
            "path": thread.path,
            "line": thread.line,
            "original_line": thread.line,
            "side": "RIGHT",
            "diff_hunk": thread.diff_hunk,
            "commit_id": commit,
            "original_commit_id": commit,
            "subject_type": "line",
        });
        let first = thread.comments.first().map(|first| first.id);
        if first != Some(id) {
            shape["in_reply_to_id"] = first.into();
        }
        shape
    }
}
