//! What the demo shows: each phase as it happens, the comment, and where the time went.

use std::{
    io::{IsTerminal as _, stderr},
    sync::Mutex,
    time::{Duration, Instant},
};

use anstream::println;
use anstyle::{AnsiColor, Style};
use fro_agent::Step;
use fro_core::Redactor;
use fro_opencode::{InstallProgress, Stage};
use fro_run::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::report::line;

/// The demo's screen.
pub(crate) struct Show {
    began: Instant,
    bar: ProgressBar,
    marks: Mutex<Vec<(Phase, Duration)>>,
    redactor: Redactor,
}

/// The parts of a run, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Deciding,
    Preparing,
    Starting,
    Working,
    Answering,
    Ending,
}

impl Phase {
    fn name(self) -> &'static str {
        match self {
            Self::Deciding => "deciding",
            Self::Preparing => "👀, reading, installing",
            Self::Starting => "starting the engine",
            Self::Working => "agent at work",
            Self::Answering => "answering",
            Self::Ending => "stopping, saving",
        }
    }

    /// Returns the part that a report of progress ends.
    fn ended_by(news: &Progress) -> Option<Self> {
        match news {
            Progress::Permitted(_) => Some(Self::Deciding),
            Progress::Acknowledged
            | Progress::Agent(Step::Installed { .. } | Step::Recalled(_) | Step::Reminded(_))
            | Progress::Hydrated { .. }
            | Progress::Attached { .. } => Some(Self::Preparing),
            Progress::Agent(Step::EngineUp { .. }) => Some(Self::Starting),
            Progress::Agent(Step::Session { .. } | Step::Heard(_)) | Progress::Shared { .. } => {
                Some(Self::Working)
            }
            Progress::Delivered { .. } | Progress::Accounted { .. } | Progress::Reviewed(_) => {
                Some(Self::Answering)
            }
            Progress::Agent(Step::EngineStopped | Step::Kept(_)) => Some(Self::Ending),
            Progress::Skipped(_)
            | Progress::Model(_)
            | Progress::Agent(Step::Opened { .. } | Step::Installing(_) | Step::Warning(_))
            | Progress::Warning(_) => None,
        }
    }
}

const TITLE: Style = AnsiColor::Magenta.on_default().bold();
const DIM: Style = Style::new().dimmed();

impl Show {
    /// Opens the screen. Without a terminal there is no bar, only lines.
    pub(crate) fn new() -> Self {
        let target =
            if stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.enable_steady_tick(Duration::from_millis(100));
        spin(&bar, "starting");
        Self { began: Instant::now(), bar, marks: Mutex::new(Vec::new()), redactor: Redactor::knowing([]) }
    }

    /// Says what is about to be played.
    pub(crate) fn opening(&self, page: &str, what: &str, how: &str) {
        self.print(&format!("{TITLE}fro-bot demo{TITLE:#}  {what} by the real engine, {how}"));
        self.print(&format!("{DIM}a little GitHub is open at {page}{DIM:#}"));
        self.print("");
    }

    /// Shows a report of progress.
    pub(crate) fn tell(&self, news: &Progress) {
        if let Progress::Agent(Step::Installing(progress)) = news {
            return self.progress(progress);
        }
        if let Some(phase) = Phase::ended_by(news) {
            self.mark(phase);
        }
        if let Some(line) = line::of(news, &self.redactor) {
            let style = line.tone.style();
            let seconds = self.began.elapsed().as_secs_f64();
            self.print(&format!("{DIM}{seconds:6.2} s{DIM:#}  {style}{}{style:#}", line.text));
        }
        spin(&self.bar, upcoming(news));
    }

    fn progress(&self, progress: &InstallProgress) {
        match progress.stage {
            Stage::Downloading { done, total } => {
                if let Ok(style) =
                    ProgressStyle::with_template("  {msg} {bar:30} {bytes} of {total_bytes}, {eta} left")
                {
                    self.bar.set_style(style);
                }
                self.bar.set_length(total);
                self.bar.set_position(done);
                self.bar.set_message(format!("downloading {}", progress.what));
            }
            Stage::Unpacking => spin(&self.bar, &format!("unpacking {}", progress.what)),
            Stage::Ready => spin(&self.bar, "preparing"),
        }
    }

    /// Takes the bar away.
    pub(crate) fn done(&self) {
        self.bar.finish_and_clear();
    }

    /// Shows the comment as GitHub has it.
    pub(crate) fn comment(&self, body: &str) {
        self.act("The comment as posted");
        self.lines(&body.lines().map(str::to_owned).collect::<Vec<_>>());
    }

    /// Says what happens next on the little GitHub.
    pub(crate) fn act(&self, about: &str) {
        self.print(&format!("\n{TITLE}{about}{TITLE:#}\n"));
    }

    /// Shows some lines as the little GitHub has them.
    pub(crate) fn lines(&self, lines: &[String]) {
        for line in lines {
            self.print(&format!("{DIM}│{DIM:#} {line}"));
        }
    }

    /// Shows where the time went.
    pub(crate) fn times(&self) {
        let total = self.began.elapsed();
        self.print(&format!("\n{TITLE}Where the time went{TITLE:#}\n"));
        let marks = self.marks.lock().map(|marks| marks.clone()).unwrap_or_default();
        let mut before = Duration::ZERO;
        for (phase, until) in marks {
            let took = until.saturating_sub(before).as_secs_f64();
            let share = took / total.as_secs_f64().max(f64::EPSILON) * 40.0;
            let bar: String = (0..40).take_while(|cell| f64::from(*cell) < share).map(|_| '▇').collect();
            self.print(&format!("  {:<26} {took:6.2} s  {DIM}{bar}{DIM:#}", phase.name()));
            before = until;
        }
        self.print(&format!("  {:<26} {:6.2} s", "in all", total.as_secs_f64()));
    }

    fn mark(&self, phase: Phase) {
        let Ok(mut marks) = self.marks.lock() else { return };
        let now = self.began.elapsed();
        match marks.iter_mut().find(|(marked, _)| *marked == phase) {
            Some((_, until)) => *until = now,
            None => marks.push((phase, now)),
        }
    }

    fn print(&self, text: &str) {
        self.bar.suspend(|| println!("{text}"));
    }
}

fn spin(bar: &ProgressBar, message: &str) {
    if let Ok(style) = ProgressStyle::with_template("  {spinner} {msg}") {
        bar.set_style(style);
    }
    bar.set_message(message.to_owned());
}

/// Returns what happens after a report of progress.
fn upcoming(news: &Progress) -> &'static str {
    match news {
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
            "the agent is at work"
        }
        Progress::Shared { .. } => "answering",
        Progress::Accounted { .. } | Progress::Delivered { .. } | Progress::Reviewed(_) => {
            "stopping the engine"
        }
        Progress::Agent(Step::EngineStopped) => "saving the memory",
        Progress::Agent(Step::Kept(_)) | Progress::Skipped(_) => "done",
    }
}
