//! Comments beside the code of pull requests.

use axum::{
    Json,
    body::Bytes,
    extract::{Path, Query},
    http::StatusCode,
    response::Response,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{
        Shape,
        comments::{blank, text_of, too_long},
        paging::Paging,
        parsed,
        pulls::found,
        shape::{merge, rollup},
        timestamp,
        visit::{Numbered, Told, Visit},
    },
    reviews::{self, Remark},
    state::{Comment, Issue, Misfit, Node, Place, Repo, ReviewThread, Side, node_id},
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
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    Query(order): Query<Order>,
    paging: Paging,
) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let issue = repo.issue(number).ok_or_else(Problem::not_found)?;
        let pull = issue.pull.as_ref().ok_or_else(Problem::not_found)?;
        let threads = pull.threads_seen_by(visit.caller.login().ok());
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
    visit: Visit,
    Path(Told { comment: id }): Path<Told>,
) -> Result<Json<Value>, Problem> {
    visit.show(|shape, repo| shown(shape, repo, id))
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
        let id = if let Some(root) = draft.in_reply_to {
            // Whatever else it says is ignored.
            let text = draft.words()?;
            state.reply_in_thread(&visit.full_name, root, login, &text)
        } else {
            let commit = draft.commit_id.clone().ok_or_else(|| Problem::not_supplied("commit_id"))?;
            if !pull.commits.iter().any(|own| own.oid == commit) {
                return Err(invalid("commit_id", "commit_id is not part of the pull request"));
            }
            let remark = draft.remark()?;
            let anchor = reviews::fit(pull, &remark).map_err(misplaced)?;
            reviews::begin(state, (&visit.full_name, number), login, (remark, anchor), None)
        };
        let (shape, repo) = visit.view(state)?;
        Ok((StatusCode::CREATED, shown(shape, repo, id.ok_or_else(Problem::not_found)?)?))
    })
}

/// `DELETE /repos/{owner}/{repo}/pulls/comments/{comment}`
pub(super) async fn delete(
    visit: Visit,
    Path(Told { comment: id }): Path<Told>,
) -> Result<StatusCode, Problem> {
    visit.change(|state| {
        let repo = visit.repo(state)?;
        let (issue, _, comment) = repo.review_comment(id).ok_or_else(Problem::not_found)?;
        visit.may_edit(repo, &comment.author)?;
        let number = issue.number;
        if let Some(pull) = state.issue_mut(&visit.full_name, number).and_then(|issue| issue.pull.as_mut()) {
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
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    Path(Told { comment: root }): Path<Told>,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let login = visit.login()?;
    visit.change(|state| {
        let repo = visit.repo(state)?;
        let issue = repo.issue(number).ok_or_else(Problem::not_found)?;
        visit.may_speak(repo, issue)?;
        let text = text_of(&body)?;
        // Only a thread's first comment can be replied to.
        let id =
            state.reply_in_thread(&visit.full_name, root, login, &text).ok_or_else(Problem::not_found)?;
        let (shape, repo) = visit.view(state)?;
        Ok((StatusCode::CREATED, shown(shape, repo, id)?))
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
        let (_, _, comment) = repo.review_comment(id).ok_or_else(Problem::not_found)?;
        visit.may_edit(repo, &comment.author)?;
        let (text, now) = (text_of(&body)?, state.clock.now());
        if let Some(comment) = state.repo_mut(&visit.full_name).and_then(|repo| repo.review_comment_mut(id)) {
            comment.body = text;
            comment.updated_at = now;
        }
        let (shape, repo) = visit.view(state)?;
        shown(shape, repo, id)
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
