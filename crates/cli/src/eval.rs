//! `fro-bot eval`: the reviewer's figures on a file of labelled data, so that whoever doubts them can bring their own.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Subcommand};
use fro_core::{Fault, workflow::PAGES};
use fro_review::eval::{
    self,
    anchors::{self, Placed},
    duplicates::{self, Pair, PairCounts},
    histories::{self, History, Rebuilt},
};

/// Histories that are made up where there is no data.
const MADE_UP: u64 = 10_000;

/// What to measure.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    command: EvalCommand,
}

#[derive(Debug, Subcommand)]
enum EvalCommand {
    /// Measures where comments can stand in real diffs, and whether those lines are found again after pushes
    Anchors(Data),
    /// Measures whether a finding in other words is recognised as a repeat
    Duplicates(Data),
    /// Measures whether the state of each thread is rebuilt from its comments; without data, for 10,000 made-up
    /// histories
    State(OptionalData),
}

#[derive(Debug, Args)]
struct OptionalData {
    /// The data, one JSON object a line, packed with gzip or not
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct Data {
    /// The data, one JSON object a line, packed with gzip or not
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
}

/// Prints the figures; the exit code says whether they are good enough.
pub(crate) fn main(options: &Options) -> Result<ExitCode, Fault> {
    let figures = match &options.command {
        EvalCommand::Anchors(data) => measured(&data.data, of_anchors)?,
        EvalCommand::Duplicates(data) => measured(&data.data, of_duplicates)?,
        EvalCommand::State(OptionalData { data: Some(data) }) => measured(data, of_state)?,
        EvalCommand::State(OptionalData { data: None }) => {
            let histories: Vec<History> = (1..=MADE_UP).map(History::played).collect();
            Some(of_histories(&histories))
        }
    };
    let Some(figures) = figures else { return Ok(ExitCode::SUCCESS) };
    for (name, value) in &figures.lines {
        anstream::println!("{name:<28}{value}");
    }
    anstream::println!("{:<28}{}", "good enough", if figures.passes { "yes" } else { "no" });
    Ok(if figures.passes { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Measures a file; nothing, and a word about it, if there is none.
fn measured(path: &Path, measure: Measure) -> Result<Option<Figures>, Fault> {
    let Some(text) = read(path)? else {
        anstream::println!("not run: there is no file `{}`", path.display());
        return Ok(None);
    };
    measure(&text).map(Some).map_err(|error| unreadable(path, &error))
}

/// Counts on the text of a data file.
type Measure = fn(&str) -> Result<Figures, eval::BadData>;

struct Figures {
    lines: Vec<(&'static str, String)>,
    passes: bool,
}

fn of_anchors(text: &str) -> Result<Figures, eval::BadData> {
    let placed = Placed::count(&anchors::read(text)?);
    let mut lines = vec![
        ("pull requests", placed.pulls.to_string()),
        ("files", placed.files.to_string()),
        ("commentable lines", placed.lines.to_string()),
        ("wrong", placed.wrong.len().to_string()),
        ("lines that survived pushes", placed.survived.to_string()),
        ("at another number", placed.shifted.to_string()),
        ("found again", format!("{} ({})", placed.found_again, share(placed.share()))),
        ("misplaced", placed.misplaced.to_string()),
        ("bar", format!("0 wrong, {} found again", share(anchors::FOUND_AGAIN))),
    ];
    lines.extend(placed.wrong.iter().take(10).map(|wrong| ("wrong:", wrong.clone())));
    Ok(Figures { lines, passes: placed.passes() })
}

fn of_duplicates(text: &str) -> Result<Figures, eval::BadData> {
    let pairs = duplicates::read(text)?;
    let told = PairCounts::by_likeness(&pairs);
    let [held_out, tuned_on] = duplicates::halves(&pairs);
    let half = |pairs: &[Pair]| {
        let told = PairCounts::by_likeness(pairs);
        let (precision, recall, f1) = (share(told.precision()), share(told.recall()), share(told.f1()));
        format!("{} pairs: precision {precision}, recall {recall}, F1 {f1}", pairs.len())
    };
    let lines = vec![
        ("pairs", pairs.len().to_string()),
        ("repeats found", told.found.to_string()),
        ("repeats missed", told.missed.to_string()),
        ("taken for repeats", told.mistaken.to_string()),
        ("told apart", told.apart.to_string()),
        ("precision", share(told.precision())),
        ("recall", share(told.recall())),
        ("F1", share(told.f1())),
        ("half that is held out", half(&held_out)),
        ("half to tune on", half(&tuned_on)),
        ("bar", format!("precision {}, F1 {}", share(duplicates::PRECISION), share(duplicates::F1))),
    ];
    Ok(Figures { lines, passes: told.passes() })
}

fn of_state(text: &str) -> Result<Figures, eval::BadData> {
    Ok(of_histories(&histories::read(text)?))
}

fn of_histories(histories: &[History]) -> Figures {
    let rebuilt = Rebuilt::count(histories);
    let mut lines = vec![
        ("histories", rebuilt.histories.to_string()),
        ("comments", rebuilt.comments.to_string()),
        ("threads of ours", rebuilt.threads.to_string()),
        ("rebuilt as expected", share(rebuilt.share())),
        ("bar", "all of them".to_owned()),
    ];
    lines.extend(rebuilt.wrong.iter().take(10).map(|wrong| ("wrong: history", wrong.to_string())));
    Figures { lines, passes: rebuilt.passes() }
}

/// Writes thousandths as a number below one.
fn share(thousandths: usize) -> String {
    format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000)
}

/// Reads the data; nothing if there is no such file.
fn read(path: &Path) -> Result<Option<String>, Fault> {
    let bytes = match fs_err::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(path, &error)),
    };
    let mut text = String::new();
    let read = if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text)
    } else {
        bytes.as_slice().read_to_string(&mut text)
    };
    read.map_err(|error| unreadable(path, &error))?;
    Ok(Some(text))
}

fn unreadable(path: &Path, error: &dyn std::error::Error) -> Fault {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    let hint = format!("every line is one JSON object; {PAGES}/review-figures.md has the three shapes");
    Fault::yours(format!("cannot read `{}`: {error}{cause}", path.display()), hint)
}
