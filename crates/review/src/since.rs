//! What is new since the last review, and whether it can have fixed a finding.
//!
//! Two diffs of the whole pull request are compared by their changed lines, not by commits or times: a rebase, a
//! force-push and a merge of the base move everything and change nothing of what the author wrote.

use std::collections::{BTreeMap, BTreeSet};

/// The lines that a pull request adds and removes, file by file, as its diff has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    files: BTreeMap<String, Vec<String>>,
}

impl Written {
    /// Reads the changed lines of a diff that `git diff` wrote.
    pub fn read(diff: &str) -> Self {
        let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let (mut path, mut inside) = (None, false);
        for line in diff.lines().map(|line| line.trim_end_matches('\r')) {
            if line.starts_with("diff --git ") {
                (path, inside) = (named(line), false);
                if let Some(path) = &path {
                    files.entry(path.clone()).or_default();
                }
            } else if line.starts_with("@@ ") {
                inside = true;
            } else if let (true, Some(path)) = (inside && line.starts_with(['+', '-']), &path) {
                files.entry(path.clone()).or_default().push(line.to_owned());
            }
        }
        Self { files }
    }
}

/// Takes the new path from the header; git quotes paths with special letters, and both diffs do it alike.
fn named(header: &str) -> Option<String> {
    let (_, new) = header.rsplit_once(" b/").or_else(|| header.rsplit_once(" \"b/"))?;
    Some(new.trim_end_matches('"').to_owned())
}

/// What is new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Since {
    /// Nothing is known of an earlier review: everything is new.
    Beginning,
    /// The author wrote nothing since.
    Nothing,
    /// These files have changed lines that the last review has not seen, or lost some that it saw.
    Files(BTreeSet<String>),
}

impl Since {
    /// Compares the pull request's diff at the last reviewed commit, if it can still be had, with that of now.
    pub fn between(before: Option<&Written>, now: &Written) -> Self {
        let Some(before) = before else { return Self::Beginning };
        let paths = before.files.keys().chain(now.files.keys());
        let differs = |path: &&String| before.files.get(*path) != now.files.get(*path);
        let files: BTreeSet<String> = paths.filter(differs).cloned().collect();
        if files.is_empty() { Self::Nothing } else { Self::Files(files) }
    }

    /// Tells whether a file has something new.
    pub fn touches(&self, path: &str) -> bool {
        match self {
            Self::Beginning => true,
            Self::Nothing => false,
            Self::Files(files) => files.contains(path),
        }
    }
}

/// What speaks for a finding having been fixed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// The lines that it is about were changed.
    Here,
    /// Its file was changed elsewhere, or the reason names another file that was.
    In(String),
    /// Nothing was written that could have fixed it.
    Missing,
}

impl Evidence {
    /// Looks for it: first at the finding's own lines, then in its file, then in files that the reason names.
    pub fn of(path: &str, lines_changed: bool, since: &Since, reason: &str) -> Self {
        match since {
            Since::Nothing | Since::Beginning => return Self::Missing,
            Since::Files(_) if lines_changed => return Self::Here,
            Since::Files(files) if files.contains(path) => return Self::In(path.to_owned()),
            Since::Files(_) => {}
        }
        let Since::Files(files) = since else { return Self::Missing };
        let found = files.iter().find(|file| names(reason, file));
        found.map_or(Self::Missing, |file| Self::In(file.clone()))
    }
}

/// Tells whether a text names a file, as a whole path.
fn names(text: &str, file: &str) -> bool {
    let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '/'));
    text.match_indices(file)
        .any(|(at, _)| edge(text[..at].chars().next_back()) && edge(text[at + file.len()..].chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(files: &[(&str, &str)]) -> Written {
        let file = |(path, body): &(&str, &str)| {
            format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n{body}")
        };
        Written::read(&files.iter().map(file).collect::<String>())
    }

    fn files(paths: &[&str]) -> Since {
        Since::Files(paths.iter().map(|path| (*path).to_owned()).collect())
    }

    #[test]
    fn a_rebase_is_nothing_new_and_an_edit_is() {
        let before = diff(&[("tap.rs", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"), ("hose.rs", "@@ -1 +1 @@\n+d\n")]);
        let rebased =
            diff(&[("tap.rs", "@@ -90,3 +95,3 @@ fn x\n z\n-b\n+c\n"), ("hose.rs", "@@ -7 +8 @@\n+d\n")]);
        assert_eq!(Since::between(Some(&before), &rebased), Since::Nothing);
        assert_eq!(Since::between(None, &rebased), Since::Beginning);
        let edited = diff(&[
            ("tap.rs", "@@ -1,2 +1,2 @@\n a\n-b\n+e\n"),
            ("hose.rs", "@@ -1 +1 @@\n+d\n"),
            ("can.rs", "@@ -0,0 +1 @@\n+f\n"),
        ]);
        assert_eq!(Since::between(Some(&before), &edited), files(&["can.rs", "tap.rs"]));
        let reverted = diff(&[("tap.rs", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n")]);
        assert_eq!(Since::between(Some(&before), &reverted), files(&["hose.rs"]));
    }

    #[test]
    fn lines_that_look_like_headers_are_lines() {
        let tricky = diff(&[("a.md", "@@ -1 +1 @@\n--- old\n+++ b/new\n")]);
        assert_eq!(tricky.files["a.md"], ["--- old", "+++ b/new"]);
    }

    #[test]
    fn a_fix_needs_evidence() {
        let since = files(&["lib/hose.rs", "tap.rs"]);
        let check = |path: &str, changed, since: &Since, reason: &str, expect: Evidence| {
            assert_eq!(Evidence::of(path, changed, since, reason), expect, "{path} {reason}");
        };
        check("tap.rs", true, &since, "", Evidence::Here);
        check("tap.rs", false, &since, "", Evidence::In("tap.rs".to_owned()));
        check(
            "can.rs",
            false,
            &since,
            "Closed in `lib/hose.rs` now.",
            Evidence::In("lib/hose.rs".to_owned()),
        );
        check("can.rs", false, &since, "Closed in `lib/hose.rsx` and my-tap.rs.", Evidence::Missing);
        check("can.rs", false, &since, "Trust me.", Evidence::Missing);
        check("tap.rs", true, &Since::Nothing, "tap.rs", Evidence::Missing);
    }
}
