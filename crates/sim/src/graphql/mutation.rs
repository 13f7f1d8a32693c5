//! What can be changed by GraphQL, because REST does not know discussions.

use std::sync::Arc;

use async_graphql::{Context, Enum, Error, ID, InputObject, Object, Result, SimpleObject};

use crate::{
    graphql::{
        Asked,
        discussion_comment::{DiscussionComment, named},
        refusal::of_kind,
    },
    hub::Hub,
    state::{self, Node, Repo, Role, State, node_id},
};

pub(super) struct Mutation;

#[derive(InputObject)]
struct AddReactionInput {
    subject_id: ID,
    content: ReactionContent,
}

#[derive(InputObject)]
struct RemoveReactionInput {
    subject_id: ID,
    content: ReactionContent,
}

#[derive(InputObject)]
struct AddDiscussionCommentInput {
    discussion_id: ID,
    body: String,
    reply_to_id: Option<ID>,
}

#[derive(InputObject)]
struct UpdateDiscussionCommentInput {
    comment_id: ID,
    body: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "state::ReactionContent")]
enum ReactionContent {
    ThumbsUp,
    ThumbsDown,
    Laugh,
    Confused,
    Heart,
    Hooray,
    Rocket,
    Eyes,
}

#[derive(SimpleObject)]
struct Reaction {
    content: ReactionContent,
}

#[derive(SimpleObject)]
struct AddReactionPayload {
    reaction: Option<Reaction>,
}

#[derive(SimpleObject)]
struct RemoveReactionPayload {
    reaction: Option<Reaction>,
}

#[derive(SimpleObject)]
struct AddDiscussionCommentPayload {
    comment: Option<DiscussionComment>,
}

#[derive(SimpleObject)]
struct UpdateDiscussionCommentPayload {
    comment: Option<DiscussionComment>,
}

#[Object]
impl Mutation {
    async fn add_reaction(
        &self,
        context: &Context<'_>,
        input: AddReactionInput,
    ) -> Result<AddReactionPayload> {
        let (hub, login, asked) = writer(context)?;
        let wanted = input.content.into();
        hub.change(|state| {
            let (id, created_at) = (state.next_id(), state.clock.now());
            let reactions = reactions(state, asked, &input.subject_id)?;
            let same = |own: &state::Reaction| own.content == wanted && own.author == login;
            if !reactions.iter().any(same) {
                reactions.push(state::Reaction { id, author: login.to_owned(), content: wanted, created_at });
            }
            Ok(AddReactionPayload { reaction: Some(Reaction { content: input.content }) })
        })
    }

    async fn remove_reaction(
        &self,
        context: &Context<'_>,
        input: RemoveReactionInput,
    ) -> Result<RemoveReactionPayload> {
        let (hub, login, asked) = writer(context)?;
        let unwanted = input.content.into();
        hub.change(|state| {
            let reactions = reactions(state, asked, &input.subject_id)?;
            reactions.retain(|own| own.content != unwanted || own.author != login);
            Ok(RemoveReactionPayload { reaction: Some(Reaction { content: input.content }) })
        })
    }

    async fn add_discussion_comment(
        &self,
        context: &Context<'_>,
        input: AddDiscussionCommentInput,
    ) -> Result<AddDiscussionCommentPayload> {
        let (hub, login, asked) = writer(context)?;
        let written = hub.change(|state| {
            let found = all(state, asked).find(|(repo, discussion)| {
                node_id(Node::Discussion { repo: repo.id, id: discussion.id }) == input.discussion_id.as_str()
            });
            let (repo, discussion) = found.ok_or_else(|| unresolved(&input.discussion_id))?;
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
        Ok(AddDiscussionCommentPayload { comment: DiscussionComment::find(&now, &written) })
    }

    async fn update_discussion_comment(
        &self,
        context: &Context<'_>,
        input: UpdateDiscussionCommentInput,
    ) -> Result<UpdateDiscussionCommentPayload> {
        let (hub, login, asked) = writer(context)?;
        hub.change(|state| {
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
        Ok(UpdateDiscussionCommentPayload { comment: DiscussionComment::find(&now, &input.comment_id) })
    }
}

/// Returns who writes; a token that may only read is refused.
fn writer<'a>(context: &Context<'a>) -> Result<(&'a Arc<Hub>, &'a str, &'a Arc<Asked>)> {
    let (hub, asked) = (context.data::<Arc<Hub>>()?, context.data::<Arc<Asked>>()?);
    let login = asked.caller.writer();
    let login = login.ok_or_else(|| of_kind("FORBIDDEN", "Resource not accessible by integration"))?;
    Ok((hub, login, asked))
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

/// Finds the reactions on a discussion or on a comment in one.
fn reactions<'a>(state: &'a mut State, asked: &Asked, id: &ID) -> Result<&'a mut Vec<state::Reaction>> {
    let whole = all(state, asked).find(|(repo, discussion)| {
        node_id(Node::Discussion { repo: repo.id, id: discussion.id }) == id.as_str()
    });
    let (name, number, comment) = if let Some((repo, discussion)) = whole {
        (repo.full_name(), discussion.number, None)
    } else {
        let (name, number, comment) = locate(state, asked, id)?;
        (name, number, Some(comment))
    };
    let discussion = state.repo_mut(&name).and_then(|repo| repo.discussion_mut(number));
    let discussion = discussion.ok_or_else(|| unresolved(id))?;
    match comment {
        Some(comment) => {
            let comment = discussion.comment_mut(comment).ok_or_else(|| unresolved(id))?;
            Ok(&mut comment.reactions)
        }
        None => Ok(&mut discussion.reactions),
    }
}
