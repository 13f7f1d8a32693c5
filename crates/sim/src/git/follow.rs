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
pub(super) async fn pushed(hub: &Hub, full_name: &str) -> io::Result<()> {
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
        let Ok(between) = propose(&base, &pull.base_ref, &head_repo, &pull.head_ref, number).await else {
            continue;
        };
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
        });
    }
    Ok(())
}

/// Takes a branch of a repository for `refs/pull/NUMBER/head` of another or the same one, and tells what is new in it.
pub(crate) async fn propose(
    base_repo: &Bare,
    base_ref: &str,
    head_repo: &Bare,
    head_ref: &str,
    number: u64,
) -> io::Result<Between> {
    let from = head_repo.folder().display().to_string();
    let spec = format!("+refs/heads/{head_ref}:refs/pull/{number}/head");
    base_repo.run(&["fetch", "--quiet", &from, &spec]).await?;
    between(base_repo, &format!("refs/heads/{base_ref}"), &format!("refs/pull/{number}/head")).await
}

async fn between(repo: &Bare, base: &str, head: &str) -> io::Result<Between> {
    let (base_oid, head_oid) = (
        repo.text(&["rev-parse", "--verify", base]).await?,
        repo.text(&["rev-parse", "--verify", head]).await?,
    );
    let format = "--format=%H%n%ct%n%B%x00";
    let log = repo.text(&["log", "--reverse", format, &format!("{base}..{head}")]).await?;
    let patch = repo.text(&["diff", "--full-index", "-M", &format!("{base}...{head}")]).await?;
    let commits = log.split('\0').filter_map(|entry| commit(entry.trim_start_matches('\n'))).collect();
    Ok(Between { base: base_oid, head: head_oid, commits, files: diff::changed_files(&patch) })
}

fn commit(entry: &str) -> Option<Commit> {
    let mut parts = entry.splitn(3, '\n');
    let (oid, time, message) = (parts.next()?, parts.next()?, parts.next()?);
    let committed_at = Timestamp::from_second(time.parse().ok()?).ok()?;
    Some(Commit { oid: oid.to_owned(), message: message.trim_end().to_owned(), committed_at })
}
