//! What becomes of the agent's changes: a branch of ours, a pull request's own branch, a patch, or nothing.

use fro_boundary::{ModelProxy, Tip};
use fro_core::{
    Fault, Subject,
    delegation::{Claim, Commission, CredentialReach, NoWork, PullBranch},
    prompt::Workbench,
};
use fro_github::{Account, Error, GitHub, PullEnds};

use crate::{
    job::{Job, Scope},
    judge,
    push_credentials::PushCredentials,
};

/// What the agent's changes become.
pub(crate) enum Assignment {
    /// Nothing is pushed.
    Look(NoWork),
    /// The changes are pushed to this branch.
    Branch(Box<Branch>),
    /// They are shown as a patch, since this fork cannot be pushed to.
    Patch {
        /// `owner/name`, or what is left of it.
        fork: String,
    },
}

/// Where changes are pushed.
pub(crate) struct Branch {
    pub(crate) commission: Commission,
    /// The branch, which is checked out.
    pub(crate) name: String,
    /// The commit to start from.
    pub(crate) tip: Tip,
    /// The branch that a new pull request goes into.
    pub(crate) base: String,
    /// Whether the branch is there already.
    pub(crate) stands: bool,
    /// The pull request that a push goes to.
    pub(crate) pull: Option<PullEnds>,
    /// The repository that is pushed to, `owner/name`.
    pub(crate) repo: String,
    /// Branches that are never pushed to.
    pub(crate) closed: Vec<String>,
    /// Whose name is on the commits.
    pub(crate) account: Account,
}

impl Assignment {
    /// Decides; GitHub is asked only if a change was, and a model only if no fixed word tells.
    pub(crate) async fn decide(
        scope: Scope<'_>,
        models: &ModelProxy,
        credentials: &PushCredentials,
    ) -> Result<Self, Fault> {
        let commission = match scope.job.work.clone() {
            Ok(Claim::Plain(commission)) => Ok(commission),
            Ok(Claim::Unsettled(claim)) => judge::settle(scope.settings(), models, claim).await,
            Err(no) => Err(no),
        };
        let commission = match commission {
            Ok(commission) => commission,
            Err(no) => return Ok(Self::Look(no)),
        };
        let github = scope.github()?;
        let (account, default) = (credentials.account().await?, github.default_branch().await);
        let default = default.map_err(|error| error.fault())?;
        let fresh = Branch {
            name: commission.branch(scope.job.origin.began),
            commission,
            tip: Tip::Checkout,
            base: default.clone(),
            stands: false,
            pull: None,
            repo: scope.permit().repo().to_string(),
            closed: vec![default],
            account,
        };
        let assigned = match scope.permit().subject() {
            Subject::PullRequest(number) => for_pull(scope, &github, (credentials, number), fresh).await,
            Subject::Issue(_) | Subject::Discussion(_) | Subject::Thread(_) | Subject::Repository => {
                again(scope, &github, fresh).await
            }
        };
        assigned.map_err(|error| error.fault())
    }

    /// Returns the commit to start from.
    ///
    /// Where the event names a pull request's commit, that is the one: a later push has an event of its own.
    pub(crate) fn tip(&self, job: &Job) -> Tip {
        match (self, job.permit.subject()) {
            (Self::Branch(branch), _) => branch.tip.clone(),
            (_, Subject::PullRequest(number)) => match &job.head {
                Some(commit) => Tip::Pinned { name: head_of(number), commit: commit.clone() },
                None => Tip::Remote(head_of(number)),
            },
            (_, Subject::Issue(_) | Subject::Discussion(_) | Subject::Thread(_) | Subject::Repository) => {
                job.head.clone().map_or(Tip::Checkout, Tip::Commit)
            }
        }
    }

    /// Returns what the agent is told of it.
    pub(crate) fn workbench(&self) -> Workbench {
        match self {
            Self::Look(_) => Workbench::Closed,
            Self::Branch(branch) => Workbench::Branch {
                name: branch.name.clone(),
                pull: branch.pull.as_ref().map(|pull| pull.number),
                wanted: branch.commission.wanted(),
            },
            Self::Patch { fork } => Workbench::Patch { fork: fork.clone() },
        }
    }

    /// Returns why the agent cannot push, if it cannot.
    pub(crate) fn closed(&self) -> Option<String> {
        match self {
            Self::Look(no) => Some(no.to_string()),
            Self::Branch(_) => None,
            Self::Patch { fork } => Some(format!(
                "the pull request comes from {fork}, which I may not push to; leave the change in your working \
                 directory, it is handed on as a patch"
            )),
        }
    }
}

fn head_of(number: u64) -> String {
    format!("refs/pull/{number}/head")
}

/// Goes on with the branch of an earlier run, if its pull request is still open.
async fn again(scope: Scope<'_>, github: &GitHub, fresh: Branch) -> Result<Assignment, Error> {
    let authors = [scope.permit().own(), &fresh.account.login];
    let standing = github.own_pull(&authors, fresh.commission.prefix()).await?;
    let branch = match standing {
        Some(pull) => Branch {
            name: pull.head.clone(),
            tip: Tip::Remote(format!("refs/heads/{}", pull.head)),
            stands: true,
            pull: Some(pull),
            ..fresh
        },
        None => fresh,
    };
    Ok(Assignment::Branch(Box::new(branch)))
}

/// Works on a pull request: on its own branch, unless that is closed to us.
async fn for_pull(
    scope: Scope<'_>,
    github: &GitHub,
    (credentials, number): (&PushCredentials, u64),
    fresh: Branch,
) -> Result<Assignment, Error> {
    let pull = github.pull_ends(number).await?;
    let tip = Tip::Remote(head_of(number));
    let (head_repo, own) = (pull.head_repo.as_ref(), scope.permit().repo());
    let reach =
        if credentials.reaches_forks() { CredentialReach::Person } else { CredentialReach::OneRepository };
    match PullBranch::decide(own, head_repo, pull.modifiable, reach) {
        PullBranch::Here => {}
        PullBranch::Closed { fork } => return Ok(Assignment::Patch { fork }),
        PullBranch::Fork(repo) => {
            let (name, repo) = (pull.head.clone(), repo.to_string());
            let branch =
                Branch { name, tip, stands: true, pull: Some(pull), repo, closed: Vec::new(), ..fresh };
            return Ok(Assignment::Branch(Box::new(branch)));
        }
    }
    let is_closed = fresh.closed.contains(&pull.head) || github.is_protected(&pull.head).await?;
    let branch = if is_closed {
        let closed = [fresh.closed.clone(), vec![pull.head.clone()]].concat();
        Branch { tip, base: pull.head, closed, ..fresh }
    } else {
        Branch { name: pull.head.clone(), tip, stands: true, pull: Some(pull), ..fresh }
    };
    Ok(Assignment::Branch(Box::new(branch)))
}

#[cfg(test)]
mod tests {
    use fro_core::Reach;

    use super::*;
    use crate::tests::{job, permit};

    #[test]
    fn who_may_not_push_is_told_why_and_how_changes_are_handed_on() {
        let look = Assignment::Look(NoWork::Question);
        assert_eq!(look.workbench(), Workbench::Closed);
        let why = look.closed().unwrap();
        assert!(why.starts_with("the request does not ask for a change"), "{why}");
        let patch = Assignment::Patch { fork: "the fork rita/garden".to_owned() };
        assert_eq!(patch.workbench(), Workbench::Patch { fork: "the fork rita/garden".to_owned() });
        let why = patch.closed().unwrap();
        assert!(why.contains("the fork rita/garden, which I may not push to"), "{why}");
    }

    #[test]
    fn a_question_on_an_issue_is_about_the_checkout() {
        let look = Assignment::Look(NoWork::Question);
        assert_eq!(look.tip(&job(permit(Reach::Work))), Tip::Checkout);
        assert_eq!(head_of(7), "refs/pull/7/head");
    }
}
