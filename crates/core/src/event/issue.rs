//! `issues`: one was opened, or edited so that it calls us.

use serde::Deserialize;

use super::{
    Reading, Trigger,
    added::added,
    payload::{Action, Label, Repository, SubjectPart, User, not_supported, parse},
};
use crate::{
    fault::Fault,
    names::{Login, RepoName},
};

/// An issue that was opened or edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// The repository it is in.
    pub repo: RepoName,
    /// Its number.
    pub number: u64,
    /// What happened to it.
    pub action: IssueAction,
    /// Who wrote it.
    pub author: Login,
    /// Who did what happened: on an edit, the editor.
    pub sender: Login,
    /// What whoever did it wrote: all of a new issue, and of an old one only what the edit added.
    pub words: String,
    /// The names of its labels.
    pub labels: Vec<String>,
    /// Whether the conversation is locked.
    pub locked: bool,
}

/// What can happen to an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IssueAction {
    /// The issue was opened.
    Opened,
    /// Its title or text was changed.
    Edited,
}

impl Issue {
    /// Returns whose words are acted on: an editor may add words to somebody else's issue.
    pub(crate) fn asker(&self) -> &Login {
        match self.action {
            IssueAction::Opened => &self.author,
            IssueAction::Edited => &self.sender,
        }
    }
}

#[derive(Deserialize)]
struct IssuePayload {
    issue: SubjectPart,
    repository: Repository,
    sender: User,
    #[serde(default)]
    changes: Changes,
}

#[derive(Default, Deserialize)]
struct Changes {
    body: Option<Before>,
}

#[derive(Deserialize)]
struct Before {
    from: Option<String>,
}

const NAME: &str = "issues";

pub(super) fn read(payload: &str) -> Result<Reading, Fault> {
    let Action { action } = parse(NAME, payload)?;
    let action = match action.as_str() {
        "opened" => IssueAction::Opened,
        "edited" => IssueAction::Edited,
        other => return Ok(not_supported(NAME, other)),
    };
    let told: IssuePayload = parse(NAME, payload)?;
    let body = told.issue.body.unwrap_or_default();
    let words = match action {
        IssueAction::Opened => body,
        // An edit without an earlier text changed the title alone.
        IssueAction::Edited => told
            .changes
            .body
            .map_or_else(String::new, |before| added(&before.from.unwrap_or_default(), &body)),
    };
    Ok(Reading::Trigger(Trigger::Issue(Issue {
        repo: told.repository.name(NAME)?,
        number: told.issue.number,
        action,
        author: told.issue.user.login(),
        sender: told.sender.login(),
        words,
        labels: Label::names(told.issue.labels),
        locked: told.issue.locked,
    })))
}
