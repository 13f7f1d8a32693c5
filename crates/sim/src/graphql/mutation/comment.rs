//! Comments: writing one under an issue or pull request, and folding one of any kind away.

use async_graphql::{Context, Enum, ID, InputObject, Object, Result, SimpleObject};

use crate::{
    graphql::{
        Asked,
        connection::Edge,
        issue_comment::IssueComment,
        mutation::{granted, spoken, unresolved, writer},
        node::{self, Minimizable, Node},
        refusal::of_kind,
    },
    permission::talk_about,
    state::{self, Role},
};

#[derive(Default)]
pub(super) struct Commenting;

#[derive(InputObject)]
struct AddCommentInput {
    subject_id: ID,
    body: String,
    client_mutation_id: Option<String>,
}

#[derive(SimpleObject)]
struct AddCommentPayload {
    client_mutation_id: Option<String>,
    subject: Option<Node>,
    comment_edge: Option<Edge<IssueComment>>,
}

#[derive(InputObject)]
struct MinimizeCommentInput {
    subject_id: ID,
    classifier: ReportedContentClassifiers,
    client_mutation_id: Option<String>,
}

#[derive(InputObject)]
struct UnminimizeCommentInput {
    subject_id: ID,
    client_mutation_id: Option<String>,
}

#[derive(SimpleObject)]
struct MinimizeCommentPayload {
    client_mutation_id: Option<String>,
    minimized_comment: Option<Minimizable>,
}

#[derive(SimpleObject)]
struct UnminimizeCommentPayload {
    client_mutation_id: Option<String>,
    unminimized_comment: Option<Minimizable>,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum ReportedContentClassifiers {
    Abuse,
    Duplicate,
    OffTopic,
    Outdated,
    Resolved,
    Spam,
}

#[Object]
impl Commenting {
    async fn add_comment(
        &self,
        context: &Context<'_>,
        input: AddCommentInput,
    ) -> Result<Option<AddCommentPayload>> {
        let (hub, login, asked) = writer(context)?;
        let subject = state::Node::parse(&input.subject_id).ok_or_else(|| unresolved(&input.subject_id))?;
        let id = hub.change(|state| {
            let repo = state.repo_of(subject).filter(|repo| asked.caller.sees(repo));
            let found = repo.and_then(|repo| Some((repo, repo.issue_at(subject)?)));
            let (repo, issue) = found.ok_or_else(|| unresolved(&input.subject_id))?;
            granted(asked, repo, talk_about(repo, issue.number))?;
            if issue.locked && !asked.caller.has(Role::Write, repo) {
                return Err(of_kind("FORBIDDEN", "Unable to create comment because issue is locked."));
            }
            spoken(&input.body)?;
            let (name, number) = (repo.full_name(), issue.number);
            let id = state.write_comment(&name, number, login, &input.body);
            id.ok_or_else(|| unresolved(&input.subject_id))
        })?;
        let now = Asked::now(hub, asked.caller.clone());
        let repo = subject.repo().unwrap_or_default();
        let written = state::node_id(state::Node::IssueComment { repo, id });
        let comment = match node::find(&now, &written.into()) {
            Some(Node::IssueComment(comment)) => Some(Edge::alone(comment)),
            _ => None,
        };
        Ok(Some(AddCommentPayload {
            client_mutation_id: input.client_mutation_id,
            subject: node::find(&now, &input.subject_id),
            comment_edge: comment,
        }))
    }

    async fn minimize_comment(
        &self,
        context: &Context<'_>,
        input: MinimizeCommentInput,
    ) -> Result<Option<MinimizeCommentPayload>> {
        let reason = input.classifier.reason();
        let minimized_comment = fold(context, &input.subject_id, Some(reason))?;
        Ok(Some(MinimizeCommentPayload { client_mutation_id: input.client_mutation_id, minimized_comment }))
    }

    async fn unminimize_comment(
        &self,
        context: &Context<'_>,
        input: UnminimizeCommentInput,
    ) -> Result<Option<UnminimizeCommentPayload>> {
        let unminimized_comment = fold(context, &input.subject_id, None)?;
        Ok(Some(UnminimizeCommentPayload {
            client_mutation_id: input.client_mutation_id,
            unminimized_comment,
        }))
    }
}

/// Folds a comment away for a reason, or out again.
fn fold(context: &Context<'_>, id: &ID, reason: Option<&str>) -> Result<Option<Minimizable>> {
    let (hub, _, asked) = writer(context)?;
    let node = state::Node::parse(id).ok_or_else(|| unresolved(id))?;
    hub.change(|state| {
        let repo =
            state.repo_of_mut(node).filter(|repo| asked.caller.sees(repo)).ok_or_else(|| unresolved(id))?;
        granted(asked, repo, &["issues", "pull_requests", "discussions"])?;
        if !asked.caller.has(Role::Write, repo) {
            return Err(of_kind("FORBIDDEN", "Viewer is not authorized to minimize this comment"));
        }
        let minimized = repo.folding_at(node).ok_or_else(|| unresolved(id))?;
        *minimized = reason.map(str::to_owned);
        Ok(())
    })?;
    Ok(node::find(&Asked::now(hub, asked.caller.clone()), id).and_then(Minimizable::of))
}

impl ReportedContentClassifiers {
    fn reason(self) -> &'static str {
        match self {
            Self::Abuse => "abuse",
            Self::Duplicate => "duplicate",
            Self::OffTopic => "off-topic",
            Self::Outdated => "outdated",
            Self::Resolved => "resolved",
            Self::Spam => "spam",
        }
    }
}
