//! What is written into the runner's files: state for the step after the run, and outputs for the steps after it.

use std::{
    fs::OpenOptions,
    io::Write as _,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use fro_agent::Step;
use fro_core::{conversation::outcome::Usage, gate::Role};
use fro_memory::Kept;
use fro_run::Progress;

use crate::{
    env::{self, Env},
    report::json,
    settings,
};

/// The runner's files, where it has them.
pub(crate) struct RunnerFiles {
    state: Option<PathBuf>,
    output: Option<PathBuf>,
    path: Option<PathBuf>,
    role: Role,
    /// Whether it was said what became of the memory.
    told_of_memory: AtomicBool,
}

/// However a run ends, the steps after it find out that nothing was saved.
impl Drop for RunnerFiles {
    fn drop(&mut self) {
        if !*self.told_of_memory.get_mut() {
            append(self.output.as_ref(), "memory-saved=false");
        }
    }
}

impl RunnerFiles {
    /// Finds the files.
    pub(crate) fn new(env: &Env) -> Self {
        let file = |name| env.text(name).map(PathBuf::from);
        Self {
            state: file(env::GITHUB_STATE),
            output: file(env::GITHUB_OUTPUT),
            path: file(env::GITHUB_PATH),
            role: settings::role(env),
            told_of_memory: AtomicBool::new(false),
        }
    }

    /// Writes down what a report of progress means for the steps that follow, at once: the run may be killed.
    pub(crate) fn note(&self, news: &Progress) {
        if let Progress::Agent(Step::Opened { private }) = news {
            append(self.state.as_ref(), &format!("private={}", private.display()));
        }
        // Later steps of the job find the engine as if they had installed it themselves.
        if let Progress::Agent(Step::Installed { binary, .. }) = news
            && let Some(folder) = binary.parent()
        {
            append(self.path.as_ref(), &folder.display().to_string());
        }
        if let Progress::Agent(Step::Kept(_)) = news {
            self.told_of_memory.store(true, Ordering::Relaxed);
        }
        if let Some((name, value)) = output(news) {
            append(self.output.as_ref(), &format!("{name}={value}"));
        }
        let reviewed = match self.role {
            Role::Agent => Vec::new(),
            Role::Reviewer => review_outputs(news),
        };
        for (name, value) in reviewed {
            append(self.output.as_ref(), &format!("{name}={value}"));
        }
        if let Progress::Accounted { duration, usage } = news {
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

/// Returns what the reviewer tells the steps after it. A question is answered like any other.
fn review_outputs(news: &Progress) -> Vec<(&'static str, String)> {
    let status = |word: &str| vec![("review_status", word.to_owned())];
    match news {
        Progress::Skipped(_) => status("skipped"),
        Progress::Delivered { .. } => status("answered"),
        Progress::Stopped { .. } => status("stopped"),
        Progress::Reviewed(reviewed) => {
            let mut outputs = status(reviewed.status.word());
            outputs.push(("issues_found", reviewed.found.to_string()));
            outputs.push(("blocking_issues", reviewed.blocking.to_string()));
            outputs.extend(reviewed.url.clone().map(|url| ("review_url", url)));
            outputs
        }
        _ => Vec::new(),
    }
}

fn output(news: &Progress) -> Option<(&'static str, String)> {
    match news {
        Progress::Agent(Step::Session { id, .. }) => Some(("session-id", id.clone())),
        Progress::Delivered { url } => Some(("comment-url", url.clone())),
        Progress::Shared { url } => Some(("share-url", url.clone())),
        Progress::Result { json } => Some(("structured-output", json.clone())),
        Progress::Agent(Step::Recalled(recall)) => Some(("cache-status", json::status(recall).to_owned())),
        Progress::Agent(Step::Kept(Kept::Saved { .. })) => Some(("memory-saved", "true".to_owned())),
        Progress::Agent(Step::Kept(Kept::Raced { .. } | Kept::Nothing)) => {
            Some(("memory-saved", "false".to_owned()))
        }
        Progress::Agent(
            Step::Opened { .. }
            | Step::Installing(_)
            | Step::Installed { .. }
            | Step::EngineUp { .. }
            | Step::Reminded(_)
            | Step::Heard(_)
            | Step::EngineStopped
            | Step::Warning(_),
        )
        | Progress::Skipped(_)
        | Progress::Permitted(_)
        | Progress::Model(_)
        | Progress::Acknowledged
        | Progress::Hydrated { .. }
        | Progress::Attached { .. }
        | Progress::Reviewed(_)
        | Progress::Stopped { .. }
        | Progress::Accounted { .. }
        | Progress::Warning(_) => None,
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
