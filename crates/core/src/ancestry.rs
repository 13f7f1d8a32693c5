//! Which session a session was opened for in the end, and who may hear it therefore.
//!
//! Only sessions that a run opened are in the ledger; the agent opens more below them. The engine's database, where
//! parents are noted, is the agent's to write: a parent may be missing, and parents may go round in circles.

use std::collections::BTreeSet;

use crate::remembered::Audience;

/// What is noted of a session's parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parent<T> {
    /// There is no parent: a run opened the session.
    None,
    /// There was a parent, which does not exist any more.
    Gone,
    /// The parent that the engine's database names.
    Session(T),
}

/// A session and all sessions above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestry<T> {
    path: Vec<T>,
    root: T,
    is_whole: bool,
}

impl<T> Parent<T> {
    /// Makes sure that a parent that was written down is there.
    pub fn verify(noted: Option<T>, is_there: impl FnOnce(&T) -> bool) -> Self {
        match noted {
            None => Self::None,
            Some(parent) if is_there(&parent) => Self::Session(parent),
            Some(_) => Self::Gone,
        }
    }
}

impl<T: Clone + Ord> Ancestry<T> {
    /// Follows parents up to a session that has none, or none that is there.
    pub fn trace(id: T, parent_of: impl Fn(&T) -> Parent<T>) -> Self {
        let (mut path, mut seen, mut top) = (vec![id.clone()], BTreeSet::from([id.clone()]), id);
        loop {
            match parent_of(&top) {
                Parent::None => return Self { path, root: top, is_whole: true },
                Parent::Gone => return Self { path, root: top, is_whole: false },
                Parent::Session(parent) if seen.insert(parent.clone()) => {
                    path.push(parent.clone());
                    top = parent;
                }
                Parent::Session(parent) => {
                    let ring = path.iter().skip_while(|id| **id != parent).min();
                    let root = ring.cloned().unwrap_or(top);
                    return Self { path, root, is_whole: false };
                }
            }
        }
    }

    /// Returns the session with which this one is kept and removed: the topmost that is there, and of a ring the first
    /// by name.
    pub fn into_root(self) -> T {
        self.root
    }

    /// Returns the session that a run opened and that this one was opened for, if that can be told.
    pub fn opened_for(&self) -> Option<&T> {
        self.is_whole.then_some(&self.root)
    }

    /// Returns who may hear this session, by what is known of each session's own audience.
    ///
    /// Everyone may only if a run that everyone could hear opened it in the end, and no session on the way there was
    /// private. If a parent is missing, nobody can tell any more whose words these are, so they are private.
    pub fn audience(&self, known: impl Fn(&T) -> Option<Audience>) -> Audience {
        let opened_in_public = self.opened_for().and_then(&known) == Some(Audience::Everyone);
        let is_private = |id: &T| known(id) == Some(Audience::Insiders);
        if opened_in_public && !self.path.iter().any(is_private) {
            Audience::Everyone
        } else {
            Audience::Insiders
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const PARENTS: [(&str, Option<&str>); 13] = [
        ("public", None),
        ("child", Some("public")),
        ("grandchild", Some("child")),
        ("private", None),
        ("private-child", Some("private")),
        ("moved-private", Some("public")),
        ("child-of-moved", Some("moved-private")),
        ("orphan", Some("public-but-gone")),
        ("public-orphan", Some("public-but-gone")),
        ("a", Some("b")),
        ("b", Some("a")),
        ("hanger-on", Some("b")),
        ("0-self", Some("0-self")),
    ];

    fn trace(id: &'static str) -> Ancestry<&'static str> {
        let parents = BTreeMap::from(PARENTS);
        Ancestry::trace(id, |id| {
            Parent::verify(parents.get(id).copied().flatten(), |parent| parents.contains_key(parent))
        })
    }

    fn check(id: &'static str, root: &str, opened_for: Option<&str>, audience: Audience) {
        let known = |id: &&str| match *id {
            "public" | "public-but-gone" | "public-orphan" | "a" | "0-self" => Some(Audience::Everyone),
            "private" | "moved-private" => Some(Audience::Insiders),
            _ => None,
        };
        let ancestry = trace(id);
        assert_eq!(ancestry.audience(known), audience, "{id}");
        assert_eq!(ancestry.opened_for().copied(), opened_for, "{id}");
        assert_eq!(ancestry.into_root(), root, "{id}");
    }

    #[test]
    fn a_session_is_heard_by_those_who_hear_the_one_that_it_was_opened_for() {
        check("public", "public", Some("public"), Audience::Everyone);
        check("child", "public", Some("public"), Audience::Everyone);
        check("grandchild", "public", Some("public"), Audience::Everyone);
        check("private", "private", Some("private"), Audience::Insiders);
        check("private-child", "private", Some("private"), Audience::Insiders);
        check("nobody", "nobody", Some("nobody"), Audience::Insiders);
    }

    #[test]
    fn a_private_session_stays_private_below_a_public_one() {
        check("moved-private", "public", Some("public"), Audience::Insiders);
        check("child-of-moved", "public", Some("public"), Audience::Insiders);
    }

    #[test]
    fn a_session_whose_parent_is_missing_is_private() {
        check("orphan", "orphan", None, Audience::Insiders);
        check("public-orphan", "public-orphan", None, Audience::Insiders);
    }

    #[test]
    fn a_ring_is_one_family_and_private() {
        for id in ["a", "b", "hanger-on"] {
            check(id, "a", None, Audience::Insiders);
        }
        check("0-self", "0-self", None, Audience::Insiders);
    }
}
