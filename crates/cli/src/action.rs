//! `fro-bot action`: answers the event of a workflow run.

use std::process::ExitCode;

use fro_core::Fault;
use fro_run::{Admission, Ending, Process, ReviewStatus};
use jiff::Timestamp;

use crate::{
    env::Env,
    event_source::EventSource,
    interrupt::{self, Interrupt},
    log,
    report::{self, Report},
    runner_files::RunnerFiles,
    settings,
};

/// Exit code of a run whose answer tells of a failure.
const TOLD_FAILURE: u8 = 4;

/// Exit code of a review with open threads that are bad enough.
const BLOCKED: u8 = 5;

/// Answers the event of the workflow run.
pub(crate) async fn main(env: &Env) -> Result<ExitCode, Fault> {
    answer(EventSource::in_workflow(env)?).await
}

/// Runs once and returns how it ended.
pub(crate) async fn answer(EventSource { env, name, payload }: EventSource) -> Result<ExitCode, Fault> {
    let (env, began) = (&env, Timestamp::now());
    let runner_files = RunnerFiles::new(env);
    let mut interrupt = Interrupt::listen()?;
    let (settings, occasion) = settings::of_action(env, &name, payload, began)?;
    let process = Process::new(settings);
    log::start(env, process.redactor().clone());
    let report = Report::new(env, &process);
    let tell = |news| {
        runner_files.note(&news);
        report.tell(&news);
    };
    let ending = match Box::pin(fro_run::admit(&process, &occasion, &tell, interrupt.asked())).await? {
        Admission::Ended(ending) => ending,
        Admission::Admitted(admitted) => {
            let process = match admitted.file() {
                Some(file) => process.with(settings::with_file(env, &name, file)?),
                None => process,
            };
            Box::pin(admitted.answer(&process, &occasion, &tell, interrupt.asked())).await?
        }
    };
    if let Ending::Skipped(reason) = &ending
        && reason.fails_the_run()
    {
        report::fault(env, &Fault::yours(reason.to_string(), reason.hint().unwrap_or_default()));
    }
    if ending == Ending::Interrupted {
        report.interrupted();
    }
    Ok(exit_code(&ending))
}

/// Returns the exit code of a run that ended like this.
pub(crate) fn exit_code(ending: &Ending) -> ExitCode {
    match ending {
        Ending::Skipped(reason) if reason.fails_the_run() => ExitCode::FAILURE,
        Ending::Skipped(_) | Ending::Answered(_) | Ending::Stopped => ExitCode::SUCCESS,
        Ending::ToldFailure(_) => ExitCode::from(TOLD_FAILURE),
        Ending::Reviewed(reviewed) => review_exit_code(reviewed.status),
        Ending::Interrupted => ExitCode::from(interrupt::EXIT_CODE),
    }
}

/// Returns the exit code of a review.
pub(crate) fn review_exit_code(status: ReviewStatus) -> ExitCode {
    match status {
        ReviewStatus::Completed => ExitCode::SUCCESS,
        ReviewStatus::Blocked => ExitCode::from(BLOCKED),
        ReviewStatus::Incomplete => ExitCode::from(TOLD_FAILURE),
    }
}
