//! What is this issue or pull request about, if GraphQL cannot tell? Less of it, by REST.

use fro_core::{
    context::{PullOutline, RawChange, RawComment, RawContext, RawFile},
    place::Target,
};
use jiff::Timestamp;
use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    ask::rest::{RestRepository, RestUser},
    client::GitHub,
    error::{Attempted, Error},
};

/// How many comments are read, the newest ones.
const COMMENTS: usize = 50;

impl GitHub {
    /// Reads an issue or a pull request without its reviews, threads and commits.
    pub async fn subject_in_parts(&self, number: u64) -> Result<RawContext, Error> {
        let repo = self.repo();
        let aim =
            Attempted::new(format!("read {repo}#{number} by REST"), "issues: read` and `pull-requests: read");
        let issue: Issue = self.part(&aim, &format!("/repos/{repo}/issues/{number}")).await?;
        let last = issue.comments.div_ceil(COMMENTS).max(1);
        let mut comments = Vec::new();
        for page in last.saturating_sub(1).max(1)..=last {
            let path = format!("/repos/{repo}/issues/{number}/comments?per_page={COMMENTS}&page={page}");
            comments.extend(self.part::<Vec<RestComment>>(&aim, &path).await?);
        }
        let change = match issue.pull_request {
            Some(_) => Some(self.change_in_parts(&aim, number).await?),
            None => None,
        };
        Ok(issue.into_context(comments, change))
    }

    async fn change_in_parts(&self, aim: &Attempted, number: u64) -> Result<RawChange, Error> {
        let path = format!("/repos/{}/pulls/{number}", self.repo());
        let pull: RestPull = self.part(aim, &path).await?;
        let files: Vec<RestFile> = self.part(aim, &format!("{path}/files?per_page=100")).await?;
        Ok(pull.into_change(files))
    }

    async fn part<T: DeserializeOwned>(&self, aim: &Attempted, path: &str) -> Result<T, Error> {
        let answer = self.get(path).send().await.map_err(|error| aim.missed(error))?;
        answer.json().map_err(|error| aim.missed(error))
    }
}

#[derive(Deserialize)]
struct Issue {
    title: String,
    body: Option<String>,
    state: String,
    user: Option<RestUser>,
    labels: Vec<RestLabel>,
    assignees: Vec<RestUser>,
    created_at: Timestamp,
    updated_at: Timestamp,
    comments: usize,
    pull_request: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct RestLabel {
    name: String,
}

#[derive(Deserialize)]
struct RestComment {
    id: u64,
    user: Option<RestUser>,
    body: Option<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

#[derive(Deserialize)]
struct RestPull {
    draft: bool,
    additions: u64,
    deletions: u64,
    changed_files: usize,
    commits: usize,
    base: RestEnd,
    head: RestEnd,
}

#[derive(Deserialize)]
struct RestEnd {
    #[serde(rename = "ref")]
    branch: String,
    sha: String,
    /// Nothing once a fork was deleted.
    repo: Option<RestRepository>,
}

#[derive(Deserialize)]
struct RestFile {
    filename: String,
    additions: u64,
    deletions: u64,
    status: String,
}

impl Issue {
    fn into_context(self, comments: Vec<RestComment>, change: Option<RawChange>) -> RawContext {
        RawContext {
            // REST tells it elsewhere; an agent without it can ask.
            default_branch: String::new(),
            title: self.title,
            author: self.user.map(|user| user.login),
            body: self.body.unwrap_or_default(),
            // REST tells only when anything about it changed, which may have been the words.
            edited: (self.updated_at > self.created_at).then_some(self.updated_at),
            created: Some(self.created_at),
            assignees: self.assignees.into_iter().map(|person| person.login).collect(),
            state: self.state.to_uppercase(),
            labels: self.labels.into_iter().map(|label| label.name).collect(),
            n_comments: self.comments,
            comments: comments.into_iter().map(RestComment::into_comment).collect(),
            change,
        }
    }
}

impl RestComment {
    fn into_comment(self) -> RawComment {
        RawComment {
            target: Target::Comment(self.id),
            author: self.user.map(|user| user.login),
            at: self.created_at,
            edited: (self.updated_at > self.created_at).then_some(self.updated_at),
            body: self.body.unwrap_or_default(),
        }
    }
}

impl RestPull {
    fn into_change(self, files: Vec<RestFile>) -> RawChange {
        let name = |end: &RestEnd| end.repo.as_ref().map(|repo| repo.full_name.clone());
        RawChange {
            outline: PullOutline {
                draft: self.draft,
                fork: name(&self.head) != name(&self.base),
                base: self.base.branch,
                head: self.head.branch,
                head_oid: self.head.sha,
                additions: self.additions,
                deletions: self.deletions,
            },
            files: files.into_iter().map(RestFile::into_file).collect(),
            n_files: self.changed_files,
            commits: Vec::new(),
            n_commits: self.commits,
            reviews: Vec::new(),
            n_reviews: 0,
            threads: Vec::new(),
        }
    }
}

impl RestFile {
    fn into_file(self) -> RawFile {
        RawFile {
            path: self.filename,
            additions: self.additions,
            deletions: self.deletions,
            change: self.status.to_uppercase(),
        }
    }
}
