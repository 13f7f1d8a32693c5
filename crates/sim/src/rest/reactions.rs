//! Reactions on issues and on comments.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{FromRequestParts, Path, Query, State},
    http::{self, StatusCode},
    response::Response,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    auth::Caller,
    hub::Hub,
    problem::Problem,
    rest::{Shape, paging::Paging, parsed, seen},
    state::{Reaction, ReactionContent, Repo},
};

/// What a reaction is on.
#[derive(Clone, Copy)]
enum Spot {
    Issue(u64),
    Comment(u64),
    ReviewComment(u64),
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

/// Where a reaction is: the address says it.
pub(super) struct Place {
    full_name: String,
    spot: Spot,
}

#[derive(Deserialize)]
struct Parts {
    owner: String,
    repo: String,
    number: Option<u64>,
    comment: Option<u64>,
}

impl<S: Send + Sync> FromRequestParts<S> for Place {
    type Rejection = Problem;

    async fn from_request_parts(request: &mut http::request::Parts, state: &S) -> Result<Self, Problem> {
        let parts = Path::<Parts>::from_request_parts(request, state).await;
        let Path(Parts { owner, repo, number, comment }) = parts.map_err(|_| Problem::not_found())?;
        let on_change = request.uri.path().split('/').nth(4) == Some("pulls");
        let spot = match (number, comment) {
            (Some(number), _) => Spot::Issue(number),
            (None, Some(id)) if on_change => Spot::ReviewComment(id),
            (None, Some(id)) => Spot::Comment(id),
            (None, None) => return Err(Problem::not_found()),
        };
        Ok(Self { full_name: format!("{owner}/{repo}"), spot })
    }
}

/// The reaction itself, where one is named.
#[derive(Deserialize)]
pub(super) struct One {
    reaction: u64,
}

/// `GET …/reactions`
pub(super) async fn list(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Place { full_name, spot }: Place,
    Query(filter): Query<Filter>,
    paging: Paging,
) -> Result<Response, Problem> {
    hub.read(|state| {
        let repo = seen(state.repo(&full_name), &caller)?;
        let shape = Shape { state, address: &hub.address };
        let reactions = spot.reactions(repo).ok_or_else(Problem::not_found)?.iter();
        let taken = reactions
            .filter(|reaction| filter.content.as_ref().is_none_or(|word| word == reaction.content.word()));
        Ok(paging.answer(taken.map(|reaction| shape.reaction(repo, reaction)).collect()))
    })
}

/// `POST …/reactions`: leaves a reaction. The same one again is no second one: 200 instead of 201.
pub(super) async fn react(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Place { full_name, spot }: Place,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let login = caller.login()?;
    let draft: Draft = parsed(&body)?;
    let word = draft.content.ok_or_else(|| Problem::not_supplied("content"))?;
    let invalid =
        || Problem::invalid(json!({ "resource": "Reaction", "code": "invalid", "field": "content" }));
    let content = ReactionContent::from_word(&word).ok_or_else(invalid)?;
    hub.change(|state| {
        seen(state.repo(&full_name), &caller)?;
        let (id, created_at) = (state.next_id(), state.clock.now());
        let repo = state.repo_mut(&full_name).ok_or_else(Problem::not_found)?;
        let reactions = spot.reactions_mut(repo).ok_or_else(Problem::not_found)?;
        let same = |reaction: &&Reaction| reaction.content == content && reaction.author == login;
        let (status, reaction) = if let Some(standing) = reactions.iter().find(same) {
            (StatusCode::OK, standing.clone())
        } else {
            let new = Reaction { id, author: login.to_owned(), content, created_at };
            reactions.push(new.clone());
            (StatusCode::CREATED, new)
        };
        let repo = seen(state.repo(&full_name), &caller)?;
        Ok((status, Json(Shape { state, address: &hub.address }.reaction(repo, &reaction))))
    })
}

/// `DELETE …/reactions/{reaction}`: takes one's own reaction back.
pub(super) async fn unreact(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Place { full_name, spot }: Place,
    Path(One { reaction: id }): Path<One>,
) -> Result<StatusCode, Problem> {
    let login = caller.login()?;
    hub.change(|state| {
        seen(state.repo(&full_name), &caller)?;
        let repo = state.repo_mut(&full_name).ok_or_else(Problem::not_found)?;
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
    fn reactions(self, repo: &Repo) -> Option<&[Reaction]> {
        match self {
            Self::Issue(number) => Some(&repo.issue(number)?.reactions),
            Self::Comment(id) => Some(&repo.comment(id)?.1.reactions),
            Self::ReviewComment(id) => Some(&repo.review_comment(id)?.2.reactions),
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
