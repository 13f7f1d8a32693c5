//! The names of entries in the Actions cache.
//!
//! ```text
//! opencode-storage-<identity>-<repo>-<ref>-<os>-<number>-<run>-<attempt>   a head: newer is found first
//! fro-bot-memory-pack-<hash>-<run>-<attempt>-<n>                           an object, found by its beginning
//! fro-bot-memory-turn-<hash of the head's beginning>-<number>              whoever reserves it may write that head
//! ```

use sha2::{Digest as _, Sha256};

use super::EntryNames;
use crate::store::{Head, Object, ObjectName};

/// The most that the service takes.
const LONGEST: usize = 512;

/// Names entries for one run.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    names: EntryNames,
}

impl Keys {
    pub(super) fn new(names: EntryNames) -> Self {
        Self { names }
    }

    /// Returns what sets our entries apart from everybody else's; another format has another one.
    pub(super) fn version(format: u64) -> String {
        data_encoding::HEXLOWER.encode(&Sha256::digest(format!("fro-bot memory, format {format}")))
    }

    /// Returns how the heads of this run's branch begin, then of any branch of this repository.
    pub(super) fn heads(&self) -> [String; 3] {
        let EntryNames { identity, repo, branch, os, .. } = &self.names;
        let repo = format!("opencode-storage-{}-{}-", plain(identity), plain(repo));
        let branch = format!("{repo}{}-", plain(branch));
        [format!("{branch}{}-", plain(os)), branch, repo]
    }

    /// Returns how the keys of the head of this number begin.
    pub(super) fn numbered(&self, number: u64) -> String {
        let [beginning, ..] = self.heads();
        format!("{beginning}{number}-")
    }

    /// Returns the key of a head.
    pub(super) fn head(&self, number: u64) -> String {
        let EntryNames { run, attempt, .. } = &self.names;
        format!("{}{}-{attempt}", self.numbered(number), plain(run))
    }

    /// Reads the number out of the key of a head.
    pub(super) fn number(key: &str) -> Option<u64> {
        key.rsplit('-').nth(2)?.parse().ok()
    }

    /// Returns the key that must be reserved to write a head.
    pub(super) fn turn(&self, number: u64) -> String {
        let [beginning, ..] = self.heads();
        format!("fro-bot-memory-turn-{}-{number}", &blake3::hash(beginning.as_bytes()).to_hex()[..16])
    }

    /// Returns a key that is reserved only to see whether it may be.
    pub(super) fn probe(&self) -> String {
        let EntryNames { run, attempt, .. } = &self.names;
        format!("fro-bot-memory-probe-{}-{attempt}-{}", plain(run), unique())
    }

    /// Returns how the keys of an object begin.
    pub(super) fn object(object: Object) -> String {
        match object {
            Object::Manifest(name) => format!("fro-bot-memory-manifest-{name}-"),
            Object::Pack(name) => format!("fro-bot-memory-pack-{name}-"),
        }
    }

    /// How the keys of all manifests begin.
    pub(super) const MANIFESTS: &str = "fro-bot-memory-manifest-";

    /// Reads the name of a manifest out of its key, if the attempt of a run stored it that wrote a head.
    pub(super) fn manifest_of(manifest: &str, head: &str) -> Option<Head> {
        let (name, by) = manifest.strip_prefix(Self::MANIFESTS)?.split_once('-')?;
        let (by, _unique) = by.rsplit_once('-')?;
        let is_same = head.strip_suffix(by).is_some_and(|rest| rest.ends_with('-'));
        is_same.then(|| ObjectName::parse(name).map(Head::from)).flatten()
    }

    /// Returns a key for an object that nobody else has.
    pub(super) fn new_object(&self, object: Object) -> String {
        let EntryNames { run, attempt, .. } = &self.names;
        format!("{}{}-{attempt}-{}", Self::object(object), plain(run), unique())
    }
}

/// A number that no other entry of the same run has.
fn unique() -> u128 {
    jiff::Timestamp::now().as_nanosecond().unsigned_abs()
}

/// Leaves out what the service refuses in a key, and shortens what would make it too long.
fn plain(text: &str) -> String {
    let text: String = text.chars().map(|c| if c == ',' || c.is_control() { '_' } else { c }).collect();
    if text.len() <= LONGEST / 4 {
        return text;
    }
    let start = text.floor_char_boundary(LONGEST / 8);
    format!("{}~{}", &text[..start], &blake3::hash(text.as_bytes()).to_hex()[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_follow_the_pattern_and_stay_within_the_limits() {
        let names = |branch: &str| EntryNames {
            identity: "github".to_owned(),
            repo: "octo/garden".to_owned(),
            branch: branch.to_owned(),
            os: "Linux".to_owned(),
            run: "42".to_owned(),
            attempt: 1,
        };
        let keys = Keys::new(names("main"));
        assert_eq!(keys.head(7), "opencode-storage-github-octo/garden-main-Linux-7-42-1");
        assert_eq!(Keys::number(&keys.head(7)), Some(7));
        assert_eq!(
            keys.heads(),
            [
                "opencode-storage-github-octo/garden-main-Linux-",
                "opencode-storage-github-octo/garden-main-",
                "opencode-storage-github-octo/garden-"
            ]
        );
        let name = ObjectName::from(blake3::hash(b"a manifest"));
        let stored = keys.new_object(Object::Manifest(name));
        assert_eq!(Keys::manifest_of(&stored, &keys.head(7)), Some(name.into()));
        assert_eq!(Keys::manifest_of(&stored.replace("-42-1-", "-43-1-"), &keys.head(7)), None);
        assert_eq!(Keys::manifest_of(&stored.replace("-42-1-", "-2-1-"), &keys.head(7)), None);
        let long = Keys::new(names(&"so,long".repeat(200))).head(u64::MAX);
        assert!(long.len() <= LONGEST && !long.contains(','), "{long}");
    }
}
