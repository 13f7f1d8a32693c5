//! A request about a repository: who asks, about which one, and what they can see of it.

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, Path},
    http::{Method, request::Parts},
};
use serde::Deserialize;

use crate::{
    auth::Caller,
    git::Bare,
    hub::Hub,
    problem::Problem,
    rest::Shape,
    state::{Issue, Repo, Role, State},
};

/// Somebody at a repository that they can see. What may not be seen is not there.
pub(super) struct Visit {
    pub(super) hub: Arc<Hub>,
    pub(super) caller: Caller,
    pub(super) full_name: String,
}

/// `{owner}/{repo}` in an address.
#[derive(Deserialize)]
struct Address {
    owner: String,
    repo: String,
}

/// `{number}` in an address: an issue, or the pull request that it also is.
#[derive(Deserialize)]
pub(super) struct Numbered {
    pub(super) number: u64,
}

/// `{comment}` in an address.
#[derive(Deserialize)]
pub(super) struct Told {
    pub(super) comment: u64,
}

/// `{name}` in an address.
#[derive(Deserialize)]
pub(super) struct Named {
    pub(super) name: String,
}

impl FromRequestParts<Arc<Hub>> for Visit {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, hub).await?;
        let address = Path::<Address>::from_request_parts(parts, hub).await;
        let Path(Address { owner, repo }) = address.map_err(|_| Problem::not_found())?;
        let visit = Self { hub: Arc::clone(hub), caller, full_name: format!("{owner}/{repo}") };
        let changes = !matches!(parts.method, Method::GET | Method::HEAD);
        let place = parts.uri.path().trim_end_matches('/').split('/').skip(4).collect::<Vec<_>>();
        let full_name = visit.show(|_, repo| {
            // It can still be opened again.
            if changes && repo.archived && !place.is_empty() {
                return Err(Problem::forbidden("Repository was archived so is read-only."));
            }
            if repo.without_issues && is_of_issues(repo, &place, changes) {
                return Err(Problem::gone("Issues are disabled for this repo"));
            }
            if let ["issues", number, ..] = place.as_slice()
                && number.parse().is_ok_and(|number| repo.deleted.contains(&number))
            {
                return Err(Problem::gone("This issue was deleted"));
            }
            Ok(repo.full_name())
        })?;
        Ok(Self { full_name, ..visit })
    }
}

/// Whether this part of a repository is about issues, which pull requests also are. All of them together can be looked at.
fn is_of_issues(repo: &Repo, place: &[&str], changes: bool) -> bool {
    match place {
        ["issues"] => changes,
        ["issues", number, ..] => {
            number.parse().is_ok_and(|number| repo.issue(number).is_some_and(|issue| issue.pull.is_none()))
        }
        _ => false,
    }
}

impl Visit {
    pub(super) fn login(&self) -> Result<&str, Problem> {
        self.caller.login()
    }

    /// Draws something of the repository.
    pub(super) fn show<T>(
        &self,
        draw: impl FnOnce(Shape<'_>, &Repo) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.hub.read(|state| {
            let (shape, repo) = self.view(state)?;
            draw(shape, repo)
        })
    }

    /// Changes something, and tells those who wait for a change.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&mut State) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.hub.change_by(self.login().unwrap_or_default(), change)
    }

    /// The repository as it is now, and the hand that draws it.
    pub(super) fn view<'a>(&'a self, state: &'a State) -> Result<(Shape<'a>, &'a Repo), Problem> {
        let repo = state.repo(&self.full_name).filter(|repo| self.caller.sees(repo));
        Ok((self.hub.shape(state), repo.ok_or_else(Problem::not_found)?))
    }

    /// The repository as it is now.
    pub(super) fn repo<'a>(&'a self, state: &'a State) -> Result<&'a Repo, Problem> {
        Ok(self.view(state)?.1)
    }

    /// The repository as it is now, to be changed.
    pub(super) fn repo_mut<'a>(&self, state: &'a mut State) -> Result<&'a mut Repo, Problem> {
        state.repo_mut(&self.full_name).ok_or_else(Problem::not_found)
    }

    /// Refuses those who may say nothing in a locked conversation.
    pub(super) fn may_speak(&self, repo: &Repo, issue: &Issue) -> Result<(), Problem> {
        if issue.locked && !self.caller.has(Role::Write, repo) {
            return Err(Problem::forbidden("Unable to create comment because issue is locked."));
        }
        Ok(())
    }

    /// Refuses those who may not change somebody's words.
    pub(super) fn may_edit(&self, repo: &Repo, author: &str) -> Result<(), Problem> {
        if !author.eq_ignore_ascii_case(self.login()?) && !self.caller.has(Role::Write, repo) {
            return Err(Problem::forbidden("Must have admin rights to Repository."));
        }
        Ok(())
    }

    /// Opens what git holds.
    pub(super) async fn open(&self) -> Result<Bare, Problem> {
        self.hub.git.open(&self.full_name).await.map_err(|_| Problem::not_found())
    }

    /// Opens what git holds, to put something into it.
    pub(super) async fn open_to_write(&self) -> Result<Bare, Problem> {
        self.login()?;
        let may = self.show(|_, repo| Ok(self.caller.has(Role::Write, repo)))?;
        // Who may not push is told that there is nothing.
        if may { self.open().await } else { Err(Problem::not_found()) }
    }
}
