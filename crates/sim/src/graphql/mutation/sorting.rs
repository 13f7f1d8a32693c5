//! Who sees to issues and pull requests, who is asked for a review, and who may talk about them.

use async_graphql::{Context, ID, InputObject, Interface, Object, Result, SimpleObject};

use crate::{
    graphql::{
        issue::Issue,
        mutation::{
            subject::{changed, logins, now, pull, redrafted},
            unresolved, writer,
        },
        node::{self, Node},
        pull_request::PullRequest,
        refusal::of_kind,
        thread::LockReason,
    },
    state,
};

#[derive(Default)]
pub(super) struct Sorting;

deed!(RequestReviewsInput { pull_request_id: ID, user_ids: Option<Vec<ID>>, union: Option<bool>, }
    -> RequestReviewsPayload { pull_request: Option<PullRequest>, });
// By their names, as gh asks for it.
deed!(RequestReviewsByLoginInput {
    pull_request_id: ID,
    user_logins: Option<Vec<String>>,
    bot_logins: Option<Vec<String>>,
    team_slugs: Option<Vec<String>>,
    union: Option<bool>,
} -> RequestReviewsByLoginPayload { pull_request: Option<PullRequest>, });
deed!(AddAssigneesToAssignableInput { assignable_id: ID, assignee_ids: Vec<ID>, }
    -> AddAssigneesToAssignablePayload {});
deed!(RemoveAssigneesFromAssignableInput { assignable_id: ID, assignee_ids: Vec<ID>, }
    -> RemoveAssigneesFromAssignablePayload {});

deed!(ReplaceActorsForAssignableInput {
    assignable_id: ID,
    actor_ids: Option<Vec<ID>>,
    actor_logins: Option<Vec<String>>,
} -> ReplaceActorsForAssignablePayload {});

deed!(LockLockableInput { lockable_id: ID, lock_reason: Option<LockReason>, }
    -> LockLockablePayload { locked_record: Option<Lockable>, });
deed!(UnlockLockableInput { lockable_id: ID, }
    -> UnlockLockablePayload { unlocked_record: Option<Lockable>, });

/// Something whose conversation can be closed to all but collaborators.
#[derive(Interface)]
#[graphql(field(name = "locked", method = "is_locked", ty = "bool"))]
enum Lockable {
    Issue(Issue),
    PullRequest(PullRequest),
}

#[Object]
impl Sorting {
    async fn request_reviews(
        &self,
        context: &Context<'_>,
        input: RequestReviewsInput,
    ) -> Result<Option<RequestReviewsPayload>> {
        let (_, _, asked) = writer(context)?;
        let asked_for = logins(&asked.state, input.user_ids)?.unwrap_or_default();
        let pull_request = reviewed_by(context, &input.pull_request_id, asked_for, input.union)?;
        Ok(Some(RequestReviewsPayload { client_mutation_id: input.client_mutation_id, pull_request }))
    }

    async fn request_reviews_by_login(
        &self,
        context: &Context<'_>,
        input: RequestReviewsByLoginInput,
    ) -> Result<Option<RequestReviewsByLoginPayload>> {
        let (_, _, asked) = writer(context)?;
        let named = [input.user_logins, input.bot_logins, input.team_slugs].into_iter().flatten().flatten();
        let named: Vec<_> = named.collect();
        if let Some(stranger) = named.iter().find(|login| asked.state.person(login).is_none()) {
            let message = format!("Could not resolve user with login '{stranger}'");
            return Err(of_kind("NOT_FOUND", &message));
        }
        let pull_request = reviewed_by(context, &input.pull_request_id, named, input.union)?;
        Ok(Some(RequestReviewsByLoginPayload { client_mutation_id: input.client_mutation_id, pull_request }))
    }

    async fn lock_lockable(
        &self,
        context: &Context<'_>,
        input: LockLockableInput,
    ) -> Result<Option<LockLockablePayload>> {
        let reason = input.lock_reason.map(|reason| reason.word().to_owned());
        let locked_record = locked(context, &input.lockable_id, |issue| {
            (issue.locked, issue.lock_reason) = (true, reason);
        })?;
        Ok(Some(LockLockablePayload { client_mutation_id: input.client_mutation_id, locked_record }))
    }

    async fn unlock_lockable(
        &self,
        context: &Context<'_>,
        input: UnlockLockableInput,
    ) -> Result<Option<UnlockLockablePayload>> {
        let unlocked_record = locked(context, &input.lockable_id, |issue| {
            (issue.locked, issue.lock_reason) = (false, None);
        })?;
        Ok(Some(UnlockLockablePayload { client_mutation_id: input.client_mutation_id, unlocked_record }))
    }

    /// What gh asks for in place of the two that follow.
    async fn replace_actors_for_assignable(
        &self,
        context: &Context<'_>,
        input: ReplaceActorsForAssignableInput,
    ) -> Result<Option<ReplaceActorsForAssignablePayload>> {
        let named = input.actor_logins.unwrap_or_default();
        assigned(context, &input.assignable_id, input.actor_ids.unwrap_or_default(), |own, given| {
            *own = given;
            own.extend(named);
        })?;
        Ok(Some(ReplaceActorsForAssignablePayload { client_mutation_id: input.client_mutation_id }))
    }

    async fn add_assignees_to_assignable(
        &self,
        context: &Context<'_>,
        input: AddAssigneesToAssignableInput,
    ) -> Result<Option<AddAssigneesToAssignablePayload>> {
        assigned(context, &input.assignable_id, input.assignee_ids, |own, given| {
            own.retain(|login| !given.contains(login));
            own.extend(given);
        })?;
        Ok(Some(AddAssigneesToAssignablePayload { client_mutation_id: input.client_mutation_id }))
    }

    async fn remove_assignees_from_assignable(
        &self,
        context: &Context<'_>,
        input: RemoveAssigneesFromAssignableInput,
    ) -> Result<Option<RemoveAssigneesFromAssignablePayload>> {
        assigned(context, &input.assignable_id, input.assignee_ids, |own, given| {
            own.retain(|login| !given.contains(login));
        })?;
        Ok(Some(RemoveAssigneesFromAssignablePayload { client_mutation_id: input.client_mutation_id }))
    }
}

/// Asks people for a review, in place of those who were asked or beside them.
fn reviewed_by(
    context: &Context<'_>,
    id: &ID,
    people: Vec<String>,
    union: Option<bool>,
) -> Result<Option<PullRequest>> {
    redrafted(context, id, |pull| {
        if union != Some(true) {
            pull.requested_reviewers.clear();
        }
        pull.requested_reviewers.retain(|login| !people.contains(login));
        pull.requested_reviewers.extend(people);
    })?;
    pull(context, id)
}

/// Changes who may talk about something, for those who may sort.
fn locked(
    context: &Context<'_>,
    id: &ID,
    change: impl FnOnce(&mut state::Issue),
) -> Result<Option<Lockable>> {
    changed(context, id, |state, _, (full_name, number, may_sort)| {
        if !may_sort {
            return Err(of_kind("FORBIDDEN", "Viewer is not authorized to lock this"));
        }
        change(state.issue_mut(&full_name, number).ok_or_else(|| unresolved(id))?);
        Ok(())
    })?;
    Ok(match node::find(&now(context)?, id) {
        Some(Node::Issue(issue)) => Some(Lockable::Issue(issue)),
        Some(Node::PullRequest(pull)) => Some(Lockable::PullRequest(pull)),
        _ => None,
    })
}

/// Changes who sees to something, for those who may sort.
fn assigned(
    context: &Context<'_>,
    id: &ID,
    people: Vec<ID>,
    change: impl FnOnce(&mut Vec<String>, Vec<String>),
) -> Result<()> {
    changed(context, id, |state, _, (full_name, number, may_sort)| {
        if !may_sort {
            return Err(of_kind("FORBIDDEN", "Viewer is not authorized to change assignees"));
        }
        let people = logins(state, Some(people))?.unwrap_or_default();
        let now = state.clock.now();
        let issue = state.issue_mut(&full_name, number).ok_or_else(|| unresolved(id))?;
        change(&mut issue.assignees, people);
        issue.updated_at = now;
        Ok(())
    })
}
