//! Issues and pull requests as a whole: opened, closed, reworded, ready or not yet.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, InputObject, Object, Result, SimpleObject};

use crate::{
    graphql::{
        Asked,
        issue::{Issue, IssueState},
        mutation::{granted, name, unprocessable, unresolved, writer},
        node::{self, Node},
        pull_request::PullRequest,
        refusal::of_kind,
    },
    permission::talk_about,
    state::{self, Closing, ClosingReason, Repo, Role, State, node_id},
    words,
};

#[derive(Default)]
pub(super) struct Settling;

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "ClosingReason")]
enum IssueClosedStateReason {
    Completed,
    NotPlanned,
    Duplicate,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum PullRequestUpdateState {
    Open,
    Closed,
}

deed!(CreateIssueInput {
    repository_id: ID,
    title: String,
    body: Option<String>,
    assignee_ids: Option<Vec<ID>>,
    label_ids: Option<Vec<ID>>,
    milestone_id: Option<ID>,
    project_ids: Option<Vec<ID>>,
} -> CreateIssuePayload { issue: Option<Issue>, });

deed!(UpdateIssueInput {
    id: ID,
    title: Option<String>,
    body: Option<String>,
    assignee_ids: Option<Vec<ID>>,
    label_ids: Option<Vec<ID>>,
    milestone_id: Option<ID>,
    project_ids: Option<Vec<ID>>,
    state: Option<IssueState>,
} -> UpdateIssuePayload { issue: Option<Issue>, });

deed!(CloseIssueInput {
    issue_id: ID,
    state_reason: Option<IssueClosedStateReason>,
    duplicate_issue_id: Option<ID>,
} -> CloseIssuePayload { issue: Option<Issue>, });
deed!(ReopenIssueInput { issue_id: ID, } -> ReopenIssuePayload { issue: Option<Issue>, });

deed!(UpdatePullRequestInput {
    pull_request_id: ID,
    title: Option<String>,
    body: Option<String>,
    assignee_ids: Option<Vec<ID>>,
    label_ids: Option<Vec<ID>>,
    milestone_id: Option<ID>,
    project_ids: Option<Vec<ID>>,
    state: Option<PullRequestUpdateState>,
} -> UpdatePullRequestPayload { pull_request: Option<PullRequest>, });

deed!(ClosePullRequestInput { pull_request_id: ID, }
    -> ClosePullRequestPayload { pull_request: Option<PullRequest>, });
deed!(ReopenPullRequestInput { pull_request_id: ID, }
    -> ReopenPullRequestPayload { pull_request: Option<PullRequest>, });
deed!(MarkPullRequestReadyForReviewInput { pull_request_id: ID, }
    -> MarkPullRequestReadyForReviewPayload { pull_request: Option<PullRequest>, });
deed!(ConvertPullRequestToDraftInput { pull_request_id: ID, }
    -> ConvertPullRequestToDraftPayload { pull_request: Option<PullRequest>, });
/// What is to be another way with an issue or pull request.
#[derive(Default)]
struct Edit {
    title: Option<String>,
    body: Option<String>,
    assignees: Option<Vec<ID>>,
    labels: Option<Vec<ID>>,
    open: Option<Open>,
}

/// Whether there shall be something to do.
enum Open {
    Yes,
    No(ClosingReason),
}

#[Object]
impl Settling {
    async fn create_issue(
        &self,
        context: &Context<'_>,
        input: CreateIssueInput,
    ) -> Result<Option<CreateIssuePayload>> {
        let (hub, login, asked) = writer(context)?;
        absent(input.milestone_id.as_ref(), input.project_ids.as_deref())?;
        acceptable(Some(&input.title), input.body.as_deref())?;
        let id = hub.change_by(asked.login(), |state| {
            let node = state::Node::parse(&input.repository_id);
            let repo = node.and_then(|node| state.repo_of(node)).filter(|repo| asked.caller.sees(repo));
            let repo = repo.ok_or_else(|| unresolved(&input.repository_id))?;
            granted(asked, repo, &["issues"])?;
            let (repo_id, full_name) = (repo.id, repo.full_name());
            // Labels and assignees of somebody who may not set them are left out, without a word.
            let may_sort = asked.caller.has(Role::Triage, repo);
            let labels = names(repo, input.label_ids.filter(|_| may_sort))?.unwrap_or_default();
            let assignees = logins(state, input.assignee_ids.filter(|_| may_sort))?.unwrap_or_default();
            let number =
                state.open_issue(&full_name, login, &input.title, input.body.as_deref().unwrap_or_default());
            let issue = number.and_then(|number| state.issue_mut(&full_name, number));
            let issue = issue.ok_or_else(|| unresolved(&input.repository_id))?;
            (issue.labels, issue.assignees) = (labels, assignees);
            Ok::<_, async_graphql::Error>(node_id(state::Node::Issue { repo: repo_id, id: issue.id }))
        })?;
        let issue = issue(context, &id.into())?;
        Ok(Some(CreateIssuePayload { client_mutation_id: input.client_mutation_id, issue }))
    }

    async fn update_issue(
        &self,
        context: &Context<'_>,
        input: UpdateIssueInput,
    ) -> Result<Option<UpdateIssuePayload>> {
        absent(input.milestone_id.as_ref(), input.project_ids.as_deref())?;
        let open = input.state.map(|state| match state {
            IssueState::Open => Open::Yes,
            IssueState::Closed => Open::No(ClosingReason::Completed),
        });
        let edit = Edit {
            title: input.title,
            body: input.body,
            assignees: input.assignee_ids,
            labels: input.label_ids,
            open,
        };
        edited(context, &input.id, edit)?;
        let issue = issue(context, &input.id)?;
        Ok(Some(UpdateIssuePayload { client_mutation_id: input.client_mutation_id, issue }))
    }

    async fn close_issue(
        &self,
        context: &Context<'_>,
        input: CloseIssueInput,
    ) -> Result<Option<CloseIssuePayload>> {
        let (_, _, asked) = writer(context)?;
        if let Some(other) = &input.duplicate_issue_id {
            node::find(asked, other).ok_or_else(|| unresolved(other))?;
        }
        let reason = input.state_reason.map_or(ClosingReason::Completed, ClosingReason::from);
        edited(context, &input.issue_id, Edit { open: Some(Open::No(reason)), ..Edit::default() })?;
        let issue = issue(context, &input.issue_id)?;
        Ok(Some(CloseIssuePayload { client_mutation_id: input.client_mutation_id, issue }))
    }

    async fn reopen_issue(
        &self,
        context: &Context<'_>,
        input: ReopenIssueInput,
    ) -> Result<Option<ReopenIssuePayload>> {
        edited(context, &input.issue_id, Edit { open: Some(Open::Yes), ..Edit::default() })?;
        let issue = issue(context, &input.issue_id)?;
        Ok(Some(ReopenIssuePayload { client_mutation_id: input.client_mutation_id, issue }))
    }

    async fn update_pull_request(
        &self,
        context: &Context<'_>,
        input: UpdatePullRequestInput,
    ) -> Result<Option<UpdatePullRequestPayload>> {
        absent(input.milestone_id.as_ref(), input.project_ids.as_deref())?;
        let open = input.state.map(|state| match state {
            PullRequestUpdateState::Open => Open::Yes,
            PullRequestUpdateState::Closed => Open::No(ClosingReason::Completed),
        });
        let edit = Edit {
            title: input.title,
            body: input.body,
            assignees: input.assignee_ids,
            labels: input.label_ids,
            open,
        };
        edited(context, &input.pull_request_id, edit)?;
        let pull_request = pull(context, &input.pull_request_id)?;
        Ok(Some(UpdatePullRequestPayload { client_mutation_id: input.client_mutation_id, pull_request }))
    }

    async fn close_pull_request(
        &self,
        context: &Context<'_>,
        input: ClosePullRequestInput,
    ) -> Result<Option<ClosePullRequestPayload>> {
        let open = Some(Open::No(ClosingReason::Completed));
        edited(context, &input.pull_request_id, Edit { open, ..Edit::default() })?;
        let pull_request = pull(context, &input.pull_request_id)?;
        Ok(Some(ClosePullRequestPayload { client_mutation_id: input.client_mutation_id, pull_request }))
    }

    async fn reopen_pull_request(
        &self,
        context: &Context<'_>,
        input: ReopenPullRequestInput,
    ) -> Result<Option<ReopenPullRequestPayload>> {
        edited(context, &input.pull_request_id, Edit { open: Some(Open::Yes), ..Edit::default() })?;
        let pull_request = pull(context, &input.pull_request_id)?;
        Ok(Some(ReopenPullRequestPayload { client_mutation_id: input.client_mutation_id, pull_request }))
    }

    async fn mark_pull_request_ready_for_review(
        &self,
        context: &Context<'_>,
        input: MarkPullRequestReadyForReviewInput,
    ) -> Result<Option<MarkPullRequestReadyForReviewPayload>> {
        redrafted(context, &input.pull_request_id, |pull| pull.draft = false)?;
        let pull_request = pull(context, &input.pull_request_id)?;
        Ok(Some(MarkPullRequestReadyForReviewPayload {
            client_mutation_id: input.client_mutation_id,
            pull_request,
        }))
    }

    async fn convert_pull_request_to_draft(
        &self,
        context: &Context<'_>,
        input: ConvertPullRequestToDraftInput,
    ) -> Result<Option<ConvertPullRequestToDraftPayload>> {
        redrafted(context, &input.pull_request_id, |pull| pull.draft = true)?;
        let pull_request = pull(context, &input.pull_request_id)?;
        Ok(Some(ConvertPullRequestToDraftPayload {
            client_mutation_id: input.client_mutation_id,
            pull_request,
        }))
    }
}

/// Changes something that is the caller's own, or that they may sort; labels and assignees are only for those who sort.
fn edited(context: &Context<'_>, id: &ID, edit: Edit) -> Result<()> {
    acceptable(edit.title.as_deref(), edit.body.as_deref())?;
    changed(context, id, |state, login, (full_name, number, may_sort)| {
        let repo = state.repo(&full_name).ok_or_else(|| unresolved(id))?;
        let labels = names(repo, edit.labels.filter(|_| may_sort))?;
        let assignees = logins(state, edit.assignees.filter(|_| may_sort))?;
        let now = state.clock.now();
        let issue = state.issue_mut(&full_name, number).ok_or_else(|| unresolved(id))?;
        issue.title = edit.title.unwrap_or_else(|| issue.title.clone());
        if let Some(body) = edit.body.filter(|body| *body != issue.body) {
            (issue.body, issue.edited_at) = (body, Some(now));
        }
        issue.labels = labels.unwrap_or_else(|| issue.labels.clone());
        issue.assignees = assignees.unwrap_or_else(|| issue.assignees.clone());
        issue.updated_at = now;
        match edit.open {
            None => {}
            Some(_) if issue.state == state::IssueState::Merged => {
                return Err(unprocessable("A merged pull request stays merged"));
            }
            Some(Open::Yes) => issue.state = state::IssueState::Open,
            Some(Open::No(reason)) => {
                let closing = Closing { at: now, by: login.to_owned(), reason };
                issue.close(state::IssueState::Closed, closing);
            }
        }
        Ok(())
    })
}

/// Changes what makes a thread a pull request.
pub(super) fn redrafted(context: &Context<'_>, id: &ID, change: impl FnOnce(&mut state::Pull)) -> Result<()> {
    changed(context, id, |state, _, (full_name, number, _)| {
        let now = state.clock.now();
        let issue = state.issue_mut(&full_name, number).ok_or_else(|| unresolved(id))?;
        issue.updated_at = now;
        change(issue.pull.as_mut().ok_or_else(|| unresolved(id))?);
        Ok(())
    })
}

/// Changes a thread for its author or somebody who may sort; the change is told where it is and whether they may.
pub(super) fn changed(
    context: &Context<'_>,
    id: &ID,
    change: impl FnOnce(&mut State, &str, (String, u64, bool)) -> Result<()>,
) -> Result<()> {
    let (hub, login, asked) = writer(context)?;
    hub.change_by(asked.login(), |state| {
        let node = state::Node::parse(id).ok_or_else(|| unresolved(id))?;
        let repo = state.repo_of(node).filter(|repo| asked.caller.sees(repo));
        let found = repo.and_then(|repo| Some((repo, repo.issue_at(node)?)));
        let (repo, issue) = found.ok_or_else(|| unresolved(id))?;
        granted(asked, repo, talk_about(repo, issue.number))?;
        let may_sort = asked.caller.has(Role::Triage, repo);
        if !may_sort && !issue.author.eq_ignore_ascii_case(login) {
            return Err(of_kind("FORBIDDEN", "Viewer is not authorized to change this"));
        }
        let place = (repo.full_name(), issue.number, may_sort);
        change(state, login, place)
    })
}

/// Refuses milestones and projects, of which there are none.
fn absent(milestone: Option<&ID>, projects: Option<&[ID]>) -> Result<()> {
    let named = milestone.or_else(|| projects.and_then(<[ID]>::first));
    named.map_or(Ok(()), |id| Err(unresolved(id)))
}

/// Refuses words that GitHub refuses.
fn acceptable(title: Option<&str>, body: Option<&str>) -> Result<()> {
    let blank = title.is_some_and(|title| title.trim().is_empty()).then(|| "Title can't be blank".to_owned());
    let long = title.and_then(words::title).or_else(|| body.and_then(words::body));
    blank.or(long).map_or(Ok(()), |complaint| Err(unprocessable(complaint)))
}

/// The names of labels by their ids.
fn names(repo: &Repo, ids: Option<Vec<ID>>) -> Result<Option<Vec<String>>> {
    ids.map(|ids| ids.iter().map(|id| name(repo, id)).collect()).transpose()
}

/// The logins of people by their ids.
pub(super) fn logins(state: &State, ids: Option<Vec<ID>>) -> Result<Option<Vec<String>>> {
    let login = |id: &ID| {
        let (state::Node::User(wanted) | state::Node::Bot(wanted)) = state::Node::parse(id)? else {
            return None;
        };
        state.people.iter().find(|person| person.id == wanted).map(|person| person.login.clone())
    };
    ids.map(|ids| ids.iter().map(|id| login(id).ok_or_else(|| unresolved(id))).collect()).transpose()
}

pub(super) fn issue(context: &Context<'_>, id: &ID) -> Result<Option<Issue>> {
    match node::find(&now(context)?, id) {
        Some(Node::Issue(issue)) => Ok(Some(issue)),
        _ => Ok(None),
    }
}

pub(super) fn pull(context: &Context<'_>, id: &ID) -> Result<Option<PullRequest>> {
    match node::find(&now(context)?, id) {
        Some(Node::PullRequest(pull)) => Ok(Some(pull)),
        _ => Ok(None),
    }
}

pub(super) fn now(context: &Context<'_>) -> Result<Arc<Asked>> {
    let (hub, _, asked) = writer(context)?;
    Ok(Asked::now(hub, asked.caller.clone()))
}
