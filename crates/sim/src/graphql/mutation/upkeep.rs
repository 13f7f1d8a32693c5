//! What only those who keep house do with issues: pinning them, and deleting them for good.

use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};

use crate::{
    graphql::{
        Asked,
        issue::Issue,
        mutation::{
            subject::{changed, issue},
            unprocessable, unresolved, writer,
        },
        refusal::of_kind,
        repository::Repository,
    },
    state::{self, Role},
};

/// So many issues are pinned at most.
const MOST_PINS: usize = 3;

#[derive(Default)]
pub(super) struct Upkeep;

deed!(PinIssueInput { issue_id: ID, } -> PinIssuePayload { issue: Option<Issue>, });
deed!(UnpinIssueInput { issue_id: ID, } -> UnpinIssuePayload { issue: Option<Issue>, });
deed!(DeleteIssueInput { issue_id: ID, } -> DeleteIssuePayload { repository: Option<Repository>, });

#[Object]
impl Upkeep {
    async fn pin_issue(
        &self,
        context: &Context<'_>,
        input: PinIssueInput,
    ) -> Result<Option<PinIssuePayload>> {
        pinned(context, &input.issue_id, true)?;
        let issue = issue(context, &input.issue_id)?;
        Ok(Some(PinIssuePayload { client_mutation_id: input.client_mutation_id, issue }))
    }

    async fn unpin_issue(
        &self,
        context: &Context<'_>,
        input: UnpinIssueInput,
    ) -> Result<Option<UnpinIssuePayload>> {
        pinned(context, &input.issue_id, false)?;
        let issue = issue(context, &input.issue_id)?;
        Ok(Some(UnpinIssuePayload { client_mutation_id: input.client_mutation_id, issue }))
    }

    /// For those to whom the repository belongs.
    async fn delete_issue(
        &self,
        context: &Context<'_>,
        input: DeleteIssueInput,
    ) -> Result<Option<DeleteIssuePayload>> {
        let (hub, _, asked) = writer(context)?;
        changed(context, &input.issue_id, |state, _, (full_name, number, _)| {
            let repo = state.repo_mut(&full_name).ok_or_else(|| unresolved(&input.issue_id))?;
            if !asked.caller.has(Role::Admin, repo) {
                return Err(of_kind(
                    "FORBIDDEN",
                    "Viewer not authorized to delete issues on this repository",
                ));
            }
            repo.issues.retain(|issue| issue.number != number);
            repo.deleted.push(number);
            Ok(())
        })?;
        let now = Asked::now(hub, asked.caller.clone());
        let repo = state::Node::parse(&input.issue_id).and_then(|node| now.state.repo_of(node)).cloned();
        let repository = repo.map(|repo| Repository { asked: now, repo: repo.into() });
        Ok(Some(DeleteIssuePayload { client_mutation_id: input.client_mutation_id, repository }))
    }
}

/// Pins an issue or takes the pin out, for those who may push.
fn pinned(context: &Context<'_>, id: &ID, pinned: bool) -> Result<()> {
    let (_, _, asked) = writer(context)?;
    changed(context, id, |state, _, (full_name, number, _)| {
        let repo = state.repo(&full_name).ok_or_else(|| unresolved(id))?;
        if !asked.caller.has(Role::Write, repo) {
            return Err(of_kind("FORBIDDEN", "Viewer is not authorized to pin issues here"));
        }
        let others = repo.issues.iter().filter(|issue| issue.pinned && issue.number != number).count();
        if pinned && others >= MOST_PINS {
            return Err(unprocessable(format!("Maximum {MOST_PINS} pinned issues per repository")));
        }
        state.issue_mut(&full_name, number).ok_or_else(|| unresolved(id))?.pinned = pinned;
        Ok(())
    })
}
