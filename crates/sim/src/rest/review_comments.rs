//! Comments beside the code of pull requests.

use axum::{Json, body::Bytes, http::StatusCode, response::Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{
        Shape,
        address::{Path, Query},
        comments::{Order, text_of},
        paging::Paging,
        parsed,
        pulls::found,
        shape::{merge, rollup},
        timestamp,
        visit::{Numbered, Told, Visit},
    },
    reviews::{self, Remark},
    state::{Comment, Issue, Misfit, Node, Place, Pull, Repo, ReviewThread, Side, node_id},
    words,
};

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
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    Query(order): Query<Order>,
    paging: Paging,
) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let (issue, _) = found(repo, number)?;
        Ok(paging.answer(listed(&visit, shape, repo, &[issue], &order)))
    })
}

/// `GET /repos/{owner}/{repo}/pulls/comments`
pub(super) async fn list_all(
    visit: Visit,
    Query(order): Query<Order>,
    paging: Paging,
) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let all: Vec<_> = repo.issues.iter().collect();
        Ok(paging.answer(listed(&visit, shape, repo, &all, &order)))
    })
}

/// The comments beside the code of these pull requests, as far as the caller sees them.
fn listed(visit: &Visit, shape: Shape<'_>, repo: &Repo, of: &[&Issue], order: &Order) -> Vec<Value> {
    let pulls = of.iter().filter_map(|issue| Some((*issue, issue.pull.as_ref()?)));
    let threads =
        pulls.flat_map(|(issue, pull)| pull.threads.iter().map(move |thread| (issue, pull, thread)));
    let all = threads.flat_map(|(issue, pull, thread)| {
        let seen = thread.comments.iter().filter(|said| pull.is_seen_by(said, visit.caller.login().ok()));
        seen.map(move |said| (issue, thread, said))
    });
    let mut all: Vec<_> = all.collect();
    order.arrange(&mut all, |(_, _, said): &(&Issue, &ReviewThread, &Comment)| said);
    all.into_iter().map(|(issue, thread, said)| shape.review_comment(repo, issue, thread, said)).collect()
}

/// `GET /repos/{owner}/{repo}/pulls/comments/{comment}`
pub(super) async fn show(
    visit: Visit,
    Path(Told { comment: id }): Path<Told>,
) -> Result<Json<Value>, Problem> {
    visit.show(|shape, repo| shown(&visit, shape, repo, id))
}

/// `POST /repos/{owner}/{repo}/pulls/{number}/comments`
pub(super) async fn create(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let login = visit.login()?;
    let draft: Draft = parsed(&body)?;
    visit.change(|state| {
        let repo = visit.repo(state)?;
        let (issue, pull) = found(repo, number)?;
        visit.may_speak(repo, issue)?;
        alone(pull, login)?;
        let id = if let Some(root) = draft.in_reply_to {
            // Whatever else it says is ignored.
            let text = draft.words()?;
            repliable(&visit, repo, (number, root))?;
            state.reply_in_thread(&visit.full_name, root, login, &text)
        } else {
            let commit = draft.commit_id.clone().ok_or_else(|| Problem::not_supplied("commit_id"))?;
            if !pull.commits.iter().any(|own| own.oid == commit) {
                return Err(invalid("commit_id", "commit_id is not part of the pull request"));
            }
            let remark = draft.remark()?;
            let anchor = reviews::fit(pull, &remark).map_err(misplaced)?;
            let review = state.carry(&visit.full_name, number, login).ok_or_else(Problem::not_found)?;
            reviews::begin(state, (&visit.full_name, number), login, (remark, anchor), review)
        };
        let (shape, repo) = visit.view(state)?;
        Ok((StatusCode::CREATED, shown(&visit, shape, repo, id.ok_or_else(Problem::not_found)?)?))
    })
}

/// `DELETE /repos/{owner}/{repo}/pulls/comments/{comment}`
pub(super) async fn delete(
    visit: Visit,
    Path(Told { comment: id }): Path<Told>,
) -> Result<StatusCode, Problem> {
    visit.change(|state| {
        let repo = visit.repo(state)?;
        let (issue, _, comment) = seen(&visit, repo, id)?;
        visit.may_edit(repo, &comment.author)?;
        let number = issue.number;
        if let Some(pull) = state.issue_mut(&visit.full_name, number).and_then(|issue| issue.pull.as_mut()) {
            reviews::remove(pull, id);
        }
        Ok(StatusCode::NO_CONTENT)
    })
}

/// `POST /repos/{owner}/{repo}/pulls/{number}/comments/{comment}/replies`
pub(super) async fn reply(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    Path(Told { comment: root }): Path<Told>,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let login = visit.login()?;
    visit.change(|state| {
        let repo = visit.repo(state)?;
        let (issue, pull) = found(repo, number)?;
        visit.may_speak(repo, issue)?;
        let text = text_of(&body)?;
        alone(pull, login)?;
        repliable(&visit, repo, (number, root))?;
        // Only a thread's first comment can be replied to.
        let id =
            state.reply_in_thread(&visit.full_name, root, login, &text).ok_or_else(Problem::not_found)?;
        let (shape, repo) = visit.view(state)?;
        Ok((StatusCode::CREATED, shown(&visit, shape, repo, id)?))
    })
}

/// `PATCH /repos/{owner}/{repo}/pulls/comments/{comment}`
pub(super) async fn update(
    visit: Visit,
    Path(Told { comment: id }): Path<Told>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    visit.change(|state| {
        let repo = visit.repo(state)?;
        let (_, _, comment) = seen(&visit, repo, id)?;
        visit.may_edit(repo, &comment.author)?;
        let (text, now) = (text_of(&body)?, state.clock.now());
        if let Some(comment) = state.repo_mut(&visit.full_name).and_then(|repo| repo.review_comment_mut(id)) {
            comment.body = text;
            comment.updated_at = now;
        }
        let (shape, repo) = visit.view(state)?;
        shown(&visit, shape, repo, id)
    })
}

/// Finds a comment that the caller sees.
fn seen<'a>(
    visit: &Visit,
    repo: &'a Repo,
    id: u64,
) -> Result<(&'a Issue, &'a ReviewThread, &'a Comment), Problem> {
    repo.review_comment_seen_by(id, visit.login().ok()).ok_or_else(Problem::not_found)
}

/// Refuses to reply to what the caller does not see, or what another pull request has.
fn repliable(visit: &Visit, repo: &Repo, (number, root): (u64, u64)) -> Result<(), Problem> {
    let (issue, ..) = seen(visit, repo, root)?;
    if issue.number == number { Ok(()) } else { Err(Problem::not_found()) }
}

/// Refuses what would be a second review of somebody who has begun one already.
fn alone(pull: &Pull, login: &str) -> Result<(), Problem> {
    if reviews::pending(pull, login).is_none() {
        return Ok(());
    }
    let message = "user_id can only have one pending review per pull request";
    let error =
        json!({ "resource": "PullRequestReview", "code": "custom", "field": "user_id", "message": message });
    Err(Problem::invalid(error))
}

fn shown(visit: &Visit, shape: Shape<'_>, repo: &Repo, id: u64) -> Result<Json<Value>, Problem> {
    let (issue, thread, comment) = seen(visit, repo, id)?;
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
        words::comment(self.body.as_deref()?)
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
        let (original_start, start_side) = thread.original_start.unzip();
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
            "pull_request_review_id": comment.review,
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
                    "original_position": thread.original_position,
                    "line": thread.line,
                    "original_line": thread.original_line,
                    "start_line": thread.start.map(|(line, _)| line),
                    "original_start_line": original_start,
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
