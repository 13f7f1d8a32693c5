//! What a push means to pull requests: their heads, commits and files follow their branches.

use std::io;

use jiff::Timestamp;

use crate::{
    git::{Bare, diff},
    hub::Hub,
    state::{ChangedFile, Commit, IssueState, Pull},
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

/// Brings all open pull requests up to date that a repository has to do with.
pub(crate) async fn pushed(hub: &Hub, full_name: &str) -> io::Result<()> {
    let open = hub.read(|state| {
        let all = state.repos.iter().flat_map(|repo| repo.issues.iter().map(move |issue| (repo, issue)));
        let open = all.filter(|(_, issue)| issue.state == IssueState::Open);
        let found = open.filter_map(|(repo, issue)| {
            let (base_repo, pull) = (repo.full_name(), issue.pull.clone()?);
            let concerned = base_repo == full_name || pull.head_repo.as_deref() == Some(full_name);
            concerned.then_some(Open { number: issue.number, base_repo, pull })
        });
        found.collect::<Vec<_>>()
    });
    for Open { number, base_repo, pull } in open {
        let Some(head_repo) = &pull.head_repo else { continue };
        let (head_repo, base) = (hub.git.open(head_repo).await?, hub.git.open(&base_repo).await?);
        // A branch that was deleted moves nothing.
        let Ok(between) = compare(&base, &pull.base_ref, &head_repo, &pull.head_ref).await else { continue };
        base.run(&["update-ref", &format!("refs/pull/{number}/head"), &between.head]).await?;
        hub.change(|state| {
            let now = state.clock.now();
            let Some(issue) = state.issue_mut(&base_repo, number) else { return };
            let Some(pull) = &mut issue.pull else { return };
            if pull.head_oid != between.head {
                issue.updated_at = now;
            }
            pull.base_oid = between.base;
            pull.head_oid = between.head;
            pull.commits = between.commits;
            pull.files = between.files;
            pull.follow_code();
        });
    }
    Ok(())
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
