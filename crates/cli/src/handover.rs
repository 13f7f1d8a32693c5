//! What the runner is handed: state for the step after the run, and outputs for the steps after it.

use std::{fs::OpenOptions, io::Write as _, path::PathBuf, time::Duration};

use fro_core::conversation::outcome::Usage;
use fro_memory::Kept;
use fro_run::News;

use crate::{
    env::{self, Env},
    report::json,
};

/// The runner's files, where it has them.
pub(crate) struct Handover {
    state: Option<PathBuf>,
    output: Option<PathBuf>,
    path: Option<PathBuf>,
}

impl Handover {
    /// Finds the files.
    pub(crate) fn new(env: &Env) -> Self {
        let file = |name| env.text(name).map(PathBuf::from);
        Self {
            state: file(env::GITHUB_STATE),
            output: file(env::GITHUB_OUTPUT),
            path: file(env::GITHUB_PATH),
        }
    }

    /// Writes down what a piece of news means for the steps that follow, at once: the run may be killed.
    pub(crate) fn note(&self, news: &News) {
        if let News::Opened { private } = news {
            append(self.state.as_ref(), &format!("desk={}", private.display()));
        }
        // Later steps of the job find the engine as if they had installed it themselves.
        if let News::Installed { binary, .. } = news
            && let Some(folder) = binary.parent()
        {
            append(self.path.as_ref(), &folder.display().to_string());
        }
        if let Some((name, value)) = output(news) {
            append(self.output.as_ref(), &format!("{name}={value}"));
        }
        if let News::Accounted { duration, usage } = news {
            for (name, value) in figures(*duration, usage) {
                append(self.output.as_ref(), &format!("{name}={value}"));
            }
        }
    }
}

/// Returns what the run took, for machines.
fn figures(duration: Duration, usage: &Usage) -> [(&'static str, String); 3] {
    [
        ("duration", duration.as_secs().to_string()),
        ("tokens", json::tokens(usage).to_string()),
        ("cost", format!("{:.6}", usage.cost)),
    ]
}

fn output(news: &News) -> Option<(&'static str, String)> {
    match news {
        News::Session { id, .. } => Some(("session-id", id.clone())),
        News::Delivered { url } => Some(("comment-url", url.clone())),
        News::Shared { url } => Some(("share-url", url.clone())),
        News::Recalled(recall) => Some(("cache-status", json::status(recall).to_owned())),
        News::Kept(Kept::Saved { .. }) => Some(("memory-saved", "true".to_owned())),
        News::Kept(Kept::Raced { .. } | Kept::Nothing) => Some(("memory-saved", "false".to_owned())),
        News::Opened { .. }
        | News::Skipped(_)
        | News::Permitted(_)
        | News::Acknowledged
        | News::Installing(_)
        | News::Installed { .. }
        | News::Hydrated { .. }
        | News::Attached { .. }
        | News::EngineUp { .. }
        | News::Reminded(_)
        | News::Heard(_)
        | News::Accounted { .. }
        | News::EngineStopped
        | News::Warning(_) => None,
    }
}

/// Adds a line to a file of the runner. Two lines could say anything, so they are left out.
fn append(file: Option<&PathBuf>, line: &str) {
    let Some(file) = file.filter(|_| !line.contains(['\n', '\r'])) else { return };
    let opened = OpenOptions::new().create(true).append(true).open(file);
    if let Err(error) = opened.and_then(|mut file| writeln!(file, "{line}")) {
        tracing::warn!("cannot hand `{line}` over to the runner: {error}");
    }
}
