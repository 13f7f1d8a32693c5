//! The ladder of a remark: the lines it names, the nearest line that is shown, the file, the summary.

use std::cmp::Reverse;

use fro_core::{Anchor, Side};

use crate::{Diff, FileDiff, Hunk};

/// How far a remark may move and still be about what it stands beside.
const NEAR: usize = 10;

/// Where a remark can stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Beside the lines that it names, or what of them is in one hunk.
    Lines(Anchor),
    /// Beside the nearest line that the diff shows.
    Near(Anchor),
    /// With the file, because no line nearby is shown.
    File {
        /// The file as the diff names it.
        path: String,
    },
    /// With the summary, because the change does not touch the file.
    Summary,
}

impl Diff {
    /// Finds the best place for a remark.
    pub fn place(&self, wanted: &Anchor) -> Place {
        let Some(file) = self.file(&wanted.path) else { return Place::Summary };
        let wanted = ordered(wanted);
        if let Some(hunk) = file.hunks.iter().find(|hunk| hunk.has(wanted.side, wanted.line)) {
            return Place::Lines(within(file, hunk, &wanted));
        }
        match file.nearest(&wanted) {
            Some((side, line)) => {
                Place::Near(Anchor { path: file.path.clone(), side, start_line: None, line })
            }
            None => Place::File { path: file.path.clone() },
        }
    }
}

impl Diff {
    /// Finds the best place for a remark on a file that the change does not touch: beside the first line that is shown of
    /// the file nearest to it by path, or with a file of which none is shown. There it begins a thread like any other, which
    /// people can answer and resolve; in the summary it could not. Only a change without files has no such place.
    pub fn home(&self, path: &str) -> Place {
        let nearness = |file: &&FileDiff| {
            (shared_folders(&file.path, path), Reverse((file.path.matches('/').count(), file.path.clone())))
        };
        let first = |file: &FileDiff| {
            let sides = [Side::Right, Side::Left].into_iter();
            let mut shown = sides
                .filter_map(|side| Some((side, file.hunks.iter().flat_map(|hunk| hunk.lines(side)).min()?)));
            shown.next()
        };
        let beside = self.files().iter().filter(|file| first(file).is_some()).max_by_key(nearness);
        let file = beside.or_else(|| self.files().iter().max_by_key(nearness));
        match file.map(|file| (file.path.clone(), first(file))) {
            Some((path, Some((side, line)))) => Place::Near(Anchor { path, side, start_line: None, line }),
            Some((path, None)) => Place::File { path },
            None => Place::Summary,
        }
    }
}

/// Returns how many folders two paths have in common.
fn shared_folders(a: &str, b: &str) -> usize {
    let folders = |path: &str| -> Vec<String> {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        folder.split('/').map(str::to_owned).collect()
    };
    folders(a).iter().zip(folders(b)).take_while(|(a, b)| *a == b).count()
}

impl FileDiff {
    /// Finds the nearest shown line, rather on the same side.
    fn nearest(&self, wanted: &Anchor) -> Option<(Side, usize)> {
        let sides = [wanted.side, other(wanted.side)];
        sides.into_iter().find_map(|side| {
            let lines = self.hunks.iter().flat_map(|hunk| hunk.lines(side));
            let nearest = lines.min_by_key(|line| line.abs_diff(wanted.line))?;
            (nearest.abs_diff(wanted.line) <= NEAR).then_some((side, nearest))
        })
    }
}

/// Turns lines that were given the wrong way round.
fn ordered(wanted: &Anchor) -> Anchor {
    match wanted.start_line {
        Some(start) if start > wanted.line => {
            Anchor { start_line: Some(wanted.line), line: start, ..wanted.clone() }
        }
        Some(_) | None => wanted.clone(),
    }
}

/// Keeps the lines inside one hunk. GitHub takes a range only if it begins before it ends.
fn within(file: &FileDiff, hunk: &Hunk, wanted: &Anchor) -> Anchor {
    let shown = hunk.lines(wanted.side).into_iter();
    let mut shown = shown.filter(|line| wanted.start_line.is_some_and(|start| *line >= start));
    let start_line = shown.next().filter(|start| *start < wanted.line);
    Anchor { path: file.path.clone(), start_line, ..wanted.clone() }
}

fn other(side: Side) -> Side {
    match side {
        Side::Left => Side::Right,
        Side::Right => Side::Left,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str =
        "@@ -10,4 +10,5 @@ fn tap()\n a\n-old\n+new\n+more\n b\n c\n@@ -40,2 +41,1 @@\n-gone\n d";

    fn diff() -> Diff {
        let tap = FileDiff::from_patch("tap.rs", Some("valve.rs".to_owned()), Some(PATCH)).unwrap();
        let image = FileDiff::from_patch("tap.png", None, None).unwrap();
        Diff::new(vec![tap, image])
    }

    fn at(path: &str, side: Side, start_line: Option<usize>, line: usize) -> Anchor {
        Anchor { path: path.to_owned(), side, start_line, line }
    }

    fn check(wanted: &Anchor, expect: &Place) {
        assert_eq!(diff().place(wanted), *expect, "{wanted:?}");
    }

    #[test]
    fn lines_of_the_diff_are_taken_as_they_are() {
        let (right, left) = (at("tap.rs", Side::Right, None, 11), at("tap.rs", Side::Left, None, 11));
        check(&right, &Place::Lines(right.clone()));
        check(&left, &Place::Lines(left.clone()));
        let range = at("tap.rs", Side::Right, Some(10), 14);
        check(&range, &Place::Lines(range.clone()));
    }

    #[test]
    fn a_range_is_put_in_order_and_kept_inside_one_hunk() {
        let expect = Place::Lines(at("tap.rs", Side::Right, Some(10), 12));
        check(&at("tap.rs", Side::Right, Some(12), 10), &expect);
        check(&at("tap.rs", Side::Right, Some(3), 12), &expect);
        check(&at("tap.rs", Side::Right, Some(11), 11), &Place::Lines(at("tap.rs", Side::Right, None, 11)));
        check(&at("tap.rs", Side::Right, Some(12), 41), &Place::Lines(at("tap.rs", Side::Right, None, 41)));
    }

    #[test]
    fn what_is_not_shown_moves_to_the_nearest_line() {
        check(&at("tap.rs", Side::Right, None, 20), &Place::Near(at("tap.rs", Side::Right, None, 14)));
        check(&at("tap.rs", Side::Left, Some(12), 13), &Place::Near(at("tap.rs", Side::Left, None, 11)));
        check(&at("valve.rs", Side::Right, None, 43), &Place::Near(at("tap.rs", Side::Right, None, 41)));
    }

    #[test]
    fn what_the_change_does_not_touch_has_its_home_in_the_nearest_file() {
        let patch = |path: &str, patch: &str| FileDiff::from_patch(path, None, Some(patch)).unwrap();
        let gone = patch("src/pump/old.rs", "@@ -4,2 +0,0 @@\n-a\n-b");
        let diff = Diff::new(vec![
            FileDiff::from_patch("src/pump/logo.png", None, None).unwrap(),
            patch("src/tap.rs", PATCH),
            patch("docs/tap.md", "@@ -1 +1 @@\n-a\n+b"),
            gone.clone(),
        ]);
        let near = |path: &str, side, line| Place::Near(at(path, side, None, line));
        assert_eq!(diff.home("src/hose.rs"), near("src/tap.rs", Side::Right, 10));
        assert_eq!(diff.home("src/pump/valve.rs"), near("src/pump/old.rs", Side::Left, 4));
        assert_eq!(diff.home("docs/hose.md"), near("docs/tap.md", Side::Right, 1));
        assert_eq!(diff.home("README.md"), near("docs/tap.md", Side::Right, 1), "by name if none is nearer");
        let image = FileDiff::from_patch("tap.png", None, None).unwrap();
        assert_eq!(Diff::new(vec![image]).home("a.rs"), Place::File { path: "tap.png".to_owned() });
        assert_eq!(Diff::default().home("a.rs"), Place::Summary);
    }

    #[test]
    fn what_is_far_away_goes_to_the_file_or_the_summary() {
        let file = |path: &str| Place::File { path: path.to_owned() };
        check(&at("tap.rs", Side::Right, None, 500), &file("tap.rs"));
        check(&at("tap.png", Side::Right, None, 1), &file("tap.png"));
        check(&at("hose.rs", Side::Right, None, 1), &Place::Summary);
    }
}
