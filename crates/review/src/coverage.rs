//! How much of a pull request a run looked at, as its blocks tell the next run.
//!
//! Only a review that went through all of its passes has seen a commit. An answer in one thread, or a review that broke
//! off, has a commit too, but what it left unread must not count as seen.

use std::collections::BTreeSet;

use ring::digest;
use serde_json::Value;

use crate::rmcoc::Fields;

/// Bytes of the names of unread files; a block has to fit into a comment with everything else.
const LISTED: usize = 2_000;

/// What a run looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The newest commit of the pull request at that time.
    pub commit: String,
    coverage: Coverage,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Coverage {
    /// A thread, or passes that broke off.
    Part,
    /// Every pass, over all files but these, by their fingerprints.
    Whole { unread: BTreeSet<String> },
}

impl Look {
    /// A look at a part of a commit: one thread, or not all passes.
    pub fn part(commit: &str) -> Self {
        Self { commit: commit.to_owned(), coverage: Coverage::Part }
    }

    /// A review that went through all passes without having been shown these files.
    ///
    /// More unread files than a block can hold make it a part: it is safer to read a file twice than never.
    pub fn whole(commit: &str, left_out: &[String]) -> Self {
        let unread: BTreeSet<String> = left_out.iter().map(|path| fingerprint(path)).collect();
        let fits = unread.iter().map(|name| name.len() + 1).sum::<usize>() <= LISTED;
        let coverage = if fits { Coverage::Whole { unread } } else { Coverage::Part };
        Self { commit: commit.to_owned(), coverage }
    }

    /// Returns the same commit as a part, for what is written before everything else is.
    #[must_use]
    pub fn as_part(&self) -> Self {
        Self::part(&self.commit)
    }

    /// Tells whether a file was left unread.
    pub fn has_left_out(&self, path: &str) -> bool {
        match &self.coverage {
            Coverage::Part => true,
            Coverage::Whole { unread } => unread.contains(&fingerprint(path)),
        }
    }

    /// Puts it into a block.
    pub(crate) fn write(&self, fields: &mut Fields) {
        fields.insert("commit".to_owned(), Value::String(self.commit.clone()));
        if let Coverage::Whole { unread } = &self.coverage {
            fields.insert("complete".to_owned(), Value::Bool(true));
            if !unread.is_empty() {
                let unread: Vec<&str> = unread.iter().map(String::as_str).collect();
                fields.insert("unread".to_owned(), Value::String(unread.join(" ")));
            }
        }
    }

    /// Reads a review of a whole commit from a block; nothing if it was none.
    pub(crate) fn read_whole(fields: &Fields) -> Option<Self> {
        let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
        let is_whole = fields.get("complete").and_then(Value::as_bool).unwrap_or_default();
        let commit = Some(text("commit")).filter(|commit| is_whole && !commit.is_empty())?.to_owned();
        let unread = text("unread").split(' ').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Some(Self { commit, coverage: Coverage::Whole { unread } })
    }
}

/// Names a file in a few bytes, and without its author's words.
fn fingerprint(path: &str) -> String {
    let hash = digest::digest(&digest::SHA256, path.as_bytes());
    data_encoding::HEXLOWER.encode(&hash.as_ref()[..4])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(look: &Look) -> Fields {
        let mut fields = Fields::new();
        look.write(&mut fields);
        fields
    }

    #[test]
    fn only_a_whole_review_is_read_back_and_with_what_it_left_out() {
        let (seen, huge) = ("tap.rs".to_owned(), "huge.rs".to_owned());
        let whole = Look::whole("a1", std::slice::from_ref(&huge));
        assert_eq!(Look::read_whole(&written(&whole)).as_ref(), Some(&whole));
        assert_eq!((whole.has_left_out(&huge), whole.has_left_out(&seen)), (true, false));
        assert_eq!(Look::read_whole(&written(&whole.as_part())), None);
        assert_eq!(Look::read_whole(&written(&Look::part("a1"))), None);
        assert_eq!(Look::read_whole(&written(&Look::whole("", &[]))), None);
    }

    #[test]
    fn a_review_that_left_out_more_than_a_block_holds_has_seen_nothing() {
        let paths = |many: usize| (0..many).map(|at| format!("src/{at}.rs")).collect::<Vec<_>>();
        assert!(Look::read_whole(&written(&Look::whole("a1", &paths(200)))).is_some());
        assert_eq!(Look::whole("a1", &paths(3_000)), Look::part("a1"));
    }
}
