//! A repository with what stands in it.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::state::{
    Association, CheckRun, Comment, CommitStatus, Discussion, Issue, Label, Release, ReviewThread, Role,
    Workflow, WorkflowRun,
};

/// A repository.
#[derive(Debug, Clone)]
pub struct Repo {
    /// The database id.
    pub id: u64,
    /// The login of the owner, who may do everything.
    pub owner: String,
    /// The name without the owner.
    pub name: String,
    /// One line about it.
    pub description: String,
    /// Whether only collaborators see it.
    pub private: bool,
    /// Whether it has no issues, but for its pull requests.
    pub without_issues: bool,
    /// Whether it can only be read any more.
    pub archived: bool,
    /// The branch that it opens with.
    pub default_branch: String,
    /// Branches that nobody pushes to: they move by pull requests only.
    pub protected: Vec<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// The labels that issues can have.
    pub labels: Vec<Label>,
    /// The collaborators' roles by login.
    pub roles: BTreeMap<String, Role>,
    /// What was released, oldest first.
    pub releases: Vec<Release>,
    /// What checks said about commits, oldest first.
    pub check_runs: Vec<CheckRun>,
    /// What statuses said about commits, oldest first.
    pub statuses: Vec<CommitStatus>,
    /// Workflows that have run.
    pub workflows: Vec<Workflow>,
    /// Their runs, oldest first.
    pub workflow_runs: Vec<WorkflowRun>,
    /// Issues and pull requests, which share their numbers.
    pub issues: Vec<Issue>,
    /// The numbers of issues that were deleted.
    pub deleted: Vec<u64>,
    /// Discussions, which share the numbers too.
    pub discussions: Vec<Discussion>,
}

impl Repo {
    /// `owner/name`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    /// When anything in it last changed.
    pub(crate) fn changed_at(&self) -> Timestamp {
        self.issues.iter().map(|issue| issue.updated_at).max().unwrap_or(self.created_at)
    }

    /// Finds an issue or pull request.
    pub fn issue(&self, number: u64) -> Option<&Issue> {
        self.issues.iter().find(|issue| issue.number == number)
    }

    /// Finds an issue or pull request to change it.
    pub fn issue_mut(&mut self, number: u64) -> Option<&mut Issue> {
        self.issues.iter_mut().find(|issue| issue.number == number)
    }

    /// Finds a comment and the issue it stands under.
    pub fn comment(&self, id: u64) -> Option<(&Issue, &Comment)> {
        self.issues.iter().find_map(|issue| Some((issue, issue.comment(id)?)))
    }

    /// Finds a comment beside the code of a pull request.
    pub fn review_comment(&self, id: u64) -> Option<(&Issue, &ReviewThread, &Comment)> {
        self.issues.iter().find_map(|issue| {
            let (thread, comment) = issue.pull.as_ref()?.review_comment(id)?;
            Some((issue, thread, comment))
        })
    }

    /// Finds a comment beside the code that somebody sees.
    pub fn review_comment_seen_by(
        &self,
        id: u64,
        login: Option<&str>,
    ) -> Option<(&Issue, &ReviewThread, &Comment)> {
        let seen = |(issue, _, comment): &(&Issue, &ReviewThread, &Comment)| {
            issue.pull.as_ref().is_some_and(|pull| pull.is_seen_by(comment, login))
        };
        self.review_comment(id).filter(seen)
    }

    /// Finds a comment beside the code to change it.
    pub fn review_comment_mut(&mut self, id: u64) -> Option<&mut Comment> {
        let pulls = self.issues.iter_mut().filter_map(|issue| issue.pull.as_mut());
        let mut comments = pulls.flat_map(|pull| &mut pull.threads).flat_map(|thread| &mut thread.comments);
        comments.find(|comment| comment.id == id)
    }

    /// Finds a discussion.
    pub fn discussion(&self, number: u64) -> Option<&Discussion> {
        self.discussions.iter().find(|discussion| discussion.number == number)
    }

    /// Finds a discussion to change it.
    pub fn discussion_mut(&mut self, number: u64) -> Option<&mut Discussion> {
        self.discussions.iter_mut().find(|discussion| discussion.number == number)
    }

    /// Finds a label; names ignore case.
    pub fn label(&self, name: &str) -> Option<&Label> {
        self.labels.iter().find(|label| label.name.eq_ignore_ascii_case(name))
    }

    /// The role that somebody was given. Without one, a public repository can still be read by everyone.
    pub fn role(&self, login: &str) -> Option<Role> {
        if self.owner.eq_ignore_ascii_case(login) {
            return Some(Role::Admin);
        }
        self.roles.iter().find(|(known, _)| known.eq_ignore_ascii_case(login)).map(|(_, role)| *role)
    }

    /// How GitHub would describe an author here.
    pub fn association(&self, login: &str) -> Association {
        match self.role(login) {
            Some(Role::Admin) if self.owner.eq_ignore_ascii_case(login) => Association::Owner,
            Some(_) => Association::Collaborator,
            None => Association::None,
        }
    }

    pub(crate) fn next_number(&self) -> u64 {
        let issues = self.issues.iter().map(|issue| issue.number);
        let gone = self.deleted.iter().copied();
        let talks = self.discussions.iter().map(|discussion| discussion.number);
        issues.chain(talks).chain(gone).max().unwrap_or_default() + 1
    }
}
