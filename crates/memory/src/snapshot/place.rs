//! The place of a file in the engine's folder: always below `storage/`, never outside, never a credential.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::error::Flaw;

const ROOT: &str = "storage";
const MAX_LENGTH: usize = 1024;
const MAX_COMPONENT: usize = 255;

/// Names that hold credentials of the engine, wherever they lie.
const CREDENTIALS: [&str; 2] = ["auth.json", "mcp-auth.json"];

/// A relative path with `/` between its components.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub(crate) struct FilePlace(String);

impl FilePlace {
    /// Accepts a path that stays where it belongs.
    pub(crate) fn parse(path: &str) -> Option<Self> {
        let mut components = path.split('/');
        let is_below = components.next() == Some(ROOT) && path.len() > ROOT.len();
        let is_plain = |name: &str| {
            !matches!(name, "" | "." | "..")
                && name.len() <= MAX_COMPONENT
                && !name.contains(['\\', '\0'])
                && !CREDENTIALS.contains(&name.to_ascii_lowercase().as_str())
        };
        (is_below && path.len() <= MAX_LENGTH && components.all(is_plain)).then(|| Self(path.to_owned()))
    }

    /// Returns the path.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Tells whether the path names a session, as a folder or as the stem of a file.
    pub(crate) fn belongs_to(&self, session: &str) -> bool {
        self.0.split('/').any(|name| {
            name.strip_prefix(session).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }

    /// Makes sure that places rise strictly and none is a folder of another.
    pub(crate) fn check_all<'a>(places: impl Iterator<Item = &'a Self>) -> Result<(), Flaw> {
        let mut files = std::collections::HashSet::new();
        let mut before: Option<&Self> = None;
        for place in places {
            if before.is_some_and(|before| before >= place) {
                return Err(Flaw::Manifest("its files are not in order".to_owned()));
            }
            before = Some(place);
            let folders = place.0.match_indices('/').map(|(end, _)| &place.0[..end]);
            if folders.into_iter().any(|folder| files.contains(folder)) {
                return Err(Flaw::Manifest(format!("`{place}` lies below a file")));
            }
            files.insert(place.as_str());
        }
        Ok(())
    }
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for FilePlace {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("a file outside of `storage/`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_paths_below_storage_are_places() {
        for good in ["storage/.version", "storage/session_diff/ses_1.json", "storage/a b/é"] {
            assert_eq!(FilePlace::parse(good).map(|place| place.to_string()).as_deref(), Some(good));
        }
        let long = format!("storage/{}", "a".repeat(256));
        for hostile in [
            "",
            "storage",
            "storage/",
            "/storage/a",
            "storage/../a",
            "storage/./a",
            "storage//a",
            "../storage/a",
            "opencode.db",
            "storage/a\\..\\b",
            "storage/a\0b",
            "storage/auth.json",
            "storage/x/MCP-auth.json",
            &long,
        ] {
            assert_eq!(FilePlace::parse(hostile), None, "{hostile:?}");
        }
    }

    #[test]
    fn a_file_is_not_a_folder_and_comes_once() {
        let check = |paths: &[&str]| {
            let places: Vec<_> = paths.iter().map(|path| FilePlace::parse(path).unwrap()).collect();
            FilePlace::check_all(places.iter()).is_ok()
        };
        assert!(check(&["storage/a", "storage/a.b", "storage/b/c"]));
        assert!(!check(&["storage/a", "storage/a"]));
        assert!(!check(&["storage/b", "storage/a"]));
        assert!(!check(&["storage/a", "storage/a.b", "storage/a/c"]));
    }

    #[test]
    fn a_session_owns_what_is_named_after_it() {
        let owns = |path: &str| FilePlace::parse(path).unwrap().belongs_to("ses_1");
        assert!(owns("storage/session_diff/ses_1.json") && owns("storage/part/ses_1/x"));
        assert!(!owns("storage/session_diff/ses_12.json") && !owns("storage/x/y_ses_1"));
    }
}
