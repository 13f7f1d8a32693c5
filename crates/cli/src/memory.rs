//! `fro-bot memory`: looks after what is remembered.

pub(crate) mod opened;
mod stats;
mod verify;
pub(crate) mod which;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Subcommand};
use fro_core::{
    Fault,
    say::{
        log::harmless,
        summary::{counted, size},
    },
};
use fro_memory::{
    Collected, Error, Keep, Listing, NewerSaves, Place, Recall, Retention, Run, Stats, Store, Stores,
    collect_garbage, later, look,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::{
    env::Env,
    memory::{
        opened::{INDEX, LEDGER, Opened, Saved},
        which::Which,
    },
    question::Care,
    report,
    table::time,
    waiting::Waiting,
};

/// What to do with the memory.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    which: Which,
    #[command(subcommand)]
    command: MemoryCommand,
}

#[derive(Debug, Subcommand)]
enum MemoryCommand {
    /// Shows what each store has: sessions, size, last save
    Status,
    /// Reads every byte of every store and says whether anything is damaged
    Verify {
        /// A file with one value per line; none of them may be found in any store, packed or not
        #[arg(long, value_name = "FILE")]
        secrets: Option<PathBuf>,
        /// First repair what can be repaired: from another store, or by going back to the last undamaged save
        #[arg(long)]
        repair: bool,
    },
    /// Downloads the memory into an empty folder, laid out as the engine's data folder
    Pull {
        /// The folder
        folder: PathBuf,
    },
    /// Saves a folder that `pull` filled, and merges what was saved in the meantime
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
#[group(id = "what", required = true, multiple = false, args = ["session", "subject", "person"])]
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
    #[command(flatten)]
    copies: Copies,
    #[command(flatten)]
    care: Care,
}

#[derive(Debug, Args)]
struct Copies {
    /// Delete older saves at once too; a run that is under way then has nothing to merge its memory with
    #[arg(long)]
    at_once: bool,
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
        MemoryCommand::Status => status(which, env)?,
        MemoryCommand::Verify { secrets, repair } => {
            if *repair {
                verify::repair(which, env)?;
            }
            return verify::main(which, env, secrets.as_deref());
        }
        MemoryCommand::Pull { folder } => pull(which, env, folder)?,
        MemoryCommand::Push { folder } => push(which, env, folder)?,
        MemoryCommand::Stats => {
            let mut runs = Opened::bring(which, env)?.ledger()?.newest(u32::MAX)?;
            runs.reverse();
            let stats = Stats::sum_up(&runs);
            which.show(&json!(stats), || Ok(stats::table(&stats)))?;
        }
        MemoryCommand::Forget(what) => forget(which, env, what)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn status(which: &Which, env: &Env) -> Result<(), Fault> {
    let stores = which.stores(env)?;
    let looked: Vec<(Place, Result<Recall, Error>, Option<NewerSaves>)> =
        stores.iter().map(|store| (store.place(), look(store), later_than_head(store))).collect();
    let told = looked.iter().map(|(place, look, later)| {
        let mut told = match look {
            Ok(recall) => state(recall),
            Err(error) => json!({ "state": "unknown", "why": error.story() }),
        };
        told["store"] = json!(place.to_string());
        if let Some(later) = later {
            told["later_saves"] = json!(later.saves);
        }
        told
    });
    which.show(&told.collect(), || {
        let lines = looked.iter().map(|(place, look, later)| match look {
            Ok(recall) => format!("{place}: {}{}", described(recall), went_back(later.as_ref())),
            Err(error) => format!("{place}: {}", error.story()),
        });
        Ok(lines.chain(stores.unusable().iter().cloned()).collect::<Vec<_>>().join("\n"))
    })
}

/// Returns the saves after the one that a head names; a store that cannot tell has none.
pub(crate) fn later_than_head(store: &Store) -> Option<NewerSaves> {
    later(store).unwrap_or_default()
}

/// Says that a head names an older save than it could.
pub(crate) fn went_back(later: Option<&NewerSaves>) -> String {
    later.map_or_else(String::new, |NewerSaves { saves, last }| {
        let saves = counted(*saves, "later save");
        format!(
            "; {saves}, the last of {}: the head was put back, or runs ended before they moved it",
            time(*last)
        )
    })
}

fn state(recall: &Recall) -> Value {
    match recall {
        Recall::Warm { sessions, bytes, saved_at, .. } => {
            json!({ "state": "hit", "sessions": sessions, "bytes": bytes, "saved_at": saved_at })
        }
        Recall::Cold => json!({ "state": "miss" }),
        Recall::Newer { why } => json!({ "state": "newer", "why": why.to_string() }),
        Recall::Damaged { why } => json!({ "state": "corrupted", "why": why.to_string() }),
    }
}

fn described(recall: &Recall) -> String {
    match recall {
        Recall::Warm { sessions, bytes, saved_at, instead_of, .. } => {
            let instead = instead_of.as_ref().map(|why| format!("; the newest save is damaged: {why}"));
            let (has, instead) = (counted(*sessions, "session"), instead.unwrap_or_default());
            format!("{has}, {}, saved {}{instead}", size(*bytes), time(*saved_at))
        }
        Recall::Cold => "nothing was saved yet".to_owned(),
        Recall::Newer { why } => format!("cannot be used by this release: {why}"),
        Recall::Damaged { why } => format!("damaged: {why}"),
    }
}

fn pull(which: &Which, env: &Env, folder: &Path) -> Result<(), Fault> {
    let waiting = Waiting::begin(env, "bringing the memory");
    let stores = which.stores(env)?;
    let recall = opened::restore(&stores, folder, env)?;
    drop(waiting);
    let later = stores.iter().find_map(later_than_head);
    if let Some(head) = recall.head() {
        let written = fs_err::write(folder.join(PARENT), head.as_str());
        written.map_err(|error| Fault::ours(format!("cannot note what was brought: {error}")))?;
    }
    which.show(&state(&recall), || Ok(format!("{}{}", described(&recall), went_back(later.as_ref()))))
}

/// The file in which `pull` notes what `push` starts from.
const PARENT: &str = "fro-bot-parent";

fn push(which: &Which, env: &Env, folder: &Path) -> Result<(), Fault> {
    let parent = fs_err::read_to_string(folder.join(PARENT)).ok().map(fro_memory::Head::new);
    let (ledger, index) = (folder.join(LEDGER), folder.join(INDEX));
    let keep = Keep::new(folder, opened::provenance(parent)).with_ledger(&ledger);
    let keep = keep.with_index(&index).pruning(Retention::EVERYTHING).without(env.credentials());
    let mut stores = which.stores(env)?;
    said(which, &opened::save(&mut stores, &keep, env)?, None)
}

fn forget(which: &Which, env: &Env, what: &Forget) -> Result<(), Fault> {
    let opened = Opened::bring(which, env)?;
    let ledger = opened.ledger()?;
    let runs = ledger.forget(|run| what.concerns(run))?;
    let mut sessions: BTreeSet<String> = runs.iter().filter_map(|run| run.session.clone()).collect();
    if let Some(session) = &what.session
        && opened.sessions()?.info(session)?.is_some()
    {
        sessions.insert(session.clone());
    }
    if sessions.is_empty() && runs.is_empty() {
        let hint = "`fro-bot sessions list` shows what is remembered";
        return Err(Fault::yours("nothing of this is remembered", hint));
    }
    drop(ledger);
    let n_sessions = counted(sessions.len(), "session");
    let all = format!("{n_sessions} and {}", counted(runs.len(), "run"));
    if what.care.dry_run {
        let value = json!({ "dry_run": true, "sessions": sessions, "runs": runs.len() });
        return which.show(&value, || Ok(listed(&format!("would forget {all}"), &sessions)));
    }
    what.care.confirm(&listed(&format!("this forgets {all}"), &sessions))?;
    let (stores, saved) = opened.save(env, |save| save.forgetting(sessions))?;
    let deleted = if what.copies.at_once { Some(delete_older(&stores, env)?) } else { None };
    said(which, &saved, deleted)
}

/// Returns what is done, with the sessions that it is done to.
pub(crate) fn listed<'a>(what: &str, sessions: impl IntoIterator<Item = &'a String>) -> String {
    let sessions = sessions.into_iter().map(|id| format!("\n    {}", harmless(id)));
    format!("{what}{}", sessions.collect::<String>())
}

/// Deletes older saves wherever that is possible.
fn delete_older(stores: &Stores, env: &Env) -> Result<u32, Fault> {
    let mut deleted = 0;
    for store in stores.iter() {
        if store.list()? == Listing::Unavailable {
            let what = format!(
                "older saves stay in {} until they are evicted; `gh cache delete` deletes them",
                store.place()
            );
            report::complaint(env, &Fault::ours(what));
        }
        let Collected { objects, .. } = collect_garbage(store, Timestamp::now(), SignedDuration::ZERO)?;
        deleted += objects;
    }
    Ok(deleted)
}

/// Says what came of a save; `deleted` is how many older objects went with it.
fn said(which: &Which, saved: &Saved, deleted: Option<u32>) -> Result<(), Fault> {
    let Saved { sessions, uploaded, report } = saved;
    let value = json!({
        "sessions": sessions, "uploaded": uploaded, "forgotten": report.forgotten, "deleted": deleted,
    });
    which.show(&value, || {
        let forgotten = match (report.forgotten.len(), deleted) {
            (0, _) => String::new(),
            (n, Some(deleted)) => format!("; {n} forgotten, and {deleted} older objects deleted"),
            (n, None) => {
                format!("; {n} forgotten, and gone when older saves are collected (`--at-once`: now)")
            }
        };
        Ok(format!("saved: {}, {} written{forgotten}", counted(*sessions, "session"), size(*uploaded)))
    })
}
