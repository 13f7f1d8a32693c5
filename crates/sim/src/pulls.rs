//! Opening a pull request, by whichever door the wish comes in.

use crate::{
    auth::Caller,
    git,
    hub::Hub,
    state::{self, Issue, IssueState, Pull},
};

/// What somebody wants to have merged.
pub(crate) struct Wish {
    /// `owner/name` of where it shall go.
    pub(crate) repo: String,
    pub(crate) base: String,
    /// A branch, or `owner:branch` for that of a fork.
    pub(crate) head: String,
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) draft: bool,
    pub(crate) open_to_maintainers: bool,
}

/// Why it cannot be.
pub(crate) enum Refusal {
    /// There is no such repository for this caller.
    NoRepo,
    /// This branch is not there.
    NoBranch(&'static str),
    /// There is nothing to merge.
    NothingNew(String),
    /// It was opened before.
    Open(String),
    /// Neither a collaborator nor the owner of the branch.
    Forbidden,
}

/// Opens a pull request and returns its number.
pub(crate) async fn open(hub: &Hub, caller: &Caller, wish: Wish) -> Result<u64, Refusal> {
    let Some(login) = caller.writer() else { return Err(Refusal::Forbidden) };
    let (base_repo, head_repo, head) = hub.read(|state| {
        let repo = state.repo(&wish.repo).filter(|repo| caller.sees(repo)).ok_or(Refusal::NoRepo)?;
        if !caller.may(repo, &["pull_requests"]) {
            return Err(Refusal::Forbidden);
        }
        let (owner, head) = wish.head.split_once(':').unwrap_or((&repo.owner, &wish.head));
        let head_repo = state.repo(&format!("{owner}/{}", repo.name)).ok_or(Refusal::NoBranch("head"))?;
        if !caller.has(state::Role::Write, head_repo) {
            return Err(Refusal::Forbidden);
        }
        Ok((repo.full_name(), head_repo.full_name(), head.to_owned()))
    })?;
    let no_head = |_| Refusal::NoBranch("head");
    let onto = hub.git.open(&base_repo).await.map_err(|_| Refusal::NoBranch("base"))?;
    let from = hub.git.open(&head_repo).await.map_err(no_head)?;
    onto.tip(&wish.base).await.map_err(|_| Refusal::NoBranch("base"))?;
    let between = git::compare(&onto, &wish.base, &from, &head).await.map_err(no_head)?;
    if between.commits.is_empty() {
        return Err(Refusal::NothingNew(format!("No commits between {} and {head}", wish.base)));
    }
    let is_fork = head_repo != base_repo;
    let pull = Pull {
        draft: wish.draft,
        base_ref: wish.base,
        base_oid: between.base,
        head_ref: head,
        head_oid: between.head,
        head_repo: Some(head_repo),
        merge_oid: None,
        conflicts: false,
        open_to_maintainers: wish.open_to_maintainers && is_fork,
        files: between.files,
        commits: between.commits,
        reviews: Vec::new(),
        threads: Vec::new(),
        requested_reviewers: Vec::new(),
    };
    let number = hub.change(|state| enter(state, &base_repo, login, (wish.title, wish.body), pull))?;
    git::pushed(hub, &base_repo, login).await.map_err(no_head)?;
    Ok(number)
}

fn enter(
    state: &mut state::State,
    repo: &str,
    login: &str,
    (title, body): (String, String),
    pull: Pull,
) -> Result<u64, Refusal> {
    let (id, now) = (state.next_id(), state.clock.now());
    let repo = state.repo_mut(repo).ok_or(Refusal::NoRepo)?;
    let same = |issue: &Issue| {
        let open = issue.pull.as_ref().filter(|_| issue.state == IssueState::Open);
        open.is_some_and(|open| {
            (&open.head_repo, &open.head_ref, &open.base_ref)
                == (&pull.head_repo, &pull.head_ref, &pull.base_ref)
        })
    };
    if repo.issues.iter().any(same) {
        let owner = pull.head_repo.as_deref().and_then(|name| name.split('/').next()).unwrap_or_default();
        return Err(Refusal::Open(format!("A pull request already exists for {owner}:{}.", pull.head_ref)));
    }
    let number = repo.next_number();
    let association = repo.association(login);
    repo.issues.push(Issue {
        title,
        body,
        association,
        pull: Some(pull),
        ..Issue::new(id, number, login, now)
    });
    Ok(number)
}
