//! Pull requests: opening one, and settling what is said beside the code.

use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};

use crate::{
    graphql::{
        Asked,
        mutation::{granted, unresolved, writer},
        node::{self, Node},
        pull_request::PullRequest,
        refusal::{forbidden, of_kind},
        review_thread::PullRequestReviewThread,
    },
    pulls::{self, Refusal, Wish},
    state::{self, Role},
};

#[derive(Default)]
pub(super) struct Proposing;

deed!(CreatePullRequestInput {
    repository_id: ID,
    base_ref_name: String,
    head_ref_name: String,
    head_repository_id: Option<ID>,
    title: String,
    body: Option<String>,
    draft: Option<bool>,
    maintainer_can_modify: Option<bool>,
} -> CreatePullRequestPayload { pull_request: Option<PullRequest>, });
deed!(ResolveReviewThreadInput { thread_id: ID, }
    -> ResolveReviewThreadPayload { thread: Option<PullRequestReviewThread>, });
deed!(UnresolveReviewThreadInput { thread_id: ID, }
    -> UnresolveReviewThreadPayload { thread: Option<PullRequestReviewThread>, });

#[Object]
impl Proposing {
    async fn create_pull_request(
        &self,
        context: &Context<'_>,
        input: CreatePullRequestInput,
    ) -> Result<Option<CreatePullRequestPayload>> {
        let (hub, _, asked) = writer(context)?;
        let named = |id: &ID| {
            let repo = state::Node::parse(id).and_then(|node| asked.state.repo_of(node));
            repo.map(|repo| (repo.owner.clone(), repo.full_name())).ok_or_else(|| unresolved(id))
        };
        let (_, repo) = named(&input.repository_id)?;
        let head = match &input.head_repository_id {
            Some(id) if !input.head_ref_name.contains(':') => {
                format!("{}:{}", named(id)?.0, input.head_ref_name)
            }
            _ => input.head_ref_name,
        };
        let wish = Wish {
            repo: repo.clone(),
            base: input.base_ref_name,
            head,
            title: input.title,
            body: input.body.unwrap_or_default(),
            draft: input.draft.unwrap_or_default(),
            open_to_maintainers: input.maintainer_can_modify.unwrap_or_default(),
        };
        let number = pulls::open(hub, &asked.caller, wish).await.map_err(|refusal| match refusal {
            Refusal::NoRepo => unresolved(&input.repository_id),
            Refusal::NoBranch(which) => {
                of_kind("UNPROCESSABLE", &format!("Head sha can't be blank, {which} ref must be a branch"))
            }
            Refusal::NothingNew(why) | Refusal::Open(why) => of_kind("UNPROCESSABLE", &why),
            Refusal::Forbidden => forbidden(),
        })?;
        let now = Asked::now(hub, asked.caller.clone());
        let opened = now.state.repo(&repo).and_then(|found| Some((found.id, found.issue(number)?.id)));
        let pull_request = opened.and_then(|(repo, id)| {
            match node::find(&now, &state::node_id(state::Node::PullRequest { repo, id }).into()) {
                Some(Node::PullRequest(pull)) => Some(pull),
                _ => None,
            }
        });
        Ok(Some(CreatePullRequestPayload { client_mutation_id: input.client_mutation_id, pull_request }))
    }

    async fn resolve_review_thread(
        &self,
        context: &Context<'_>,
        input: ResolveReviewThreadInput,
    ) -> Result<Option<ResolveReviewThreadPayload>> {
        let thread = settle(context, &input.thread_id, Settled::Yes)?;
        Ok(Some(ResolveReviewThreadPayload { client_mutation_id: input.client_mutation_id, thread }))
    }

    async fn unresolve_review_thread(
        &self,
        context: &Context<'_>,
        input: UnresolveReviewThreadInput,
    ) -> Result<Option<UnresolveReviewThreadPayload>> {
        let thread = settle(context, &input.thread_id, Settled::No)?;
        Ok(Some(UnresolveReviewThreadPayload { client_mutation_id: input.client_mutation_id, thread }))
    }
}

/// Whether a thread is done with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Settled {
    Yes,
    No,
}

fn settle(context: &Context<'_>, id: &ID, settled: Settled) -> Result<Option<PullRequestReviewThread>> {
    let (hub, login, asked) = writer(context)?;
    let node = state::Node::parse(id).ok_or_else(|| unresolved(id))?;
    hub.change_by(asked.login(), |state| {
        let repo =
            state.repo_of_mut(node).filter(|repo| asked.caller.sees(repo)).ok_or_else(|| unresolved(id))?;
        // GitHub asks for both, though it writes it down nowhere.
        granted(asked, repo, &["pull_requests"])?;
        granted(asked, repo, &["contents"])?;
        let may = asked.caller.has(Role::Write, repo);
        let (author, thread) = repo.thread_at(node).ok_or_else(|| unresolved(id))?;
        if !may && !author.eq_ignore_ascii_case(login) {
            return Err(of_kind("FORBIDDEN", "Resource not accessible by personal access token"));
        }
        thread.resolved = settled == Settled::Yes;
        thread.resolved_by = (settled == Settled::Yes).then(|| login.to_owned());
        Ok(())
    })?;
    match node::find(&Asked::now(hub, asked.caller.clone()), id) {
        Some(Node::PullRequestReviewThread(thread)) => Ok(Some(thread)),
        _ => Ok(None),
    }
}
