//! Which values each pack was searched for, so that a value that is known to be secret only now is looked for in all
//! packs that it was never looked for in, and in each of them once.
//!
//! Of a value sixteen bits of a keyed hash are kept: enough to know it again, too little to guess it by.

use std::collections::{BTreeMap, BTreeSet};

use fro_core::Secret;

use super::Attempt;
use crate::{
    error::Error,
    secrets::SHORTEST,
    snapshot::{manifest::SEARCHED_FOR, saved::Saved},
    store::ObjectName,
};

/// So much of a pack's name tells it from the others of a save.
const TELLING: usize = 8;

/// Stands where the name of a pack does, before the marks of values that may have been of one run alone.
const SEEN: &str = "seen";

/// So many of those are remembered.
const MOST_SEEN: usize = 64;

/// The marks of values, for each pack.
#[derive(Debug, Default)]
pub(crate) struct Searched {
    salt: String,
    packs: BTreeMap<String, BTreeSet<String>>,
    /// Those of values that may have been of one run alone, the newest last.
    seen: Vec<String>,
    /// The marks of all values that are taken out of what is written now.
    now: BTreeSet<String>,
}

impl Searched {
    /// Reads what is noted: a salt, after it `pack:mark,mark…` for each pack, and `seen:mark,mark…`.
    fn noted(origin: &BTreeMap<String, String>) -> Option<Self> {
        let mut words = origin.get(SEARCHED_FOR)?.split(' ');
        let salt = words.next()?.to_owned();
        let mut searched = Self { salt, ..Self::default() };
        for (pack, marks) in words.filter_map(|word| word.split_once(':')) {
            let marks = marks.split(',').filter(|mark| !mark.is_empty()).map(str::to_owned);
            if pack == SEEN {
                searched.seen = marks.collect();
            } else {
                searched.packs.insert(pack.to_owned(), marks.collect());
            }
        }
        Some(searched)
    }

    /// Returns the marks of values, those of which are long enough to be looked for.
    fn marks<'a>(&self, values: impl IntoIterator<Item = &'a Secret>) -> BTreeSet<String> {
        let key =
            blake3::derive_key("fro-bot memory, values that packs were searched for", self.salt.as_bytes());
        let values = values.into_iter().map(Secret::expose).filter(|value| value.len() >= SHORTEST);
        values.map(|value| blake3::keyed_hash(&key, value.as_bytes()).to_hex()[..4].to_owned()).collect()
    }

    /// Returns the marks that all packs have.
    fn marks_of_all(&self) -> BTreeSet<String> {
        let mut packs = self.packs.values();
        let first = packs.next().cloned().unwrap_or_default();
        packs.fold(first, |all, marks| all.intersection(marks).cloned().collect())
    }

    fn marks_of(&self, pack: ObjectName) -> Option<&BTreeSet<String>> {
        self.packs.get(&pack.to_string()[..TELLING])
    }

    /// Writes down what the packs of a save were searched for. What was moved into the new one from others was so
    /// only if they were.
    pub(crate) fn note(
        &self,
        packs: impl Iterator<Item = ObjectName>,
        moved_from: &BTreeSet<String>,
    ) -> String {
        let nothing = BTreeSet::new();
        let fresh = moved_from.iter().fold(self.now.clone(), |marks, pack| {
            let others = self.packs.get(&pack[..TELLING]).unwrap_or(&nothing);
            marks.intersection(others).cloned().collect()
        });
        let each = packs.map(|pack| {
            let marks: Vec<&str> = self.marks_of(pack).unwrap_or(&fresh).iter().map(String::as_str).collect();
            format!(" {}:{}", &pack.to_string()[..TELLING], marks.join(","))
        });
        format!("{}{} {SEEN}:{}", self.salt, each.collect::<String>(), self.seen.join(","))
    }
}

impl Attempt<'_, '_> {
    /// Looks for values in packs that they were never looked for in, and tells whether one was found.
    ///
    /// A value that may be of this run alone is no reason to read what others wrote, unless an earlier run had it too.
    pub(super) fn search(&self, theirs: Option<&Saved>) -> Result<(bool, Searched), Error> {
        // A memory that is brought here from another store says itself what it was searched for.
        let noted = Searched::noted(theirs.map_or(&self.keep.origin, |theirs| &theirs.manifest.origin));
        // Anything will do for a salt that is another one in each memory.
        let salt =
            || blake3::hash(format!("{:?}", self.keep.provenance).as_bytes()).to_hex()[..16].to_owned();
        let mut searched = noted.unwrap_or_else(|| Searched { salt: salt(), ..Searched::default() });
        let passing = searched.marks(&self.keep.passing);
        let mut wanted: BTreeSet<String> =
            passing.iter().filter(|mark| searched.seen.contains(mark)).cloned().collect();
        wanted.extend(searched.marks(&self.keep.secrets));
        searched.seen.retain(|mark| !passing.contains(mark));
        searched.seen.extend(passing.iter().cloned());
        searched.seen.drain(..searched.seen.len().saturating_sub(MOST_SEEN));
        searched.now = wanted.union(&passing).cloned().collect();
        if theirs.is_none() {
            searched.now.extend(searched.marks_of_all());
        }
        let mut is_found = false;
        for note in theirs.iter().flat_map(|theirs| &theirs.catalog.packs) {
            let marks = searched.packs.entry(note.name.to_string()[..TELLING].to_owned()).or_default();
            if wanted.is_subset(marks) {
                continue;
            }
            marks.extend(wanted.iter().cloned());
            if let Some(theirs) = theirs {
                is_found |= self.secrets.stand_in_pack(self.store, theirs, note.name)?;
            }
        }
        Ok((is_found, searched))
    }
}
