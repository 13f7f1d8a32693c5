//! What the demo shows: each phase as it happens, the comment, and where the time went.

use std::{
    borrow::Cow,
    sync::Mutex,
    time::{Duration, Instant},
};

use anstream::println;
use anstyle::{AnsiColor, Style};
use fro_agent::Step;
use fro_core::Redactor;
use fro_run::Progress;

use crate::{env::Env, report::line, waiting::Waiting, wrap};

/// The demo's screen.
pub(crate) struct DemoScreen {
    began: Instant,
    waiting: Waiting,
    spent: Mutex<Spent>,
    redactor: Redactor,
    /// Where lines are wrapped: a pipe wraps nothing.
    width: Option<usize>,
}

/// How long each part of a run took; those of several runs add up.
#[derive(Debug, Default)]
struct Spent {
    until: Duration,
    by: Vec<(Phase, Duration)>,
}

impl Spent {
    /// Counts the time since the last report for the part that this one ends.
    fn mark(&mut self, phase: Phase, now: Duration) {
        let took = now.saturating_sub(self.until);
        self.until = now;
        match self.by.iter_mut().find(|(marked, _)| *marked == phase) {
            Some((_, spent)) => *spent += took,
            None => self.by.push((phase, took)),
        }
    }
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
            Progress::Result { .. }
            | Progress::Delivered { .. }
            | Progress::Accounted { .. }
            | Progress::Reviewed(_) => Some(Self::Answering),
            Progress::Agent(Step::EngineStopped | Step::Kept(_)) => Some(Self::Ending),
            Progress::Skipped(_)
            | Progress::Model(_)
            | Progress::Agent(Step::Opened { .. } | Step::Installing(_) | Step::Warning(_))
            | Progress::Stopped { .. }
            | Progress::Warning(_) => None,
        }
    }
}

const TITLE: Style = AnsiColor::Magenta.on_default().bold();
const DIM: Style = Style::new().dimmed();

impl DemoScreen {
    /// Opens the screen. Without a terminal there is no bar, only lines.
    pub(crate) fn new(env: &Env) -> Self {
        Self {
            began: Instant::now(),
            waiting: Waiting::begin(env, "starting"),
            spent: Mutex::default(),
            redactor: Redactor::knowing([]),
            width: wrap::width(),
        }
    }

    /// Says what is about to be played.
    pub(crate) fn opening(&self, (place, page): (&str, &str), what: &str, model: &str) {
        let what = wrap::hanging(&format!("{what} by the real engine, {model}"), 14, self.width);
        self.print(&format!("{TITLE}fro-bot demo{TITLE:#}  {what}"));
        let open = format!("a simulated {place} is open at {page} while this runs");
        self.print(&format!("{DIM}{}{DIM:#}", wrap::hanging(&open, 0, self.width)));
        self.print("");
    }

    /// Shows a report of progress.
    pub(crate) fn tell(&self, news: &Progress) {
        if let Some(phase) = Phase::ended_by(news) {
            self.mark(phase);
        }
        if let Some(line) = line::render(news, &self.redactor) {
            let style = line.tone.style();
            let seconds = self.began.elapsed().as_secs_f64();
            let text = wrap::hanging(&line.text, 10, self.width);
            self.print(&format!("{DIM}{seconds:6.2} s{DIM:#}  {style}{text}{style:#}"));
        }
        self.waiting.follows(news);
    }

    /// Says that something has happened now.
    pub(crate) fn note(&self, text: &str) {
        let seconds = self.began.elapsed().as_secs_f64();
        self.print(&format!("{DIM}{seconds:6.2} s{DIM:#}  {text}"));
    }

    /// Takes the spinner away.
    pub(crate) fn done(&self) {
        self.waiting.end();
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
        for line in lines.iter().flat_map(|line| wrapped(line, self.width)) {
            self.print(&format!("{DIM}│{DIM:#} {line}"));
        }
    }

    /// Shows where the time went.
    pub(crate) fn times(&self) {
        let total = self.began.elapsed();
        self.print(&format!("\n{TITLE}Where the time went{TITLE:#}\n"));
        let spent = self.spent.lock().map(|spent| spent.by.clone()).unwrap_or_default();
        for (phase, took) in spent {
            let took = took.as_secs_f64();
            let share = took / total.as_secs_f64().max(f64::EPSILON) * 40.0;
            let bar: String = (0..40).take_while(|cell| f64::from(*cell) < share).map(|_| '▇').collect();
            self.print(&format!("  {:<26} {took:6.2} s  {DIM}{bar}{DIM:#}", phase.name()));
        }
        self.print(&format!("  {:<26} {:6.2} s", "in all", total.as_secs_f64()));
    }

    fn mark(&self, phase: Phase) {
        if let Ok(mut spent) = self.spent.lock() {
            spent.mark(phase, self.began.elapsed());
        }
    }

    fn print(&self, text: &str) {
        self.waiting.print(|| println!("{text}"));
    }
}

/// Returns a line as it fits beside the bar of a quotation.
fn wrapped(line: &str, width: Option<usize>) -> Vec<Cow<'_, str>> {
    match width.map(|width| width.saturating_sub(2)) {
        Some(width) if textwrap::core::display_width(line) > width => textwrap::wrap(line, width),
        Some(_) | None => vec![Cow::Borrowed(line)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_several_runs_add_up() {
        let mut spent = Spent::default();
        for (phase, until) in
            [(Phase::Deciding, 1), (Phase::Working, 5), (Phase::Deciding, 6), (Phase::Working, 16)]
        {
            spent.mark(phase, Duration::from_secs(until));
        }
        let seconds: Vec<_> = spent.by.iter().map(|(phase, took)| (*phase, took.as_secs())).collect();
        assert_eq!(seconds, [(Phase::Deciding, 2), (Phase::Working, 14)]);
    }

    #[test]
    fn a_long_line_goes_on_beside_the_bar_and_a_short_one_keeps_its_spaces() {
        assert_eq!(wrapped("    if [ $degrees -ge 30 ]  ", Some(40)), ["    if [ $degrees -ge 30 ]  "]);
        assert_eq!(
            wrapped("three litres from 30 degrees on", Some(20)),
            ["three litres from", "30 degrees on"]
        );
        assert_eq!(wrapped("水をやる水をやる", Some(10)), ["水をやる", "水をやる"]);
        assert_eq!(wrapped("a line that a pipe takes as it is", None), ["a line that a pipe takes as it is"]);
    }
}
