//! Where does a pull request come from, and which of ours is open?

use fro_core::{Login, RepoName};
use serde::Deserialize;

use crate::{
    ask::rest::{RestRepository, RestUser},
    client::{GitHub, segment},
    error::{Attempted, Error},
};

/// A pull request's branches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullEnds {
    /// Its number.
    pub number: u64,
    /// Where people read it.
    pub url: String,
    /// The branch that it comes from.
    pub head: String,
    /// The repository of that branch; none if it is gone.
    pub head_repo: Option<RepoName>,
    /// The branch that it goes into.
    pub base: String,
    /// Whether maintainers may push to a fork's branch.
    pub modifiable: bool,
}

/// What a reviewer has to know of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Its title.
    pub title: String,
    /// Its description.
    pub body: String,
    /// Who wrote it.
    pub author: Login,
    /// Its newest commit.
    pub head: String,
    /// The commit that it goes onto.
    pub base: String,
    /// People who were asked to review it and have not yet.
    pub asked: Vec<Login>,
    /// Teams, as they are mentioned.
    pub asked_teams: Vec<String>,
}

#[derive(Deserialize)]
struct WirePullRequest {
    title: String,
    body: Option<String>,
    user: Option<RestUser>,
    head: PullCommit,
    base: PullCommit,
    #[serde(default)]
    requested_reviewers: Vec<RestUser>,
    #[serde(default)]
    requested_teams: Vec<Team>,
}

#[derive(Deserialize)]
struct PullCommit {
    sha: String,
}

#[derive(Deserialize)]
struct Team {
    slug: String,
}

#[derive(Deserialize)]
struct Defaults {
    default_branch: String,
}

#[derive(Deserialize)]
struct WirePull {
    number: u64,
    html_url: String,
    head: PullEnd,
    base: PullEnd,
    #[serde(default)]
    maintainer_can_modify: bool,
    user: Option<RestUser>,
}

#[derive(Deserialize)]
struct PullEnd {
    #[serde(rename = "ref")]
    branch: String,
    repo: Option<RestRepository>,
}

#[derive(Deserialize)]
struct Branch {
    protected: bool,
}

impl GitHub {
    /// Returns the branches of a pull request.
    pub async fn pull_ends(&self, number: u64) -> Result<PullEnds, Error> {
        let aim =
            Attempted::new(format!("read the pull request {}#{number}", self.repo()), "pull-requests: read");
        let path = format!("/repos/{}/pulls/{number}", self.repo());
        let answer = self.get(&path).send().await.map_err(|error| aim.missed(error))?;
        let wire: WirePull = answer.json().map_err(|error| aim.missed(error))?;
        Ok(wire.into())
    }

    /// Returns what a reviewer has to know of a pull request.
    pub async fn pull_request(&self, number: u64) -> Result<PullRequest, Error> {
        let aim =
            Attempted::new(format!("read the pull request {}#{number}", self.repo()), "pull-requests: read");
        let path = format!("/repos/{}/pulls/{number}", self.repo());
        let answer = self.get(&path).send().await.map_err(|error| aim.missed(error))?;
        let told: WirePullRequest = answer.json().map_err(|error| aim.missed(error))?;
        let owner = self.repo().owner();
        Ok(PullRequest {
            title: told.title,
            body: told.body.unwrap_or_default(),
            author: told.user.map_or_else(|| Login::new("ghost"), |user| user.login),
            head: told.head.sha,
            base: told.base.sha,
            asked: told.requested_reviewers.into_iter().map(|user| user.login).collect(),
            asked_teams: told.requested_teams.iter().map(|team| format!("{owner}/{}", team.slug)).collect(),
        })
    }

    /// Returns the newest open pull request of one of these accounts whose branch, in this repository, begins like this.
    pub async fn own_pull(&self, authors: &[&Login], prefix: &str) -> Result<Option<PullEnds>, Error> {
        let aim = Attempted::new(format!("list the pull requests of {}", self.repo()), "pull-requests: read");
        let path = format!("/repos/{}/pulls?state=open&per_page=100", self.repo());
        let answer = self.get(&path).send().await.map_err(|error| aim.missed(error))?;
        let all: Vec<WirePull> = answer.json().map_err(|error| aim.missed(error))?;
        let is_ours = |wire: &WirePull| {
            let author = wire.user.as_ref().map(|user| &user.login);
            author.is_some_and(|author| authors.iter().any(|own| author.is_same_identity(own)))
        };
        let own = all.into_iter().filter(is_ours).map(PullEnds::from);
        let mut own =
            own.filter(|pull| pull.head.starts_with(prefix) && pull.head_repo.as_ref() == Some(self.repo()));
        Ok(own.next())
    }

    /// Returns the repository's default branch.
    pub async fn default_branch(&self) -> Result<String, Error> {
        let aim = Attempted::new(format!("look at {}", self.repo()), "metadata: read");
        let answer = self.get(&format!("/repos/{}", self.repo())).send().await;
        let defaults: Defaults =
            answer.and_then(|answer| answer.json()).map_err(|error| aim.missed(error))?;
        Ok(defaults.default_branch)
    }

    /// Tells whether a branch is protected.
    pub async fn is_protected(&self, branch: &str) -> Result<bool, Error> {
        let aim =
            Attempted::new(format!("look at the branch `{branch}` of {}", self.repo()), "contents: read");
        let path = format!("/repos/{}/branches/{}", self.repo(), segment(branch));
        let answer = self.get(&path).send().await;
        let branch: Branch = answer.and_then(|answer| answer.json()).map_err(|error| aim.missed(error))?;
        Ok(branch.protected)
    }
}

impl From<WirePull> for PullEnds {
    fn from(wire: WirePull) -> Self {
        Self {
            number: wire.number,
            url: wire.html_url,
            head: wire.head.branch,
            head_repo: wire.head.repo.and_then(|repo| RepoName::parse(&repo.full_name).ok()),
            base: wire.base.branch,
            modifiable: wire.maintainer_can_modify,
        }
    }
}
