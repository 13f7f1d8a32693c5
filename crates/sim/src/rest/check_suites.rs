//! Check suites: all check runs of one app on one commit.

use axum::{Json, response::Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    git::CommitObject,
    problem::Problem,
    rest::{
        Shape,
        address::{Path, Query},
        checks::{CheckFilter, listed},
        paging::Paging,
        timestamp,
        visit::{Named, Visit},
        workflow_runs::short,
    },
    state::{CheckRun, Conclusion, Node, Progress, Repo, node_id},
};

/// `{suite}` in an address.
#[derive(Deserialize)]
pub(super) struct OneSuite {
    suite: u64,
}

/// `GET /repos/{owner}/{repo}/check-suites/{id}`
pub(super) async fn show(
    visit: Visit,
    Path(OneSuite { suite: id }): Path<OneSuite>,
) -> Result<Json<Value>, Problem> {
    let runs = visit.show(|shape, repo| Ok(repo.all_checks(shape.address)))?;
    let runs: Vec<_> = runs.into_iter().filter(|run| run.suite == id).collect();
    let oid = &runs.first().ok_or_else(Problem::not_found)?.head_oid;
    let head = visit.open().await?.commit(oid).await.map_err(|_| Problem::not_found())?;
    visit.show(|shape, repo| Ok(Json(shape.check_suite(repo, id, &runs, &head))))
}

/// `GET /repos/{owner}/{repo}/check-suites/{id}/check-runs`
pub(super) async fn runs(
    visit: Visit,
    Path(OneSuite { suite: id }): Path<OneSuite>,
    Query(filter): Query<CheckFilter>,
    paging: Paging,
) -> Result<Response, Problem> {
    listed(&visit, &filter, &paging, |run| run.suite == id)
}

/// `GET /repos/{owner}/{repo}/commits/{name}/check-suites`
pub(super) async fn of_commit(
    visit: Visit,
    Path(Named { name }): Path<Named>,
    Query(filter): Query<CheckFilter>,
    paging: Paging,
) -> Result<Response, Problem> {
    let unknown = |_| Problem::unprocessable(&format!("No commit found for SHA: {name}"));
    let head = visit.open().await?.commit(&name).await.map_err(unknown)?;
    visit.show(|shape, repo| {
        let mut runs = repo.all_checks(shape.address);
        runs.retain(|run| run.head_oid == head.oid);
        let taken = runs.iter().filter(|run| filter.takes(shape.state, run));
        let mut ids: Vec<_> = taken.map(|run| run.suite).collect();
        ids.sort_unstable();
        ids.dedup();
        let suite = |id: u64| {
            let own: Vec<_> = runs.iter().filter(|run| run.suite == id).cloned().collect();
            shape.check_suite(repo, id, &own, &head)
        };
        Ok(paging.counted_with("check_suites", ids.into_iter().map(suite).collect(), json!({})))
    })
}

/// How far all runs together have come; the worst end counts.
fn progress(runs: &[CheckRun]) -> Progress {
    let ends: Option<Vec<_>> = runs.iter().map(|run| run.progress.end()).collect();
    let Some(ends) = ends else { return Progress::InProgress };
    let good = [Conclusion::Success, Conclusion::Neutral, Conclusion::Skipped];
    let worst = ends.iter().find(|(end, _)| !good.contains(end)).or(ends.first()).copied();
    worst.map_or(Progress::Queued, |(end, at)| Progress::Completed(end, at))
}

impl Shape<'_> {
    fn check_suite(&self, repo: &Repo, id: u64, runs: &[CheckRun], head: &CommitObject) -> Value {
        let url = format!("{}/check-suites/{id}", self.repo_url(repo));
        let (first, progress) = (runs.first(), progress(runs));
        let begun = first.and_then(|run| run.started_at).map(timestamp);
        let pulls = self.pulls_at(repo, &head.oid);
        json!({
            "id": id,
            "node_id": node_id(Node::CheckSuite { repo: repo.id, id }),
            "head_branch": pulls.first().map_or_else(|| json!(repo.default_branch), |pull| pull["head"]["ref"].clone()),
            "head_sha": head.oid,
            "status": progress.word(),
            "conclusion": progress.conclusion(),
            "url": url,
            "before": head.parents.first(),
            "after": head.oid,
            "pull_requests": pulls,
            "app": first.map(|run| self.app_of(&format!("{}[bot]", run.app))),
            "repository": self.repo(repo),
            "created_at": begun,
            "updated_at": progress.end().map_or(begun.clone(), |(_, at)| Some(timestamp(at))),
            "head_commit": short(head),
            "latest_check_runs_count": runs.len(),
            "check_runs_url": format!("{url}/check-runs"),
        })
    }
}
