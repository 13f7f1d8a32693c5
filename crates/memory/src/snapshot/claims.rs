//! Decides whose version of a file is kept when two runs changed it: a three-way merge of whole files.

use std::collections::{BTreeMap, BTreeSet};

use super::{catalog::FileChunks, place::FilePlace};

/// What a run may change among the files, and what they were and are in the store.
pub(crate) struct Claims<'a> {
    /// Tells whether this run may have changed a file.
    pub(crate) is_ours: &'a dyn Fn(&FilePlace) -> bool,
    /// Tells whether a file belongs to a session that was removed.
    pub(crate) is_gone: &'a dyn Fn(&FilePlace) -> bool,
    /// The files of the save that the run started from.
    pub(crate) base: Vec<FileChunks>,
    /// The files of the head.
    pub(crate) theirs: Vec<FileChunks>,
}

/// The files of the next save.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// As they lie on this machine.
    pub(crate) ours: Vec<FileChunks>,
    /// As the store has them.
    pub(crate) theirs: Vec<FileChunks>,
    /// Changed here without a right to it.
    pub(crate) left_out: Vec<FilePlace>,
}

impl Claims<'_> {
    /// Chooses a version of every file.
    pub(crate) fn settle(&self, ours: Vec<FileChunks>) -> Choice {
        let base: BTreeMap<_, _> = self.base.iter().map(|file| (&file.place, file)).collect();
        let theirs: BTreeMap<_, _> = self.theirs.iter().map(|file| (&file.place, file)).collect();
        let mut ours: BTreeMap<_, _> = ours.into_iter().map(|file| (file.place.clone(), file)).collect();
        let places: BTreeSet<FilePlace> =
            ours.keys().cloned().chain(theirs.keys().map(|place| (*place).clone())).collect();
        let mut choice = Choice { ours: Vec::new(), theirs: Vec::new(), left_out: Vec::new() };
        for place in places.into_iter().filter(|place| !(self.is_gone)(place)) {
            let (base, theirs) = (base.get(&place).copied(), theirs.get(&place).copied());
            let ours = ours.remove(&place);
            let is_changed = ours.as_ref() != base;
            let is_allowed = (self.is_ours)(&place);
            if is_changed && !is_allowed && ours.as_ref() != theirs {
                choice.left_out.push(place);
            }
            match (ours, theirs) {
                (Some(ours), theirs) if (is_changed && is_allowed) || Some(&ours) == theirs => {
                    choice.ours.push(ours);
                }
                (None, Some(_)) if is_changed && is_allowed => {}
                (_, Some(theirs)) => choice.theirs.push(theirs.clone()),
                (_, None) => {}
            }
        }
        choice
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> Option<FileChunks> {
        let (name, content) = text.split_once('=')?;
        let place = FilePlace::parse(&format!("storage/{name}")).unwrap();
        Some(FileChunks { place, bytes: 1, chunks: vec![blake3::hash(content.as_bytes())] })
    }

    /// Gives one file in three versions, `-` for none, and expects whose version stands.
    #[track_caller]
    fn check(name: &str, [base, ours, theirs]: [&str; 3], expected: &str) {
        let version = |content: &str| file(&format!("{name}={content}")).filter(|_| content != "-");
        let claims = Claims {
            is_ours: &|place| place.as_str().contains("mine"),
            is_gone: &|place| place.as_str().contains("gone"),
            base: version(base).into_iter().collect(),
            theirs: version(theirs).into_iter().collect(),
        };
        let choice = claims.settle(version(ours).into_iter().collect());
        let told = match (choice.ours.len(), choice.theirs.len(), choice.left_out.len()) {
            (1, 0, 0) => "ours",
            (0, 1, 0) => "theirs",
            (0, 0, 0) => "none",
            (0, 1, 1) => "theirs, ours left out",
            (0, 0, 1) => "none, ours left out",
            _ => panic!("{choice:?}"),
        };
        assert_eq!(told, expected, "{name} {base} {ours} {theirs}");
    }

    #[test]
    fn a_file_stands_as_its_owner_left_it() {
        check("mine", ["1", "2", "1"], "ours");
        check("mine", ["1", "2", "3"], "ours");
        check("mine", ["-", "2", "-"], "ours");
        check("mine", ["1", "1", "3"], "theirs");
        check("mine", ["1", "1", "-"], "none");
        check("mine", ["1", "-", "1"], "none");
        check("else", ["1", "1", "1"], "ours");
        check("else", ["1", "1", "3"], "theirs");
        check("else", ["1", "2", "1"], "theirs, ours left out");
        check("else", ["1", "-", "1"], "theirs, ours left out");
        check("else", ["-", "2", "-"], "none, ours left out");
        check("gone", ["1", "1", "1"], "none");
    }
}
