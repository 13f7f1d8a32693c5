//! What was said beside the code of a pull request, by whom, and which threads are resolved?
//!
//! REST tells of the comments, GraphQL alone of threads: a thread is found by the database id of its first comment.

use fro_core::{Login, Side};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer};
use serde_json::json;

use crate::{
    ask::{
        actor::{Actor, big},
        rest::RestAccount,
    },
    client::GitHub,
    error::{Attempted, Cause, Error},
};

const NEEDS: &str = "pull-requests: read";

/// Pages of threads that are read at most; GitHub shows fewer to people.
const MOST_PAGES: usize = 100;

/// Somebody, and whether that is an App. A person may have an App's name without `[bot]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Speaker {
    /// The name.
    pub login: Login,
    /// Whether it is an App's.
    pub is_bot: bool,
}

/// A comment beside the code.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CodeComment {
    /// Its id.
    pub id: u64,
    /// The first comment of its thread; nothing if this comment is the first.
    #[serde(rename = "in_reply_to_id")]
    pub in_reply_to: Option<u64>,
    /// Who wrote it, if the account still exists.
    #[serde(rename = "user", deserialize_with = "speaker")]
    pub author: Option<Speaker>,
    /// What it says.
    #[serde(default)]
    pub body: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// The file.
    pub path: String,
    /// Which side of the diff; none for a whole file.
    #[serde(default)]
    pub side: Option<Side>,
    /// The line now; none if the code has moved on or the comment is on the whole file.
    #[serde(default)]
    pub line: Option<usize>,
    /// The line when it was written.
    #[serde(default)]
    pub original_line: Option<usize>,
    /// The commit that it was written on.
    #[serde(rename = "original_commit_id", default)]
    pub original_commit: String,
    /// The piece of the diff that ends with its line.
    #[serde(default)]
    pub diff_hunk: String,
    /// The review that it came with.
    #[serde(rename = "pull_request_review_id", default)]
    pub review: Option<u64>,
}

/// What GitHub says of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeThread {
    /// Its first comment.
    pub root: u64,
    /// Its id in GraphQL, which resolving needs.
    pub node: String,
    /// Whether it is resolved.
    pub resolved: bool,
    /// Who resolved it.
    pub resolved_by: Option<Login>,
    /// Whether we may resolve it.
    pub can_resolve: bool,
}

fn speaker<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Speaker>, D::Error> {
    let user = Option::<RestAccount>::deserialize(value)?;
    Ok(user.map(|user| Speaker { is_bot: user.is_bot(), login: user.login }))
}

#[derive(Deserialize)]
struct ThreadsOfPull {
    repository: RepositoryThreads,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RepositoryThreads {
    pull_request: PullThreads,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PullThreads {
    review_threads: Page,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    page_info: PageInfo,
    nodes: Vec<ThreadState>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageInfo {
    has_next_page: bool,
    end_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadState {
    id: String,
    is_resolved: bool,
    viewer_can_resolve: bool,
    resolved_by: Option<Actor>,
    comments: Roots,
}

#[derive(Deserialize)]
struct Roots {
    nodes: Vec<Root>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Root {
    #[serde(deserialize_with = "big")]
    full_database_id: u64,
}

impl GitHub {
    /// Reads every comment beside the code of a pull request, on all pages.
    pub async fn code_comments(&self, pull: u64) -> Result<Vec<CodeComment>, Error> {
        let aim = Attempted::new(format!("read the review comments on {}#{pull}", self.repo()), NEEDS);
        self.all_pages(&aim, &format!("pulls/{pull}/comments")).await
    }

    /// Reads what GitHub knows of every thread of a pull request, on all pages.
    pub async fn code_threads(&self, pull: u64) -> Result<Vec<CodeThread>, Error> {
        let aim = Attempted::new(format!("read the review threads of {}#{pull}", self.repo()), NEEDS);
        let (owner, name) = (self.repo().owner(), self.repo().name());
        let (mut threads, mut after) = (Vec::new(), None);
        for _ in 0..MOST_PAGES {
            let about = json!({ "owner": owner, "name": name, "number": pull, "after": after });
            let data: ThreadsOfPull = self
                .ask(include_str!("review_state.graphql"), about)
                .await
                .map_err(|cause| aim.missed(cause))?;
            let page = data.repository.pull_request.review_threads;
            threads.extend(page.nodes.into_iter().filter_map(ThreadState::into_code_thread));
            after = page.page_info.end_cursor;
            if !page.page_info.has_next_page || after.is_none() {
                return Ok(threads);
            }
        }
        Err(aim.missed(Cause::TooLong(MOST_PAGES)))
    }
}

impl ThreadState {
    /// Nothing for a thread without comments: somebody is only just writing its first one.
    fn into_code_thread(self) -> Option<CodeThread> {
        let root = self.comments.nodes.first()?.full_database_id;
        let resolved_by = self.resolved_by.map(Actor::login);
        let (node, resolved, can_resolve) = (self.id, self.is_resolved, self.viewer_can_resolve);
        Some(CodeThread { root, node, resolved, resolved_by, can_resolve })
    }
}
