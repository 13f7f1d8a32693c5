//! What is known of each session without its rows, cut into leaves, so that a small change rewrites a few of them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{manifest::SessionNote, place::FilePlace, rows::Rows};
use crate::{error::Flaw, fingerprint::Fingerprint, store::ObjectName};

/// A leaf ends after a session whose id hashes to a multiple of this: so many sessions it has, more or less.
const LEAF: u8 = 64;

/// The most bytes of one leaf.
pub(crate) const MAX_LEAF: u64 = 64 << 20;

/// A session as its leaf describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionEntry {
    pub(crate) fingerprint: Fingerprint,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<String>,
    /// The level of the engine's schema that its rows were written at.
    pub(crate) level: String,
    /// The chunks of its rows.
    pub(crate) rows: Vec<ObjectName>,
    /// How long they are together.
    pub(crate) bytes: u64,
    /// The files that are named after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) files: Vec<FileNote>,
    pub(crate) title: String,
    pub(crate) directory: String,
    /// Milliseconds since 1970, like the two below.
    pub(crate) created: i64,
    pub(crate) updated: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) archived: Option<i64>,
    /// In dollars.
    pub(crate) cost: f64,
    pub(crate) messages: u32,
    /// How much was said in it, in bytes: its parts, and all of its data.
    pub(crate) said: u64,
    pub(crate) data: u64,
}

/// A file with its chunks: path, length, hashes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileNote(pub(crate) FilePlace, pub(crate) u64, pub(crate) Vec<ObjectName>);

/// The sessions of a save.
pub(crate) type SessionEntries = BTreeMap<String, SessionEntry>;

impl SessionEntry {
    /// Describes the rows of a session; where they lie is for the caller to say.
    pub(crate) fn describe(rows: &Rows, note: &SessionNote, level: &str) -> Self {
        let text = |column: &str| rows.text(column).unwrap_or_default().to_owned();
        let number = |column: &str| rows.integer(column).unwrap_or_default();
        Self {
            fingerprint: note.fingerprint,
            parent: note.parent.clone(),
            level: level.to_owned(),
            rows: Vec::new(),
            bytes: 0,
            files: Vec::new(),
            title: text("title"),
            directory: text("directory"),
            created: number("time_created"),
            updated: number("time_updated"),
            archived: rows.integer("time_archived"),
            cost: rows.cost(),
            messages: super::count(rows.messages()),
            said: rows.said("part"),
            data: rows.said("part") + rows.said("message"),
        }
    }

    /// Returns what comparing sessions takes.
    pub(crate) fn note(&self) -> SessionNote {
        SessionNote { fingerprint: self.fingerprint, parent: self.parent.clone() }
    }
}

/// Returns a session with everything that was opened for it, and for that; nothing if it is not there.
pub(crate) fn tree(sessions: &SessionEntries, root: &str) -> BTreeSet<String> {
    let mut tree = BTreeSet::new();
    let mut next: Vec<&str> = Vec::new();
    next.extend(sessions.get_key_value(root).map(|(id, _)| id.as_str()));
    while let Some(id) = next.pop() {
        if tree.insert(id.to_owned()) {
            let children = sessions.iter().filter(|(_, entry)| entry.parent.as_deref() == Some(id));
            next.extend(children.map(|(child, _)| child.as_str()));
        }
    }
    tree
}

/// Cuts sessions into leaves, each with its first session: where is decided by the ids alone.
pub(crate) fn cut(entries: &SessionEntries) -> Result<Vec<(String, Vec<u8>)>, std::io::Error> {
    let mut leaves = Vec::new();
    let mut leaf: BTreeMap<&str, &SessionEntry> = BTreeMap::new();
    for (id, entry) in entries {
        leaf.insert(id, entry);
        if blake3::hash(id.as_bytes()).as_bytes()[0].is_multiple_of(LEAF) {
            leaves.extend(written(&std::mem::take(&mut leaf))?);
        }
    }
    leaves.extend(written(&leaf)?);
    Ok(leaves)
}

fn written(leaf: &BTreeMap<&str, &SessionEntry>) -> Result<Option<(String, Vec<u8>)>, std::io::Error> {
    let Some(first) = leaf.keys().next() else { return Ok(None) };
    Ok(Some(((*first).to_owned(), serde_json::to_vec(leaf)?)))
}

/// Adds the sessions of a leaf to those of the leaves before it.
pub(crate) fn read(bytes: &[u8], first: &str, into: &mut SessionEntries) -> Result<(), Flaw> {
    let leaf: SessionEntries =
        serde_json::from_slice(bytes).map_err(|error| Flaw::Manifest(format!("a leaf: {error}")))?;
    let follows = into.keys().next_back().is_none_or(|last| last.as_str() < first);
    if !follows || leaf.keys().next().map(String::as_str) != Some(first) {
        return Err(Flaw::Manifest("its sessions are not in order".to_owned()));
    }
    into.extend(leaf);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_change_rewrites_one_leaf() {
        let rows = Rows::default();
        let fingerprint = serde_json::from_value("0".repeat(32).into()).unwrap();
        let note = SessionNote { fingerprint, parent: None };
        let entry = SessionEntry::describe(&rows, &note, "level");
        let mut entries: SessionEntries =
            (0..2_000).map(|number| (format!("ses_{number:05}"), entry.clone())).collect();
        let before = cut(&entries).unwrap();
        assert!((20..60).contains(&before.len()), "{}", before.len());
        let mut read_back = SessionEntries::new();
        for (first, bytes) in &before {
            read(bytes, first, &mut read_back).unwrap();
        }
        assert_eq!(read_back, entries);

        entries.get_mut("ses_00777").unwrap().title = "another".to_owned();
        entries.insert("ses_01234a".to_owned(), entry);
        let after = cut(&entries).unwrap();
        let fresh = after.iter().filter(|leaf| !before.contains(leaf)).count();
        assert!(fresh <= 3, "{fresh}");
    }
}
