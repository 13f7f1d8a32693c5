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
    rest::{
        Shape,
        comments::{blank, text_of, too_long},
        paging::Paging,
        parsed,
        pulls::found,
        seen,
        shape::{merge, rollup},
        timestamp,
    },
    reviews::{self, Remark},
    state::{Comment, Issue, Misfit, Node, Place, Repo, ReviewThread, Role, Side, node_id},
};

/// In which order comments are asked for.
#[derive(Deserialize)]
pub(super) struct Order {
    direction: Option<String>,
}

/// A remark as it comes in: alone, or with a review.
#[derive(Deserialize)]
pub(super) struct Draft {
    body: Option<String>,
    path: Option<String>,
    commit_id: Option<String>,
    position: Option<usize>,
    line: Option<u64>,
    side: Option<String>,
    start_line: Option<u64>,
    start_side: Option<String>,
    subject_type: Option<String>,
    in_reply_to: Option<u64>,
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
        let threads = pull.threads_seen_by(caller.login().ok());
        let pairs = threads.flat_map(|thread| thread.comments.iter().map(move |said| (thread, said)));
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

/// `POST /repos/{owner}/{repo}/pulls/{number}/comments`
pub(super) async fn create(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, number)): Path<(String, String, u64)>,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let (login, full_name) = (caller.login()?, format!("{owner}/{repo}"));
    let draft: Draft = parsed(&body)?;
    hub.change(|state| {
        let repo = seen(state.repo(&full_name), &caller)?;
        let (issue, pull) = found(repo, number)?;
        if issue.locked && !caller.has(Role::Write, repo) {
            return Err(Problem::forbidden("Unable to create comment because issue is locked."));
        }
        let id = if let Some(root) = draft.in_reply_to {
            // Whatever else it says is ignored.
            let text = draft.words()?;
            state.reply_in_thread(&full_name, root, login, &text)
        } else {
            let commit = draft.commit_id.clone().ok_or_else(|| Problem::not_supplied("commit_id"))?;
            if !pull.commits.iter().any(|own| own.oid == commit) {
                return Err(invalid("commit_id", "commit_id is not part of the pull request"));
            }
            let remark = draft.remark()?;
            let anchor = reviews::fit(pull, &remark).map_err(misplaced)?;
            reviews::begin(state, (&full_name, number), login, (remark, anchor), None)
        };
        let repo = seen(state.repo(&full_name), &caller)?;
        let shape = Shape { state, address: &hub.address };
        Ok((StatusCode::CREATED, shown(shape, repo, id.ok_or_else(Problem::not_found)?)?))
    })
}

/// `DELETE /repos/{owner}/{repo}/pulls/comments/{comment}`
pub(super) async fn delete(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, id)): Path<(String, String, u64)>,
) -> Result<StatusCode, Problem> {
    let (login, full_name) = (caller.login()?, format!("{owner}/{repo}"));
    hub.change(|state| {
        let repo = seen(state.repo(&full_name), &caller)?;
        let (issue, _, comment) = repo.review_comment(id).ok_or_else(Problem::not_found)?;
        if comment.author != login && !caller.has(Role::Write, repo) {
            return Err(Problem::forbidden("Must have admin rights to Repository."));
        }
        let number = issue.number;
        if let Some(pull) = state.issue_mut(&full_name, number).and_then(|issue| issue.pull.as_mut()) {
            for thread in &mut pull.threads {
                thread.comments.retain(|comment| comment.id != id);
            }
            pull.threads.retain(|thread| !thread.comments.is_empty());
        }
        Ok(StatusCode::NO_CONTENT)
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

impl Draft {
    /// Reads a remark that stands alone, which may be about a whole file.
    fn remark(self) -> Result<Remark, Problem> {
        if self.subject_type.as_deref() == Some("file") {
            let path = self.path.clone().ok_or_else(|| Problem::not_supplied("path"))?;
            return Ok(Remark { path, body: self.words()?, place: Place::File });
        }
        self.line_remark()
    }

    /// Reads a remark about lines; others cannot come with a review.
    pub(super) fn line_remark(self) -> Result<Remark, Problem> {
        let body = self.words()?;
        let side = |word: Option<&str>, otherwise: Side| match word {
            None => Ok(otherwise),
            Some(word) => Side::from_word(word).ok_or_else(|| invalid("side", "side is invalid")),
        };
        let last = side(self.side.as_deref(), Side::Right)?;
        let first = side(self.start_side.as_deref(), last)?;
        let place = match (self.position, self.line) {
            (Some(position), _) => Place::Position(position),
            (None, Some(line)) => {
                Place::Lines { line, side: last, start: self.start_line.map(|start| (start, first)) }
            }
            (None, None) => return Err(Problem::not_supplied("line")),
        };
        Ok(Remark { path: self.path.ok_or_else(|| Problem::not_supplied("path"))?, body, place })
    }

    fn words(&self) -> Result<String, Problem> {
        match self.complaint() {
            Some(complaint) => Err(invalid("body", &complaint)),
            None => self.body.clone().ok_or_else(|| Problem::not_supplied("body")),
        }
    }

    /// What is wrong with its words.
    pub(super) fn complaint(&self) -> Option<String> {
        let text = self.body.as_deref()?;
        blank(text).or_else(|| too_long(text))
    }
}

fn misplaced(misfit: Misfit) -> Problem {
    let field = format!("pull_request_review_thread.{}", misfit.field());
    invalid(&field, &format!("{field} {}", misfit.complaint()))
}

fn invalid(field: &str, message: &str) -> Problem {
    Problem::invalid(json!({
        "resource": "PullRequestReviewComment",
        "code": "custom",
        "field": field,
        "message": message,
    }))
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
        let url = format!("{repo_url}/pulls/comments/{id}");
        let pull_url = format!("{repo_url}/pulls/{}", issue.number);
        let html_url = format!("{}#discussion_r{id}", self.page(repo, issue));
        let head = issue.pull.as_ref().map(|pull| pull.head_oid.clone());
        let (start_line, start_side) = thread.start.unzip();
        let mut shape = json!({
            "url": url,
            "html_url": html_url,
            "pull_request_url": pull_url,
            "_links": {
                "self": { "href": url },
                "html": { "href": html_url },
                "pull_request": { "href": pull_url },
            },
            "id": id,
            "node_id": node_id(Node::ReviewComment { repo: repo.id, id }),
            "pull_request_review_id": thread.review,
            "user": self.user(&comment.author),
            "created_at": timestamp(comment.created_at),
            "updated_at": timestamp(comment.updated_at),
            "author_association": comment.association.word(),
            "body": comment.body,
            "reactions": rollup(&url, &comment.reactions),
            "path": thread.path,
            "diff_hunk": thread.diff_hunk,
            "commit_id": head,
            "original_commit_id": thread.commit_oid,
            "subject_type": if thread.original_line.is_some() { "line" } else { "file" },
        });
        if thread.original_line.is_some() {
            let start_side = start_side.map(Side::word);
            merge(
                &mut shape,
                json!({
                    "position": thread.position,
                    "original_position": thread.position,
                    "line": thread.line,
                    "original_line": thread.original_line,
                    "start_line": start_line,
                    "original_start_line": start_line,
                    "side": thread.side.word(),
                    "start_side": start_side,
                }),
            );
        }
        let first = thread.comments.first().map(|first| first.id);
        if first != Some(id) {
            shape["in_reply_to_id"] = first.into();
        }
        shape
    }
}
