//! What a run hands over besides its answer: the pull request, the commits, a patch, and what was left behind.

use fro_boundary::{GitError, Halt, Push, StillRunning};
use fro_core::{
    Fault,
    delegation::NoWork,
    say::{
        summary::Link,
        work::{self, Checks},
    },
};
use fro_github::OpenedPull;

use crate::{
    delegate::{Assignment, Branch},
    job::Scope,
    repository::Repository,
};

/// What a run hands over besides its answer.
#[derive(Debug, Default)]
pub struct Handover {
    /// What the answer says of it.
    pub notes: Vec<String>,
    /// What the summary points to.
    pub links: Vec<Link>,
    /// What a maintainer should know.
    pub warnings: Vec<String>,
    /// What was changed, pushed or not, if anything was.
    pub patch: Option<String>,
}

impl Repository {
    /// Opens what has to be opened and accounts for everything; it fails no run.
    ///
    /// What lies in the clone is looked at only if nothing behind the wall runs.
    pub(crate) async fn hand_over(&self, scope: Scope<'_>, halt: Halted) -> Handover {
        let mut handover = Handover::default();
        self.staging.close().await;
        let pushes = self.staging.pushes();
        let refused: Vec<_> = pushes.iter().filter_map(refusal).collect();
        if let Some(last) = refused.last() {
            handover.warnings.push(work::refused_pushes(refused.len(), last));
        }
        match &self.assignment {
            // Who asks a question need not hear how to ask for a change, unless it came to that.
            Assignment::Look(no) if !refused.is_empty() || *no == NoWork::Unclear => {
                let (name, words) = (scope.permit().name(), scope.permit().work_words());
                handover.notes.extend(work::how_to_ask(no, name, words));
            }
            Assignment::Look(_) => {}
            Assignment::Patch { fork } => self.show_patch(fork, &halt, &mut handover).await,
            Assignment::Branch(branch) => {
                let commit = pushes.iter().rev().find_map(|push| passed(push, branch));
                if let Some(commit) = &commit {
                    self.account_for(scope, branch, commit, &mut handover).await;
                }
                self.see_what_stays(commit.as_deref(), &halt, &mut handover).await;
            }
        }
        handover
    }

    async fn account_for(&self, scope: Scope<'_>, branch: &Branch, commit: &str, handover: &mut Handover) {
        let server = scope.settings().server.trim_end_matches('/');
        let short: String = commit.chars().take(7).collect();
        let link = |what, name, url| Link { what, name, url };
        handover.warnings.extend(self.credentials.exception(&branch.repo));
        let commit_url = format!("{server}/{}/commit/{commit}", branch.repo);
        let standing = branch.pull.as_ref().map(|pull| (pull.number, pull.url.clone()));
        let standing = standing.or_else(|| self.opened().map(|pull| (pull.number, pull.url)));
        let pull = match standing {
            Some((number, url)) => {
                handover.notes.push(work::pushed(number, commit));
                Some((number, url))
            }
            None => match self.open_from_commit(commit).await {
                Ok(pull) => Some((pull.number, pull.url)),
                Err(fault) => {
                    handover.notes.push(work::unopened(&branch.name, fault.what()));
                    None
                }
            },
        };
        if let Some(pull) = self.opened() {
            let checks = if self.credentials.is_plain() { Checks::Wait } else { Checks::Start };
            handover.notes = vec![work::opened(pull.number, &branch.name, checks)];
        }
        handover.links.extend(pull.map(|(number, url)| link("Pull request", format!("#{number}"), url)));
        handover.links.push(link("Commit", short, commit_url));
    }

    /// Opens the pull request that the agent did not open, with the words of its last commit.
    async fn open_from_commit(&self, commit: &str) -> Result<OpenedPull, Fault> {
        let proposer = self.proposer().map_err(Fault::ours)?;
        let (title, body) = self.store.message(commit).await.map_err(|error| error.fault())?;
        proposer.open(&title, &body).await
    }

    async fn show_patch(&self, fork: &str, halt: &Halted, handover: &mut Handover) {
        let Some(files) = self.look(halt, handover).await else { return };
        match self.store.patch(self.baseline(), &files).await {
            Ok(patch) if patch.is_empty() => {}
            Ok(patch) => {
                handover.notes.push(work::patch(fork, &patch));
                handover.patch = Some(patch);
            }
            Err(error) => handover.warnings.push(unread(&error)),
        }
    }

    /// Compares what lies in the clone with what was pushed.
    async fn see_what_stays(&self, pushed: Option<&str>, halt: &Halted, handover: &mut Handover) {
        let Some(files) = self.look(halt, handover).await else { return };
        let compared = async {
            let brought = self.store.changed(self.store.tip(), self.baseline()).await?;
            let mut left = self.store.changed(pushed.unwrap_or(self.store.tip()), &files).await?;
            left.retain(|file| !brought.contains(file));
            Ok::<_, GitError>(left.into_iter().map(|(path, _)| path).collect::<Vec<_>>())
        };
        let compared = compared.await;
        if pushed.is_some() || compared.as_ref().is_ok_and(|left| !left.is_empty()) {
            let patch = self.store.patch(self.baseline(), &files).await;
            handover.patch = patch.ok().filter(|patch| !patch.is_empty());
        }
        match compared {
            Ok(left) if left.is_empty() => {}
            Ok(left) => handover.notes.push(work::left_behind(&left)),
            Err(error) => handover.warnings.push(unread(&error)),
        }
    }

    /// Takes the clone's files down and returns their tree, if they can be looked at.
    async fn look(&self, halt: &Halted, handover: &mut Handover) -> Option<String> {
        let taken = match halt {
            Ok(halt) => self.store.tree_of(self.clone(), halt).await,
            Err(why) => {
                handover.warnings.push(unread(why));
                return None;
            }
        };
        match taken {
            Ok(taken) => {
                let (n_aside, named) = (taken.aside.len(), taken.aside.iter().take(NAMED).cloned());
                if n_aside > 0 {
                    let named = named.collect::<Vec<_>>().join(", ");
                    handover
                        .warnings
                        .push(format!("{n_aside} of the agent's files were not looked at: {named}"));
                }
                Some(taken.tree)
            }
            Err(error) => {
                handover.warnings.push(unread(&error));
                None
            }
        }
    }
}

/// Files that are named in a warning.
const NAMED: usize = 5;

type Halted = Result<Halt, StillRunning>;

fn unread(why: &dyn std::error::Error) -> String {
    format!("the agent's changes cannot be read: {why}")
}

fn refusal(push: &Push) -> Option<&str> {
    match push {
        Push::Refused { why } => Some(why),
        Push::Passed { .. } => None,
    }
}

fn passed(push: &Push, own: &Branch) -> Option<String> {
    match push {
        Push::Passed { branch, commit } if *branch == own.name => Some(commit.clone()),
        Push::Passed { .. } | Push::Refused { .. } => None,
    }
}
