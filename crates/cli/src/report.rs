//! Tells people what a run does, line by line, and how it failed.

mod begun;
pub(crate) mod json;
pub(crate) mod line;

use std::{sync::Mutex, time::Instant};

use anstream::{eprintln, println};
use anstyle::{AnsiColor, Style};
use fro_core::{Fault, Redactor, say};
use fro_run::{Process, Progress};
use jiff::Timestamp;

use self::begun::RunSigns;
use crate::{
    env::{self, Env},
    waiting::Waiting,
    wrap,
};

/// Prints the log of one run.
pub(crate) struct Report {
    began: Instant,
    redactor: Redactor,
    place: LogReader,
    volume: Volume,
    /// Where lines are wrapped: a pipe wraps nothing.
    width: Option<usize>,
    /// The spinner, where a person waits.
    waiting: Option<Waiting>,
    begun: Mutex<RunSigns>,
}

/// How much of the log is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Volume {
    Usual,
    /// What somebody has to know: warnings, and where the answer is.
    Quiet,
}

/// Where the log is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogReader {
    Workflow,
    Terminal,
    /// Nobody reads it but machines.
    Machine,
}

impl Report {
    /// Makes the log of a run, which knows what must not be in it.
    pub(crate) fn new(env: &Env, process: &Process) -> Self {
        let volume = if env.text(env::FRO_QUIET).is_some() { Volume::Quiet } else { Volume::Usual };
        let place = place(env);
        let waiting = (place == LogReader::Terminal).then(|| Waiting::begin(env, "reading the event"));
        let (redactor, width) = (process.redactor().clone(), wrap::width());
        Self { began: Instant::now(), redactor, place, volume, width, waiting, begun: Mutex::default() }
    }

    /// Says to a person who pressed Ctrl-C what has become of the run.
    pub(crate) fn interrupted(&self) {
        if self.place == LogReader::Terminal {
            self.waiting.iter().for_each(Waiting::end);
            let undone = self.begun.lock().map_or_else(|_| String::new(), |begun| begun.undone());
            println!("{}", wrap::hanging(&format!("interrupted: {undone}"), 0, self.width));
        }
    }

    /// Prints a report of progress, if it is worth a line.
    pub(crate) fn tell(&self, news: &Progress) {
        let seconds = self.began.elapsed().as_secs_f64();
        if let Ok(mut begun) = self.begun.lock() {
            begun.note(news);
        }
        if self.place == LogReader::Machine {
            let object = json::render(news, &self.redactor, Timestamp::now(), seconds);
            return object.into_iter().for_each(|object| println!("{}", self.redactor.clean(&object)));
        }
        self.waiting.iter().for_each(|waiting| waiting.follows(news));
        let Some(line) = line::render(news, &self.redactor) else { return };
        let is_result = matches!(news, Progress::Delivered { .. } | Progress::Reviewed(_));
        if self.volume == Volume::Quiet && line.tone != line::Tone::Warning && !is_result {
            return;
        }
        let text = self.redactor.clean(&line.text);
        match (self.place, line.tone) {
            (LogReader::Workflow, line::Tone::Warning) => println!("::warning::{}", escaped(text.as_str())),
            (LogReader::Workflow | LogReader::Terminal | LogReader::Machine, tone) => {
                let (style, dim) = (tone.style(), Style::new().dimmed());
                let text = wrap::hanging(text.as_str(), 10, self.width);
                let print = || println!("{dim}{seconds:6.1} s{dim:#}  {style}{text}{style:#}");
                self.waiting.as_ref().map_or_else(print, |waiting| waiting.print(print));
            }
        }
    }
}

/// Tells whether the log is for machines.
pub(crate) fn is_for_machines(env: &Env) -> bool {
    env.text(env::FRO_LOG_FORMAT) == Some("json")
}

/// Prints a warning before there is a run that could.
pub(crate) fn warn(env: &Env, text: &str) {
    match place(env) {
        LogReader::Machine => println!("{}", json::warning(text, Timestamp::now())),
        LogReader::Workflow => println!("::warning::{}", escaped(text)),
        LogReader::Terminal => {
            let yellow = line::Tone::Warning.style();
            eprintln!("{yellow}warning{yellow:#}: {text}");
        }
    }
}

fn place(env: &Env) -> LogReader {
    if is_for_machines(env) {
        return LogReader::Machine;
    }
    if env.text(env::GITHUB_ACTIONS) == Some("true") { LogReader::Workflow } else { LogReader::Terminal }
}

/// Prints a failure: what failed on what, and the next step.
pub(crate) fn fault(env: &Env, fault: &Fault) {
    let redactor = Redactor::knowing(&env.credentials());
    let what = redactor.clean(fault.what());
    let lines: Vec<String> = what.as_str().lines().map(say::log::harmless).collect();
    let what = lines.join("\n");
    let hint = say::log::harmless(&fault.hint());
    match place(env) {
        LogReader::Machine => eprintln!("{}", json::error(&what, &hint, Timestamp::now())),
        LogReader::Workflow => eprintln!("::error::{}", escaped(&format!("{what}\nhint: {hint}"))),
        LogReader::Terminal => {
            let (red, cyan) = (AnsiColor::Red.on_default().bold(), AnsiColor::Cyan.on_default().bold());
            eprintln!("{red}error{red:#}: {what}\n\n{cyan}hint{cyan:#}: {hint}");
        }
    }
}

/// Prints a failure that fails nothing.
pub(crate) fn complaint(env: &Env, fault: &Fault) {
    warn(env, &say::log::harmless(fault.what()));
}

/// Escapes the data of a workflow command.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}
