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
    state::{self, Issue, Node, Pull, Repo, Review, ReviewState, Role, node_id},
    words,
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
    visit.change(|state| {
        let repo = visit.repo(state)?;
        let (issue, pull) = found(repo, number)?;
        visit.may_speak(repo, issue)?;
        let text = draft.body.unwrap_or_default();
        let words = Words { text: &text, n_remarks: draft.comments.len() };
        let verdict = verdict(draft.event.as_deref(), words, issue, login)?;
        if reviews::pending(pull, login).is_some() {
            return Err(refused("User can only have one pending review per pull request"));
        }
        let commit_oid = draft.commit_id.unwrap_or_else(|| pull.head_oid.clone());
        if !pull.commits.iter().any(|commit| commit.oid == commit_oid) {
            return Err(refused("Commit is not part of the pull request"));
        }
        let remarks =
            draft.comments.into_iter().map(|draft| fitted(pull, draft)).collect::<Result<Vec<_>, _>>()?;
        let (id, submitted_at) = (state.next_id(), state.clock.now());
        let review = Review {
            id,
            author: login.to_owned(),
            state: verdict,
            body: text,
            commit_oid,
            submitted_at,
            minimized: None,
        };
        reviews::enter(state, (&visit.full_name, number), review);
        for remark in remarks {
            reviews::begin(state, (&visit.full_name, number), login, remark, id);
        }
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
    changed(&visit, (number, id), |review, _| {
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
    let Json(_) = changed(&visit, (number, id), |review, issue| {
        if review.state != ReviewState::Pending {
            return Err(refused("Can not submit a review that has already been submitted"));
        }
        review.body = body.unwrap_or_else(|| review.body.clone());
        let pull = issue.pull.as_ref().ok_or_else(Problem::not_found)?;
        let said = pull.threads.iter().flat_map(|thread| &thread.comments);
        let n_remarks = said.filter(|comment| comment.review == Some(id)).count();
        review.state = verdict(Some(&event), Words { text: &review.body, n_remarks }, issue, login)?;
        Ok(())
    })?;
    visit.change(|state| {
        let now = state.clock.now();
        let mut review = one(&visit, found(visit.repo(state)?, number)?.1, id)?.clone();
        review.submitted_at = now;
        reviews::enter(state, (&visit.full_name, number), review);
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
        if one(&visit, pull, id)?.state != ReviewState::Pending {
            return Err(refused("Can not delete a non-pending pull request review"));
        }
        pull.reviews.retain(|review| review.id != id);
        for thread in &mut pull.threads {
            thread.comments.retain(|comment| comment.review != Some(id));
        }
        pull.threads.retain(|thread| !thread.comments.is_empty());
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
    changed(&visit, (number, id), |review, _| match review.state {
        ReviewState::Approved | ReviewState::ChangesRequested => {
            review.state = ReviewState::Dismissed;
            Ok(())
        }
        ReviewState::Commented => Err(refused("Can not dismiss a commented pull request review")),
        ReviewState::Dismissed | ReviewState::Pending => Err(refused("Can not dismiss this review")),
    })
}

/// What a review says: its own text, and remarks beside the code.
#[derive(Clone, Copy)]
struct Words<'a> {
    text: &'a str,
    n_remarks: usize,
}

/// Reads a verdict, and refuses what GitHub refuses.
fn verdict(
    event: Option<&str>,
    Words { text, n_remarks }: Words<'_>,
    issue: &Issue,
    login: &str,
) -> Result<ReviewState, Problem> {
    let own = issue.author.eq_ignore_ascii_case(login);
    if let Some(complaint) = words::body(text) {
        return Err(refused(&complaint));
    }
    let silent = text.trim().is_empty();
    match event {
        None => Ok(ReviewState::Pending),
        Some("APPROVE") if own => Err(refused("Can not approve your own pull request")),
        Some("REQUEST_CHANGES") if own => Err(refused("Can not request changes on your own pull request")),
        Some("APPROVE") => Ok(ReviewState::Approved),
        Some("REQUEST_CHANGES") if silent => Err(refused("Body can't be blank")),
        // Remarks are words enough for a comment.
        Some("COMMENT") if silent && n_remarks == 0 => Err(refused("Body can't be blank")),
        Some("REQUEST_CHANGES") => Ok(ReviewState::ChangesRequested),
        Some("COMMENT") => Ok(ReviewState::Commented),
        Some(_) => Err(refused("Variable $event of type PullRequestReviewEvent was provided invalid value")),
    }
}

/// Finds the place of one of a review's remarks. The refusal does not say which one it was.
fn fitted(pull: &Pull, draft: Draft) -> Result<(Remark, state::Anchor), Problem> {
    if let Some(complaint) = draft.complaint() {
        return Err(refused(&complaint));
    }
    let remark = draft.line_remark()?;
    let anchor = reviews::fit(pull, &remark).map_err(|misfit| refused(&misfit.sentence()))?;
    Ok((remark, anchor))
}

/// Changes a review that is the caller's own, or that a maintainer may change.
fn changed(
    visit: &Visit,
    (number, id): (u64, u64),
    change: impl FnOnce(&mut Review, &Issue) -> Result<(), Problem>,
) -> Result<Json<Value>, Problem> {
    visit.change(|state| {
        let repo = visit.repo(state)?;
        let (issue, pull) = found(repo, number)?;
        let mut review = one(visit, pull, id)?.clone();
        visit.may_edit(repo, &review.author)?;
        change(&mut review, issue)?;
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
fn refused(sentence: &str) -> Problem {
    Problem::unprocessable_entity(sentence)
}

impl Shape<'_> {
    fn review(&self, repo: &Repo, issue: &Issue, review: &Review) -> Value {
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
