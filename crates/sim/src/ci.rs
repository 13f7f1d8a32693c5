//! A pull request's own checks, which somebody may want to know more about.

use crate::{
    World,
    state::{Annotation, AnnotationLevel, Conclusion, Progress, RunStart},
};

impl World {
    /// Lets the workflow `CI` fail on a pull request, with this written by its step `Test`, and returns the run's id.
    ///
    /// Panics if there is no such pull request.
    pub fn fail_ci(&self, repo: &str, number: u64, log: &str) -> u64 {
        self.change(|state| {
            let (id, now) = (state.next_id(), state.clock.now());
            let found =
                state.issue(repo, number).and_then(|issue| Some((issue.title.clone(), issue.pull.clone()?)));
            let Some((title, pull)) = found else { panic!("there is no pull request {repo}#{number}") };
            let start = RunStart {
                id,
                path: ".github/workflows/ci.yaml",
                workflow: "CI",
                title: &title,
                event: "pull_request",
                branch: &pull.head_ref,
                oid: &pull.head_oid,
                actor: "maya",
            };
            let Some(repo) = state.repo_mut(repo) else { panic!("there is no {repo}") };
            let run = repo.begin_run(&start, now);
            run.begin_job("test", &["Set up job", "Test", "Complete job"], now);
            if let Some(job) = run.jobs.first_mut() {
                let says = ["Runner name: 'GitHub Actions 1'\n", log, "Cleaning up orphan processes\n"];
                for (step, log) in job.steps.iter_mut().zip(says) {
                    log.clone_into(&mut step.log);
                    step.progress = Progress::Completed(Conclusion::Success, now);
                }
                job.steps[1].progress = Progress::Completed(Conclusion::Failure, now);
                job.annotations.push(Annotation {
                    path: ".github".to_owned(),
                    start_line: 1,
                    end_line: 1,
                    start_column: None,
                    end_column: None,
                    level: AnnotationLevel::Failure,
                    message: "Process completed with exit code 101.".to_owned(),
                    title: None,
                    raw_details: None,
                });
            }
            run.end(Conclusion::Failure, now);
            id
        })
    }
}
