//! What happened to issues: their events, and their timelines with what was said in between.

use axum::{Json, response::Response};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{
        Shape,
        address::Path,
        paging::Paging,
        shape::merge,
        timestamp,
        visit::{Numbered, Visit},
    },
    state::{Happening, HappeningKind, Issue, Node, Repo, commit_id, node_id},
};

/// `{event}` in an address.
#[derive(Deserialize)]
pub(super) struct One {
    event: u64,
}

/// `GET /repos/{owner}/{repo}/issues/{number}/events`
pub(super) async fn of_issue(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    paging: Paging,
) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let issue = repo.issue(number).ok_or_else(Problem::not_found)?;
        let events = issue.happenings.iter().map(|happening| shape.happening(repo, issue, happening));
        Ok(paging.answer(events.collect()))
    })
}

/// `GET /repos/{owner}/{repo}/issues/events`, newest first
pub(super) async fn all(visit: Visit, paging: Paging) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let mut events: Vec<_> = everywhere(repo).collect();
        events.sort_by_key(|(_, happening)| std::cmp::Reverse(happening.id));
        Ok(paging.answer(events.into_iter().map(|event| shape.event_with_issue(repo, event)).collect()))
    })
}

/// `GET /repos/{owner}/{repo}/issues/events/{event}`
pub(super) async fn show(visit: Visit, Path(One { event }): Path<One>) -> Result<Json<Value>, Problem> {
    visit.show(|shape, repo| {
        let found = everywhere(repo).find(|(_, happening)| happening.id == event);
        found.map(|found| Json(shape.event_with_issue(repo, found))).ok_or_else(Problem::not_found)
    })
}

/// `GET /repos/{owner}/{repo}/issues/{number}/timeline`, oldest first
pub(super) async fn timeline(
    visit: Visit,
    Path(Numbered { number }): Path<Numbered>,
    paging: Paging,
) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let issue = repo.issue(number).ok_or_else(Problem::not_found)?;
        let mut moments = shape.moments(repo, issue, visit.login().ok());
        // Within a second, what came later has the higher id; commits have none and come first.
        moments.sort_by_key(|(at, moment)| (at.as_second(), moment["id"].as_u64()));
        Ok(paging.answer(moments.into_iter().map(|(_, shape)| shape).collect()))
    })
}

fn everywhere(repo: &Repo) -> impl Iterator<Item = (&Issue, &Happening)> {
    repo.issues.iter().flat_map(|issue| issue.happenings.iter().map(move |happening| (issue, happening)))
}

impl Shape<'_> {
    fn event_with_issue(&self, repo: &Repo, (issue, happening): (&Issue, &Happening)) -> Value {
        let mut shape = self.happening(repo, issue, happening);
        shape["issue"] = self.issue(repo, issue);
        shape
    }

    fn happening(&self, repo: &Repo, issue: &Issue, happening: &Happening) -> Value {
        let Happening { id, actor, at, kind } = happening;
        // Only a merging tells its commit.
        let merged = issue.pull.as_ref().filter(|_| *kind == HappeningKind::Merged);
        let commit = merged.and_then(|pull| pull.merge_oid.as_ref());
        let mut shape = json!({
            "id": id,
            "node_id": node_id(Node::Happening { repo: repo.id, id: *id }),
            "url": format!("{}/issues/events/{id}", self.repo_url(repo)),
            "actor": self.user(actor),
            "event": kind.word(),
            "commit_id": commit,
            "commit_url": commit.map(|oid| format!("{}/commits/{oid}", self.repo_url(repo))),
            "created_at": timestamp(*at),
            "performed_via_github_app": null,
        });
        let label = |name: &str| {
            let color = repo.label(name).map(|label| label.color.clone());
            json!({ "label": { "name": name, "color": color.unwrap_or_default() } })
        };
        let more = match kind {
            HappeningKind::Labeled(name) | HappeningKind::Unlabeled(name) => label(name),
            HappeningKind::Assigned(login) | HappeningKind::Unassigned(login) => {
                json!({ "assignee": self.user(login), "assigner": self.user(actor) })
            }
            HappeningKind::ReviewRequested(login) | HappeningKind::ReviewRequestRemoved(login) => {
                json!({ "requested_reviewer": self.user(login), "review_requester": self.user(actor) })
            }
            HappeningKind::Renamed(from, to) => json!({ "rename": { "from": from, "to": to } }),
            HappeningKind::Locked(reason) => json!({ "lock_reason": reason }),
            HappeningKind::Closed | HappeningKind::Reopened => {
                json!({ "state_reason": issue.state_reason().filter(|_| *kind == HappeningKind::Closed) })
            }
            HappeningKind::Unlocked
            | HappeningKind::ReadyForReview
            | HappeningKind::ConvertToDraft
            | HappeningKind::Merged => json!({}),
        };
        merge(&mut shape, more);
        shape
    }

    /// Everything that happened to an issue and was said about it, each with its time.
    fn moments(&self, repo: &Repo, issue: &Issue, login: Option<&str>) -> Vec<(Timestamp, Value)> {
        let happened = issue.happenings.iter().map(|event| (event.at, self.happening(repo, issue, event)));
        let said = issue.comments.iter().map(|comment| {
            let mut shape = self.comment(repo, issue, comment);
            merge(&mut shape, json!({ "event": "commented", "actor": self.user(&comment.author) }));
            (comment.created_at, shape)
        });
        let pull = issue.pull.iter();
        let reviewed = pull.clone().flat_map(|pull| &pull.reviews).filter(|review| review.is_seen_by(login));
        let reviewed = reviewed.map(|review| {
            let mut shape = self.review(repo, issue, review);
            shape["event"] = "reviewed".into();
            shape["state"] = review.state.word().to_lowercase().into();
            (review.submitted_at, shape)
        });
        let committed = pull.flat_map(|pull| &pull.commits).map(|commit| {
            let url = format!("{}/git/commits/{}", self.repo_url(repo), commit.oid);
            let html_url = format!("{}/{}/commit/{}", self.address, repo.full_name(), commit.oid);
            let who = json!({
                "name": commit.author_name,
                "email": commit.author_email,
                "date": timestamp(commit.committed_at),
            });
            let shape = json!({
                "event": "committed",
                "sha": commit.oid,
                "node_id": commit_id(repo.id, &commit.oid),
                "url": url,
                "html_url": html_url,
                "author": who,
                "committer": who,
                "message": commit.message,
                "tree": { "sha": commit.oid, "url": url },
                "parents": [],
                "verification": { "verified": false, "reason": "unsigned", "signature": null, "payload": null, "verified_at": null },
            });
            (commit.committed_at, shape)
        });
        happened.chain(said).chain(reviewed).chain(committed).collect()
    }
}
