//! Tells people what a run does, line by line, and how it failed.

pub(crate) mod line;

use std::time::Instant;

use anstream::{eprintln, println};
use anstyle::{AnsiColor, Style};
use fro_core::{Fault, Redactor, say};
use fro_run::{News, Settings};

use crate::env::{self, Env};

/// Prints the log of one run.
pub(crate) struct Report {
    began: Instant,
    redactor: Redactor,
    place: Place,
}

/// Where the log is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Workflow,
    Terminal,
}

impl Report {
    /// Makes the log of a run, which knows what must not be in it.
    pub(crate) fn new(env: &Env, settings: &Settings) -> Self {
        Self { began: Instant::now(), redactor: Redactor::knowing(settings.secrets()), place: place(env) }
    }

    /// Prints a piece of news, if it is worth a line.
    pub(crate) fn tell(&self, news: &News) {
        let Some(line) = line::of(news) else { return };
        let text = self.redactor.clean(&line.text);
        match (self.place, line.tone) {
            (Place::Workflow, line::Tone::Warning) => println!("::warning::{}", escaped(text.as_str())),
            (Place::Workflow | Place::Terminal, tone) => {
                let (style, dim) = (tone.style(), Style::new().dimmed());
                let seconds = self.began.elapsed().as_secs_f64();
                println!("{dim}{seconds:6.1} s{dim:#}  {style}{text}{style:#}");
            }
        }
    }
}

fn place(env: &Env) -> Place {
    if env.text(env::GITHUB_ACTIONS) == Some("true") { Place::Workflow } else { Place::Terminal }
}

/// Prints a failure: what failed on what, and the next step.
pub(crate) fn fault(env: &Env, fault: &Fault) {
    let lines: Vec<String> = fault.what().lines().map(say::log::harmless).collect();
    let what = lines.join("\n");
    let hint = say::log::harmless(&fault.hint());
    match place(env) {
        Place::Workflow => eprintln!("::error::{}", escaped(&format!("{what}\nhint: {hint}"))),
        Place::Terminal => {
            let (red, cyan) = (AnsiColor::Red.on_default().bold(), AnsiColor::Cyan.on_default().bold());
            eprintln!("{red}error{red:#}: {what}\n\n{cyan}hint{cyan:#}: {hint}");
        }
    }
}

/// Prints a failure that fails nothing.
pub(crate) fn complaint(env: &Env, fault: &Fault) {
    let what = say::log::harmless(fault.what());
    match place(env) {
        Place::Workflow => println!("::warning::{}", escaped(&what)),
        Place::Terminal => {
            let yellow = line::Tone::Warning.style();
            eprintln!("{yellow}warning{yellow:#}: {what}");
        }
    }
}

/// Escapes the data of a workflow command.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}
