//! Which changes of a run are its own: its sessions and their children, and nothing else.
//!
//! The agent's shell can write to the engine's database. Whatever differs from what was restored and does not belong
//! to this run is left out of the save.

use std::collections::BTreeSet;

use crate::{fingerprint::Fingerprints, snapshot::place::FilePlace};

/// The sessions that a run may have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChangedSessions {
    /// Every one: for a folder that no agent can write to.
    All,
    /// These and their children.
    Only(BTreeSet<String>),
}

/// What a run may claim of what it left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Accepted {
    /// The fingerprints as they are, but for foreign sessions as they were.
    pub(crate) fingerprints: Fingerprints,
    /// Foreign sessions that differ from what was restored.
    pub(crate) left_out: Vec<String>,
    /// This run's sessions and their children.
    pub(crate) own: BTreeSet<String>,
}

impl ChangedSessions {
    /// Judges what a run left behind by what it was given.
    pub(crate) fn accept(&self, base: &Fingerprints, now: &Fingerprints) -> Accepted {
        let Self::Only(roots) = self else {
            return Accepted {
                fingerprints: now.clone(),
                left_out: Vec::new(),
                own: now.keys().cloned().collect(),
            };
        };
        let mut fingerprints = base.clone();
        let mut left_out = Vec::new();
        let mut own = BTreeSet::new();
        for id in base.keys().chain(now.keys()).collect::<BTreeSet<_>>() {
            let (before, after) = (base.get(id), now.get(id));
            if is_own(roots, base, now, id) {
                own.insert(id.clone());
                match after {
                    Some(note) => fingerprints.insert(id.clone(), note.clone()),
                    None => fingerprints.remove(id),
                };
            } else if before.map(|note| note.fingerprint) != after.map(|note| note.fingerprint) {
                left_out.push(id.clone());
            }
        }
        Accepted { fingerprints, left_out, own }
    }

    /// Tells whether a file may have been changed by a run with these sessions.
    pub(crate) fn owns_file(&self, own: &BTreeSet<String>, place: &FilePlace) -> bool {
        match self {
            Self::All => true,
            Self::Only(_) => own.iter().any(|session| place.belongs_to(session)),
        }
    }

    /// Returns the sessions that must not be pruned.
    pub(crate) fn protected(&self) -> BTreeSet<String> {
        match self {
            Self::All => BTreeSet::new(),
            Self::Only(roots) => roots.clone(),
        }
    }
}

/// Follows parents up to a session of this run; a session that was there before must have had its parent before.
fn is_own(roots: &BTreeSet<String>, base: &Fingerprints, now: &Fingerprints, id: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut next = Some(id);
    while let Some(id) = next {
        if roots.contains(id) {
            return true;
        }
        if !seen.insert(id) {
            return false;
        }
        next = base.get(id).or_else(|| now.get(id)).and_then(|note| note.parent.as_deref());
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::manifest::SessionNote;

    fn notes(text: &str) -> Fingerprints {
        let note = |word: &str| {
            let (id, rest) = word.split_once('=').unwrap();
            let (fingerprint, parent) = rest.split_once('<').unwrap_or((rest, ""));
            let fingerprint = serde_json::from_value(format!("{fingerprint:0>32}").into()).unwrap();
            let parent = (!parent.is_empty()).then(|| parent.to_owned());
            (id.to_owned(), SessionNote { fingerprint, parent })
        };
        text.split_whitespace().map(note).collect()
    }

    #[test]
    fn only_own_sessions_and_their_children_may_change() {
        let base = notes("mine=1 child=1<mine foreign=1 deleted=1 stolen=1");
        let now = notes("mine=2 child=2<mine grandchild=1<child foreign=2 stolen=2<mine new=1 ring=1<ring");
        let accepted = ChangedSessions::Only(["mine".to_owned()].into()).accept(&base, &now);
        assert_eq!(accepted.left_out, ["deleted", "foreign", "new", "ring", "stolen"]);
        let stands = notes("mine=2 child=2<mine grandchild=1<child foreign=1 deleted=1 stolen=1");
        assert_eq!(accepted.fingerprints, stands);
    }

    #[test]
    fn where_no_agent_can_write_everything_counts() {
        let now = notes("a=1 b=2");
        let accepted = ChangedSessions::All.accept(&notes("a=0"), &now);
        assert_eq!((accepted.fingerprints, accepted.left_out), (now, Vec::new()));
    }
}
