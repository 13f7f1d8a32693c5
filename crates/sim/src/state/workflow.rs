//! Actions: workflows, their runs, and the jobs of these with what their steps wrote.

use jiff::Timestamp;

use crate::state::{Annotation, CheckRun, Conclusion, Progress, Repo};

/// A workflow, as the file of a repository has it.
#[derive(Debug, Clone)]
pub struct Workflow {
    /// The database id.
    pub id: u64,
    /// The name in its first line.
    pub name: String,
    /// The file.
    pub path: String,
    /// When it was first seen.
    pub created_at: Timestamp,
    /// Whether somebody switched it off.
    pub disabled: bool,
}

/// A run of a workflow.
#[derive(Debug, Clone)]
pub struct WorkflowRun {
    /// What `GITHUB_RUN_ID` says.
    pub id: u64,
    /// The id of its workflow.
    pub workflow: u64,
    /// One line for people.
    pub title: String,
    /// The how many of its workflow.
    pub number: u64,
    /// How often it was begun.
    pub attempt: u64,
    /// What set it off.
    pub event: String,
    /// The branch it is on.
    pub head_branch: String,
    /// The commit it is about.
    pub head_oid: String,
    /// Who set it off.
    pub actor: String,
    /// The id of the check suite that its jobs are in.
    pub suite: u64,
    /// When it was set off.
    pub created_at: Timestamp,
    /// In the order of the file.
    pub jobs: Vec<WorkflowJob>,
}

/// A job of a run, which is a check run too, with the same id.
#[derive(Debug, Clone)]
pub struct WorkflowJob {
    /// The database id.
    pub id: u64,
    /// What it is called.
    pub name: String,
    /// When it began.
    pub started_at: Timestamp,
    /// How far it has come.
    pub progress: Progress,
    /// In their order.
    pub steps: Vec<Step>,
    /// What it says about lines of the code.
    pub annotations: Vec<Annotation>,
}

/// A step of a job.
#[derive(Debug, Clone)]
pub struct Step {
    /// What it is called.
    pub name: String,
    /// How far it has come.
    pub progress: Progress,
    /// The lines it wrote.
    pub log: String,
}

/// What is to be known of a run before it starts.
#[derive(Debug, Clone)]
pub struct RunStart<'a> {
    /// The run's id.
    pub id: u64,
    /// The file of its workflow, which is entered if it is not known yet.
    pub path: &'a str,
    /// The name of that workflow.
    pub workflow: &'a str,
    /// One line for people.
    pub title: &'a str,
    /// What sets it off.
    pub event: &'a str,
    /// The branch.
    pub branch: &'a str,
    /// The commit.
    pub oid: &'a str,
    /// Who sets it off.
    pub actor: &'a str,
}

impl WorkflowRun {
    /// How far all of its jobs together have come; the worst end counts.
    pub fn progress(&self) -> Progress {
        let ends: Option<Vec<_>> = self.jobs.iter().map(|job| job.progress.end()).collect();
        let begun = self.jobs.iter().any(|job| job.progress != Progress::Queued);
        match ends {
            Some(ends) if !ends.is_empty() => {
                let at = ends.iter().map(|(_, at)| *at).max().unwrap_or(self.created_at);
                let worst = |wanted: Conclusion| ends.iter().any(|(end, _)| *end == wanted);
                let bad = [Conclusion::Failure, Conclusion::TimedOut, Conclusion::Cancelled];
                Progress::Completed(
                    bad.into_iter().find(|end| worst(*end)).unwrap_or(Conclusion::Success),
                    at,
                )
            }
            _ if begun => Progress::InProgress,
            _ => Progress::Queued,
        }
    }

    /// When something last happened to it.
    pub fn updated_at(&self) -> Timestamp {
        let ends = self.jobs.iter().filter_map(|job| job.progress.end()).map(|(_, at)| at);
        ends.chain(self.jobs.iter().map(|job| job.started_at)).max().unwrap_or(self.created_at)
    }

    /// Begins a job with steps by name, and returns its id.
    pub fn begin_job(&mut self, name: &str, steps: &[&str], now: Timestamp) -> u64 {
        // Ids of jobs are counted apart from all others.
        let id = self.id * 100 + u64::try_from(self.jobs.len()).unwrap_or_default();
        let step = |name: &&str| Step {
            name: (*name).to_owned(),
            progress: Progress::InProgress,
            log: String::new(),
        };
        self.jobs.push(WorkflowJob {
            id,
            name: name.to_owned(),
            started_at: now,
            progress: Progress::InProgress,
            steps: steps.iter().map(step).collect(),
            annotations: Vec::new(),
        });
        id
    }

    /// Lets all of its jobs wait for a runner once more.
    pub fn again(&mut self, now: Timestamp) {
        self.attempt += 1;
        self.jobs.iter_mut().for_each(|job| job.wait(now));
    }

    /// Lets those of its jobs wait for a runner once more that have not succeeded.
    pub fn failed_again(&mut self, now: Timestamp) {
        self.attempt += 1;
        let good = |job: &&mut WorkflowJob| job.progress.conclusion() == Some(Conclusion::Success.word());
        self.jobs.iter_mut().filter(|job| !good(job)).for_each(|job| job.wait(now));
    }

    /// Ends whatever has not ended yet.
    pub fn end(&mut self, conclusion: Conclusion, now: Timestamp) {
        for job in &mut self.jobs {
            let steps = job.steps.iter_mut().map(|step| &mut step.progress);
            for progress in steps.chain([&mut job.progress]).filter(|progress| progress.end().is_none()) {
                *progress = Progress::Completed(conclusion, now);
            }
        }
    }

    /// Its jobs as the check runs that they also are.
    fn checks(&self, page: &str) -> impl Iterator<Item = CheckRun> {
        self.jobs.iter().map(move |job| CheckRun {
            id: job.id,
            name: job.name.clone(),
            head_oid: self.head_oid.clone(),
            app: "github-actions".to_owned(),
            suite: self.suite,
            external_id: String::new(),
            details_url: Some(format!("{page}/actions/runs/{}/job/{}", self.id, job.id)),
            started_at: Some(job.started_at),
            progress: job.progress,
            title: None,
            summary: None,
            text: None,
            annotations: job.annotations.clone(),
        })
    }
}

impl WorkflowJob {
    /// Forgets how it went.
    fn wait(&mut self, now: Timestamp) {
        (self.started_at, self.progress) = (now, Progress::Queued);
        self.annotations.clear();
        for step in &mut self.steps {
            (step.progress, step.log) = (Progress::Queued, String::new());
        }
    }
}

impl Repo {
    /// Starts a run, and returns it. Its jobs are begun one by one.
    pub fn begin_run(&mut self, start: &RunStart<'_>, now: Timestamp) -> &mut WorkflowRun {
        if !self.workflows.iter().any(|workflow| workflow.path == start.path) {
            let id = self.id + 1 + u64::try_from(self.workflows.len()).unwrap_or_default();
            let (name, path) = (start.workflow.to_owned(), start.path.to_owned());
            self.workflows.push(Workflow { id, name, path, created_at: now, disabled: false });
        }
        let known = self.workflows.iter().find(|workflow| workflow.path == start.path);
        let workflow = known.map(|workflow| workflow.id).unwrap_or_default();
        let before = self.workflow_runs.iter().filter(|run| run.workflow == workflow).count();
        self.workflow_runs.push(WorkflowRun {
            id: start.id,
            workflow,
            title: start.title.to_owned(),
            number: u64::try_from(before).unwrap_or_default() + 1,
            attempt: 1,
            event: start.event.to_owned(),
            head_branch: start.branch.to_owned(),
            head_oid: start.oid.to_owned(),
            actor: start.actor.to_owned(),
            suite: start.id + 1_000_000_000,
            created_at: now,
            jobs: Vec::new(),
        });
        let last = self.workflow_runs.len() - 1;
        &mut self.workflow_runs[last]
    }

    /// Finds a run of a workflow.
    pub fn workflow_run(&self, id: u64) -> Option<&WorkflowRun> {
        self.workflow_runs.iter().find(|run| run.id == id)
    }

    /// Finds a run of a workflow to change it.
    pub fn workflow_run_mut(&mut self, id: u64) -> Option<&mut WorkflowRun> {
        self.workflow_runs.iter_mut().find(|run| run.id == id)
    }

    /// All check runs, those of apps and those that jobs are, oldest first. `address` is where the pages are.
    pub(crate) fn all_checks(&self, address: &str) -> Vec<CheckRun> {
        let page = format!("{address}/{}", self.full_name());
        let jobs = self.workflow_runs.iter().flat_map(|run| run.checks(&page));
        self.check_runs.iter().cloned().chain(jobs).collect()
    }
}
