//! What can be changed by GraphQL: issues, pull requests, reviews, comments, reactions, and discussions, which REST does
//! not know.

/// The input and the payload of a mutation: each carries the word along by which its client knows it again.
macro_rules! deed {
    ($input:ident { $($(#[$note:meta])* $field:ident: $kind:ty,)+ }
        -> $payload:ident { $($told:ident: $what:ty,)* }) => {
        #[derive(InputObject)]
        struct $input {
            $($(#[$note])* $field: $kind,)+
            client_mutation_id: Option<String>,
        }

        #[derive(SimpleObject)]
        struct $payload {
            client_mutation_id: Option<String>,
            $($told: $what,)*
        }
    };
}

mod comment;
mod label;
mod merging;
mod pull_request;
mod remark;
mod review;
mod sorting;
mod subject;
mod upkeep;

use std::sync::Arc;

use async_graphql::{Context, Error, ID, InputObject, MergedObject, Object, Result, SimpleObject};

use crate::{
    graphql::{
        Asked,
        discussion_comment::{DiscussionComment, named},
        reaction::{Reaction, ReactionContent},
        refusal::{forbidden, of_kind},
    },
    hub::Hub,
    state::{self, Node, Repo, Role, State, node_id},
    words,
};

/// All that can be changed.
#[derive(Default, MergedObject)]
pub(super) struct Mutation(
    Discussing,
    comment::Commenting,
    label::Labelling,
    merging::Merging,
    pull_request::Proposing,
    remark::Remarking,
    review::Reviewing,
    sorting::Sorting,
    subject::Settling,
    upkeep::Upkeep,
);

#[derive(Default)]
struct Discussing;

deed!(AddReactionInput { subject_id: ID, content: ReactionContent, }
    -> AddReactionPayload { reaction: Option<Reaction>, });
deed!(RemoveReactionInput { subject_id: ID, content: ReactionContent, }
    -> RemoveReactionPayload { reaction: Option<Reaction>, });
deed!(AddDiscussionCommentInput { discussion_id: ID, body: String, reply_to_id: Option<ID>, }
    -> AddDiscussionCommentPayload { comment: Option<DiscussionComment>, });
deed!(UpdateDiscussionCommentInput { comment_id: ID, body: String, }
    -> UpdateDiscussionCommentPayload { comment: Option<DiscussionComment>, });

#[Object]
impl Discussing {
    async fn add_reaction(
        &self,
        context: &Context<'_>,
        input: AddReactionInput,
    ) -> Result<Option<AddReactionPayload>> {
        let (hub, login, asked) = writer(context)?;
        let kind = input.content.into();
        hub.change_by(asked.login(), |state| {
            let (id, created_at) = (state.next_id(), state.clock.now());
            let (repo, reactions) = reactions(state, asked, &input.subject_id)?;
            let new = state::Reaction { id, author: login.to_owned(), content: kind, created_at };
            let same = |own: &&state::Reaction| own.content == kind && own.author == login;
            let standing = reactions.iter().find(same).cloned();
            if standing.is_none() {
                reactions.push(new.clone());
            }
            Ok(Some(AddReactionPayload {
                client_mutation_id: input.client_mutation_id,
                reaction: Some(Reaction::new(repo, &standing.unwrap_or(new))),
            }))
        })
    }

    async fn remove_reaction(
        &self,
        context: &Context<'_>,
        input: RemoveReactionInput,
    ) -> Result<Option<RemoveReactionPayload>> {
        let (hub, login, asked) = writer(context)?;
        let kind = input.content.into();
        hub.change_by(asked.login(), |state| {
            let (repo, reactions) = reactions(state, asked, &input.subject_id)?;
            let own = |own: &state::Reaction| own.content == kind && own.author == login;
            let place = reactions.iter().position(own);
            let gone = place.map(|place| reactions.remove(place));
            Ok(Some(RemoveReactionPayload {
                client_mutation_id: input.client_mutation_id,
                reaction: gone.map(|gone| Reaction::new(repo, &gone)),
            }))
        })
    }

    async fn add_discussion_comment(
        &self,
        context: &Context<'_>,
        input: AddDiscussionCommentInput,
    ) -> Result<Option<AddDiscussionCommentPayload>> {
        let (hub, login, asked) = writer(context)?;
        let written = hub.change_by(asked.login(), |state| {
            let found = all(state, asked).find(|(repo, discussion)| {
                node_id(Node::Discussion { repo: repo.id, id: discussion.id }) == input.discussion_id.as_str()
            });
            let (repo, discussion) = found.ok_or_else(|| unresolved(&input.discussion_id))?;
            granted(asked, repo, &["discussions"])?;
            spoken(&input.body)?;
            if discussion.locked && !asked.caller.has(Role::Write, repo) {
                return Err(of_kind("FORBIDDEN", "Discussion is locked"));
            }
            let (name, number) = (repo.full_name(), discussion.number);
            let top = match &input.reply_to_id {
                Some(id) => {
                    let top = discussion.comments.iter().find(|top| named(repo, top.comment.id) == *id);
                    Some(
                        top.ok_or_else(|| {
                            of_kind(
                                "UNPROCESSABLE",
                                "Parent comment is already in a thread, cannot reply to it",
                            )
                        })?
                        .comment
                        .id,
                    )
                }
                None => None,
            };
            let written = match top {
                Some(top) => state.reply_in_discussion(&name, top, login, &input.body),
                None => state.discuss(&name, number, login, &input.body),
            };
            let id = written.ok_or_else(|| unresolved(&input.discussion_id))?;
            state.repo(&name).map(|repo| named(repo, id)).ok_or_else(|| unresolved(&input.discussion_id))
        })?;
        let now = Asked::now(hub, asked.caller.clone());
        Ok(Some(AddDiscussionCommentPayload {
            client_mutation_id: input.client_mutation_id,
            comment: DiscussionComment::find(&now, &written),
        }))
    }

    async fn update_discussion_comment(
        &self,
        context: &Context<'_>,
        input: UpdateDiscussionCommentInput,
    ) -> Result<Option<UpdateDiscussionCommentPayload>> {
        let (hub, login, asked) = writer(context)?;
        spoken(&input.body)?;
        hub.change_by(asked.login(), |state| {
            let (name, number, id) = locate(state, asked, &input.comment_id)?;
            let now = state.clock.now();
            let may_edit = state.repo(&name).is_some_and(|repo| asked.caller.has(Role::Write, repo));
            let discussion = state.repo_mut(&name).and_then(|repo| repo.discussion_mut(number));
            let comment = discussion.and_then(|discussion| discussion.comment_mut(id));
            let comment = comment.ok_or_else(|| unresolved(&input.comment_id))?;
            if comment.author != login && !may_edit {
                return Err(of_kind("FORBIDDEN", "Not authorized to edit this comment"));
            }
            comment.body.clone_from(&input.body);
            comment.updated_at = now;
            Ok(())
        })?;
        let now = Asked::now(hub, asked.caller.clone());
        Ok(Some(UpdateDiscussionCommentPayload {
            client_mutation_id: input.client_mutation_id,
            comment: DiscussionComment::find(&now, &input.comment_id),
        }))
    }
}

/// Returns who writes; a token that may only read is refused.
fn writer<'a>(context: &Context<'a>) -> Result<(&'a Arc<Hub>, &'a str, &'a Arc<Asked>)> {
    let (hub, asked) = (context.data::<Arc<Hub>>()?, context.data::<Arc<Asked>>()?);
    let login = asked.caller.writer();
    let login = login.ok_or_else(forbidden)?;
    Ok((hub, login, asked))
}

/// Refuses a token that was not granted any of these permissions.
fn granted(asked: &Asked, repo: &Repo, any_of: &[&str]) -> Result<()> {
    if asked.caller.may(repo, any_of) {
        return Ok(());
    }
    Err(forbidden())
}

/// Refuses a text that GitHub does not take.
fn spoken(text: &str) -> Result<()> {
    words::comment(text).map_or(Ok(()), |complaint| Err(unprocessable(complaint)))
}

/// What is asked for cannot be, for the reason in this sentence.
pub(super) fn unprocessable(sentence: impl AsRef<str>) -> Error {
    of_kind("UNPROCESSABLE", sentence.as_ref())
}

/// The name of a label by its id.
fn name(repo: &Repo, id: &ID) -> Result<String> {
    let named = |label: &&state::Label| node_id(Node::Label { repo: repo.id, id: label.id }) == id.as_str();
    let label = repo.labels.iter().find(named);
    Ok(label.ok_or_else(|| unresolved(id))?.name.clone())
}

fn unresolved(id: &ID) -> Error {
    of_kind("NOT_FOUND", &format!("Could not resolve to a node with the global id of '{}'", id.as_str()))
}

/// All discussions that the caller can see.
fn all<'a>(state: &'a State, asked: &'a Asked) -> impl Iterator<Item = (&'a Repo, &'a state::Discussion)> {
    let seen = state.repos.iter().filter(|repo| asked.caller.sees(repo));
    seen.flat_map(|repo| repo.discussions.iter().map(move |discussion| (repo, discussion)))
}

/// Finds a comment by its node id: repository, discussion, database id.
fn locate(state: &State, asked: &Asked, id: &ID) -> Result<(String, u64, u64)> {
    let mut comments = all(state, asked)
        .flat_map(|(repo, discussion)| discussion.said().map(move |said| (repo, discussion, said)));
    let found = comments.find(|(repo, _, said)| named(repo, said.id) == *id);
    let (repo, discussion, said) = found.ok_or_else(|| unresolved(id))?;
    Ok((repo.full_name(), discussion.number, said.id))
}

/// Finds the reactions on anything that can have them, and the repository it stands in.
fn reactions<'a>(
    state: &'a mut State,
    asked: &Asked,
    id: &ID,
) -> Result<(u64, &'a mut Vec<state::Reaction>)> {
    let node = Node::parse(id).ok_or_else(|| unresolved(id))?;
    let repo =
        state.repo_of_mut(node).filter(|repo| asked.caller.sees(repo)).ok_or_else(|| unresolved(id))?;
    let any_of: &[&str] = match node {
        Node::Discussion { .. } | Node::DiscussionComment { .. } => &["discussions"],
        _ => &["issues", "pull_requests"],
    };
    granted(asked, repo, any_of)?;
    if let Node::ReviewComment { id: comment, .. } = node {
        repo.review_comment_seen_by(comment, asked.caller.login().ok()).ok_or_else(|| unresolved(id))?;
    }
    Ok((repo.id, repo.reactions_at(node).ok_or_else(|| unresolved(id))?))
}
