//! Reactions on issues and on comments.

use axum::{
    Json,
    body::Bytes,
    extract::{self, FromRequestParts},
    http::{StatusCode, request::Parts},
    response::Response,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{
        address::{Path, Query},
        paging::Paging,
        parsed,
        visit::Visit,
    },
    state::{Reaction, ReactionContent, Repo},
};

/// What a reaction is on: the address says it.
#[derive(Clone, Copy)]
pub(super) enum Spot {
    Issue(u64),
    Comment(u64),
    ReviewComment(u64),
}

/// What an address has of it.
#[derive(Deserialize)]
struct Address {
    number: Option<u64>,
    comment: Option<u64>,
}

/// `{reaction}` in an address.
#[derive(Deserialize)]
pub(super) struct One {
    reaction: u64,
}

#[derive(Deserialize)]
struct Draft {
    content: Option<String>,
}

/// Which reactions are asked for.
#[derive(Deserialize)]
pub(super) struct Filter {
    content: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for Spot {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let address = extract::Path::<Address>::from_request_parts(parts, state).await;
        let extract::Path(Address { number, comment }) = address.map_err(|_| Problem::not_found())?;
        let beside_code = parts.uri.path().split('/').nth(4) == Some("pulls");
        match (number, comment) {
            (Some(number), _) => Ok(Self::Issue(number)),
            (None, Some(id)) if beside_code => Ok(Self::ReviewComment(id)),
            (None, Some(id)) => Ok(Self::Comment(id)),
            (None, None) => Err(Problem::not_found()),
        }
    }
}

/// `GET …/reactions`
pub(super) async fn list(
    visit: Visit,
    spot: Spot,
    Query(filter): Query<Filter>,
    paging: Paging,
) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let reactions = spot.reactions(&visit, repo).ok_or_else(Problem::not_found)?.iter();
        let taken = reactions
            .filter(|reaction| filter.content.as_ref().is_none_or(|word| word == reaction.content.word()));
        Ok(paging.answer(taken.map(|reaction| shape.reaction(repo, reaction)).collect()))
    })
}

/// `POST …/reactions`: leaves a reaction. The same one again is no second one: 200 instead of 201.
pub(super) async fn react(
    visit: Visit,
    spot: Spot,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let login = visit.login()?;
    let draft: Draft = parsed(&body)?;
    let word = draft.content.ok_or_else(|| Problem::not_supplied("content"))?;
    let invalid =
        || Problem::invalid(json!({ "resource": "Reaction", "code": "invalid", "field": "content" }));
    let content = ReactionContent::from_word(&word).ok_or_else(invalid)?;
    visit.change(|state| {
        let (id, created_at) = (state.next_id(), state.clock.now());
        spot.reactions(&visit, visit.repo(state)?).ok_or_else(Problem::not_found)?;
        let repo = visit.repo_mut(state)?;
        let reactions = spot.reactions_mut(repo).ok_or_else(Problem::not_found)?;
        let same = |reaction: &&Reaction| reaction.content == content && reaction.author == login;
        let (status, reaction) = if let Some(standing) = reactions.iter().find(same) {
            (StatusCode::OK, standing.clone())
        } else {
            let new = Reaction { id, author: login.to_owned(), content, created_at };
            reactions.push(new.clone());
            (StatusCode::CREATED, new)
        };
        let (shape, repo) = visit.view(state)?;
        Ok((status, Json(shape.reaction(repo, &reaction))))
    })
}

/// `DELETE …/reactions/{reaction}`: takes one's own reaction back.
pub(super) async fn unreact(
    visit: Visit,
    spot: Spot,
    Path(One { reaction: id }): Path<One>,
) -> Result<StatusCode, Problem> {
    let login = visit.login()?;
    visit.change(|state| {
        let repo = visit.repo_mut(state)?;
        let reactions = spot.reactions_mut(repo).ok_or_else(Problem::not_found)?;
        let reaction = reactions.iter().find(|reaction| reaction.id == id).ok_or_else(Problem::not_found)?;
        if reaction.author != login {
            return Err(Problem::forbidden("You can only delete your own reactions."));
        }
        reactions.retain(|reaction| reaction.id != id);
        Ok(StatusCode::NO_CONTENT)
    })
}

impl Spot {
    /// The reactions on what the caller sees.
    fn reactions<'a>(self, visit: &Visit, repo: &'a Repo) -> Option<&'a [Reaction]> {
        match self {
            Self::Issue(number) => Some(&repo.issue(number)?.reactions),
            Self::Comment(id) => Some(&repo.comment(id)?.1.reactions),
            Self::ReviewComment(id) => {
                Some(&repo.review_comment_seen_by(id, visit.login().ok())?.2.reactions)
            }
        }
    }

    fn reactions_mut(self, repo: &mut Repo) -> Option<&mut Vec<Reaction>> {
        match self {
            Self::Issue(number) => Some(&mut repo.issue_mut(number)?.reactions),
            Self::Comment(id) => {
                let comments = repo.issues.iter_mut().find_map(|issue| issue.comment_mut(id));
                Some(&mut comments?.reactions)
            }
            Self::ReviewComment(id) => Some(&mut repo.review_comment_mut(id)?.reactions),
        }
    }
}
