//! Comments: writing one under an issue or pull request, changing it, and folding one of any kind away.

use std::sync::Arc;

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
    state::{self, Role, State},
};

#[derive(Default)]
pub(super) struct Commenting;

deed!(AddCommentInput { subject_id: ID, body: String, }
    -> AddCommentPayload { subject: Option<Node>, comment_edge: Option<Edge<IssueComment>>, });
deed!(UpdateIssueCommentInput { id: ID, body: String, }
    -> UpdateIssueCommentPayload { issue_comment: Option<IssueComment>, });
deed!(DeleteIssueCommentInput { id: ID, } -> DeleteIssueCommentPayload {});
deed!(MinimizeCommentInput { subject_id: ID, classifier: ReportedContentClassifiers, }
    -> MinimizeCommentPayload { minimized_comment: Option<Minimizable>, });
deed!(UnminimizeCommentInput { subject_id: ID, }
    -> UnminimizeCommentPayload { unminimized_comment: Option<Minimizable>, });

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
        let id = hub.change_by(asked.login(), |state| {
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

    async fn update_issue_comment(
        &self,
        context: &Context<'_>,
        input: UpdateIssueCommentInput,
    ) -> Result<Option<UpdateIssueCommentPayload>> {
        let now = rewritten(context, &input.id, &input.body)?;
        let issue_comment = match node::find(&now, &input.id) {
            Some(Node::IssueComment(comment)) => Some(comment),
            _ => None,
        };
        Ok(Some(UpdateIssueCommentPayload { client_mutation_id: input.client_mutation_id, issue_comment }))
    }

    async fn delete_issue_comment(
        &self,
        context: &Context<'_>,
        input: DeleteIssueCommentInput,
    ) -> Result<Option<DeleteIssueCommentPayload>> {
        let (hub, _, asked) = writer(context)?;
        hub.change_by(asked.login(), |state| {
            let node = editable(state, asked, &input.id)?;
            let state::Node::IssueComment { id, .. } = node else { return Err(unresolved(&input.id)) };
            let issues = state.repo_of_mut(node).map(|repo| repo.issues.iter_mut());
            for issue in issues.into_iter().flatten() {
                issue.comments.retain(|comment| comment.id != id);
            }
            Ok(())
        })?;
        Ok(Some(DeleteIssueCommentPayload { client_mutation_id: input.client_mutation_id }))
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

/// Puts other words into a comment that the caller may change, and returns everything as it is then.
pub(super) fn rewritten(context: &Context<'_>, id: &ID, body: &str) -> Result<Arc<Asked>> {
    let (hub, _, asked) = writer(context)?;
    spoken(body)?;
    hub.change_by(asked.login(), |state| {
        let (node, now) = (editable(state, asked, id)?, state.clock.now());
        let comment = state.repo_of_mut(node).and_then(|repo| repo.comment_at(node));
        let comment = comment.ok_or_else(|| unresolved(id))?;
        body.clone_into(&mut comment.body);
        comment.updated_at = now;
        Ok::<_, async_graphql::Error>(())
    })?;
    Ok(Asked::now(hub, asked.caller.clone()))
}

/// Finds a comment under or beside code that is the caller's own, or that they may change because they may push.
pub(super) fn editable(state: &mut State, asked: &Asked, id: &ID) -> Result<state::Node> {
    let node = state::Node::parse(id).ok_or_else(|| unresolved(id))?;
    let repo = state.repo_of_mut(node).filter(|repo| asked.caller.sees(repo));
    let repo = repo.ok_or_else(|| unresolved(id))?;
    granted(asked, repo, &["issues", "pull_requests"])?;
    let login = asked.caller.login().unwrap_or_default();
    if let state::Node::ReviewComment { id: comment, .. } = node {
        repo.review_comment_seen_by(comment, Some(login)).ok_or_else(|| unresolved(id))?;
    }
    let may = asked.caller.has(Role::Write, repo);
    let comment = repo.comment_at(node).ok_or_else(|| unresolved(id))?;
    if !may && !comment.author.eq_ignore_ascii_case(login) {
        return Err(of_kind("FORBIDDEN", "Viewer is not authorized to change this comment"));
    }
    Ok(node)
}

/// Folds a comment away for a reason, or out again.
fn fold(context: &Context<'_>, id: &ID, reason: Option<&str>) -> Result<Option<Minimizable>> {
    let (hub, _, asked) = writer(context)?;
    let node = state::Node::parse(id).ok_or_else(|| unresolved(id))?;
    hub.change_by(asked.login(), |state| {
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
    Ok(node::find(&Asked::now(hub, asked.caller.clone()), id).and_then(Minimizable::from_node))
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
