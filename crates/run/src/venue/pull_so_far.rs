//! What GitHub tells of a pull request before it is looked at: itself, what was said beside its code, and by whom.

use std::collections::{BTreeMap, BTreeSet};

use fro_core::{Fault, Login, Permission, Permit, RepoName, Subject, gate};
use fro_github::{CodeComment, CodeThread, GitHub, PullRequest, Speaker as Author};
use fro_review::{
    Look, Seal,
    dispute::Speaker,
    state::{Account, ReviewComment, State, Thread, ThreadFact},
};

use crate::{answer::Request, process::Process, review::Commits, settings::ReviewSettings};

/// A pull request, and everything that was said in reviews of ours.
#[derive(Debug)]
pub(crate) struct PullSoFar {
    pub(crate) number: u64,
    pub(crate) told: PullRequest,
    pub(crate) state: State,
    pub(crate) seal: Seal,
    /// What the author may do, where that matters.
    pub(crate) author_may: Permission,
    /// People and teams who review it or were asked to, without the author, without us.
    reviewers: Vec<String>,
    own: Login,
    /// What those may do whose words are new.
    permissions: BTreeMap<String, Permission>,
}

impl PullSoFar {
    /// Asks for everything at once, and rebuilds the state from it.
    pub(crate) async fn fetch(request: &Request<'_>) -> Result<Self, Fault> {
        Self::read(request.venue.github, request.permit, &request.process.review).await
    }

    /// Asks for the same on behalf of somebody who sits before a clone, with their own token.
    pub(crate) async fn of_local_pull(
        process: &Process,
        repo: &RepoName,
        number: u64,
    ) -> Result<(Permit, Self), Fault> {
        let github = process.github(repo)?;
        let own = github.viewer().await.map_err(|error| error.fault())?;
        let permit = gate::permit_local_review(repo, Subject::PullRequest(number), &own, &process.policy);
        let pull = Self::read(&github, &permit, &process.review).await?;
        Ok((permit, pull))
    }

    async fn read(github: &GitHub, permit: &Permit, settings: &ReviewSettings) -> Result<Self, Fault> {
        let number =
            permit.subject().number().ok_or_else(|| Fault::ours("a review is about a pull request"))?;
        let answers = tokio::try_join!(
            github.pull_request(number),
            github.code_comments(number),
            github.code_threads(number),
            github.reviewed_by(number),
        );
        let (told, comments, threads, reviewed_by) = answers.map_err(|error| error.fault())?;
        let seal = Seal::new(permit.repo(), number, settings.state_key.as_ref());
        let state = rebuilt(permit.own(), &seal, comments, threads);
        let permissions = permissions(github, &state).await?;
        // Nobody is asked to decide before somebody contradicts.
        let above =
            if permissions.is_empty() { Vec::new() } else { who_may_push(github, reviewed_by).await? };
        let reviewers = reviewers(&told, above, permit.own());
        // Only the web asks who wrote the change.
        let author_may = match settings.web {
            Some(_) => permission(github, &told.author).await?,
            None => Permission::None,
        };
        let own = permit.own().clone();
        Ok(Self { number, told, state, seal, author_may, reviewers, own, permissions })
    }

    /// Reads the threads once more: what they have come to since the model was asked about them.
    pub(crate) async fn state_now(&self, github: &GitHub) -> Result<State, Fault> {
        let answers = tokio::try_join!(github.code_comments(self.number), github.code_threads(self.number));
        let (comments, threads) = answers.map_err(|error| error.fault())?;
        Ok(rebuilt(&self.own, &self.seal, comments, threads))
    }

    /// Makes what there is to know of commits that nobody has made a pull request of.
    pub(crate) fn of_commits(permit: &Permit, commits: &Commits) -> Self {
        let Commits { base, head, title, description, author } = commits.clone();
        let (asked, asked_teams) = (Vec::new(), Vec::new());
        let told = PullRequest { title, body: description, author, head, base, asked, asked_teams };
        Self {
            number: 0,
            told,
            state: State::default(),
            seal: Seal::new(permit.repo(), 0, None),
            // They are by whoever sits here.
            author_may: Permission::Admin,
            reviewers: Vec::new(),
            own: permit.own().clone(),
            permissions: BTreeMap::new(),
        }
    }

    /// Returns those who spoke in a thread and were not answered, oldest first.
    pub(crate) fn unanswered(&self, thread: &Thread) -> Vec<Speaker> {
        let speaker = |author: &String| Speaker {
            wrote_the_pull: Login::new(author).is_same_identity(&self.told.author),
            permission: self.permissions.get(author).copied().unwrap_or(Permission::None),
        };
        thread.unanswered().map(|reply| speaker(&reply.author)).collect()
    }

    /// Returns who decides if we do not agree.
    pub(crate) fn reviewers(&self) -> Vec<String> {
        self.reviewers.clone()
    }

    /// Returns those of some people who are neither the author nor we.
    pub(crate) fn others(&self, people: &[String]) -> Vec<String> {
        let is_other = |name: &&String| is_above(&Login::new(name.as_str()), &self.told, &self.own);
        people.iter().filter(is_other).cloned().collect()
    }

    /// Returns the newest commit before this one that a review of ours saw all of.
    pub(crate) fn seen_before(&self) -> Option<&Look> {
        self.state.seen_before(&self.told.head)
    }

    /// Returns whom a comment may call by name.
    pub(crate) fn people(&self) -> Vec<Login> {
        let spoke = self.state.threads.iter().flat_map(|thread| &thread.replies).map(|reply| &reply.author);
        let names = self.reviewers.iter().chain(spoke);
        names.map(Login::new).chain([self.told.author.clone()]).collect()
    }
}

/// Asks what somebody may do. Who may not ask, as when a reader looks at a pull request from a clone, hears of nobody who
/// may do anything.
async fn permission(github: &GitHub, login: &Login) -> Result<Permission, Fault> {
    match github.permission(login).await {
        Ok(permission) => Ok(permission),
        Err(error) if error.is_forbidden() => {
            tracing::warn!("nobody's word counts: {}", error.fault().what());
            Ok(Permission::None)
        }
        Err(error) => Err(error.fault()),
    }
}

/// Asks what those may do who said something new.
async fn permissions(github: &GitHub, state: &State) -> Result<BTreeMap<String, Permission>, Fault> {
    let open = state.threads.iter().filter(|thread| thread.status.is_open());
    let new = open.flat_map(Thread::unanswered);
    let authors: BTreeSet<&String> = new.map(|reply| &reply.author).collect();
    let mut permissions = BTreeMap::new();
    for author in authors {
        permissions.insert(author.clone(), permission(github, &Login::new(author)).await?);
    }
    Ok(permissions)
}

/// Keeps those who may push: on GitHub whoever replies to a remark has given a review.
async fn who_may_push(github: &GitHub, people: Vec<Login>) -> Result<Vec<Login>, Fault> {
    let mut above = Vec::new();
    for login in people {
        above.extend((permission(github, &login).await? >= Permission::Write).then_some(login));
    }
    Ok(above)
}

fn rebuilt(own: &Login, seal: &Seal, comments: Vec<CodeComment>, threads: Vec<CodeThread>) -> State {
    let comments: Vec<ReviewComment> = comments.into_iter().map(comment).collect();
    let facts: Vec<ThreadFact> = threads.into_iter().map(fact).collect();
    State::rebuild(&account(own), seal, &comments, &facts)
}

fn reviewers(told: &PullRequest, reviewed_by: Vec<Login>, own: &Login) -> Vec<String> {
    let people = told.asked.iter().cloned().chain(reviewed_by).filter(|login| is_above(login, told, own));
    let mut reviewers: Vec<String> = people.map(|login| login.to_string()).collect();
    reviewers.extend(told.asked_teams.iter().cloned());
    reviewers.sort();
    reviewers.dedup();
    reviewers
}

fn is_above(login: &Login, told: &PullRequest, own: &Login) -> bool {
    !login.is_same_identity(&told.author) && !login.is_same_identity(own) && !is_bot(login)
}

fn is_bot(login: &Login) -> bool {
    login.as_str().ends_with("[bot]")
}

fn account(login: &Login) -> Account {
    Account { login: login.clone(), is_bot: is_bot(login) }
}

fn comment(told: CodeComment) -> ReviewComment {
    let gone = || Author { login: Login::new("ghost"), is_bot: false };
    let Author { login, is_bot } = told.author.unwrap_or_else(gone);
    ReviewComment {
        id: told.id,
        in_reply_to: told.in_reply_to,
        author: Account { login, is_bot },
        body: told.body,
        created_at: told.created_at,
        path: told.path,
        side: told.side.unwrap_or_default(),
        line: told.line,
        original_line: told.original_line,
        original_commit: told.original_commit,
        diff_hunk: told.diff_hunk,
    }
}

fn fact(told: CodeThread) -> ThreadFact {
    let CodeThread { root, node, resolved, resolved_by, can_resolve } = told;
    ThreadFact { root, node, resolved, resolved_by: resolved_by.as_ref().map(account), can_resolve }
}

#[cfg(test)]
mod tests;
