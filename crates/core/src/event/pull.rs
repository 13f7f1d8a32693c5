//! `pull_request` and `pull_request_target`: one wants to be looked at.

use serde::Deserialize;

use super::{
    Reading, Trigger,
    payload::{Action, Label, Repository, SubjectPart, User, not_supported, parse},
};
use crate::{
    fault::Fault,
    gate::SkipReason,
    names::{Login, RepoName},
};

/// A pull request that wants to be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pull {
    /// The event by which we know.
    pub event: PullEvent,
    /// The repository it goes into.
    pub repo: RepoName,
    /// Its number.
    pub number: u64,
    /// What happened to it.
    pub action: PullAction,
    /// Who wrote it.
    pub author: Login,
    /// Who did what happened.
    pub sender: Login,
    /// What it says.
    pub body: String,
    /// The names of its labels.
    pub labels: Vec<String>,
    /// Whether it is still a draft.
    pub draft: bool,
    /// Whether the conversation is locked.
    pub locked: bool,
    /// Where it comes from.
    pub head: Head,
    /// Its newest commit.
    pub sha: String,
}

/// The two events that tell of pull requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullEvent {
    /// `pull_request`, which has no secrets for forks.
    Plain,
    /// `pull_request_target`, which always has them.
    Target,
}

/// What can happen to a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullAction {
    /// The pull request was opened.
    Opened,
    /// New commits were pushed.
    Synchronized,
    /// The pull request was reopened.
    Reopened,
    /// The draft became ready for review.
    Ready,
    /// Somebody was asked to review it.
    ReviewRequested(Login),
}

/// Where a pull request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    /// A branch of the repository itself.
    Here,
    /// Another repository, or one that is gone.
    Fork,
}

impl Pull {
    /// Returns whose words are acted on.
    pub(crate) fn asker(&self) -> &Login {
        match self.action {
            PullAction::ReviewRequested(_) => &self.sender,
            PullAction::Opened | PullAction::Synchronized | PullAction::Reopened | PullAction::Ready => {
                &self.author
            }
        }
    }
}

#[derive(Deserialize)]
struct PullPayload {
    pull_request: PullFields,
    repository: Repository,
    sender: User,
}

#[derive(Deserialize)]
struct Requested {
    /// A person; nothing if a team was asked.
    requested_reviewer: Option<User>,
}

#[derive(Deserialize)]
struct PullFields {
    #[serde(flatten)]
    subject: SubjectPart,
    #[serde(default)]
    draft: bool,
    head: Branch,
}

/// A branch and the repository it is in, unless that is gone.
#[derive(Deserialize)]
pub(super) struct Branch {
    sha: String,
    repo: Option<BranchRepo>,
}

#[derive(Deserialize)]
struct BranchRepo {
    full_name: String,
}

impl Branch {
    /// Compares by full name: a fork has its owner's name, and may have any name of its own.
    pub(super) fn seen_from(&self, repo: &RepoName) -> Head {
        let name = repo.to_string();
        let here = self.repo.as_ref().is_some_and(|own| own.full_name.eq_ignore_ascii_case(&name));
        if here { Head::Here } else { Head::Fork }
    }
}

pub(super) fn read(event: PullEvent, payload: &str) -> Result<Reading, Fault> {
    let name = match event {
        PullEvent::Plain => "pull_request",
        PullEvent::Target => "pull_request_target",
    };
    let Action { action } = parse(name, payload)?;
    let action = match action.as_str() {
        "opened" => PullAction::Opened,
        "synchronize" => PullAction::Synchronized,
        "reopened" => PullAction::Reopened,
        "ready_for_review" => PullAction::Ready,
        "review_requested" => match parse::<Requested>(name, payload)?.requested_reviewer {
            Some(reviewer) => PullAction::ReviewRequested(reviewer.login()),
            None => return Ok(Reading::Skip(SkipReason::OthersReview)),
        },
        other => return Ok(not_supported(name, other)),
    };
    let told: PullPayload = parse(name, payload)?;
    let repo = told.repository.name(name)?;
    let PullFields { subject: pull, draft, head: branch } = told.pull_request;
    let head = branch.seen_from(&repo);
    Ok(Reading::Trigger(Trigger::Pull(Pull {
        event,
        repo,
        number: pull.number,
        action,
        author: pull.user.login(),
        sender: told.sender.login(),
        body: pull.body.unwrap_or_default(),
        labels: Label::names(pull.labels),
        draft,
        locked: pull.locked,
        head,
        sha: branch.sha,
    })))
}
