//! Lets go of old sessions, each with its children and its place in the event log.

use std::collections::{BTreeMap, BTreeSet};

use fro_core::ancestry::{Ancestry, Parent};
use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;

use crate::{
    database::judge,
    error::Error,
    merge::rows,
    schema::{SessionTables, columns},
};

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

/// Removes what may go, but never a session of `protected`, and returns what went.
pub(crate) fn prune(
    connection: &Connection,
    retention: &Retention,
    now: Timestamp,
    protected: &BTreeSet<String>,
) -> Result<Vec<String>, Error> {
    let fail = judge("prune the sessions");
    let known = columns(connection, "main", "session").map_err(&fail)?;
    if !["parent_id", "time_updated"].iter().all(|name| known.iter().any(|column| column.name == *name)) {
        return Ok(Vec::new());
    }
    let trees = trees(connection).map_err(&fail)?;
    let oldest = now.checked_sub(retention.age).map_or(i64::MIN, Timestamp::as_millisecond);
    let doomed = doomed(trees, retention, oldest, protected);
    rows::remove_all(connection, &SessionTables::of(connection, "main").map_err(&fail)?, &doomed)
        .map_err(fail)?;
    Ok(doomed)
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

fn trees(connection: &Connection) -> rusqlite::Result<Vec<Tree>> {
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    for table in ["message", "part"] {
        if connection.table_exists(None, table)? {
            let sql = format!("SELECT session_id, sum(length(data)) FROM {table} GROUP BY session_id");
            let mut statement = connection.prepare(&sql)?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)))?;
            for row in rows {
                let (session, bytes): (String, i64) = row?;
                *sizes.entry(session).or_default() += u64::try_from(bytes).unwrap_or_default();
            }
        }
    }
    let mut statement = connection.prepare("SELECT id, parent_id, time_updated FROM session")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
    let sessions: BTreeMap<String, (Option<String>, i64)> = rows.collect::<rusqlite::Result<_>>()?;
    let mut trees: BTreeMap<&str, Tree> = BTreeMap::new();
    for (id, (_, updated)) in &sessions {
        let tree =
            trees.entry(root(&sessions, id)).or_insert_with(|| Tree { updated: i64::MIN, ..Tree::default() });
        tree.updated = tree.updated.max(*updated);
        tree.bytes += sizes.get(id).copied().unwrap_or_default();
        tree.sessions.push(id.clone());
    }
    Ok(trees.into_values().collect())
}

/// Returns the session that a session was opened for in the end.
fn root<'a>(sessions: &'a BTreeMap<String, (Option<String>, i64)>, id: &'a str) -> &'a str {
    let parent_of = |id: &&str| {
        let noted = sessions.get(*id).and_then(|(parent, _)| parent.as_deref());
        Parent::of(noted, |parent| sessions.contains_key(*parent))
    };
    Ancestry::trace(id, parent_of).into_root()
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

    #[test]
    fn a_ring_of_parents_has_one_root() {
        let ring: BTreeMap<_, _> = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")]
            .map(|(id, parent)| (id.to_owned(), (Some(parent.to_owned()), 0)))
            .into();
        assert_eq!(["a", "b", "c", "d"].map(|id| root(&ring, id)), ["a"; 4]);
    }
}
