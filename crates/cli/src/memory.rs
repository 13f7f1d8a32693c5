//! `fro-bot memory`: looks after what is remembered.

mod needles;
pub(crate) mod opened;
mod stats;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Subcommand};
use fro_core::{Fault, say::summary::size};
use fro_memory::{Keep, Kept, Provenance, Recall, Run, Stats, Store};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    env::Env,
    memory::opened::{LEDGER, Opened, Which},
    table::time,
};

/// What to do with the memory.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    which: Which,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Says what is there: sessions, size, last save
    Status,
    /// Reads every byte of the memory and says whether it is sound
    Verify {
        /// A file with one value per line; none of them may be found anywhere in the store
        #[arg(long, value_name = "FILE")]
        secrets: Option<PathBuf>,
    },
    /// Brings the memory into an empty folder, as the engine's data folder
    Pull {
        /// The folder
        folder: PathBuf,
    },
    /// Saves a folder that `pull` filled, merged with what was saved since
    Push {
        /// The folder
        folder: PathBuf,
    },
    /// Shows figures over all runs, each beside its goal
    Stats,
    /// Removes a session, a subject or a person for good
    Forget(Forget),
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Forget {
    /// A session, by its id
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Everything about an issue, a pull request or a discussion, such as `octo/garden#7`
    #[arg(long, value_name = "SUBJECT")]
    subject: Option<String>,
    /// Everything that a person set off, by login
    #[arg(long, value_name = "LOGIN")]
    person: Option<String>,
}

impl Forget {
    fn concerns(&self, run: &Run) -> bool {
        self.session.as_ref().is_some_and(|session| run.session.as_ref() == Some(session))
            || self.subject.as_ref().is_some_and(|subject| run.subject == *subject)
            || self
                .person
                .as_ref()
                .is_some_and(|person| run.actor.eq_ignore_ascii_case(person.trim_start_matches('@')))
    }
}

/// Does it.
pub(crate) fn main(options: &Options, env: &Env) -> Result<ExitCode, Fault> {
    let which = &options.which;
    match &options.command {
        Command::Status => {
            let opened = Opened::bring(which, env)?;
            which.show(&status(&opened.recall), || Ok(described(&opened.recall)))?;
        }
        Command::Verify { secrets } => return verify(which, env, secrets.as_ref()),
        Command::Pull { folder } => pull(which, env, folder)?,
        Command::Push { folder } => push(which, env, folder)?,
        Command::Stats => {
            let mut runs = Opened::bring(which, env)?.ledger()?.newest(u32::MAX)?;
            runs.reverse();
            let stats = Stats::of(&runs);
            which.show(&json!(stats), || Ok(stats::table(&stats)))?;
        }
        Command::Forget(what) => forget(which, env, what)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn status(recall: &Recall) -> Value {
    match recall {
        Recall::Warm { sessions, bytes, saved_at, .. } => {
            json!({ "state": "hit", "sessions": sessions, "bytes": bytes, "saved_at": saved_at })
        }
        Recall::Cold => json!({ "state": "miss" }),
        Recall::Damaged { why } => json!({ "state": "corrupted", "why": why.to_string() }),
    }
}

fn described(recall: &Recall) -> String {
    match recall {
        Recall::Warm { sessions, bytes, saved_at, .. } => {
            format!("{sessions} sessions, {}, saved {}", size(*bytes), time(*saved_at))
        }
        Recall::Cold => "nothing was saved yet".to_owned(),
        Recall::Damaged { why } => format!("damaged: {why}"),
    }
}

fn verify(which: &Which, env: &Env, secrets: Option<&PathBuf>) -> Result<ExitCode, Fault> {
    let opened = Opened::bring(which, env)?;
    let needles = secrets.map(needles::read).transpose()?.unwrap_or_default();
    let mut found = needles::search(opened.data(), &needles)?;
    found.extend(needles::search(&which.folder(env)?, &needles)?);
    let value = json!({ "sound": true, "needles": needles.len(), "found": found });
    which.show(&value, || {
        Ok(match (needles.len(), found.as_slice()) {
            (0, _) => format!("sound: {}", described(&opened.recall)),
            (n, []) => format!("sound, and none of the {n} values is in it: {}", described(&opened.recall)),
            (_, found) => format!("values were found:\n    {}", found.join("\n    ")),
        })
    })?;
    Ok(if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn pull(which: &Which, env: &Env, folder: &Path) -> Result<(), Fault> {
    let recall = opened::restore(&which.folder(env)?, folder)?;
    if let Some(head) = recall.head() {
        let written = fs_err::write(folder.join(PARENT), head.as_str());
        written.map_err(|error| Fault::ours(format!("cannot note what was brought: {error}")))?;
    }
    which.show(&status(&recall), || Ok(described(&recall)))
}

/// The file in which `pull` notes what `push` starts from.
const PARENT: &str = "fro-bot-parent";

fn push(which: &Which, env: &Env, folder: &Path) -> Result<(), Fault> {
    let store = Store::folder(which.folder(env)?)?;
    let parent = fs_err::read_to_string(folder.join(PARENT)).ok().map(fro_memory::Head::new);
    let engine_version = fro_opencode::VERSION.to_owned();
    let ledger = folder.join(LEDGER);
    let keep = Keep::new(folder, Provenance { now: Timestamp::now(), engine_version, parent });
    said(which, &keep.with_ledger(&ledger).save(&store)?)
}

fn forget(which: &Which, env: &Env, what: &Forget) -> Result<(), Fault> {
    let opened = Opened::bring(which, env)?;
    let ledger = opened.ledger()?;
    let runs: Vec<Run> = ledger.newest(u32::MAX)?.into_iter().filter(|run| what.concerns(run)).collect();
    let sessions: BTreeSet<String> =
        runs.iter().filter_map(|run| run.session.clone()).chain(what.session.clone()).collect();
    if sessions.is_empty() && runs.is_empty() {
        let hint = "`fro-bot sessions list` shows what is remembered";
        return Err(Fault::yours("nothing of this is remembered", hint));
    }
    ledger.forget(&runs)?;
    drop(ledger);
    said(which, &opened.save(|save| save.forgetting(sessions))?)
}

/// Says what came of a save.
fn said(which: &Which, kept: &Kept) -> Result<(), Fault> {
    let Kept::Saved { sessions, uploaded, report, .. } = kept else {
        return Err(Fault::yours("others save all the time, so this was not saved", "try again in a while"));
    };
    let value = json!({ "sessions": sessions, "uploaded": uploaded, "forgotten": report.forgotten });
    which.show(&value, || {
        let forgotten = match report.forgotten.len() {
            0 => String::new(),
            n => format!("; {n} forgotten, and gone from the store when its old packs are collected"),
        };
        Ok(format!("saved: {sessions} sessions, {} written{forgotten}", size(*uploaded)))
    })
}
