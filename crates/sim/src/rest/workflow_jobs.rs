//! Jobs of workflow runs, and what they wrote.

use std::io::{Cursor, Write as _};

use axum::{Json, response::Response};
use serde::Deserialize;
use serde_json::{Value, json};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use crate::{
    auth::Caller,
    downloads,
    problem::Problem,
    rest::{
        Shape,
        address::{Path, Query},
        paging::Paging,
        timestamp,
        visit::Visit,
        workflow_runs::{OneRun, found},
    },
    state::{File, Node, Repo, Step, WorkflowJob, WorkflowRun, node_id},
};

/// `{job}` in an address.
#[derive(Deserialize)]
pub(super) struct OneJob {
    job: u64,
}

/// Which attempts are asked for; there is one of each run here.
#[derive(Deserialize)]
pub(super) struct Attempts {
    #[serde(rename = "filter")]
    _filter: Option<String>,
}

/// `GET /repos/{owner}/{repo}/actions/runs/{run}/jobs`
pub(super) async fn list(
    visit: Visit,
    Path(OneRun { run: id }): Path<OneRun>,
    Query(_): Query<Attempts>,
    paging: Paging,
) -> Result<Response, Problem> {
    listed(&visit, id, &paging)
}

/// Answers with the jobs of the last attempt.
pub(super) fn listed(visit: &Visit, id: u64, paging: &Paging) -> Result<Response, Problem> {
    visit.show(|shape, repo| {
        let run = found(repo, id)?;
        let jobs = run.jobs.iter().map(|job| shape.workflow_job(repo, run, job)).collect();
        Ok(paging.counted_with("jobs", jobs, json!({})))
    })
}

/// `GET /repos/{owner}/{repo}/actions/jobs/{job}`
pub(super) async fn show(visit: Visit, Path(one): Path<OneJob>) -> Result<Json<Value>, Problem> {
    visit.show(|shape, repo| {
        let (run, job) = one.find_in(repo)?;
        Ok(Json(shape.workflow_job(repo, run, job)))
    })
}

/// `GET /repos/{owner}/{repo}/actions/jobs/{job}/logs`: leads to a text
pub(super) async fn log(visit: Visit, Path(one): Path<OneJob>) -> Result<Response, Problem> {
    known(&visit)?;
    let text = visit.show(|_, repo| {
        let (_, job) = one.find_in(repo)?;
        written(job).map(|log| log.concat())
    })?;
    Ok(stored(&visit, "job.txt", File::new("text/plain; charset=utf-8", text)))
}

/// `GET /repos/{owner}/{repo}/actions/runs/{run}/logs`: leads to an archive
pub(super) async fn logs(visit: Visit, Path(OneRun { run: id }): Path<OneRun>) -> Result<Response, Problem> {
    known(&visit)?;
    let bytes = visit.show(|_, repo| archive(found(repo, id)?))?;
    Ok(stored(&visit, "logs.zip", File::new("application/zip", bytes)))
}

/// Logs are for those who say who they are, even those of public repositories.
fn known(visit: &Visit) -> Result<(), Problem> {
    match visit.caller {
        Caller::Anonymous => Err(Problem::forbidden("Must have admin rights to Repository.")),
        Caller::Known { .. } => Ok(()),
    }
}

fn stored(visit: &Visit, name: &str, file: File) -> Response {
    let leading = downloads::elsewhere(&visit.hub, name, &file);
    visit.hub.change(|state| state.stored.push(file));
    leading
}

/// What each step of a job wrote, every line with its time; there is nothing before the job has ended.
fn written(job: &WorkflowJob) -> Result<Vec<String>, Problem> {
    let (_, at) = job.progress.end().ok_or_else(Problem::not_found)?;
    let time = at.strftime("%Y-%m-%dT%H:%M:%S.0000000Z");
    let timed = |step: &Step| step.log.lines().map(|line| format!("{time} {line}\n")).collect::<Vec<_>>();
    Ok(job.steps.iter().map(|step| timed(step).concat()).collect())
}

/// One file for each job, and one for each of its steps in a folder.
fn archive(run: &WorkflowRun) -> Result<Vec<u8>, Problem> {
    run.progress().end().ok_or_else(Problem::not_found)?;
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let plain = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let broken = |_| Problem::not_found();
    let mut add = |name: String, text: &str| {
        zip.start_file(name, plain).map_err(broken)?;
        zip.write_all(text.as_bytes()).map_err(|_| Problem::not_found())
    };
    for (place, job) in run.jobs.iter().enumerate() {
        let (name, log) = (job.name.replace('/', ""), written(job)?);
        add(format!("{place}_{name}.txt"), &log.concat())?;
        for (number, (step, text)) in job.steps.iter().zip(&log).enumerate() {
            add(format!("{name}/{}_{}.txt", number + 1, step.name.replace('/', "")), text)?;
        }
    }
    Ok(zip.finish().map_err(broken)?.into_inner())
}

impl OneJob {
    fn find_in<'a>(&self, repo: &'a Repo) -> Result<(&'a WorkflowRun, &'a WorkflowJob), Problem> {
        let all = repo.workflow_runs.iter().flat_map(|run| run.jobs.iter().map(move |job| (run, job)));
        all.into_iter().find(|(_, job)| job.id == self.job).ok_or_else(Problem::not_found)
    }
}

impl Shape<'_> {
    fn workflow_job(&self, repo: &Repo, run: &WorkflowRun, job: &WorkflowJob) -> Value {
        let (url, page) = (self.repo_url(repo), format!("{}/{}", self.address, repo.full_name()));
        let WorkflowJob { id, started_at, progress, .. } = job;
        let workflow = repo.workflows.iter().find(|known| known.id == run.workflow);
        let ended = |end: Option<_>| end.map(|(_, at)| timestamp(at));
        let steps = job.steps.iter().enumerate().map(|(place, step)| {
            json!({
                "name": step.name,
                "number": place + 1,
                "status": step.progress.word(),
                "conclusion": step.progress.conclusion(),
                "started_at": timestamp(*started_at),
                "completed_at": ended(step.progress.end()),
            })
        });
        json!({
            "id": id,
            "node_id": node_id(Node::CheckRun { repo: repo.id, id: *id }),
            "run_id": run.id,
            "run_url": format!("{url}/actions/runs/{}", run.id),
            "run_attempt": run.attempt,
            "workflow_name": workflow.map(|known| &known.name),
            "head_branch": run.head_branch,
            "head_sha": run.head_oid,
            "name": job.name,
            "url": format!("{url}/actions/jobs/{id}"),
            "html_url": format!("{page}/actions/runs/{}/job/{id}", run.id),
            "check_run_url": format!("{url}/check-runs/{id}"),
            "status": progress.word(),
            "conclusion": progress.conclusion(),
            "created_at": timestamp(run.created_at),
            "started_at": timestamp(*started_at),
            "completed_at": ended(progress.end()),
            "steps": steps.collect::<Vec<_>>(),
            "labels": ["ubuntu-latest"],
            "runner_id": 1,
            "runner_name": "GitHub Actions 1",
            "runner_group_id": 0,
            "runner_group_name": "GitHub Actions",
        })
    }
}
