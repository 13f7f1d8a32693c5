//! Reactions on issues and on comments.

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

type InRepo = Path<(String, String, u64)>;
type OneInRepo = Path<(String, String, u64, u64)>;

/// `GET /repos/{owner}/{repo}/issues/{number}/reactions`
pub(super) async fn on_issue(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, number)): InRepo,
    Query(filter): Query<Filter>,
    paging: Paging,
) -> Result<Response, Problem> {
    let found = list(&hub, &caller, &format!("{owner}/{repo}"), Spot::Issue(number), &filter)?;
    Ok(paging.answer(found))
}

/// `GET /repos/{owner}/{repo}/issues/comments/{comment}/reactions`
pub(super) async fn on_comment(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, id)): InRepo,
    Query(filter): Query<Filter>,
    paging: Paging,
) -> Result<Response, Problem> {
    let found = list(&hub, &caller, &format!("{owner}/{repo}"), Spot::Comment(id), &filter)?;
    Ok(paging.answer(found))
}

/// `GET /repos/{owner}/{repo}/pulls/comments/{comment}/reactions`
pub(super) async fn on_review_comment(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, id)): InRepo,
    Query(filter): Query<Filter>,
    paging: Paging,
) -> Result<Response, Problem> {
    let found = list(&hub, &caller, &format!("{owner}/{repo}"), Spot::ReviewComment(id), &filter)?;
    Ok(paging.answer(found))
}

/// `POST /repos/{owner}/{repo}/issues/{number}/reactions`
pub(super) async fn react_to_issue(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, number)): InRepo,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    react(&hub, &caller, &format!("{owner}/{repo}"), Spot::Issue(number), &body)
}

/// `POST /repos/{owner}/{repo}/issues/comments/{comment}/reactions`
pub(super) async fn react_to_comment(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, id)): InRepo,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    react(&hub, &caller, &format!("{owner}/{repo}"), Spot::Comment(id), &body)
}

/// `DELETE /repos/{owner}/{repo}/issues/{number}/reactions/{reaction}`
pub(super) async fn unreact_to_issue(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, number, reaction)): OneInRepo,
) -> Result<StatusCode, Problem> {
    unreact(&hub, &caller, &format!("{owner}/{repo}"), Spot::Issue(number), reaction)
}

/// `DELETE /repos/{owner}/{repo}/issues/comments/{comment}/reactions/{reaction}`
pub(super) async fn unreact_to_comment(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, id, reaction)): OneInRepo,
) -> Result<StatusCode, Problem> {
    unreact(&hub, &caller, &format!("{owner}/{repo}"), Spot::Comment(id), reaction)
}

/// `POST /repos/{owner}/{repo}/pulls/comments/{comment}/reactions`
pub(super) async fn react_to_review_comment(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, id)): InRepo,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    react(&hub, &caller, &format!("{owner}/{repo}"), Spot::ReviewComment(id), &body)
}

/// `DELETE /repos/{owner}/{repo}/pulls/comments/{comment}/reactions/{reaction}`
pub(super) async fn unreact_to_review_comment(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((owner, repo, id, reaction)): OneInRepo,
) -> Result<StatusCode, Problem> {
    unreact(&hub, &caller, &format!("{owner}/{repo}"), Spot::ReviewComment(id), reaction)
}

fn list(
    hub: &Hub,
    caller: &Caller,
    full_name: &str,
    spot: Spot,
    filter: &Filter,
) -> Result<Vec<Value>, Problem> {
    hub.read(|state| {
        let repo = seen(state.repo(full_name), caller)?;
        let shape = Shape { state, address: &hub.address };
        let reactions = spot.reactions(repo).ok_or_else(Problem::not_found)?.iter();
        let taken = reactions
            .filter(|reaction| filter.content.as_ref().is_none_or(|word| word == reaction.content.word()));
        Ok(taken.map(|reaction| shape.reaction(repo, reaction)).collect())
    })
}

/// Leaves a reaction. The same one again is no second one: 200 instead of 201.
fn react(
    hub: &Hub,
    caller: &Caller,
    full_name: &str,
    spot: Spot,
    body: &Bytes,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let login = caller.login()?;
    let draft: Draft = parsed(body)?;
    let word = draft.content.ok_or_else(|| Problem::not_supplied("content"))?;
    let invalid =
        || Problem::invalid(json!({ "resource": "Reaction", "code": "invalid", "field": "content" }));
    let content = ReactionContent::from_word(&word).ok_or_else(invalid)?;
    hub.change(|state| {
        seen(state.repo(full_name), caller)?;
        let (id, created_at) = (state.next_id(), state.clock.now());
        let repo = state.repo_mut(full_name).ok_or_else(Problem::not_found)?;
        let reactions = spot.reactions_mut(repo).ok_or_else(Problem::not_found)?;
        let same = |reaction: &&Reaction| reaction.content == content && reaction.author == login;
        let (status, reaction) = if let Some(standing) = reactions.iter().find(same) {
            (StatusCode::OK, standing.clone())
        } else {
            let new = Reaction { id, author: login.to_owned(), content, created_at };
            reactions.push(new.clone());
            (StatusCode::CREATED, new)
        };
        let repo = seen(state.repo(full_name), caller)?;
        Ok((status, Json(Shape { state, address: &hub.address }.reaction(repo, &reaction))))
    })
}

/// Takes one's own reaction back.
fn unreact(hub: &Hub, caller: &Caller, full_name: &str, spot: Spot, id: u64) -> Result<StatusCode, Problem> {
    let login = caller.login()?;
    hub.change(|state| {
        seen(state.repo(full_name), caller)?;
        let repo = state.repo_mut(full_name).ok_or_else(Problem::not_found)?;
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
