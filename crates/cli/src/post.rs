//! `fro-bot post`: the step after the run, which finishes what a killed run left open and never fails the job.

use std::{path::PathBuf, process::ExitCode};

use fro_core::Fault;
use fro_run::{KilledRun, Occasion, Process, Progress};
use jiff::Timestamp;

use crate::{
    env::{self, Env},
    event_source::EventSource,
    in_runtime, log,
    report::{self, Report},
    settings,
};

/// Finishes a killed run; after one that ended by itself there is nothing to do.
pub(crate) fn main(env: &Env) -> ExitCode {
    let left = env.text(env::STATE_PRIVATE).map(PathBuf::from).filter(|left| left.is_dir());
    if let Some(left) = left
        && let Err(fault) = in_runtime(finish(env, left))
    {
        report::complaint(env, &fault);
    }
    ExitCode::SUCCESS
}

async fn finish(env: &Env, left: PathBuf) -> Result<ExitCode, Fault> {
    let EventSource { env, name, payload } = EventSource::in_workflow(env)?;
    let (settings, occasion) = settings::of_action(&env, &name, payload, Timestamp::now())?;
    let process = Process::new(settings);
    log::start(&env, process.redactor().clone());
    let report = Report::new(&env, &process);
    let left = KilledRun::read(&process, &occasion, left)?;
    let process =
        if left.has_memory() { as_in_the_run(process, &occasion, &env, &report).await } else { process };
    left.finish(&process, &occasion, &|news| report.tell(&news)).await?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the process as the run had it, with the repository's own settings; without an answer, those of the workflow.
async fn as_in_the_run(process: Process, occasion: &Occasion, env: &Env, report: &Report) -> Process {
    let file = async { fro_run::repo_settings(&process.github(&occasion.event.repo)?).await };
    let read = |file: String| settings::with_file(env, &occasion.event.name, &file);
    match file.await.and_then(|file| file.map(read).transpose()) {
        Ok(Some(settings)) => process.with(settings),
        Ok(None) => process,
        Err(fault) => {
            report.tell(&Progress::Warning(fault.what().to_owned()));
            process
        }
    }
}
