//! `fro-bot action`: answers the event of a workflow run.

use std::process::ExitCode;

use fro_core::{Fault, Redactor};
use fro_run::Ending;
use jiff::Timestamp;

use crate::{
    env::{self, Env},
    handover::Handover,
    interrupt::{self, Interrupt},
    log,
    report::{self, Report},
    settings,
};

/// Exit code of a run whose answer tells of a failure.
const TOLD_FAILURE: u8 = 4;

/// Runs once and returns how it ended.
pub(crate) async fn main(env: &Env) -> Result<ExitCode, Fault> {
    let began = Timestamp::now();
    let mut interrupt = Interrupt::listen()?;
    let (name, payload) = event(env)?;
    let settings = settings::of_action(env, &name, payload.clone(), began)?;
    let reread = |file: &str| settings::with_file(env, (&name, payload.clone()), began, file);
    log::start(env, Redactor::knowing(settings.secrets()));
    let report = Report::new(env, &settings);
    let handover = Handover::new(env);
    let tell = |news| {
        handover.note(&news);
        report.tell(&news);
    };
    let ending = Box::pin(fro_run::run(&settings, &reread, &tell, interrupt.asked())).await?;
    Ok(match ending {
        Ending::Skipped(reason) if reason.fails_the_run() => {
            report::fault(env, &Fault::yours(reason.to_string(), reason.hint().unwrap_or_default()));
            ExitCode::FAILURE
        }
        Ending::Skipped(_) | Ending::Answered(_) => ExitCode::SUCCESS,
        Ending::ToldFailure(_) => ExitCode::from(TOLD_FAILURE),
        Ending::Interrupted => ExitCode::from(interrupt::EXIT_CODE),
    })
}

/// Reads the name and the payload of the event.
pub(crate) fn event(env: &Env) -> Result<(String, String), Fault> {
    const HINT: &str =
        "`fro-bot action` is started by a workflow; to see a whole run on this machine, try `fro-bot demo`";
    let name = env.text(env::GITHUB_EVENT_NAME);
    let name = name.ok_or_else(|| Fault::yours("the variable `GITHUB_EVENT_NAME` is not set", HINT))?;
    let path = env.text(env::GITHUB_EVENT_PATH);
    let path = path.ok_or_else(|| Fault::yours("the variable `GITHUB_EVENT_PATH` is not set", HINT))?;
    let payload = fs_err::read_to_string(path).map_err(|error| {
        Fault::yours(
            format!("cannot read the event file: {error}"),
            "`GITHUB_EVENT_PATH` names the file with the event's payload",
        )
    })?;
    Ok((name.to_owned(), payload))
}
