//! A look at a clone that somebody sits before: the same passes, and nothing is written anywhere.

use std::path::PathBuf;

use fro_agent::{Agent, Job, Origin, Plan, Resume};
use fro_core::{
    Fault, Login, Permit, RepoName, Subject,
    delegation::NoWork,
    gate::{self, ReviewWish},
    say::sessions,
};
use fro_review::report::{Report, Reported};
use jiff::Timestamp;

use super::{PassesResult, ReviewScope, ReviewStatus, input};
use crate::{
    process::Process,
    progress::{Progress, Tell},
    venue::PullSoFar,
};

/// A clone and what of it is looked at.
#[derive(Debug, Clone)]
pub struct LocalClone {
    /// The repository that it is a clone of.
    pub repo: RepoName,
    /// Its folder.
    pub checkout: PathBuf,
    /// What is looked at.
    pub change: Change,
    /// When it began.
    pub began: Timestamp,
}

/// What is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Commits of the clone.
    Commits(Commits),
    /// A pull request, with what was said in it.
    Pull(u64),
}

/// What a commit of a clone has that another has not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commits {
    /// The other, by its id.
    pub base: String,
    /// The commit, by its id.
    pub head: String,
    /// What it is called.
    pub title: String,
    /// What its author says of it.
    pub description: String,
    /// Its author.
    pub author: Login,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalReview {
    /// How it ended.
    pub status: ReviewStatus,
    /// What was found.
    pub report: Report,
}

/// Looks once; nothing, if somebody stopped it. `interrupt` ends when somebody asks it to stop.
pub async fn review_local_clone(
    process: &Process,
    clone: &LocalClone,
    tell: Tell<'_>,
    interrupt: impl Future<Output = ()>,
) -> Result<Option<LocalReview>, Fault> {
    let (permit, pull) = open_change(process, clone).await?;
    let job = job(clone, &permit, &pull);
    let steps = |step| tell(Progress::Agent(step));
    let mut agent = Agent::open(&process.agent, &job, &steps)?;
    let scope = ReviewScope { process, permit: &permit, began: clone.began };
    let looked = tokio::select! {
        looked = Box::pin(review_change(scope, &pull, &job, &mut agent)) => looked.map(Some),
        () = interrupt => Ok(None),
    };
    let finished = agent.finish().await;
    finished.cleaned.and(looked)
}

/// Finds out what there is to know before anything is looked at.
async fn open_change(process: &Process, clone: &LocalClone) -> Result<(Permit, PullSoFar), Fault> {
    let LocalClone { repo, change, .. } = clone;
    match change {
        Change::Commits(commits) => {
            let permit =
                gate::permit_local_review(repo, Subject::Repository, &commits.author, &process.policy);
            let pull = PullSoFar::of_commits(&permit, commits);
            Ok((permit, pull))
        }
        Change::Pull(number) => PullSoFar::of_local_pull(process, repo, *number).await,
    }
}

pub(super) fn job(clone: &LocalClone, permit: &Permit, pull: &PullSoFar) -> Job {
    let run = format!("local-{}", clone.began.as_millisecond());
    let origin = Origin {
        key: run.clone(),
        run,
        surface: "terminal".to_owned(),
        event: "review".to_owned(),
        began: clone.began,
        waited_since: clone.began,
    };
    Job {
        permit: permit.clone(),
        audience: None,
        origin,
        checkout: clone.checkout.clone(),
        git_ref: None,
        head: Some(pull.told.head.clone()),
        work: Err(NoWork::Unasked),
    }
}

async fn review_change(
    scope: ReviewScope<'_>,
    pull: &PullSoFar,
    job: &Job,
    agent: &mut Agent<'_>,
) -> Result<LocalReview, Fault> {
    let prepared = agent.prepare().await?;
    // Who looks at a change of their own wants to see all of it.
    let wish = ReviewWish::Asked;
    let begun = input::gather(scope, pull, prepared.store(), wish).await?;
    let plan = Plan {
        permit: job.permit.clone(),
        origin: job.origin.clone(),
        continuity: None,
        resume: Resume::InPlace,
        title: sessions::title(&fro_agent::subject(scope.permit), &pull.told.title, ""),
        recalled: Vec::new(),
        tools: Vec::new(),
    };
    let (outcomes, _session) =
        Box::pin(super::run_passes(scope, wish, pull, begun, (prepared, plan))).await?;
    Ok(into_local_review(scope, pull, outcomes))
}

fn into_local_review(scope: ReviewScope<'_>, pull: &PullSoFar, outcomes: PassesResult) -> LocalReview {
    let PassesResult { tools, settled, stopped, left_out, .. } = outcomes;
    let blocking = settled.gate.count_blocking();
    let (status, texts) = (ReviewStatus::decide(stopped.as_ref(), blocking), tools.texts());
    let findings = settled.findings.into_iter().map(|finding| {
        let text = texts.get(&finding.anchor.path).cloned();
        Reported { finding, text }
    });
    let report = Report {
        base: pull.told.base.clone(),
        head: pull.told.head.clone(),
        thresholds: scope.process.review.thresholds,
        findings: findings.collect(),
        blocking,
        stopped,
        left_out,
    };
    LocalReview { status, report }
}
