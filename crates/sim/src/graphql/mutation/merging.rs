//! Merging a pull request, and bringing its branch up to date.

use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};

use crate::{
    graphql::{
        absent::PullRequestMergeMethod,
        mutation::{subject::pull, unprocessable, unresolved, writer},
        pull_request::PullRequest,
        refusal::forbidden,
        scalar::GitObjectId,
    },
    merging::{MergeMethod, MergeWish, NotMerged, merge, update_branch},
    state,
};

#[derive(Default)]
pub(super) struct Merging;

deed!(MergePullRequestInput {
    pull_request_id: ID,
    commit_headline: Option<String>,
    commit_body: Option<String>,
    expected_head_oid: Option<GitObjectId>,
    merge_method: Option<PullRequestMergeMethod>,
    author_email: Option<String>,
} -> MergePullRequestPayload { pull_request: Option<PullRequest>, });
deed!(UpdatePullRequestBranchInput { pull_request_id: ID, expected_head_oid: Option<GitObjectId>, }
    -> UpdatePullRequestBranchPayload { pull_request: Option<PullRequest>, });

#[Object]
impl Merging {
    async fn merge_pull_request(
        &self,
        context: &Context<'_>,
        input: MergePullRequestInput,
    ) -> Result<Option<MergePullRequestPayload>> {
        let (hub, _, asked) = writer(context)?;
        let method = match input.merge_method {
            None | Some(PullRequestMergeMethod::Merge) => MergeMethod::Merge,
            Some(PullRequestMergeMethod::Squash) => MergeMethod::Squash,
            Some(PullRequestMergeMethod::Rebase) => MergeMethod::Rebase,
        };
        drop(input.author_email);
        let mut wish = wish(context, &input.pull_request_id, input.expected_head_oid)?;
        (wish.method, wish.title, wish.message) = (method, input.commit_headline, input.commit_body);
        let merged = merge(hub, &asked.caller, &wish).await;
        merged.map_err(|refusal| refused(refusal, &input.pull_request_id))?;
        let pull_request = pull(context, &input.pull_request_id)?;
        Ok(Some(MergePullRequestPayload { client_mutation_id: input.client_mutation_id, pull_request }))
    }

    async fn update_pull_request_branch(
        &self,
        context: &Context<'_>,
        input: UpdatePullRequestBranchInput,
    ) -> Result<Option<UpdatePullRequestBranchPayload>> {
        let (hub, _, asked) = writer(context)?;
        let wish = wish(context, &input.pull_request_id, input.expected_head_oid)?;
        let updated = update_branch(hub, &asked.caller, &wish).await;
        updated.map_err(|refusal| refused(refusal, &input.pull_request_id))?;
        let pull_request = pull(context, &input.pull_request_id)?;
        Ok(Some(UpdatePullRequestBranchPayload {
            client_mutation_id: input.client_mutation_id,
            pull_request,
        }))
    }
}

fn wish(context: &Context<'_>, id: &ID, head: Option<GitObjectId>) -> Result<MergeWish> {
    let (_, _, asked) = writer(context)?;
    let node = state::Node::parse(id).ok_or_else(|| unresolved(id))?;
    let repo = asked.state.repo_of(node).filter(|repo| asked.caller.sees(repo));
    let found = repo.and_then(|repo| Some((repo.full_name(), repo.issue_at(node)?.number)));
    let (repo, number) = found.ok_or_else(|| unresolved(id))?;
    let head = head.map(|head| head.0);
    Ok(MergeWish { repo, number, method: MergeMethod::Merge, title: None, message: None, head })
}

fn refused(refusal: NotMerged, id: &ID) -> async_graphql::Error {
    match refusal {
        NotMerged::Missing => unresolved(id),
        NotMerged::Forbidden => forbidden(),
        NotMerged::Unmergeable(words) => unprocessable(words),
        NotMerged::HeadMoved => unprocessable("Head branch was modified. Review and try the merge again."),
    }
}
