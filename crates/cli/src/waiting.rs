//! What people see while they wait: a spinner or a bar with the time on a terminal, elsewhere a line every ten seconds.
//!
//! All of it goes to the standard error, so that results can be piped.

use std::{
    io::{IsTerminal as _, stderr},
    sync::{
        Arc, Mutex,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use anstream::eprintln;
use fro_agent::Step;
use fro_core::say::summary::duration;
use fro_opencode::{InstallProgress, Stage};
use fro_run::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::env::{self, Env};

/// How long there may be silence where no spinner can turn.
const SILENCE: Duration = Duration::from_secs(10);

/// Something that takes a while. What is shown of it is gone when this is dropped.
pub(crate) struct Waiting {
    bar: ProgressBar,
    lines: Option<Lines>,
}

/// The lines where there is no terminal, printed by a thread that ends with this.
struct Lines {
    current: Arc<Mutex<(String, Instant)>>,
    thread: Sender<Update>,
}

/// What the thread is told.
enum Update {
    /// Something was printed just now, so the next line can wait.
    Spoken,
    Ended,
}

impl Waiting {
    /// Begins to show that something takes a while; `--quiet` shows nothing.
    pub(crate) fn begin(env: &Env, what: &str) -> Self {
        let is_quiet = env.text(env::FRO_QUIET).is_some();
        let is_terminal = stderr().is_terminal();
        let draw = is_terminal && !is_quiet;
        let target = if draw { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if draw {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        let waiting = Self { bar, lines: (!is_terminal && !is_quiet).then(Lines::begin) };
        waiting.goes_on(what);
        waiting
    }

    /// Says what is waited for now.
    pub(crate) fn goes_on(&self, what: &str) {
        style(&self.bar, "  {spinner} {wide_msg} {elapsed:>4}");
        if self.bar.message() != what {
            self.bar.reset_elapsed();
            self.bar.set_message(what.to_owned());
        }
        self.lines.iter().for_each(|lines| lines.goes_on(what));
    }

    /// Shows how far an installation is.
    pub(crate) fn installs(&self, progress: &InstallProgress) {
        let what = progress.what;
        match progress.stage {
            Stage::Downloading { done, total } => {
                self.goes_on(&format!("downloading {what}"));
                style(&self.bar, "  {msg} {wide_bar} {bytes} of {total_bytes}");
                self.bar.set_length(total);
                self.bar.set_position(done);
            }
            Stage::Unpacking => self.goes_on(&format!("unpacking {what}")),
            Stage::Ready => self.goes_on("preparing"),
        }
    }

    /// Shows what follows on a report of a run's progress.
    pub(crate) fn follows(&self, progress: &Progress) {
        match progress {
            Progress::Agent(Step::Installing(progress)) => self.installs(progress),
            progress => self.goes_on(upcoming(progress)),
        }
    }

    /// Prints something above the spinner.
    pub(crate) fn print(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
        self.lines.iter().for_each(|lines| lines.tell(Update::Spoken));
    }

    /// Takes the spinner away.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
        self.lines.iter().for_each(|lines| lines.tell(Update::Ended));
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.end();
    }
}

impl Lines {
    fn begin() -> Self {
        let current = Arc::new(Mutex::new((String::new(), Instant::now())));
        let (thread, words) = mpsc::channel();
        let shown = Arc::clone(&current);
        thread::spawn(move || {
            loop {
                match words.recv_timeout(SILENCE) {
                    Ok(Update::Spoken) => {}
                    Ok(Update::Ended) | Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {
                        let Ok(shown) = shown.lock() else { return };
                        eprintln!("still {} ({})", shown.0, duration(shown.1.elapsed()));
                    }
                }
            }
        });
        Self { current, thread }
    }

    fn goes_on(&self, what: &str) {
        if let Ok(mut current) = self.current.lock()
            && current.0 != what
        {
            *current = (what.to_owned(), Instant::now());
        }
    }

    fn tell(&self, word: Update) {
        // A thread that has ended needs to hear nothing.
        let _ended = self.thread.send(word);
    }
}

fn style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}

/// Returns what happens after a report of progress.
fn upcoming(progress: &Progress) -> &'static str {
    match progress {
        Progress::Permitted(_)
        | Progress::Model(_)
        | Progress::Agent(Step::Opened { .. } | Step::Installing(_) | Step::Recalled(_))
        | Progress::Acknowledged
        | Progress::Attached { .. } => "preparing",
        Progress::Agent(Step::Installed { .. } | Step::Reminded(_)) | Progress::Hydrated { .. } => {
            "starting the engine"
        }
        Progress::Agent(Step::EngineUp { .. }) => "opening a session",
        Progress::Agent(Step::Session { .. } | Step::Heard(_) | Step::Warning(_)) | Progress::Warning(_) => {
            "waiting for the agent"
        }
        Progress::Shared { .. } | Progress::Result { .. } => "answering",
        Progress::Accounted { .. } | Progress::Delivered { .. } | Progress::Reviewed(_) => {
            "stopping the engine"
        }
        Progress::Agent(Step::EngineStopped) => "saving the memory",
        Progress::Agent(Step::Kept(_)) | Progress::Skipped(_) | Progress::Stopped { .. } => "ending",
    }
}
