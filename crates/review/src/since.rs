//! What is new since the last review, and whether it can have fixed a finding.
//!
//! Two diffs of the whole pull request are compared by their changed lines, not by commits or times: a rebase, a
//! force-push and a merge of the base move everything and change nothing of what the author wrote.

use std::collections::{BTreeMap, BTreeSet};

use fro_core::gate::ReviewWish;

use crate::{
    coverage::Look,
    shown_change::{Part, ShownChange},
};

/// The lines that a pull request adds and removes, file by file, as its diff has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    files: BTreeMap<String, Vec<String>>,
}

impl Written {
    /// Reads the changed lines of a diff that `git diff` wrote.
    pub fn read(diff: &str) -> Self {
        let files = ShownChange::split(diff).into_iter().map(|part| (part.path.clone(), written(&part)));
        Self { files: files.collect() }
    }
}

/// Returns the changed lines of a file, and what else was done to it: another mode, another name, other bytes.
fn written(part: &Part) -> Vec<String> {
    let lines: Vec<&str> = part.text.lines().skip(1).map(|line| line.trim_end_matches('\r')).collect();
    let hunks = lines.iter().position(|line| line.starts_with("@@ ")).unwrap_or(lines.len());
    let (header, body) = lines.split_at(hunks);
    let is_binary = header.iter().any(|line| line.starts_with("Binary files "));
    let changed = body.iter().filter(|line| line.starts_with(['+', '-']));
    let deeds = header.iter().filter(|line| {
        // Names of contents change with the base; of a binary file they are all that tells of a change.
        let by_content = ["index ", "--- ", "+++ ", "similarity ", "dissimilarity "];
        (is_binary && line.starts_with("index ")) || !by_content.iter().any(|start| line.starts_with(start))
    });
    deeds.chain(changed).map(|line| (*line).to_owned()).collect()
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

    /// Adds files that nobody has read so far, although they were there.
    #[must_use]
    pub fn and_unread(self, paths: impl IntoIterator<Item = String>) -> Self {
        let known = match self {
            Self::Beginning => return Self::Beginning,
            Self::Nothing => BTreeSet::new(),
            Self::Files(files) => files,
        };
        let files: BTreeSet<String> = known.into_iter().chain(paths).collect();
        if files.is_empty() { Self::Nothing } else { Self::Files(files) }
    }

    /// Returns what no review has seen as it is now: what is new since the last whole one (`seen`), and what that one left
    /// out. Without a whole one nothing was seen.
    #[must_use]
    pub fn unseen(&self, seen: Option<&Look>, parts: &[Part]) -> Self {
        match seen {
            Some(look) => {
                let left_out = parts.iter().filter(|part| look.has_left_out(&part.path));
                self.clone().and_unread(left_out.map(|part| part.path.clone()))
            }
            None => Self::Beginning,
        }
    }

    /// Returns what the model is shown: who asks for a review wants one of everything.
    #[must_use]
    pub fn wanted_by(self, wish: ReviewWish) -> Self {
        match wish {
            ReviewWish::Asked => Self::Beginning,
            ReviewWish::Unasked | ReviewWish::Reply { .. } => self,
        }
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
    pub fn find(path: &str, lines_changed: bool, since: &Since, reason: &str) -> Self {
        match since {
            Since::Nothing | Since::Beginning => return Self::Missing,
            // Only a file with new lines of the author's can have changed there: a base that moved has not.
            Since::Files(files) if files.contains(path) && lines_changed => return Self::Here,
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
    fn files_that_nobody_read_are_as_good_as_new() {
        let unread = || ["huge.rs".to_owned()];
        assert_eq!(files(&["tap.rs"]).and_unread(unread()), files(&["huge.rs", "tap.rs"]));
        assert_eq!(Since::Nothing.and_unread(unread()), files(&["huge.rs"]));
        assert_eq!(Since::Nothing.and_unread([]), Since::Nothing);
        assert_eq!(Since::Beginning.and_unread(unread()), Since::Beginning);
    }

    #[test]
    fn only_what_a_whole_review_was_shown_is_seen() {
        let part = |path: &str| Part { path: path.to_owned(), text: String::new() };
        let parts = ["tap.rs", "huge.rs", "bed.rs"].map(part);
        let look = Look::whole("a1", &["huge.rs".to_owned()]);
        let table = [
            (Since::Nothing, None, Since::Beginning),
            (files(&["tap.rs"]), None, Since::Beginning),
            (Since::Nothing, Some(&look), files(&["huge.rs"])),
            (files(&["tap.rs"]), Some(&look), files(&["huge.rs", "tap.rs"])),
            // The commit of the last review is gone.
            (Since::Beginning, Some(&look), Since::Beginning),
        ];
        for (since, seen, expect) in table {
            let unseen = since.unseen(seen, &parts);
            assert_eq!(unseen, expect, "{since:?} {seen:?}");
            assert_eq!(unseen.clone().wanted_by(ReviewWish::Asked), Since::Beginning);
            for wish in [ReviewWish::Unasked, ReviewWish::Reply { root: 1 }] {
                assert_eq!(unseen.clone().wanted_by(wish), unseen);
            }
        }
    }

    #[test]
    fn lines_that_look_like_headers_are_lines() {
        let tricky = diff(&[("a.md", "@@ -1 +1 @@\n--- old\n+++ b/new\n")]);
        assert_eq!(tricky.files["a.md"], ["--- old", "+++ b/new"]);
    }

    #[test]
    fn names_that_git_quotes_or_that_look_like_two_are_the_same_everywhere() {
        for (header, path) in [
            (r#"diff --git "a/sa\"y.rs" "b/sa\"y.rs""#, "sa\"y.rs"),
            ("diff --git a/x b/tap.rs b/x b/tap.rs", "x b/tap.rs"),
        ] {
            let shown = path.replace('"', "\\\"");
            let names = if path == shown {
                format!("--- a/{path}\n+++ b/{path}\n")
            } else {
                format!("--- \"a/{shown}\"\n+++ \"b/{shown}\"\n")
            };
            let diff = |line: &str| format!("{header}\nindex 1..2 100644\n{names}@@ -1 +1 @@\n-a\n+{line}\n");
            let since = Since::between(Some(&Written::read(&diff("b"))), &Written::read(&diff("c")));
            assert_eq!(since, files(&[path]));
            let parts = ShownChange::split(&diff("c"));
            assert!(since.touches(&parts[0].path), "{parts:?}");
            assert_eq!(crate::Diff::parse(&diff("c")).unwrap().files()[0].path, path);
        }
    }

    #[test]
    fn another_mode_and_other_bytes_are_new_too() {
        let mode = "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n";
        let binary = |to: &str| {
            format!(
                "diff --git a/a.bin b/a.bin\nindex 1..{to} 100644\nBinary files a/a.bin and b/a.bin differ\n"
            )
        };
        let before = Written::read(&binary("2"));
        let now = |text: &str| Since::between(Some(&before), &Written::read(text));
        assert_eq!(now(&binary("2")), Since::Nothing);
        assert_eq!(now(&binary("3")), files(&["a.bin"]));
        assert_eq!(now(&format!("{}{mode}", binary("2"))), files(&["run.sh"]));
    }

    #[test]
    fn a_fix_needs_evidence() {
        let since = files(&["lib/hose.rs", "tap.rs"]);
        let check = |path: &str, changed, since: &Since, reason: &str, expect: Evidence| {
            assert_eq!(Evidence::find(path, changed, since, reason), expect, "{path} {reason}");
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
        check("can.rs", true, &since, "Its lines changed long ago.", Evidence::Missing);
        check("tap.rs", true, &Since::Nothing, "tap.rs", Evidence::Missing);
    }
}
