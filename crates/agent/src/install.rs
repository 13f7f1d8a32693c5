//! Brings the engine and what is loaded into it: pinned, from the tool cache or the registry.

use std::path::Path;

use fro_core::Fault;
use fro_opencode::{Engine, Omo, ToolCache, Wanted};
use tokio::time::{Instant, timeout_at};

use crate::{
    job::Scope,
    settings::Settings,
    step::{Step, Tell},
    tool_archive_cache::ToolArchiveCache,
};

/// The agent that Oh My OpenCode is loaded for.
pub(crate) const SISYPHUS: &str = "Sisyphus";

/// What is installed, and where to.
type WantedTools = (Wanted, ToolCache);

/// What a run works with.
pub(crate) struct Equipment {
    pub(crate) engine: Engine,
    pub(crate) omo: Option<Omo>,
    /// Why there is no Oh My OpenCode although it was wanted.
    pub(crate) warning: Option<String>,
    /// What was downloaded, for the runs that follow.
    pub(crate) archives: Option<ToolArchiveCache>,
}

/// Brings both at once. Only the engine is needed; the rest is told if it is missing.
pub(crate) async fn install(scope: Scope<'_>, private: &Path) -> Result<Equipment, Fault> {
    let settings = scope.settings();
    let deadline = Instant::now() + settings.engine.omo_patience;
    let archives = ToolArchiveCache::bring(scope, private).await;
    let (wanted, cache) = scope.process.tools(scope.job.checkout.clone())?;
    let kept = archives.as_ref().map(|archives| archives.folder().to_owned());
    let tools = (Wanted { archives: kept, ..wanted }, cache);
    let (engine, omo) = tokio::join!(engine(&tools, scope.tell), omo(settings, &tools, deadline));
    let (omo, warning) = match omo {
        Ok(omo) => (omo, None),
        Err(why) => (None, Some(left_out(&why))),
    };
    Ok(Equipment { engine: engine?, omo, warning, archives })
}

async fn engine((wanted, cache): &WantedTools, tell: Tell<'_>) -> Result<Engine, Fault> {
    let progress = &mut |progress| tell(Step::Installing(progress));
    let installed = fro_opencode::install(wanted, cache, progress).await;
    installed.map_err(|error| error.fault())
}

/// Says that Oh My OpenCode is missing.
pub(crate) fn left_out(why: &str) -> String {
    format!("Oh My OpenCode was not loaded: {why}")
}

async fn omo(
    settings: &Settings,
    (wanted, cache): &WantedTools,
    deadline: Instant,
) -> Result<Option<Omo>, String> {
    let Some(version) = &settings.engine.omo else { return Ok(None) };
    let silent = &mut |_| {};
    let installing = fro_opencode::install_omo(wanted, version, cache, silent);
    let late = |_| format!("it was not there after {} s", settings.engine.omo_patience.as_secs());
    let installed = timeout_at(deadline, installing).await.map_err(late)?;
    let folder = installed.map_err(|error| error.to_string())?;
    Ok(Some(Omo { folder, model: settings.model() }))
}
