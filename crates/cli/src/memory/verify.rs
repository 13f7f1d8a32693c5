//! Reads every byte of every store, and looks for values that must not be there.

use std::{path::Path, process::ExitCode};

use fro_core::{
    Fault, Secret,
    say::summary::{counted, size},
};
use fro_memory::{Audit, Error, Place, Repair, audit};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{described, later_than_head, went_back, which::Which};
use crate::{env::Env, report, table::time, waiting::Waiting};

/// Verifies all stores; one that is not sound, that holds a value, or that cannot be read makes it fail.
pub(super) fn main(which: &Which, env: &Env, secrets: Option<&Path>) -> Result<ExitCode, Fault> {
    let values = secrets.map(read).transpose()?.unwrap_or_default();
    let stores = which.stores(env)?;
    let waiting = Waiting::begin(env, "reading every byte of the memory");
    let audits: Vec<(Place, Result<Audit, Error>)> =
        stores.iter().map(|store| (store.place(), audit(store, &values))).collect();
    let later: Vec<String> = stores.iter().map(|store| went_back(later_than_head(store).as_ref())).collect();
    drop(waiting);
    let value = json!({
        "needles": values.len(),
        "stores": audits.iter().map(|(place, audit)| as_json(*place, audit)).collect::<Vec<_>>(),
    });
    which.show(&value, || {
        let lines = audits.iter().zip(&later).map(|((place, audit), later)| {
            let line = line(*place, audit, values.len());
            format!("{line}{later}")
        });
        Ok(lines.collect::<Vec<_>>().join("\n"))
    })?;
    Ok(ended(audits.into_iter().map(|(_, audit)| audit)))
}

/// Returns how the command ends. Damage comes first: it stays when a store that is away has come back.
fn ended(audits: impl Iterator<Item = Result<Audit, Error>>) -> ExitCode {
    let (read, unread): (Vec<_>, Vec<_>) = audits.partition(Result::is_ok);
    let mut read = read.into_iter().flatten();
    if !read.all(|audit| audit.flaws.is_empty() && audit.found.is_empty()) {
        return ExitCode::FAILURE;
    }
    let faults = unread.into_iter().filter_map(Result::err).map(Fault::from);
    faults.map(|fault| fault.exit_code()).max().map_or(ExitCode::SUCCESS, ExitCode::from)
}

/// Repairs every store as far as it can be, and says on the way what was done.
pub(super) fn repair(which: &Which, env: &Env) -> Result<(), Fault> {
    for (place, done) in which.stores(env)?.repair(Timestamp::now()) {
        match done {
            Ok(Repair::Empty | Repair::Sound) => {}
            Ok(done) => report::complaint(env, &Fault::ours(repaired(place, &done))),
            Err(error) => report::complaint(env, &error.into()),
        }
    }
    Ok(())
}

/// Says what was done to a store.
fn repaired(place: Place, done: &Repair) -> String {
    match done {
        Repair::Empty => format!("{place}: nothing was saved yet"),
        Repair::Sound => format!("{place}: nothing had to be repaired"),
        Repair::Mended { why, from } => format!("{place}: repaired from {from}; {why}"),
        Repair::Renewed { objects } => {
            format!("{place}: {} repaired from the copies in it", counted(*objects, "object"))
        }
        Repair::PutBack { why, saved_at, sessions } => {
            let kept = counted(*sessions, "session");
            format!("{place}: went back to the save of {}, {kept}; {why}", time(*saved_at))
        }
        Repair::SetAside { why } => format!("{place}: set aside, no save is whole; {why}"),
    }
}

/// Reads the values, one per line.
fn read(file: &Path) -> Result<Vec<Secret>, Fault> {
    let text = fs_err::read_to_string(file).map_err(|error| {
        Fault::yours(format!("cannot read the values: {error}"), "give a file with one value per line")
    })?;
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(Secret::new).collect())
}

fn as_json(place: Place, audit: &Result<Audit, Error>) -> Value {
    match audit {
        Ok(audit) => {
            let found = audit.found.iter().map(|(number, place)| json!({ "value": number, "in": place }));
            json!({
                "store": place.to_string(),
                "sound": audit.flaws.is_empty(),
                "flaws": audit.flaws,
                "objects": audit.objects,
                "bytes": audit.bytes,
                "found": found.collect::<Vec<_>>(),
            })
        }
        Err(error) => json!({ "store": place.to_string(), "sound": null, "why": error.story() }),
    }
}

fn line(place: Place, audit: &Result<Audit, Error>, values: usize) -> String {
    let audit = match audit {
        Ok(audit) => audit,
        Err(error) => return format!("{place}: not verified: {}", error.story()),
    };
    let found = audit.found.iter().map(|(number, place)| format!("value {number} in {place}"));
    let bad: Vec<String> = audit.flaws.iter().cloned().chain(found).collect();
    let read = format!("{}, {} read", counted(audit.objects, "object"), size(audit.bytes));
    match (bad.as_slice(), values) {
        ([], 0) => format!("{place}: sound, {read}: {}", described(&audit.recall)),
        ([], n) => format!(
            "{place}: sound, none of {} in it, {read}: {}",
            counted(n, "value"),
            described(&audit.recall)
        ),
        (bad, _) => format!("{place}: not as it should be, {read}\n    {}", bad.join("\n    ")),
    }
}
