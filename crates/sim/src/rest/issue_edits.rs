//! Changing an issue: its words, its state, its labels and who sees to it.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::visit::Visit,
    state::{Closing, ClosingReason, IssueState, Label, Repo, Role, State},
    words,
};

/// The grey that a label has when nobody chose a colour.
const GREY: &str = "ededed";

/// What is to be another way with an issue.
#[derive(Deserialize)]
pub(super) struct Edit {
    title: Option<String>,
    body: Option<String>,
    state: Option<String>,
    state_reason: Option<String>,
    labels: Option<Vec<Name>>,
    assignees: Option<Vec<String>>,
    /// As it used to be asked, when there was one at most.
    assignee: Option<String>,
    milestone: Option<Value>,
}

/// A label by its name, bare or in an object.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Name {
    Bare(String),
    Object { name: String },
}

impl Edit {
    /// Changes an issue that is the caller's own, or that they may sort.
    pub(super) fn apply(self, visit: &Visit, state: &mut State, number: u64) -> Result<(), Problem> {
        let login = visit.login()?;
        let repo = visit.repo(state)?;
        let issue = repo.issue(number).ok_or_else(Problem::not_found)?;
        let may_sort = visit.caller.has(Role::Triage, repo);
        if !issue.author.eq_ignore_ascii_case(login) && !may_sort {
            return Err(Problem::forbidden("Must have admin rights to Repository."));
        }
        let wanted = wanted(self.state.as_deref(), issue.state)?;
        let reason = reason(self.state_reason.as_deref())?;
        let title = self.title.unwrap_or_else(|| issue.title.clone());
        acceptable(&title, self.body.as_deref().unwrap_or_default())?;
        known(self.milestone.as_ref())?;
        let assignees = self.assignees.or(self.assignee.map(|one| vec![one]));
        assignable(repo, assignees.as_deref().unwrap_or_default())?;
        let now = state.clock.now();
        // Who may not sort changes their own words, and neither labels nor assignees, without a word about it.
        if let Some(labels) = self.labels.filter(|_| may_sort) {
            if let Some(issue) = state.issue_mut(&visit.full_name, number) {
                issue.labels.clear();
            }
            label(state, &visit.full_name, number, names(labels));
        }
        let issue = state.issue_mut(&visit.full_name, number).ok_or_else(Problem::not_found)?;
        issue.title = title;
        let body = self.body.unwrap_or_else(|| issue.body.clone());
        if body != issue.body {
            issue.edited_at = Some(now);
        }
        issue.body = body;
        issue.assignees = assignees.filter(|_| may_sort).unwrap_or_else(|| issue.assignees.clone());
        issue.updated_at = now;
        match (wanted, reason) {
            (IssueState::Open, _) => issue.state = wanted,
            // Said again without a reason, nothing is new.
            (IssueState::Closed | IssueState::Merged, None) if issue.state == wanted => {}
            (IssueState::Closed | IssueState::Merged, reason) => {
                let reason = reason.unwrap_or(ClosingReason::Completed);
                issue.close(wanted, Closing { at: now, by: login.to_owned(), reason });
            }
        }
        Ok(())
    }
}

fn wanted(word: Option<&str>, now: IssueState) -> Result<IssueState, Problem> {
    match word {
        None => Ok(now),
        // What is merged stays merged.
        Some("open" | "closed") if now == IssueState::Merged => Ok(now),
        Some("open") => Ok(IssueState::Open),
        Some("closed") => Ok(IssueState::Closed),
        Some(_) => Err(Problem::invalid(json!({ "resource": "Issue", "code": "invalid", "field": "state" }))),
    }
}

fn reason(word: Option<&str>) -> Result<Option<ClosingReason>, Problem> {
    match word {
        None | Some("reopened") => Ok(None),
        Some(word) => ClosingReason::from_word(word).map(Some).ok_or_else(|| {
            Problem::invalid(json!({ "resource": "Issue", "code": "invalid", "field": "state_reason" }))
        }),
    }
}

/// Refuses words that GitHub refuses.
pub(super) fn acceptable(title: &str, text: &str) -> Result<(), Problem> {
    if title.trim().is_empty() {
        let error = json!({ "resource": "Issue", "code": "missing_field", "field": "title" });
        return Err(Problem::invalid(error));
    }
    let custom = |field: &str, message: String| {
        Problem::invalid(json!({ "resource": "Issue", "code": "custom", "field": field, "message": message }))
    };
    let complaint = words::title(title).map(|message| custom("title", message));
    let complaint = complaint.or_else(|| words::body(text).map(|message| custom("body", message)));
    complaint.map_or(Ok(()), Err)
}

/// Refuses milestones, of which there are none.
pub(super) fn known(milestone: Option<&Value>) -> Result<(), Problem> {
    let Some(wanted) = milestone.filter(|wanted| !wanted.is_null()) else { return Ok(()) };
    Err(Problem::invalid(
        json!({ "value": wanted, "resource": "Issue", "field": "milestone", "code": "invalid" }),
    ))
}

/// Refuses assignees who could not see to anything here.
pub(super) fn assignable(repo: &Repo, logins: &[String]) -> Result<(), Problem> {
    let Some(stranger) = logins.iter().find(|login| repo.role(login).is_none()) else { return Ok(()) };
    Err(Problem::invalid(
        json!({ "resource": "Issue", "code": "invalid", "field": "assignees", "value": stranger }),
    ))
}

/// Puts labels on an issue. A name that nobody made a label of becomes one, grey and unexplained.
pub(super) fn label(state: &mut State, full_name: &str, number: u64, names: Vec<String>) {
    let now = state.clock.now();
    for name in names {
        let id = state.next_id();
        let Some(repo) = state.repo_mut(full_name) else { return };
        let known = repo.label(&name).map(|label| label.name.clone());
        let name = known.unwrap_or_else(|| {
            repo.labels.push(Label { id, name: name.clone(), color: GREY.to_owned(), description: None });
            name
        });
        let Some(issue) = repo.issue_mut(number) else { return };
        if !issue.labels.contains(&name) {
            issue.labels.push(name);
            issue.updated_at = now;
        }
    }
}

pub(super) fn names(labels: Vec<Name>) -> Vec<String> {
    labels
        .into_iter()
        .map(|label| match label {
            Name::Bare(name) | Name::Object { name } => name,
        })
        .collect()
}
