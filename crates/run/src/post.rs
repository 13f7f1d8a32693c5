//! What is done after a run that was killed: its memory is saved, 👀 and the label are taken away, its folders removed.
//!
//! Nothing is believed but the event and what the run wrote where the agent cannot reach. A run that ended by itself
//! left nothing, and doing this twice is doing it once.

use std::path::Path;

use fro_core::{
    Decision, Fault, Permit, Trigger,
    event::{self, Reading},
    gate,
};
use fro_github::GitHub;

use crate::{
    Ending,
    acknowledge::Acknowledgement,
    facts,
    memory::{Memory, PRIVATE},
    news::{News, Tell},
    repo_settings::{self, Reread, repo_settings},
    settings::Settings,
    state::State,
};

/// Finishes what a killed run left open in its private folder.
pub async fn finish(
    settings: &Settings,
    reread: Reread<'_>,
    private: &Path,
    tell: Tell<'_>,
) -> Result<(), Fault> {
    ours(private, settings, PRIVATE)?;
    let state = State::read(private)?;
    if state.as_ref().is_some_and(|state| state.run != settings.run.id) {
        return Err(Fault::ours("what was left is of another run"));
    }
    if let Some(state) = &state {
        ours(state.engine_data.parent().unwrap_or(private), settings, "fro-bot-")?;
        let settings = &refined(settings, reread, tell).await;
        Memory::reopen(settings, private, state).save(settings, fro_opencode::VERSION, tell).await;
    }
    let unseen = unsee(settings, tell).await;
    let engine = state.iter().filter_map(|state| state.engine_data.parent());
    for folder in engine.chain([private]) {
        fs_err::remove_dir_all(folder).map_err(|error| Fault::ours(format!("cannot clean up: {error}")))?;
    }
    unseen
}

/// Returns the settings as the run had them; without an answer, those of the workflow.
async fn refined(settings: &Settings, reread: Reread<'_>, tell: Tell<'_>) -> Settings {
    let file = async { repo_settings(&settings.github(&settings.event.repo)?).await };
    let refined = file.await.and_then(|file| repo_settings::below(settings, file.as_deref(), reread));
    refined.unwrap_or_else(|fault| {
        tell(News::Warning(fault.what().to_owned()));
        settings.clone()
    })
}

/// Takes 👀 and the label away, if the event still says that they were ours to give.
async fn unsee(settings: &Settings, tell: Tell<'_>) -> Result<(), Fault> {
    let Reading::Trigger(trigger) = event::read(&settings.event)? else { return Ok(()) };
    let github = settings.github(trigger.repo())?;
    if let Some(permit) = decide_again(settings, &trigger, &github).await? {
        let mut acknowledgement = Acknowledgement::new(&github, &permit, tell);
        acknowledgement.resume().await;
        acknowledgement.end(&Ok(Ending::Interrupted)).await;
    }
    Ok(())
}

async fn decide_again(
    settings: &Settings,
    trigger: &Trigger,
    github: &GitHub,
) -> Result<Option<Permit>, Fault> {
    if gate::glance(trigger, &settings.policy).is_err() {
        return Ok(None);
    }
    let facts = facts::gather(github, trigger, settings).await?;
    match gate::decide(trigger, &facts, &settings.policy) {
        Decision::Run(permit) => Ok(Some(*permit)),
        Decision::Skip(_) => Ok(None),
    }
}

/// Makes sure that a folder is one of a run of ours before anything in it is touched.
fn ours(folder: &Path, settings: &Settings, prefix: &str) -> Result<(), Fault> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if folder.parent() == Some(&settings.scratch) && name.starts_with(prefix) {
        return Ok(());
    }
    Err(Fault::ours(format!("`{}` is not a folder of a run", folder.display())))
}
