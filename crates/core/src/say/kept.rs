//! What people are told of a memory that was saved.

use std::fmt::Write as _;

use super::summary::{counted, size};

/// What a save did, in figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Saved {
    /// How many sessions there are now.
    pub sessions: u32,
    /// How large all of it is.
    pub bytes: u64,
    /// How much had to be written.
    pub written: u64,
    /// How often another run saved first.
    pub races: u32,
    /// Sessions that others had continued too.
    pub joined: usize,
    /// Sessions that others had changed so that ours became a copy.
    pub forked: usize,
    /// Sessions that were old enough to go.
    pub pruned: usize,
    /// Sessions and files that are not this run's and were changed all the same.
    pub left_out: usize,
    /// Values that had a secret in them.
    pub redacted: u64,
}

/// Returns what a save came to, and what happened on the way.
pub fn saved(saved: &Saved) -> String {
    let mut text = format!(
        "{}, {}, {} written",
        counted(saved.sessions, "session"),
        size(saved.bytes),
        size(saved.written)
    );
    let mut add = |count: u64, what: &str| {
        if count > 0 {
            let _ = write!(text, "; {what}: {count}");
        }
    };
    let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    add(u64::from(saved.races), "other runs that saved meanwhile");
    add(count(saved.joined), "sessions merged with theirs");
    add(count(saved.forked), "sessions kept as a second copy");
    add(count(saved.pruned), "old sessions removed");
    add(count(saved.left_out), "changes to other runs' sessions, left out");
    add(saved.redacted, "values with a secret in them, removed");
    text
}

/// Returns what the run's page says of a save, below whatever stands there.
pub fn page(what: &str, warnings: &[String]) -> String {
    let warnings = warnings.iter().map(|warning| format!("\n> {}\n", warning.replace('\n', " ")));
    format!("\n**Memory**: {what}\n{}", warnings.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_save_tells_what_happened_on_the_way() {
        let quiet = Saved { sessions: 3, bytes: 1_240_000, written: 40_000, ..Saved::default() };
        let busy = Saved { races: 2, joined: 1, forked: 1, pruned: 4, left_out: 1, redacted: 2, ..quiet };
        insta::assert_snapshot!([saved(&quiet), page(&saved(&busy), &["the memory was not copied".to_owned()])].join("\n"), @"
        3 sessions, 1.2 MB, 40 kB written

        **Memory**: 3 sessions, 1.2 MB, 40 kB written; other runs that saved meanwhile: 2; sessions merged with theirs: 1; sessions kept as a second copy: 1; old sessions removed: 4; changes to other runs' sessions, left out: 1; values with a secret in them, removed: 2

        > the memory was not copied
        ");
    }
}
