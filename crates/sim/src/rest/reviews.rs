//! Reviews: a verdict with remarks beside the code, given at once or begun and given later.

use axum::{Json, body::Bytes, response::Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{
        Shape,
        address::Path,
        comments::text_of,
        paging::Paging,
        parsed,
        pulls::found,
        review_comments::Draft,
        timestamp,
        visit::{Numbered, Visit},
    },
    reviews::{self, Remark},
    state::{Issue, Node, Pull, Repo, Review, ReviewState, Role, node_id},
};

/// `{number}` and `{review}` in an address.
#[derive(Deserialize)]
pub(super) struct One {
    number: u64,
    review: u64,
}

#[derive(Deserialize)]
struct NewReview {
    commit_id: Option<String>,
    body: Option<String>,
    event: Option<String>,
    #[serde(default)]
    comments: Vec<Draft>,
}

#[derive(Deserialize)]
struct Verdict {
    body: Option<String>,
    event: Option<String>,
}

#[derive(Deserialize)]
struct Dismissal {
    message: Option<String>,
}

/// `GET /repos/{owner}/{repo}/pulls/{number}/reviews`
pub(super) async fn list(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    paging: Paging,
) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let (issue, pull) = found(repo, number)?;
        let seen = pull.reviews.iter().filter(|review| review.is_seen_by(visit.login().ok()));
        Ok(paging.answer(seen.map(|review| shape.review(repo, issue, review)).collect()))
    })
}

/// `GET /repos/{owner}/{repo}/pulls/{number}/reviews/{review}`
pub(super) async fn show(
    visit: Visit,
    Path(One { number, review: id }): Path<One>,
) -> Result<Json<Value>, Problem> {
    visit.show(|shape, repo| shown(&visit, shape, repo, (number, id)))
}

/// `GET /repos/{owner}/{repo}/pulls/{number}/reviews/{review}/comments`
pub(super) async fn remarks(
    visit: Visit,
    Path(One { number, review: id }): Path<One>,
    paging: Paging,
) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let (issue, pull) = found(repo, number)?;
        one(&visit, pull, id)?;
        let all =
            pull.threads.iter().flat_map(|thread| thread.comments.iter().map(move |said| (thread, said)));
        let own = all.filter(|(_, said)| said.review == Some(id));
        Ok(paging.answer(own.map(|(thread, said)| shape.review_comment(repo, issue, thread, said)).collect()))
    })
}

/// `POST /repos/{owner}/{repo}/pulls/{number}/reviews`
pub(super) async fn create(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let login = visit.login()?;
    let draft: NewReview = parsed(&body)?;
    let verdict = verdict(draft.event.as_deref())?;
    let remarks = draft.comments.into_iter().map(remark).collect::<Result<Vec<_>, _>>()?;
    let text = draft.body.unwrap_or_default();
    let review = reviews::Draft { verdict, text, commit_oid: draft.commit_id, remarks };
    visit.change(|state| {
        let repo = visit.repo(state)?;
        visit.may_speak(repo, found(repo, number)?.0)?;
        let id = reviews::give(state, (&visit.full_name, number), login, review).map_err(refused)?;
        let (shape, repo) = visit.view(state)?;
        shown(&visit, shape, repo, (number, id))
    })
}

/// `PUT /repos/{owner}/{repo}/pulls/{number}/reviews/{review}`
pub(super) async fn update(
    visit: Visit,
    Path(One { number, review: id }): Path<One>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let text = text_of(&body)?;
    changed(&visit, (number, id), |review| {
        review.body = text;
        Ok(())
    })
}

/// `POST /repos/{owner}/{repo}/pulls/{number}/reviews/{review}/events`
pub(super) async fn submit(
    visit: Visit,
    Path(One { number, review: id }): Path<One>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let login = visit.login()?;
    let Verdict { body, event } = parsed(&body)?;
    let event = event.ok_or_else(|| Problem::not_supplied("event"))?;
    let verdict = verdict(Some(&event))?;
    visit.change(|state| {
        let repo = visit.repo(state)?;
        let begun = one(&visit, found(repo, number)?.1, id)?;
        visit.may_edit(repo, &begun.author)?;
        reviews::submit(state, (&visit.full_name, number), (id, login), (verdict, body)).map_err(refused)?;
        let (shape, repo) = visit.view(state)?;
        shown(&visit, shape, repo, (number, id))
    })
}

/// `DELETE /repos/{owner}/{repo}/pulls/{number}/reviews/{review}`, as long as it is not given.
pub(super) async fn delete(
    visit: Visit,
    Path(One { number, review: id }): Path<One>,
) -> Result<Json<Value>, Problem> {
    visit.change(|state| {
        let (shape, repo) = visit.view(state)?;
        let last = shown(&visit, shape, repo, (number, id))?;
        let pull = state.issue_mut(&visit.full_name, number).and_then(|issue| issue.pull.as_mut());
        let pull = pull.ok_or_else(Problem::not_found)?;
        reviews::discard(pull, id).map_err(refused)?;
        Ok(last)
    })
}

/// `PUT /repos/{owner}/{repo}/pulls/{number}/reviews/{review}/dismissals`
pub(super) async fn dismiss(
    visit: Visit,
    Path(One { number, review: id }): Path<One>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let dismissal: Dismissal = parsed(&body)?;
    dismissal.message.ok_or_else(|| Problem::not_supplied("message"))?;
    visit.show(|_, repo| {
        let may = visit.caller.has(Role::Write, repo);
        if may { Ok(()) } else { Err(Problem::forbidden("Must have write access to dismiss a review.")) }
    })?;
    changed(&visit, (number, id), |review| reviews::dismiss(review).map_err(refused))
}

/// Reads a verdict; without one the review is only begun.
fn verdict(event: Option<&str>) -> Result<ReviewState, Problem> {
    match event {
        None => Ok(ReviewState::Pending),
        Some("APPROVE") => Ok(ReviewState::Approved),
        Some("REQUEST_CHANGES") => Ok(ReviewState::ChangesRequested),
        Some("COMMENT") => Ok(ReviewState::Commented),
        Some(_) => Err(refused("Variable $event of type PullRequestReviewEvent was provided invalid value")),
    }
}

/// Reads one of a review's remarks.
fn remark(draft: Draft) -> Result<Remark, Problem> {
    draft.complaint().map_or(Ok(()), |complaint| Err(refused(complaint)))?;
    draft.line_remark()
}

/// Changes a review that is the caller's own, or that a maintainer may change.
fn changed(
    visit: &Visit,
    (number, id): (u64, u64),
    change: impl FnOnce(&mut Review) -> Result<(), Problem>,
) -> Result<Json<Value>, Problem> {
    visit.change(|state| {
        let repo = visit.repo(state)?;
        let (_, pull) = found(repo, number)?;
        let mut review = one(visit, pull, id)?.clone();
        visit.may_edit(repo, &review.author)?;
        change(&mut review)?;
        let pull = state.issue_mut(&visit.full_name, number).and_then(|issue| issue.pull.as_mut());
        if let Some(own) = pull.and_then(|pull| pull.reviews.iter_mut().find(|own| own.id == id)) {
            *own = review;
        }
        let (shape, repo) = visit.view(state)?;
        shown(visit, shape, repo, (number, id))
    })
}

fn shown(
    visit: &Visit,
    shape: Shape<'_>,
    repo: &Repo,
    (number, id): (u64, u64),
) -> Result<Json<Value>, Problem> {
    let (issue, pull) = found(repo, number)?;
    let review = one(visit, pull, id)?;
    Ok(Json(shape.review(repo, issue, review)))
}

fn one<'a>(visit: &Visit, pull: &'a Pull, id: u64) -> Result<&'a Review, Problem> {
    let review = pull.reviews.iter().find(|review| review.id == id);
    review.filter(|review| review.is_seen_by(visit.login().ok())).ok_or_else(Problem::not_found)
}

/// Reviews are refused with plain sentences.
fn refused(sentence: impl AsRef<str>) -> Problem {
    Problem::unprocessable_entity(sentence.as_ref())
}

impl Shape<'_> {
    pub(super) fn review(&self, repo: &Repo, issue: &Issue, review: &Review) -> Value {
        let id = review.id;
        let html_url = format!("{}#pullrequestreview-{id}", self.page(repo, issue));
        let pull_url = format!("{}/pulls/{}", self.repo_url(repo), issue.number);
        let mut shape = json!({
            "id": id,
            "node_id": node_id(Node::Review { repo: repo.id, id }),
            "user": self.user(&review.author),
            "body": review.body,
            "state": review.state.word(),
            "html_url": html_url,
            "pull_request_url": pull_url,
            "author_association": repo.association(&review.author).word(),
            "_links": { "html": { "href": html_url }, "pull_request": { "href": pull_url } },
            "commit_id": review.commit_oid,
        });
        if review.state != ReviewState::Pending {
            shape["submitted_at"] = timestamp(review.submitted_at).into();
        }
        shape
    }
}
