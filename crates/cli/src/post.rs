//! `fro-bot post`: the step after the run, which finishes what a killed run left open and never fails the job.

use std::{path::PathBuf, process::ExitCode};

use fro_core::{Fault, Redactor};
use jiff::Timestamp;

use crate::{
    env::{self, Env},
    happened::Happened,
    in_runtime, log,
    report::{self, Report},
    settings,
};

/// Finishes a killed run; after one that ended by itself there is nothing to do.
pub(crate) fn main(env: &Env) -> ExitCode {
    let left = env.text(env::STATE_DESK).map(PathBuf::from).filter(|left| left.is_dir());
    if let Some(left) = left
        && let Err(fault) = in_runtime(finish(env, left))
    {
        report::complaint(env, &fault);
    }
    ExitCode::SUCCESS
}

async fn finish(env: &Env, left: PathBuf) -> Result<ExitCode, Fault> {
    let Happened { env, name, payload } = Happened::in_workflow(env)?;
    let (env, now) = (&env, Timestamp::now());
    let settings = settings::of_action(env, &name, payload.clone(), now)?;
    let reread = |file: &str| settings::with_file(env, (&name, payload.clone()), now, file);
    log::start(env, Redactor::knowing(settings.secrets()));
    let report = Report::new(env, &settings);
    fro_run::finish(&settings, &reread, &left, &|news| report.tell(&news)).await?;
    Ok(ExitCode::SUCCESS)
}
