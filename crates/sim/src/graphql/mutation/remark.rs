//! Remarks beside the code: threads begun and answered, words changed and taken away.

use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};

use crate::{
    graphql::{
        Asked,
        mutation::{
            comment::{editable, rewritten},
            review::{lines, pull_at, pull_mut, review_at, shown},
            spoken, unprocessable, unresolved, writer,
        },
        node::{self, Node},
        review::PullRequestReview,
        review_thread::{
            DiffSide, PullRequestReviewComment, PullRequestReviewThread, PullRequestReviewThreadSubjectType,
        },
    },
    reviews::{self, Draft, Remark},
    state::{self, Place, ReviewState, State, node_id},
};

#[derive(Default)]
pub(super) struct Remarking;

deed!(AddPullRequestReviewThreadInput {
    pull_request_id: Option<ID>,
    pull_request_review_id: Option<ID>,
    path: String,
    line: Option<i32>,
    side: Option<DiffSide>,
    start_line: Option<i32>,
    start_side: Option<DiffSide>,
    subject_type: Option<PullRequestReviewThreadSubjectType>,
    body: String,
} -> AddPullRequestReviewThreadPayload { thread: Option<PullRequestReviewThread>, });

deed!(AddPullRequestReviewThreadReplyInput {
    pull_request_review_thread_id: ID,
    pull_request_review_id: Option<ID>,
    body: String,
} -> AddPullRequestReviewThreadReplyPayload { comment: Option<PullRequestReviewComment>, });

deed!(UpdatePullRequestReviewCommentInput { pull_request_review_comment_id: ID, body: String, }
-> UpdatePullRequestReviewCommentPayload {
    pull_request_review_comment: Option<PullRequestReviewComment>,
});

deed!(DeletePullRequestReviewCommentInput { id: ID, }
-> DeletePullRequestReviewCommentPayload {
    pull_request_review: Option<PullRequestReview>,
    pull_request_review_comment: Option<PullRequestReviewComment>,
});

#[Object]
impl Remarking {
    async fn add_pull_request_review_thread(
        &self,
        context: &Context<'_>,
        input: AddPullRequestReviewThreadInput,
    ) -> Result<Option<AddPullRequestReviewThreadPayload>> {
        let (hub, login, asked) = writer(context)?;
        spoken(&input.body)?;
        let place = match (input.subject_type, input.line) {
            (Some(PullRequestReviewThreadSubjectType::File), _) => Place::File,
            (_, Some(line)) => {
                lines((line, input.side), input.start_line.map(|line| (line, input.start_side)))
            }
            (_, None) => return Err(unprocessable("line is required for a thread about a line")),
        };
        let remark = Remark { path: input.path, body: input.body, place };
        let thread = hub.change_by(asked.login(), |state| {
            let (full_name, number, review) =
                begun(state, asked, input.pull_request_review_id.as_ref(), input.pull_request_id.as_ref())?;
            let pull = pull_mut(state, &full_name, number).ok_or_else(|| unprocessable("no such review"))?;
            let anchor = reviews::fit(pull, &remark).map_err(|misfit| unprocessable(misfit.sentence()))?;
            reviews::begin(state, (&full_name, number), login, (remark, anchor), review);
            let repo = state.repo(&full_name);
            let thread = repo.and_then(|repo| {
                let id = repo.issue(number)?.pull.as_ref()?.threads.last()?.id;
                Some(node_id(state::Node::ReviewThread { repo: repo.id, id }))
            });
            thread.map(ID::from).ok_or_else(|| unprocessable("no such review"))
        })?;
        let now = Asked::now(hub, asked.caller.clone());
        let thread = match node::find(&now, &thread) {
            Some(Node::PullRequestReviewThread(thread)) => Some(thread),
            _ => None,
        };
        Ok(Some(AddPullRequestReviewThreadPayload { client_mutation_id: input.client_mutation_id, thread }))
    }

    async fn add_pull_request_review_thread_reply(
        &self,
        context: &Context<'_>,
        input: AddPullRequestReviewThreadReplyInput,
    ) -> Result<Option<AddPullRequestReviewThreadReplyPayload>> {
        let (hub, login, asked) = writer(context)?;
        spoken(&input.body)?;
        let id = hub.change_by(asked.login(), |state| {
            let (pull, root) = answered(state, asked, &input.pull_request_review_thread_id)?;
            let (repo, full_name, number) = pull_at(state, asked, &pull)?;
            let id = match &input.pull_request_review_id {
                Some(review) => {
                    let (_, _, review) = review_at(state, asked, review)?;
                    state.reply_with(&full_name, root, login, (&input.body, review))
                }
                None if has_pending(state, &full_name, number, login) => {
                    let message = "User can only have one pending review per pull request";
                    return Err(unprocessable(message));
                }
                None => state.reply_in_thread(&full_name, root, login, &input.body),
            };
            let id = id.map(|id| node_id(state::Node::ReviewComment { repo, id }));
            id.map(ID::from).ok_or_else(|| unresolved(&input.pull_request_review_thread_id))
        })?;
        let comment = remark(&Asked::now(hub, asked.caller.clone()), &id);
        Ok(Some(AddPullRequestReviewThreadReplyPayload {
            client_mutation_id: input.client_mutation_id,
            comment,
        }))
    }

    async fn update_pull_request_review_comment(
        &self,
        context: &Context<'_>,
        input: UpdatePullRequestReviewCommentInput,
    ) -> Result<Option<UpdatePullRequestReviewCommentPayload>> {
        let now = rewritten(context, &input.pull_request_review_comment_id, &input.body)?;
        Ok(Some(UpdatePullRequestReviewCommentPayload {
            client_mutation_id: input.client_mutation_id,
            pull_request_review_comment: remark(&now, &input.pull_request_review_comment_id),
        }))
    }

    async fn delete_pull_request_review_comment(
        &self,
        context: &Context<'_>,
        input: DeletePullRequestReviewCommentInput,
    ) -> Result<Option<DeletePullRequestReviewCommentPayload>> {
        let (hub, _, asked) = writer(context)?;
        let last = remark(asked, &input.id);
        let review = hub.change_by(asked.login(), |state| {
            let node = editable(state, asked, &input.id)?;
            let state::Node::ReviewComment { id, repo } = node else { return Err(unresolved(&input.id)) };
            let repo_name = state.repo_of(node).map(state::Repo::full_name).unwrap_or_default();
            let found = state.repo(&repo_name).and_then(|repo| repo.review_comment(id));
            let found = found.map(|(issue, _, comment)| (issue.number, comment.review));
            let (number, review) = found.ok_or_else(|| unresolved(&input.id))?;
            if let Some(pull) = pull_mut(state, &repo_name, number) {
                reviews::remove(pull, id);
            }
            Ok(review.map(|id| ID::from(node_id(state::Node::Review { repo, id }))))
        })?;
        Ok(Some(DeletePullRequestReviewCommentPayload {
            client_mutation_id: input.client_mutation_id,
            pull_request_review: review.and_then(|id| shown(hub, asked, &id)),
            pull_request_review_comment: last,
        }))
    }
}

/// Finds the review that a remark is to join, or begins one: the repository, the pull request and the review.
fn begun(
    state: &mut State,
    asked: &Asked,
    review: Option<&ID>,
    pull: Option<&ID>,
) -> Result<(String, u64, u64)> {
    if let Some(review) = review {
        return review_at(state, asked, review);
    }
    let pull = pull.ok_or_else(|| unprocessable("pullRequestId or pullRequestReviewId is required"))?;
    let (_, full_name, number) = pull_at(state, asked, pull)?;
    let login = asked.caller.login().unwrap_or_default();
    let found = state.issue(&full_name, number).and_then(|issue| issue.pull.as_ref());
    if let Some(pending) = found.and_then(|pull| reviews::pending(pull, login)) {
        return Ok((full_name, number, pending.id));
    }
    let draft =
        Draft { verdict: ReviewState::Pending, text: String::new(), commit_oid: None, remarks: Vec::new() };
    let id = reviews::give(state, (&full_name, number), login, draft).map_err(unprocessable)?;
    Ok((full_name, number, id))
}

/// Finds the thread that is answered: the id of its pull request, and of the comment that began it.
fn answered(state: &State, asked: &Asked, id: &ID) -> Result<(ID, u64)> {
    let node = state::Node::parse(id).ok_or_else(|| unresolved(id))?;
    let state::Node::ReviewThread { id: wanted, repo: repo_id } = node else { return Err(unresolved(id)) };
    let repo = state.repo_of(node).filter(|repo| asked.caller.sees(repo)).ok_or_else(|| unresolved(id))?;
    let found = repo.issues.iter().find_map(|issue| {
        let mut seen = issue.pull.as_ref()?.threads_seen_by(asked.caller.login().ok());
        Some((issue.id, seen.find(|thread| thread.id == wanted)?.comments.first()?.id))
    });
    let (issue, root) = found.ok_or_else(|| unresolved(id))?;
    Ok((node_id(state::Node::PullRequest { repo: repo_id, id: issue }).into(), root))
}

fn has_pending(state: &State, full_name: &str, number: u64, login: &str) -> bool {
    let pull = state.issue(full_name, number).and_then(|issue| issue.pull.as_ref());
    pull.is_some_and(|pull| reviews::pending(pull, login).is_some())
}

fn remark(asked: &std::sync::Arc<Asked>, id: &ID) -> Option<PullRequestReviewComment> {
    match node::find(asked, id) {
        Some(Node::PullRequestReviewComment(comment)) => Some(comment),
        _ => None,
    }
}
