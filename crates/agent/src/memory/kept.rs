//! The report of a save, for the log and the run's page.

use fro_core::say::kept;
use fro_memory::{Keeping, Kept};

/// Says what became of a save.
pub fn describe(kept: &Kept) -> String {
    match kept {
        Kept::Saved { sessions, bytes, uploaded, report, .. } => {
            let figures = kept::Saved {
                sessions: *sessions,
                bytes: *bytes,
                written: *uploaded,
                races: report.races,
                joined: report.merged.joined.len(),
                forked: report.merged.forked.len(),
                pruned: report.pruned.len(),
                left_out: report.left_out.len(),
                redacted: report.redacted,
            };
            format!("saved: {}", kept::saved(&figures))
        }
        Kept::Raced { .. } => {
            "not saved: other runs never stopped saving; what this run learned is parked in the store"
                .to_owned()
        }
        Kept::Nothing => "nothing to save".to_owned(),
    }
}

/// Says what went wrong with a save, for those who read the answer.
pub fn trouble(keeping: &Keeping) -> Vec<String> {
    let lost = match &keeping.kept {
        Some(kept @ Kept::Raced { .. }) => Some(format!("the memory was {}", describe(kept))),
        Some(Kept::Saved { .. } | Kept::Nothing) | None => None,
    };
    keeping.warnings.iter().cloned().chain(lost).collect()
}

/// Says what became of a save and what went wrong, for the run's page.
pub fn on_page(keeping: &Keeping) -> String {
    let what = keeping.kept.as_ref().map_or_else(|| "not saved".to_owned(), describe);
    kept::page(&what, &keeping.warnings)
}
