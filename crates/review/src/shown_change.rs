//! The part of a change that the model is shown: how much of a large one fits into a prompt: whole files while they fit, and the name of every one that does not.

use std::sync::LazyLock;

use regex::Regex;

use crate::{Diff, FileDiff, since::Since};

/// What is done with files that nobody wrote by hand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Generated {
    /// Generated files are named and not shown.
    #[default]
    Named,
    /// Generated files are shown like all others.
    Shown,
}

/// A file of the change, with its part of the diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its path.
    pub path: String,
    /// Its part of the diff.
    pub text: String,
}

/// What is shown of a change, and what is not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownChange {
    /// Files that are shown whole.
    pub shown: Vec<Part>,
    /// Files that are too large: they are to be read from the repository.
    pub left_out: Vec<String>,
    /// Files that nobody wrote by hand.
    pub generated: Vec<String>,
    /// Files that an earlier review has seen as they are.
    pub seen: Vec<String>,
}

static NOT_BY_HAND: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let folders = r"(?:^|/)(?:vendor|node_modules|third_party|dist|__generated__|__snapshots__)/";
    let locks = r"(?:^|/)(?:package-lock\.json|yarn\.lock|pnpm-lock\.yaml|Cargo\.lock|poetry\.lock|uv\.lock|Gemfile\.lock|composer\.lock|go\.sum|bun\.lockb?)$";
    let endings = r"\.(?:min\.js|min\.css|map|snap|pb\.go|pb\.cc|pb\.h|g\.dart|designer\.cs)$|_pb2(?:_grpc)?\.py$|\.generated\.\w+$";
    Regex::new(&format!("{folders}|{locks}|{endings}")).ok()
});

/// Tells whether a file is generated or somebody else's, by its path.
pub fn is_generated(path: &str) -> bool {
    NOT_BY_HAND.as_ref().is_some_and(|pattern| pattern.is_match(path))
}

impl ShownChange {
    /// Packs files into so many bytes. Small ones come first, so that one huge file does not hide all the others.
    pub fn pack(parts: Vec<Part>, budget: usize, generated: Generated) -> Self {
        let mut change = Self::default();
        let mut by_hand = Vec::new();
        for part in parts {
            match generated {
                Generated::Named if is_generated(&part.path) => change.generated.push(part.path),
                Generated::Named | Generated::Shown => by_hand.push(part),
            }
        }
        let order: Vec<String> = by_hand.iter().map(|part| part.path.clone()).collect();
        by_hand.sort_by_key(|part| part.text.len());
        let mut room = budget;
        for part in by_hand {
            if part.text.len() <= room {
                room -= part.text.len();
                change.shown.push(part);
            } else {
                change.left_out.push(part.path);
            }
        }
        let place = |path: &String| order.iter().position(|known| known == path);
        change.shown.sort_by_key(|part| place(&part.path));
        change.left_out.sort_by_key(place);
        change
    }

    /// Packs what an earlier review has not seen; the rest is named.
    pub fn pack_new(parts: Vec<Part>, since: &Since, budget: usize, generated: Generated) -> Self {
        let (new, seen): (Vec<Part>, Vec<Part>) =
            parts.into_iter().partition(|part| since.touches(&part.path));
        let seen = seen.into_iter().map(|part| part.path).collect();
        Self { seen, ..Self::pack(new, budget, generated) }
    }

    /// Cuts a diff into its files, each with its header.
    pub fn split(diff: &str) -> Vec<Part> {
        let mut starts: Vec<usize> = diff.match_indices("diff --git ").map(|(at, _)| at).collect();
        starts.retain(|at| *at == 0 || diff.as_bytes()[at - 1] == b'\n');
        let ends = starts.iter().skip(1).copied().chain([diff.len()]);
        let part = |(start, end): (&usize, usize)| {
            let text = diff[*start..end].to_owned();
            Part { path: path(&text), text }
        };
        starts.iter().zip(ends).map(part).collect()
    }
}

/// Reads the hunks file by file: one that cannot be read has none, and hides no other.
pub fn hunks(parts: &[Part]) -> Diff {
    let file = |part: &Part| match Diff::parse(&part.text) {
        Ok(diff) => diff.files().to_vec(),
        Err(_) => vec![FileDiff { path: part.path.clone(), moved_from: None, hunks: Vec::new() }],
    };
    Diff::new(parts.iter().flat_map(file).collect())
}

/// Returns the path of a file's part of a diff. One that cannot be read goes by its header, so that it is named at least.
fn path(part: &str) -> String {
    let header = part.lines().next().unwrap_or_default();
    let read = Diff::parse(part).ok().and_then(|diff| Some(diff.files().first()?.path.clone()));
    read.unwrap_or_else(|| header.rsplit_once(" b/").map_or(header, |(_, path)| path).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(sizes: &[(&str, usize)]) -> Vec<Part> {
        sizes.iter().map(|(path, size)| Part { path: (*path).to_owned(), text: "x".repeat(*size) }).collect()
    }

    fn paths(change: &ShownChange) -> (Vec<&str>, Vec<&str>, Vec<&str>) {
        let shown = change.shown.iter().map(|part| part.path.as_str()).collect();
        let named = |paths: &'_ [String]| paths.iter().map(|path| path.clone().leak() as &str).collect();
        (shown, named(&change.left_out), named(&change.generated))
    }

    #[test]
    fn every_file_is_shown_or_named() {
        let files =
            parts(&[("b.rs", 10), ("huge.rs", 90), ("Cargo.lock", 5), ("a.rs", 10), ("web/dist/x.js", 1)]);
        let change = ShownChange::pack(files.clone(), 20, Generated::Named);
        assert_eq!(
            paths(&change),
            (vec!["b.rs", "a.rs"], vec!["huge.rs"], vec!["Cargo.lock", "web/dist/x.js"])
        );
        let change = ShownChange::pack(files.clone(), 26, Generated::Shown);
        assert_eq!(
            paths(&change),
            (vec!["b.rs", "Cargo.lock", "a.rs", "web/dist/x.js"], vec!["huge.rs"], vec![])
        );
        let change = ShownChange::pack(files, 0, Generated::Shown);
        assert_eq!(change.left_out.len(), 5);
    }

    #[test]
    fn what_an_earlier_review_has_seen_is_named_and_not_shown() {
        let since = Since::Files(["b.rs".to_owned()].into());
        let change = ShownChange::pack_new(parts(&[("a.rs", 1), ("b.rs", 1)]), &since, 10, Generated::Named);
        assert_eq!(
            (paths(&change).0, change.seen.as_slice()),
            (vec!["b.rs"], ["a.rs".to_owned()].as_slice())
        );
        let all = ShownChange::pack_new(parts(&[("a.rs", 1)]), &Since::Beginning, 10, Generated::Named);
        assert_eq!((paths(&all).0, all.seen.len()), (vec!["a.rs"], 0));
    }

    #[test]
    fn three_thousand_files_stay_within_the_budget() {
        let files: Vec<_> =
            (0..3_000).map(|at| Part { path: format!("f{at}.rs"), text: "x".repeat(at) }).collect();
        let change = ShownChange::pack(files, 100_000, Generated::Named);
        assert!(change.shown.iter().map(|part| part.text.len()).sum::<usize>() <= 100_000);
        assert_eq!(change.shown.len() + change.left_out.len(), 3_000);
    }

    #[test]
    fn what_looks_generated_is_told_by_its_path() {
        for path in [
            "package-lock.json",
            "a/vendor/b.go",
            "x.min.js",
            "api_pb2.py",
            "go.sum",
            "src/snapshots/__snapshots__/a",
        ] {
            assert!(is_generated(path), "{path}");
        }
        for path in ["src/vendor.rs", "lock.rs", "distance/a.rs", "Cargo.toml", "map.rs"] {
            assert!(!is_generated(path), "{path}");
        }
    }

    #[test]
    fn a_part_that_cannot_be_read_has_no_hunks_and_hides_no_other() {
        let part = |path: &str, body: &str| Part {
            path: path.to_owned(),
            text: format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n{body}"),
        };
        let diff = hunks(&[part("a.rs", "@@ -9 +9,7 @@\nbroken\n"), part("b.rs", "@@ -1 +1 @@\n-x\n+y\n")]);
        let found: Vec<_> = diff.files().iter().map(|file| (file.path.as_str(), file.hunks.len())).collect();
        assert_eq!(found, [("a.rs", 0), ("b.rs", 1)]);
    }

    #[test]
    fn a_diff_is_cut_at_its_files() {
        let diff = "diff --git a/a.rs b/a.rs\n@@ -1 +1 @@\n+diff --git \ndiff --git a/b c.rs b/b c.rs\n@@ -1 +1 @@\n-x\n";
        let parts = ShownChange::split(diff);
        assert_eq!(parts.iter().map(|part| part.path.as_str()).collect::<Vec<_>>(), ["a.rs", "b c.rs"]);
        assert_eq!(parts.iter().map(|part| part.text.as_str()).collect::<String>(), diff);
    }
}
