//! Merging a pull request and bringing its branch up to date, by whichever door the wish comes in.

use std::io;

use crate::{
    auth::Caller,
    git::{self, Bare},
    hub::Hub,
    state::{Closing, ClosingReason, Issue, IssueState, Pull, Role, State, closed_by_words},
};

/// How the commits of a pull request come into its base.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MergeMethod {
    /// By a commit with two parents.
    Merge,
    /// All of them as one.
    Squash,
    /// Each again, one after the other.
    Rebase,
}

/// What somebody wants to have merged.
pub(crate) struct MergeWish {
    /// `owner/name`.
    pub(crate) repo: String,
    pub(crate) number: u64,
    pub(crate) method: MergeMethod,
    pub(crate) title: Option<String>,
    pub(crate) message: Option<String>,
    /// What its head has to be, if somebody minds.
    pub(crate) head: Option<String>,
}

/// Why it is not done.
#[derive(Clone, Copy)]
pub(crate) enum NotMerged {
    /// There is no such pull request for this caller.
    Missing,
    /// The caller may not push there.
    Forbidden,
    /// It cannot be merged as it is, in these words.
    Unmergeable(&'static str),
    /// Its head is another one.
    HeadMoved,
}

/// A pull request that may be merged, as it was when it was looked at.
struct Ready {
    issue: Issue,
    pull: Pull,
    owner: String,
}

/// Merges a pull request and returns the commit that its base has now.
pub(crate) async fn merge(hub: &Hub, caller: &Caller, wish: &MergeWish) -> Result<String, NotMerged> {
    let Some(login) = caller.writer() else { return Err(NotMerged::Forbidden) };
    let ready = hub.read(|state| ready(state, caller, wish))?;
    let failed = |_| NotMerged::Unmergeable("Pull Request is not mergeable");
    let store = hub.git.open(&wish.repo).await.map_err(failed)?;
    let oid = commit(&store, wish, &ready).await.map_err(failed)?;
    let branch = format!("refs/heads/{}", ready.pull.base_ref);
    store.run(&["update-ref", &branch, &oid, &ready.pull.base_oid]).await.map_err(failed)?;
    hub.change_by(login, |state| merged(state, (&wish.repo, wish.number), &oid, login));
    git::pushed(hub, &wish.repo, login).await.map_err(failed)?;
    Ok(oid)
}

/// Merges the base into the branch of a pull request; nothing is done if there is nothing new.
pub(crate) async fn update_branch(hub: &Hub, caller: &Caller, wish: &MergeWish) -> Result<(), NotMerged> {
    let Some(login) = caller.writer() else { return Err(NotMerged::Forbidden) };
    let Ready { pull, .. } = hub.read(|state| ready(state, caller, wish))?;
    let failed = |_| NotMerged::Unmergeable("merge conflict between base and head");
    let Some(head_repo) = pull.head_repo.filter(|name| *name == wish.repo) else {
        return Err(NotMerged::Forbidden);
    };
    let store = hub.git.open(&head_repo).await.map_err(failed)?;
    let (base, head) = (&pull.base_oid, &pull.head_oid);
    if store.run(&["merge-base", "--is-ancestor", base, head]).await.is_ok() {
        return Err(NotMerged::Unmergeable("There are no new commits on the base branch."));
    }
    let words = format!("Merge branch '{}' into {}", pull.base_ref, pull.head_ref);
    let oid = joined(&store, (head, base), &words).await.map_err(failed)?;
    store.run(&["update-ref", &format!("refs/heads/{}", pull.head_ref), &oid, head]).await.map_err(failed)?;
    git::pushed(hub, &head_repo, login).await.map_err(failed)
}

/// Marks a pull request as merged by a commit, and closes the issues that its text says it closes.
pub(crate) fn merged(state: &mut State, (repo, number): (&str, u64), oid: &str, login: &str) {
    let at = state.clock.now();
    let closing = Closing { at, by: login.to_owned(), reason: ClosingReason::Completed };
    let Some(repo) = state.repo_mut(repo) else { return };
    let main = repo.default_branch.clone();
    let Some(issue) = repo.issue_mut(number) else { return };
    issue.updated_at = at;
    issue.close(IssueState::Merged, closing.clone());
    let words = issue.body.clone();
    let Some(pull) = &mut issue.pull else { return };
    pull.merge_oid = Some(oid.to_owned());
    if pull.base_ref != main {
        return;
    }
    for number in closed_by_words(&words) {
        let linked = repo.issue_mut(number);
        if let Some(linked) = linked.filter(|own| own.pull.is_none() && own.state == IssueState::Open) {
            linked.updated_at = at;
            linked.close(IssueState::Closed, closing.clone());
        }
    }
}

fn ready(state: &State, caller: &Caller, wish: &MergeWish) -> Result<Ready, NotMerged> {
    let repo = state.repo(&wish.repo).filter(|repo| caller.sees(repo)).ok_or(NotMerged::Missing)?;
    let issue = repo.issue(wish.number).ok_or(NotMerged::Missing)?;
    let pull = issue.pull.as_ref().ok_or(NotMerged::Missing)?;
    if !caller.has(Role::Write, repo) || !caller.may(repo, &["contents"]) {
        return Err(NotMerged::Forbidden);
    }
    if issue.state != IssueState::Open || pull.conflicts {
        return Err(NotMerged::Unmergeable("Pull Request is not mergeable"));
    }
    if pull.draft {
        return Err(NotMerged::Unmergeable("Pull Request is still a draft"));
    }
    if wish.head.as_ref().is_some_and(|head| *head != pull.head_oid) {
        return Err(NotMerged::HeadMoved);
    }
    Ok(Ready { issue: issue.clone(), pull: pull.clone(), owner: repo.owner.clone() })
}

/// Makes the commit that the base is to have.
async fn commit(store: &Bare, wish: &MergeWish, ready: &Ready) -> io::Result<String> {
    let Ready { issue, pull, owner } = ready;
    let (base, head) = (&pull.base_oid, &pull.head_oid);
    let from = pull.head_repo.as_deref().and_then(|name| name.split('/').next()).unwrap_or(owner);
    let words = |title: String, message: &str| {
        let title = wish.title.clone().unwrap_or(title);
        format!("{title}\n\n{}", wish.message.as_deref().unwrap_or(message))
    };
    match wish.method {
        MergeMethod::Merge => {
            let title = format!("Merge pull request #{} from {from}/{}", issue.number, pull.head_ref);
            joined(store, (base, head), &words(title, &issue.title)).await
        }
        MergeMethod::Squash => {
            let tree = store.text(&["merge-tree", "--write-tree", base, head]).await?;
            let title = format!("{} (#{})", issue.title, issue.number);
            let message = pull.commits.iter().map(|commit| format!("* {}\n", commit.message));
            made(store, &[], &tree, &[base], &words(title, &message.collect::<String>())).await
        }
        MergeMethod::Rebase => {
            let mut onto = base.clone();
            for commit in &pull.commits {
                let before = format!("--merge-base={}^", commit.oid);
                let tree = store.text(&["merge-tree", "--write-tree", &before, &onto, &commit.oid]).await?;
                let author = [
                    format!("author.name={}", commit.author_name),
                    format!("author.email={}", commit.author_email),
                ];
                onto = made(store, &author, &tree, &[&onto], &commit.message).await?;
            }
            Ok(onto)
        }
    }
}

/// Makes a commit with two parents.
async fn joined(store: &Bare, (onto, other): (&str, &str), words: &str) -> io::Result<String> {
    let tree = store.text(&["merge-tree", "--write-tree", onto, other]).await?;
    made(store, &[], &tree, &[onto, other], words).await
}

/// Makes a commit as GitHub itself, with further settings of git.
async fn made(
    store: &Bare,
    settings: &[String],
    tree: &str,
    parents: &[&str],
    words: &str,
) -> io::Result<String> {
    let mut arguments = vec!["-c", "user.name=GitHub", "-c", "user.email=noreply@github.com"];
    for setting in settings {
        arguments.extend(["-c", setting]);
    }
    arguments.extend(["commit-tree", tree, "-m", words.trim_end()]);
    for parent in parents {
        arguments.extend(["-p", parent]);
    }
    store.text(&arguments).await
}
