//! A commit of a pull request.

use std::sync::Arc;

use async_graphql::{Context, ID, Object, Result, SimpleObject};

use crate::{
    git::CommitObject,
    graphql::{
        Asked,
        actor::User,
        check::{self, StatusCheckRollup},
        connection::{Connection, Window},
        refusal::withheld,
        scalar::{DateTime, GitObjectId, Uri},
    },
    state,
};

#[derive(SimpleObject)]
pub(super) struct PullRequestCommit {
    commit: Commit,
}

pub(super) struct Commit {
    asked: Arc<Asked>,
    repo: Arc<state::Repo>,
    told: state::Commit,
}

/// Who made a commit, as git has it.
#[derive(SimpleObject)]
struct GitActor {
    name: String,
    email: String,
    user: Option<User>,
}

impl PullRequestCommit {
    pub(super) fn new(asked: &Arc<Asked>, repo: &Arc<state::Repo>, commit: &state::Commit) -> Self {
        Self { commit: Commit::new(asked, repo, commit) }
    }
}

impl Commit {
    /// Finds a commit of any pull request here.
    pub(super) fn find(asked: &Arc<Asked>, repo: &Arc<state::Repo>, oid: &str) -> Option<Self> {
        let pulls = repo.issues.iter().filter_map(|issue| issue.pull.as_ref());
        let commit = pulls.flat_map(|pull| &pull.commits).find(|commit| commit.oid == oid)?;
        Some(Self::new(asked, repo, commit))
    }

    /// A commit that git knows.
    pub(super) fn of_git(asked: &Arc<Asked>, repo: &Arc<state::Repo>, commit: CommitObject) -> Self {
        let told = state::Commit {
            oid: commit.oid,
            message: commit.message,
            author_name: commit.author.name,
            author_email: commit.author.email,
            committed_at: commit.committer.date.parse().unwrap_or_default(),
        };
        Self::new(asked, repo, &told)
    }

    fn new(asked: &Arc<Asked>, repo: &Arc<state::Repo>, commit: &state::Commit) -> Self {
        Self { asked: Arc::clone(asked), repo: Arc::clone(repo), told: commit.clone() }
    }

    /// What the interface `GitObject` asks for.
    pub(super) fn hash(&self) -> &str {
        &self.told.oid
    }

    fn made_by(&self) -> GitActor {
        let Asked { state, address, .. } = &*self.asked;
        let (name, email) = (self.told.author_name.clone(), self.told.author_email.clone());
        let person = state.people.iter().find(|person| person.name == name);
        GitActor { name, email, user: person.map(|person| User::new(person, address)) }
    }
}

#[Object]
impl Commit {
    pub(super) async fn id(&self) -> ID {
        state::commit_id(self.repo.id, &self.told.oid).into()
    }

    async fn abbreviated_oid(&self) -> &str {
        self.told.oid.get(..7).unwrap_or_default()
    }

    async fn url(&self) -> Uri {
        Uri(format!("{}/{}/commit/{}", self.asked.address, self.repo.full_name(), self.told.oid))
    }

    async fn oid(&self) -> GitObjectId {
        GitObjectId(self.told.oid.clone())
    }

    async fn message(&self) -> &str {
        &self.told.message
    }

    async fn message_headline(&self) -> &str {
        self.told.message.lines().next().unwrap_or_default()
    }

    async fn message_body(&self) -> &str {
        self.told.message.split_once('\n').map_or("", |(_, body)| body.trim())
    }

    async fn committed_date(&self) -> DateTime {
        DateTime(self.told.committed_at)
    }

    async fn authored_date(&self) -> DateTime {
        DateTime(self.told.committed_at)
    }

    async fn authors(
        &self,
        first: Option<i32>,
        last: Option<i32>,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Connection<GitActor>> {
        Window { first, last, before, after }.on("authors", vec![self.made_by()])
    }

    async fn author(&self) -> Option<GitActor> {
        Some(self.made_by())
    }

    async fn status_check_rollup(&self, context: &Context<'_>) -> Option<StatusCheckRollup> {
        if !self.asked.caller.may_read(&self.repo, &["checks", "statuses"]) {
            return withheld(context);
        }
        check::rollup(&self.asked, &self.repo, &self.told.oid)
    }
}
