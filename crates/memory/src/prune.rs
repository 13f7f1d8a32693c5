//! Which sessions are old enough to go, each with its children.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::{hide_private::ancestry, snapshot::leaf::SessionEntries};

/// What is kept: a session stays if it is among the newest or young enough, as long as there is room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// So many stay, however old.
    pub sessions: usize,
    /// As long stay all, however many.
    pub age: SignedDuration,
    /// No more than this, counting what sessions say; the newest one always stays.
    pub bytes: Option<u64>,
}

impl Default for Retention {
    fn default() -> Self {
        Self { sessions: 50, age: SignedDuration::from_hours(30 * 24), bytes: None }
    }
}

impl Retention {
    /// Lets nothing go.
    pub const EVERYTHING: Self = Self { sessions: usize::MAX, age: SignedDuration::MAX, bytes: None };
}

/// A session with its children.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Tree {
    sessions: Vec<String>,
    updated: i64,
    bytes: u64,
}

/// Returns what may go, but never a session of `protected`.
pub(crate) fn prunable(
    sessions: &SessionEntries,
    retention: &Retention,
    now: Timestamp,
    protected: &BTreeSet<String>,
) -> Vec<String> {
    let oldest = now.checked_sub(retention.age).map_or(i64::MIN, Timestamp::as_millisecond);
    doomed(trees(sessions), retention, oldest, protected)
}

fn doomed(
    mut trees: Vec<Tree>,
    retention: &Retention,
    oldest: i64,
    protected: &BTreeSet<String>,
) -> Vec<String> {
    trees.sort_by(|left, right| (right.updated, &right.sessions).cmp(&(left.updated, &left.sessions)));
    let mut bytes = 0_u64;
    let mut doomed = Vec::new();
    for (rank, tree) in trees.into_iter().enumerate() {
        let is_protected = tree.sessions.iter().any(|session| protected.contains(session));
        let is_wanted = rank < retention.sessions || tree.updated >= oldest;
        bytes = bytes.saturating_add(tree.bytes);
        let fits = rank == 0 || retention.bytes.is_none_or(|most| bytes <= most);
        if !(is_protected || is_wanted && fits) {
            bytes -= tree.bytes;
            doomed.extend(tree.sessions);
        }
    }
    doomed
}

fn trees(sessions: &SessionEntries) -> Vec<Tree> {
    let mut trees: BTreeMap<&str, Tree> = BTreeMap::new();
    for (id, entry) in sessions {
        let root = ancestry(sessions, id).into_root();
        let tree = trees.entry(root).or_insert_with(|| Tree { updated: i64::MIN, ..Tree::default() });
        tree.updated = tree.updated.max(entry.updated);
        tree.bytes += entry.data;
        tree.sessions.push(id.clone());
    }
    trees.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(retention: Retention, ages: &[i64], expected: &[&str]) {
        let tree = |(number, age): (usize, &i64)| Tree {
            sessions: vec![format!("s{number}"), format!("s{number}-child")],
            updated: -age,
            bytes: 10,
        };
        let trees = ages.iter().enumerate().map(tree).collect();
        let doomed = doomed(trees, &retention, -30, &BTreeSet::from(["s0-child".to_owned()]));
        let roots: Vec<_> = doomed.iter().filter(|id| !id.ends_with("child")).collect();
        assert_eq!(roots, expected);
        assert_eq!(doomed.len(), 2 * expected.len());
    }

    #[test]
    fn the_larger_of_count_and_age_stays() {
        let few = Retention { sessions: 2, ..Retention::default() };
        check(few, &[99, 1, 2, 3, 31, 40], &["s4", "s5"]);
        check(few, &[99, 50, 60, 70], &["s3"]);
        check(Retention { sessions: 5, ..few }, &[99, 50, 60, 70], &[]);
    }

    #[test]
    fn bytes_bound_both_and_the_newest_and_the_protected_stay() {
        let tight = Retention { bytes: Some(20), ..Retention::default() };
        check(tight, &[99, 1, 2, 3, 4], &["s3", "s4"]);
        check(Retention { bytes: Some(0), ..tight }, &[99, 1, 2], &["s2"]);
    }
}
