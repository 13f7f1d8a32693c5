//! Pull requests: what they are, what they change, and opening one.

use axum::{
    Json,
    body::Bytes,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Response},
};
use percent_encoding::utf8_percent_encode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    git::Bare,
    problem::Problem,
    pulls::{self, Refusal, Wish},
    rest::{
        Shape,
        address::{Path, Query},
        contents::IN_A_PATH,
        issue_edits::{Edit, acceptable},
        media::Media,
        paging::Paging,
        parsed,
        shape::merge,
        timestamp,
        visit::{Numbered, Visit},
    },
    state::{Change, ChangedFile, Issue, IssueState, Node, Pull, Repo, node_id},
};

/// A diff has so many files at most.
pub(super) const MOST_FILES: usize = 300;
/// What GitHub advises where there are more files.
const INSTEAD: &str =
    ". Consider using 'List pull requests files' API or locally cloning the repository instead.";
/// And so many lines, also of one file.
const MOST_LINES: usize = 20_000;
/// And of one file, so many bytes.
const MOST_BYTES: usize = 1 << 20;

/// What issues tell and the pull requests among them do not.
const NOT_OF_PULLS: [&str; 10] = [
    "closed_by",
    "comments",
    "events_url",
    "labels_url",
    "performed_via_github_app",
    "pull_request",
    "reactions",
    "repository_url",
    "state_reason",
    "timeline_url",
];

#[derive(Deserialize)]
struct Proposal {
    title: Option<String>,
    body: Option<String>,
    head: String,
    base: String,
    #[serde(default)]
    draft: bool,
    #[serde(default)]
    maintainer_can_modify: bool,
}

/// What is to be another way.
#[derive(Deserialize)]
struct Amendment {
    #[serde(flatten)]
    words: Edit,
    base: Option<String>,
}

/// Which pull requests are asked for.
#[derive(Deserialize)]
pub(super) struct Filter {
    state: Option<String>,
    /// `owner:branch`.
    head: Option<String>,
    base: Option<String>,
    sort: Option<String>,
    direction: Option<String>,
}

/// `GET /repos/{owner}/{repo}/pulls`
pub(super) async fn list(
    visit: Visit,
    Query(filter): Query<Filter>,
    paging: Paging,
) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let all = repo.issues.iter().filter_map(|issue| Some((issue, issue.pull.as_ref()?)));
        let mut taken: Vec<_> = all.filter(|(issue, pull)| filter.takes(issue, pull)).collect();
        filter.arrange(&mut taken);
        Ok(paging.answer(taken.into_iter().map(|(issue, pull)| shape.pull(repo, issue, pull)).collect()))
    })
}

/// `GET /repos/{owner}/{repo}/pulls/{number}`, also as a diff.
pub(super) async fn show(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let media = Media::read(&headers);
    let (shape, base, head) = visit.show(|shape, repo| {
        let (issue, pull) = found(repo, number)?;
        let whole = shape.whole_pull(repo, issue, pull);
        Ok((whole, pull.base_oid.clone(), pull.head_oid.clone()))
    })?;
    let store = visit.open().await?;
    let shown = drawn(&store, &media, (&base, &head)).await?;
    Ok(shown.unwrap_or_else(|| Json(shape).into_response()))
}

/// What lies between two commits as a diff or as patches, if a client wants one of these.
pub(super) async fn drawn(
    store: &Bare,
    media: &Media,
    (base, head): (&str, &str),
) -> Result<Option<Response>, Problem> {
    let (command, range): (&[&str], _) = if media.is("diff") {
        (&["diff", "--full-index", "-M"], format!("{base}...{head}"))
    } else if media.is("patch") {
        (&["format-patch", "--stdout", "--full-index"], format!("{base}..{head}"))
    } else {
        return Ok(None);
    };
    let text = store.run(&[command, &[&range]].concat()).await.map_err(|_| Problem::not_found())?;
    small_enough(&text)?;
    Ok(Some(media.answer(text)))
}

/// `GET /repos/{owner}/{repo}/pulls/{number}/files`
pub(super) async fn files(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    paging: Paging,
) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let (_, pull) = found(repo, number)?;
        Ok(paging.answer(pull.files.iter().map(|file| shape.file(repo, &pull.head_oid, file)).collect()))
    })
}

/// `GET /repos/{owner}/{repo}/pulls/{number}/commits`
pub(super) async fn commits(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    paging: Paging,
) -> Result<Response, Problem> {
    let store = visit.open().await?;
    let (base, head) = visit.show(|_, repo| {
        let (_, pull) = found(repo, number)?;
        Ok((pull.base_oid.clone(), pull.head_oid.clone()))
    })?;
    let mut commits =
        store.commits(&format!("{base}..{head}"), 250).await.map_err(|_| Problem::not_found())?;
    commits.reverse();
    visit.show(|shape, repo| {
        Ok(paging.answer(commits.iter().map(|commit| shape.commit(repo, commit)).collect()))
    })
}

/// `POST /repos/{owner}/{repo}/pulls`
pub(super) async fn create(visit: Visit, body: Bytes) -> Result<(StatusCode, Json<Value>), Problem> {
    visit.login()?;
    let draft: Proposal = parsed(&body)?;
    let title = draft.title.ok_or_else(|| Problem::not_supplied("title"))?;
    acceptable(&title, draft.body.as_deref().unwrap_or_default())?;
    let wish = Wish {
        repo: visit.full_name.clone(),
        base: draft.base,
        head: draft.head,
        title,
        body: draft.body.unwrap_or_default(),
        draft: draft.draft,
        open_to_maintainers: draft.maintainer_can_modify,
    };
    let number = pulls::open(&visit.hub, &visit.caller, wish).await.map_err(|refusal| match refusal {
        Refusal::NoRepo => Problem::not_found(),
        Refusal::NoBranch(field) => {
            Problem::invalid(json!({ "resource": "PullRequest", "code": "invalid", "field": field }))
        }
        Refusal::NothingNew(why) | Refusal::Open(why) => {
            Problem::invalid(json!({ "resource": "PullRequest", "code": "custom", "message": why }))
        }
        Refusal::Forbidden => Problem::not_accessible(),
    })?;
    visit.show(|shape, repo| {
        let (issue, pull) = found(repo, number)?;
        Ok((StatusCode::CREATED, Json(shape.whole_pull(repo, issue, pull))))
    })
}

/// `PATCH /repos/{owner}/{repo}/pulls/{number}`
pub(super) async fn update(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let Amendment { words, base } = parsed(&body)?;
    if let Some(base) = &base {
        let store = visit.open().await?;
        let error = json!({ "resource": "PullRequest", "code": "invalid", "field": "base" });
        store.tip(base).await.map_err(|_| Problem::invalid(error))?;
    }
    visit.change(|state| {
        found(visit.repo(state)?, number)?;
        words.apply(&visit, state, number)?;
        let pull = state.issue_mut(&visit.full_name, number).and_then(|issue| issue.pull.as_mut());
        if let (Some(pull), Some(base)) = (pull, base) {
            pull.base_ref = base;
        }
        Ok(())
    })?;
    let login = visit.login()?;
    crate::git::pushed(&visit.hub, &visit.full_name, login).await.map_err(|_| Problem::not_found())?;
    visit.show(|shape, repo| {
        let (issue, pull) = found(repo, number)?;
        Ok(Json(shape.whole_pull(repo, issue, pull)))
    })
}

/// Refuses a diff that is too large to be shown.
pub(super) fn small_enough(diff: &[u8]) -> Result<(), Problem> {
    let files = diff.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"diff --git ")).count();
    let lines = diff.split(|byte| *byte == b'\n').count() - 1;
    let over = |what: &str, most: usize, instead: &str| {
        let message = format!("Sorry, the diff exceeded the maximum number of {what} ({most}){instead}");
        Problem::too_large(
            &message,
            json!({ "resource": "PullRequest", "field": "diff", "code": "too_large" }),
        )
    };
    match () {
        () if files > MOST_FILES => Err(over("files", MOST_FILES, INSTEAD)),
        () if lines > MOST_LINES => Err(over("lines", MOST_LINES, "")),
        () => Ok(()),
    }
}

/// Finds a pull request.
pub(super) fn found(repo: &Repo, number: u64) -> Result<(&Issue, &Pull), Problem> {
    let issue = repo.issue(number).ok_or_else(Problem::not_found)?;
    Ok((issue, issue.pull.as_ref().ok_or_else(Problem::not_found)?))
}

impl Filter {
    fn takes(&self, issue: &Issue, pull: &Pull) -> bool {
        let owner = pull.head_repo.as_deref().and_then(|name| name.split('/').next()).unwrap_or_default();
        let state = self.state.as_deref().unwrap_or("open");
        (state == "all" || state == issue.state.word())
            && self.head.as_ref().is_none_or(|head| *head == format!("{owner}:{}", pull.head_ref))
            && self.base.as_ref().is_none_or(|base| *base == pull.base_ref)
    }

    /// Newest first. In another order, the least comes first, unless it is said otherwise.
    fn arrange(&self, pulls: &mut [(&Issue, &Pull)]) {
        match self.sort.as_deref() {
            Some("updated") => pulls.sort_by_key(|(issue, _)| (issue.updated_at, issue.number)),
            Some("popularity") => pulls.sort_by_key(|(issue, _)| (issue.comments.len(), issue.number)),
            _ => pulls.sort_by_key(|(issue, _)| (issue.created_at, issue.number)),
        }
        let newest_first = matches!(self.sort.as_deref(), None | Some("created"));
        let direction = self.direction.as_deref().unwrap_or(if newest_first { "desc" } else { "asc" });
        if direction == "desc" {
            pulls.reverse();
        }
    }
}

impl Shape<'_> {
    /// A pull request as lists have it.
    pub(crate) fn pull(&self, repo: &Repo, issue: &Issue, pull: &Pull) -> Value {
        let (repo_url, number) = (self.repo_url(repo), issue.number);
        let url = format!("{repo_url}/pulls/{number}");
        let mut shape = self.issue(repo, issue);
        if let Some(fields) = shape.as_object_mut() {
            for other in NOT_OF_PULLS {
                fields.remove(other);
            }
        }
        let merged = issue.state == IssueState::Merged;
        let reviewers: Vec<_> = pull.requested_reviewers.iter().map(|login| self.user(login)).collect();
        let more = json!({
            "url": url,
            "node_id": node_id(Node::PullRequest { repo: repo.id, id: issue.id }),
            "diff_url": format!("{}.diff", self.page(repo, issue)),
            "patch_url": format!("{}.patch", self.page(repo, issue)),
            "issue_url": format!("{repo_url}/issues/{number}"),
            "commits_url": format!("{url}/commits"),
            "review_comments_url": format!("{url}/comments"),
            "review_comment_url": format!("{repo_url}/pulls/comments{{/number}}"),
            "comments_url": format!("{repo_url}/issues/{number}/comments"),
            "statuses_url": format!("{repo_url}/statuses/{}", pull.head_oid),
            "merged_at": issue.closed_at().filter(|_| merged).map(timestamp),
            "merge_commit_sha": pull.merge_oid,
            "requested_reviewers": reviewers,
            "requested_teams": [],
            "head": self.end(pull.head_repo.as_deref(), &pull.head_ref, &pull.head_oid),
            "base": self.end(Some(&repo.full_name()), &pull.base_ref, &pull.base_oid),
            "auto_merge": null,
            "draft": pull.draft,
            "_links": {
                "self": { "href": url },
                "html": { "href": self.page(repo, issue) },
                "issue": { "href": format!("{repo_url}/issues/{number}") },
                "comments": { "href": format!("{repo_url}/issues/{number}/comments") },
                "review_comments": { "href": format!("{url}/comments") },
                "review_comment": { "href": format!("{repo_url}/pulls/comments{{/number}}") },
                "commits": { "href": format!("{url}/commits") },
                "statuses": { "href": format!("{repo_url}/statuses/{}", pull.head_oid) },
            },
        });
        merge(&mut shape, more);
        shape
    }

    /// A pull request on its own, with its counts.
    pub(crate) fn whole_pull(&self, repo: &Repo, issue: &Issue, pull: &Pull) -> Value {
        let mut shape = self.pull(repo, issue, pull);
        let merged = issue.state == IssueState::Merged;
        // What is not open any more is not tried.
        let mergeable = (issue.state == IssueState::Open).then_some(!pull.conflicts);
        let more = json!({
            "merged": merged,
            "mergeable": mergeable,
            "rebaseable": mergeable,
            "mergeable_state": pull.merge_state(issue, &repo.all_checks(self.address)).word(),
            "merged_by": issue.closed_by().filter(|_| merged).map(|login| self.user(login)),
            "comments": issue.comments.len(),
            "review_comments": pull.threads.iter().map(|thread| thread.comments.len()).sum::<usize>(),
            "maintainer_can_modify": pull.open_to_maintainers,
            "commits": pull.commits.len(),
            "additions": pull.files.iter().map(|file| file.additions).sum::<u64>(),
            "deletions": pull.files.iter().map(|file| file.deletions).sum::<u64>(),
            "changed_files": pull.files.len(),
        });
        merge(&mut shape, more);
        shape
    }

    /// One end of a pull request: where it comes from, or where it goes.
    fn end(&self, full_name: Option<&str>, branch: &str, oid: &str) -> Value {
        let repo = full_name.and_then(|name| self.state.repo(name));
        let owner = full_name.and_then(|name| name.split('/').next()).unwrap_or("unknown");
        json!({
            "label": format!("{owner}:{branch}"),
            "ref": branch,
            "sha": oid,
            "user": self.user(owner),
            "repo": repo.map(|repo| self.repo(repo)),
        })
    }

    /// A file that differs.
    pub(super) fn file(&self, repo: &Repo, head: &str, file: &ChangedFile) -> Value {
        let (url, page) = (self.repo_url(repo), format!("{}/{}", self.address, repo.full_name()));
        let path = utf8_percent_encode(&file.path, IN_A_PATH).to_string();
        let mut shape = json!({
            "sha": file.blob,
            "filename": file.path,
            "status": match file.change {
                Change::Added => "added",
                Change::Deleted => "removed",
                Change::Modified => "modified",
                Change::Renamed => "renamed",
            },
            "additions": file.additions,
            "deletions": file.deletions,
            "changes": file.additions + file.deletions,
            "blob_url": format!("{page}/blob/{head}/{path}"),
            "raw_url": format!("{page}/raw/{head}/{path}"),
            "contents_url": format!("{url}/contents/{path}?ref={head}"),
        });
        let shown = |patch: &&String| patch.lines().count() <= MOST_LINES && patch.len() <= MOST_BYTES;
        if let Some(patch) = file.patch.as_ref().filter(shown) {
            shape["patch"] = patch.clone().into();
        }
        if let Some(previous) = &file.previous_path {
            shape["previous_filename"] = previous.clone().into();
        }
        shape
    }
}
