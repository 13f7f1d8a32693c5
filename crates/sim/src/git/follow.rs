//! What a push means to pull requests: their heads, commits and files follow their branches.

use std::io;

use jiff::Timestamp;

use crate::{
    git::{Bare, diff},
    hub::Hub,
    merging::merged,
    state::{ChangedFile, Closing, ClosingReason, Commit, IssueState, Pull, State},
};

/// An open pull request whose branches may have moved.
struct Open {
    number: u64,
    base_repo: String,
    pull: Pull,
}

/// What is between two branches.
pub(crate) struct Between {
    pub(crate) base: String,
    pub(crate) head: String,
    pub(crate) commits: Vec<Commit>,
    pub(crate) files: Vec<ChangedFile>,
}

/// Brings all open pull requests up to date that a repository has to do with, after somebody has pushed to it.
pub(crate) async fn pushed(hub: &Hub, full_name: &str, login: &str) -> io::Result<()> {
    for open in concerned(hub, full_name) {
        let Some(head_repo) = &open.pull.head_repo else { continue };
        let (head_repo, base) = (hub.git.open(head_repo).await?, hub.git.open(&open.base_repo).await?);
        // Without the branch that it goes to, nothing can be said.
        let Ok(base_oid) = base.tip(&open.pull.base_ref).await else { continue };
        // Without the branch that it comes from, it is closed.
        let Ok(between) = compare(&base, &open.pull.base_ref, &head_repo, &open.pull.head_ref).await else {
            hub.change_by(login, |state| open.close(state, login));
            continue;
        };
        if base.run(&["merge-base", "--is-ancestor", &between.head, &base_oid]).await.is_ok() {
            hub.change_by(login, |state| merged(state, (&open.base_repo, open.number), &base_oid, login));
            continue;
        }
        let number = open.number;
        base.run(&["update-ref", &format!("refs/pull/{number}/head"), &between.head]).await?;
        let trial = trial(&base, &between, &open.pull).await?;
        if let Some(oid) = &trial {
            base.run(&["update-ref", &format!("refs/pull/{number}/merge"), oid]).await?;
        }
        hub.change(|state| open.follow(state, between, trial));
    }
    Ok(())
}

/// The open pull requests that go to a repository, or come from it.
fn concerned(hub: &Hub, full_name: &str) -> Vec<Open> {
    hub.read(|state| {
        let all = state.repos.iter().flat_map(|repo| repo.issues.iter().map(move |issue| (repo, issue)));
        let open = all.filter(|(_, issue)| issue.state == IssueState::Open);
        let found = open.filter_map(|(repo, issue)| {
            let (base_repo, pull) = (repo.full_name(), issue.pull.clone()?);
            let concerned = base_repo == full_name || pull.head_repo.as_deref() == Some(full_name);
            concerned.then_some(Open { number: issue.number, base_repo, pull })
        });
        found.collect()
    })
}

/// Makes the commit that merging would make; none if both sides change the same lines in different ways.
///
/// As long as neither end moves, it stays the same one.
async fn trial(base: &Bare, between: &Between, pull: &Pull) -> io::Result<Option<String>> {
    let (onto, head) = (&between.base, &between.head);
    if (onto, head) == (&pull.base_oid, &pull.head_oid) && pull.merge_oid.is_some() && !pull.conflicts {
        return Ok(pull.merge_oid.clone());
    }
    let Ok(tree) = base.text(&["merge-tree", "--write-tree", onto, head]).await else { return Ok(None) };
    let words = format!("Merge {head} into {onto}");
    let by = ["-c", "user.name=GitHub", "-c", "user.email=noreply@github.com"];
    let made = [&by[..], &["commit-tree", &tree, "-p", onto, "-p", head, "-m", &words]].concat();
    base.text(&made).await.map(Some)
}

impl Open {
    /// Takes over what is between both branches now.
    fn follow(&self, state: &mut State, between: Between, trial: Option<String>) {
        let now = state.clock.now();
        let Some(issue) = state.issue_mut(&self.base_repo, self.number) else { return };
        let Some(pull) = &mut issue.pull else { return };
        if pull.head_oid != between.head {
            issue.updated_at = now;
        }
        pull.base_oid = between.base;
        pull.head_oid = between.head;
        pull.commits = between.commits;
        pull.files = between.files;
        pull.conflicts = trial.is_none();
        pull.merge_oid = trial.or(pull.merge_oid.take());
        pull.follow_code();
    }

    /// Closes it, since somebody has taken its branch away.
    fn close(&self, state: &mut State, login: &str) {
        let at = state.clock.now();
        let Some(issue) = state.issue_mut(&self.base_repo, self.number) else { return };
        issue.updated_at = at;
        issue.close(
            IssueState::Closed,
            Closing { at, by: login.to_owned(), reason: ClosingReason::Completed },
        );
    }
}

/// Tells what is new in a branch, which may be one of another repository.
pub(crate) async fn compare(
    base_repo: &Bare,
    base_ref: &str,
    head_repo: &Bare,
    head_ref: &str,
) -> io::Result<Between> {
    let head = head_repo.tip(head_ref).await?;
    let base = base_repo.tip(base_ref).await?;
    if base_repo.folder() != head_repo.folder() {
        let from = head_repo.folder().display().to_string();
        base_repo.run(&["fetch", "--quiet", &from, &format!("refs/heads/{head_ref}")]).await?;
    }
    let format = "--format=%H%n%ct%n%an%n%ae%n%B%x00";
    let log = base_repo.text(&["log", "--reverse", format, &format!("{base}..{head}")]).await?;
    let patch = base_repo.text(&["diff", "--full-index", "-M", &format!("{base}...{head}")]).await?;
    let commits = log.split('\0').filter_map(|entry| commit(entry.trim_start_matches('\n'))).collect();
    Ok(Between { base, head, commits, files: diff::changed_files(&patch) })
}

fn commit(entry: &str) -> Option<Commit> {
    let mut parts = entry.splitn(5, '\n');
    Some(Commit {
        oid: parts.next()?.to_owned(),
        committed_at: Timestamp::from_second(parts.next()?.parse().ok()?).ok()?,
        author_name: parts.next()?.to_owned(),
        author_email: parts.next()?.to_owned(),
        message: parts.next()?.trim_end().to_owned(),
    })
}
