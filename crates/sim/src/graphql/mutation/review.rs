//! Reviews: begun, given, changed and taken back.

use async_graphql::{Context, Enum, ID, InputObject, Object, Result, SimpleObject};

use crate::{
    graphql::{
        Asked,
        connection::Edge,
        mutation::{granted, unprocessable, unresolved, writer},
        node::{self, Node},
        refusal::of_kind,
        review::PullRequestReview,
        review_thread::DiffSide,
        scalar::GitObjectId,
    },
    hub::Hub,
    reviews::{self, Draft, Remark},
    state::{self, Place, Pull, Review, ReviewState, Role, Side, State},
};

#[derive(Default)]
pub(super) struct Reviewing;

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum PullRequestReviewEvent {
    Approve,
    Comment,
    Dismiss,
    RequestChanges,
}

/// A remark by its position below the first hunk's header, as it used to be told.
#[derive(InputObject)]
struct DraftPullRequestReviewComment {
    path: String,
    position: i32,
    body: String,
}

/// A remark by its lines.
#[derive(InputObject)]
struct DraftPullRequestReviewThread {
    path: String,
    line: i32,
    side: Option<DiffSide>,
    start_line: Option<i32>,
    start_side: Option<DiffSide>,
    body: String,
}

deed!(AddPullRequestReviewInput {
    pull_request_id: ID,
    #[graphql(name = "commitOID")]
    commit_oid: Option<GitObjectId>,
    body: Option<String>,
    event: Option<PullRequestReviewEvent>,
    comments: Option<Vec<Option<DraftPullRequestReviewComment>>>,
    threads: Option<Vec<Option<DraftPullRequestReviewThread>>>,
} -> AddPullRequestReviewPayload {
    pull_request_review: Option<PullRequestReview>,
    review_edge: Option<Edge<PullRequestReview>>,
});

deed!(SubmitPullRequestReviewInput {
    pull_request_id: Option<ID>,
    pull_request_review_id: Option<ID>,
    event: PullRequestReviewEvent,
    body: Option<String>,
} -> SubmitPullRequestReviewPayload { pull_request_review: Option<PullRequestReview>, });

deed!(UpdatePullRequestReviewInput { pull_request_review_id: ID, body: String, }
    -> UpdatePullRequestReviewPayload { pull_request_review: Option<PullRequestReview>, });

deed!(DeletePullRequestReviewInput { pull_request_review_id: ID, }
    -> DeletePullRequestReviewPayload { pull_request_review: Option<PullRequestReview>, });

deed!(DismissPullRequestReviewInput { pull_request_review_id: ID, message: String, }
    -> DismissPullRequestReviewPayload { pull_request_review: Option<PullRequestReview>, });

#[Object]
impl Reviewing {
    async fn add_pull_request_review(
        &self,
        context: &Context<'_>,
        input: AddPullRequestReviewInput,
    ) -> Result<Option<AddPullRequestReviewPayload>> {
        let (hub, login, asked) = writer(context)?;
        let by_position = input.comments.into_iter().flatten().flatten().map(Remark::from);
        let by_lines = input.threads.into_iter().flatten().flatten().map(Remark::from);
        let draft = Draft {
            verdict: input.event.map_or(Ok(ReviewState::Pending), PullRequestReviewEvent::verdict)?,
            text: input.body.unwrap_or_default(),
            commit_oid: input.commit_oid.map(|oid| oid.0),
            remarks: by_position.chain(by_lines).collect(),
        };
        let id = hub.change_by(asked.login(), |state| {
            let (repo, full_name, number) = pull_at(state, asked, &input.pull_request_id)?;
            let id = reviews::give(state, (&full_name, number), login, draft).map_err(unprocessable)?;
            Ok::<_, async_graphql::Error>(state::node_id(state::Node::Review { repo, id }))
        })?;
        let id = ID::from(id);
        Ok(Some(AddPullRequestReviewPayload {
            client_mutation_id: input.client_mutation_id,
            pull_request_review: shown(hub, asked, &id),
            review_edge: shown(hub, asked, &id).map(Edge::alone),
        }))
    }

    async fn submit_pull_request_review(
        &self,
        context: &Context<'_>,
        input: SubmitPullRequestReviewInput,
    ) -> Result<Option<SubmitPullRequestReviewPayload>> {
        let (hub, login, asked) = writer(context)?;
        let given = (input.event.verdict()?, input.body);
        let id = match (input.pull_request_review_id, &input.pull_request_id) {
            (Some(id), _) => id,
            (None, Some(pull)) => hub.read(|state| own_pending(state, asked, pull))?,
            (None, None) => return Err(unprocessable("pullRequestId or pullRequestReviewId is required")),
        };
        hub.change_by(asked.login(), |state| {
            let (full_name, number, review) = review_at(state, asked, &id)?;
            reviews::submit(state, (&full_name, number), (review, login), given).map_err(unprocessable)
        })?;
        Ok(Some(SubmitPullRequestReviewPayload {
            client_mutation_id: input.client_mutation_id,
            pull_request_review: shown(hub, asked, &id),
        }))
    }

    async fn update_pull_request_review(
        &self,
        context: &Context<'_>,
        input: UpdatePullRequestReviewInput,
    ) -> Result<Option<UpdatePullRequestReviewPayload>> {
        let (hub, _, asked) = writer(context)?;
        let id = &input.pull_request_review_id;
        changed(hub, asked, id, |review, _| {
            review.body = input.body;
            Ok(())
        })?;
        Ok(Some(UpdatePullRequestReviewPayload {
            client_mutation_id: input.client_mutation_id,
            pull_request_review: shown(hub, asked, id),
        }))
    }

    async fn delete_pull_request_review(
        &self,
        context: &Context<'_>,
        input: DeletePullRequestReviewInput,
    ) -> Result<Option<DeletePullRequestReviewPayload>> {
        let (hub, _, asked) = writer(context)?;
        let id = &input.pull_request_review_id;
        let last = shown(hub, asked, id);
        hub.change_by(asked.login(), |state| {
            let (full_name, number, review) = review_at(state, asked, id)?;
            let pull = pull_mut(state, &full_name, number).ok_or_else(|| unresolved(id))?;
            reviews::discard(pull, review).map_err(unprocessable)
        })?;
        Ok(Some(DeletePullRequestReviewPayload {
            client_mutation_id: input.client_mutation_id,
            pull_request_review: last,
        }))
    }

    async fn dismiss_pull_request_review(
        &self,
        context: &Context<'_>,
        input: DismissPullRequestReviewInput,
    ) -> Result<Option<DismissPullRequestReviewPayload>> {
        let (hub, _, asked) = writer(context)?;
        let id = &input.pull_request_review_id;
        changed(hub, asked, id, |review, may_write| {
            if !may_write {
                return Err(of_kind("FORBIDDEN", "Must have write access to dismiss a review."));
            }
            reviews::dismiss(review).map_err(unprocessable)
        })?;
        Ok(Some(DismissPullRequestReviewPayload {
            client_mutation_id: input.client_mutation_id,
            pull_request_review: shown(hub, asked, id),
        }))
    }
}

/// Finds the pull request that an id names, for somebody who may talk about it: the ids and names of where it is.
pub(super) fn pull_at(state: &State, asked: &Asked, id: &ID) -> Result<(u64, String, u64)> {
    let node = state::Node::parse(id).ok_or_else(|| unresolved(id))?;
    let repo = state.repo_of(node).filter(|repo| asked.caller.sees(repo)).ok_or_else(|| unresolved(id))?;
    let issue = repo.issue_at(node).filter(|issue| issue.pull.is_some()).ok_or_else(|| unresolved(id))?;
    granted(asked, repo, &["pull_requests"])?;
    if issue.locked && !asked.caller.has(Role::Write, repo) {
        return Err(of_kind("FORBIDDEN", "Unable to create comment because issue is locked."));
    }
    Ok((repo.id, repo.full_name(), issue.number))
}

/// Finds a review that whoever asks sees and may change: its repository, pull request and database id.
pub(super) fn review_at(state: &State, asked: &Asked, id: &ID) -> Result<(String, u64, u64)> {
    let node = state::Node::parse(id).ok_or_else(|| unresolved(id))?;
    let repo = state.repo_of(node).filter(|repo| asked.caller.sees(repo)).ok_or_else(|| unresolved(id))?;
    let state::Node::Review { id: wanted, .. } = node else { return Err(unresolved(id)) };
    let login = asked.caller.login().ok();
    let found = repo.issues.iter().find_map(|issue| {
        let review = issue.pull.as_ref()?.reviews.iter().find(|review| review.id == wanted)?;
        review.is_seen_by(login).then_some((issue, review))
    });
    let (issue, review) = found.ok_or_else(|| unresolved(id))?;
    granted(asked, repo, &["pull_requests"])?;
    let own = login.is_some_and(|login| login.eq_ignore_ascii_case(&review.author));
    if !own && !asked.caller.has(Role::Write, repo) {
        return Err(of_kind("FORBIDDEN", "Viewer is not authorized to change this review"));
    }
    Ok((repo.full_name(), issue.number, wanted))
}

pub(super) fn pull_mut<'a>(state: &'a mut State, full_name: &str, number: u64) -> Option<&'a mut Pull> {
    state.issue_mut(full_name, number)?.pull.as_mut()
}

/// The id of the review that whoever asks has begun on a pull request.
fn own_pending(state: &State, asked: &Asked, pull: &ID) -> Result<ID> {
    let (repo, full_name, number) = pull_at(state, asked, pull)?;
    let found = state.issue(&full_name, number).and_then(|issue| issue.pull.as_ref());
    let login = asked.caller.login().unwrap_or_default();
    let begun = found.and_then(|pull| reviews::pending(pull, login));
    let id = begun.map(|review| state::node_id(state::Node::Review { repo, id: review.id }));
    id.map(ID::from).ok_or_else(|| unresolved(pull))
}

/// Changes a review; the change is told whether whoever asks may push.
fn changed(
    hub: &Hub,
    asked: &Asked,
    id: &ID,
    change: impl FnOnce(&mut Review, bool) -> Result<()>,
) -> Result<()> {
    hub.change_by(asked.login(), |state| {
        let (full_name, number, wanted) = review_at(state, asked, id)?;
        let may_write = state.repo(&full_name).is_some_and(|repo| asked.caller.has(Role::Write, repo));
        let pull = pull_mut(state, &full_name, number).ok_or_else(|| unresolved(id))?;
        let review = pull.reviews.iter_mut().find(|review| review.id == wanted);
        change(review.ok_or_else(|| unresolved(id))?, may_write)
    })
}

/// A review as it is now.
pub(super) fn shown(hub: &Hub, asked: &Asked, id: &ID) -> Option<PullRequestReview> {
    match node::find(&Asked::now(hub, asked.caller.clone()), id) {
        Some(Node::PullRequestReview(review)) => Some(review),
        _ => None,
    }
}

impl PullRequestReviewEvent {
    fn verdict(self) -> Result<ReviewState> {
        match self {
            Self::Approve => Ok(ReviewState::Approved),
            Self::Comment => Ok(ReviewState::Commented),
            Self::RequestChanges => Ok(ReviewState::ChangesRequested),
            Self::Dismiss => Err(unprocessable("A review cannot be given as dismissed")),
        }
    }
}

impl From<DraftPullRequestReviewComment> for Remark {
    fn from(draft: DraftPullRequestReviewComment) -> Self {
        let position = usize::try_from(draft.position).unwrap_or_default();
        Self { path: draft.path, body: draft.body, place: Place::Position(position) }
    }
}

impl From<DraftPullRequestReviewThread> for Remark {
    fn from(draft: DraftPullRequestReviewThread) -> Self {
        let place = lines((draft.line, draft.side), draft.start_line.map(|line| (line, draft.start_side)));
        Self { path: draft.path, body: draft.body, place }
    }
}

/// The place of a remark about lines; a side that is not said is the right one.
pub(super) fn lines(last: (i32, Option<DiffSide>), first: Option<(i32, Option<DiffSide>)>) -> Place {
    let read = |(line, side): (i32, Option<DiffSide>)| {
        (u64::try_from(line).unwrap_or_default(), side.map_or(Side::Right, Side::from))
    };
    let (line, side) = read(last);
    Place::Lines { line, side, start: first.map(read) }
}
