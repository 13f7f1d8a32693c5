//! Where a line of an earlier commit is now, so that what was said about it is found again.
//!
//! A third of the lines that survive a push sit at another number afterwards. First the two versions are compared as
//! `git diff` does; what that calls deleted may have moved, so lines that are left over on both sides are
//! matched by their text and their neighbours.

use std::collections::BTreeMap;

use diffy::{DiffOptions, Line};
use fro_core::{Anchor, Side};

/// How many lines around a moved one are looked at.
const AROUND: usize = 3;
/// How many equal lines are compared before a line is given up as too common.
const CANDIDATES: usize = 64;

/// Two versions of a file, line by line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Track {
    /// The new line of each old one, both counted from one.
    lines: Vec<Option<usize>>,
    /// How many lines the new version has.
    new_lines: usize,
}

impl Track {
    /// Follows the lines of one version into another. Line endings make no difference.
    pub fn new(old: &str, new: &str) -> Self {
        let (old, new) = (plain(old), plain(new));
        let mut lines = unmoved(&old, &new);
        find_moved(&mut lines, &old, &new);
        Self { lines, new_lines: new.lines().count() }
    }

    /// Returns where an old line is now; nothing if it was changed or deleted.
    pub fn line(&self, old: usize) -> Option<usize> {
        *self.lines.get(old.checked_sub(1)?)?
    }

    /// Returns where a remark's lines are now. Its last line has to be there; what is left of the others stays.
    pub fn anchor(&self, old: &Anchor) -> Option<Anchor> {
        match old.side {
            // Lines of the base do not move when somebody pushes.
            Side::Left => return Some(old.clone()),
            Side::Right => {}
        }
        let line = self.line(old.line)?;
        let start = old.start_line.and_then(|start| (start..old.line).find_map(|at| self.line(at)));
        Some(Anchor { start_line: start.filter(|start| *start < line), line, ..old.clone() })
    }

    /// Tells whether a line was changed or deleted.
    pub fn has_changed(&self, old: usize) -> bool {
        self.line(old).is_none()
    }

    /// Returns the lines between which everything is that took the place of some: the last one before them and the first
    /// one after them that are left. The ends of a file count as lines.
    fn gap(&self, first: usize, last: usize) -> (usize, usize) {
        let above = (1..first).rev().find_map(|at| self.line(at)).unwrap_or(0);
        let below = (last + 1..=self.lines.len()).find_map(|at| self.line(at));
        (above, below.unwrap_or(self.new_lines + 1))
    }

    /// Tells whether everything between two lines is as it was, with nothing put in or taken out.
    fn keeps(&self, above: usize, below: usize) -> bool {
        let place = |at: usize| match at {
            0 => Some(0),
            at if at > self.lines.len() => Some(self.new_lines + 1),
            at => self.line(at),
        };
        let next = |at: usize| place(at).is_some_and(|found| place(at + 1) == Some(found + 1));
        above < below && (above..below).all(next)
    }
}

/// Tells whether a remark's lines, or what took their place, were changed between two later versions.
pub fn was_rewritten(stood: &Anchor, original: &str, then: &str, now: &str) -> bool {
    match stood.side {
        // Lines of the base are changed by nobody.
        Side::Left => return false,
        Side::Right => {}
    }
    let (before, after) = (Track::new(original, then), Track::new(then, now));
    if let Some(there) = before.anchor(stood) {
        return after.anchor(&there).is_none();
    }
    let (above, below) = before.gap(stood.start_line.unwrap_or(stood.line), stood.line);
    !after.keeps(above, below)
}

/// Finds the line that a comment stood beside by the piece of the diff that GitHub keeps with it.
///
/// For commits that are gone after a force-push. The last line of the piece is the comment's own.
pub fn refind(hunk: &str, new: &str) -> Option<usize> {
    let shown: Vec<&str> = hunk.lines().skip_while(|line| line.starts_with("@@")).collect();
    let kept = |line: &&str| matches!(line.as_bytes().first(), Some(b'+' | b' ') | None);
    let kept: Vec<&str> =
        shown.iter().copied().filter(kept).map(|line| line.get(1..).unwrap_or("").trim()).collect();
    if !shown.last().is_some_and(kept_line) {
        return None;
    }
    let own = kept.len().checked_sub(1)?;
    let new: Vec<&str> = new.lines().map(str::trim).collect();
    let places: Vec<usize> = (0..new.len()).filter(|at| new[*at] == kept[own]).collect();
    best(&kept, own, &new, &places).map(|at| at + 1)
}

fn kept_line(line: &&str) -> bool {
    !line.starts_with('-') && !line.starts_with('\\')
}

fn plain(text: &str) -> String {
    let mut plain = text.replace("\r\n", "\n");
    if !plain.is_empty() && !plain.ends_with('\n') {
        plain.push('\n');
    }
    plain
}

/// Follows the lines that a diff leaves alone.
fn unmoved(old: &str, new: &str) -> Vec<Option<usize>> {
    let mut options = DiffOptions::new();
    options.set_context_len(0);
    let patch = options.create_patch(old, new);
    let mut lines = Vec::new();
    let mut at = 1;
    for hunk in patch.hunks() {
        let gone = hunk.lines().iter().filter(|line| matches!(line, Line::Delete(_))).count();
        let come = hunk.lines().iter().filter(|line| matches!(line, Line::Insert(_))).count();
        // A range without lines names the line before it.
        let first = hunk.old_range().start() + usize::from(gone == 0);
        while lines.len() + 1 < first {
            lines.push(Some(at));
            at += 1;
        }
        lines.extend(std::iter::repeat_n(None, gone));
        at += come;
    }
    while lines.len() < old.lines().count() {
        lines.push(Some(at));
        at += 1;
    }
    lines
}

/// Matches what is left over on both sides by text and neighbours.
fn find_moved(lines: &mut [Option<usize>], old: &str, new: &str) {
    let old: Vec<&str> = old.lines().map(str::trim).collect();
    let new: Vec<&str> = new.lines().map(str::trim).collect();
    let mut free = vec![true; new.len()];
    for at in lines.iter().flatten() {
        free[at - 1] = false;
    }
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for at in (0..new.len()).filter(|at| free[*at]) {
        places.entry(new[at]).or_default().push(at);
    }
    for (at, line) in lines.iter_mut().enumerate().filter(|(_, line)| line.is_none()) {
        let Some(candidates) = places.get_mut(old[at]) else { continue };
        if let Some(found) = best(&old, at, &new, candidates) {
            candidates.retain(|candidate| *candidate != found);
            *line = Some(found + 1);
        }
    }
}

/// Picks the place whose neighbours are most alike; nothing if two are as good, or if nothing speaks for it.
fn best(old: &[&str], at: usize, new: &[&str], places: &[usize]) -> Option<usize> {
    if places.len() > CANDIDATES {
        return None;
    }
    let rated = places.iter().map(|place| (neighbours(old, at, new, *place), *place));
    let (rating, place) = rated.clone().max_by_key(|(rating, _)| *rating)?;
    let alone = rated.filter(|(other, _)| *other == rating).count() == 1;
    let telling = old[at].chars().filter(|c| c.is_alphanumeric()).count() >= 4;
    let enough = if places.len() == 1 && telling { 0 } else { 2 };
    (alone && rating >= enough).then_some(place)
}

/// Counts the lines around two places that are equal and not empty.
fn neighbours(old: &[&str], at: usize, new: &[&str], place: usize) -> usize {
    let line = |text: &[&str], at: usize, by: isize| {
        at.checked_add_signed(by).and_then(|at| text.get(at)).map(|line| (*line).to_owned())
    };
    let around = isize::try_from(AROUND).unwrap_or(0);
    (-around..=around)
        .filter(|by| *by != 0)
        .filter(|by| {
            line(old, at, *by).is_some_and(|text| !text.is_empty() && line(new, place, *by) == Some(text))
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str =
        "fn tap() {\n    open();\n    close();\n}\n\nfn hose() {\n    drip();\n    coil();\n}\n";

    fn check(new: &str, expect: [Option<usize>; 9]) {
        let track = Track::new(OLD, new);
        assert_eq!((1..=9).map(|line| track.line(line)).collect::<Vec<_>>(), expect, "{new}");
    }

    #[test]
    fn lines_are_followed_past_what_was_put_in_and_taken_out() {
        check(OLD, [1, 2, 3, 4, 5, 6, 7, 8, 9].map(Some));
        let shifted = format!("use water;\n\n{OLD}");
        check(&shifted, [3, 4, 5, 6, 7, 8, 9, 10, 11].map(Some));
        let shorter = OLD.replace("    close();\n", "");
        check(&shorter, [Some(1), Some(2), None, Some(3), Some(4), Some(5), Some(6), Some(7), Some(8)]);
        check("", [None; 9]);
    }

    #[test]
    fn line_endings_and_the_last_newline_make_no_difference() {
        check(&OLD.replace('\n', "\r\n"), [1, 2, 3, 4, 5, 6, 7, 8, 9].map(Some));
        check(OLD.trim_end(), [1, 2, 3, 4, 5, 6, 7, 8, 9].map(Some));
    }

    #[test]
    fn a_function_that_moved_up_is_followed() {
        let swapped =
            "fn hose() {\n    drip();\n    coil();\n}\n\nfn tap() {\n    open();\n    close();\n}\n";
        let track = Track::new(OLD, swapped);
        assert_eq!([1, 2, 3, 6, 7, 8].map(|line| track.line(line)), [6, 7, 8, 1, 2, 3].map(Some));
    }

    #[test]
    fn a_line_that_is_indented_anew_is_the_same_line() {
        let nested = OLD.replace("    drip();\n", "    if wet {\n        drip();\n    }\n");
        assert_eq!(Track::new(OLD, &nested).line(7), Some(8));
    }

    #[test]
    fn a_range_keeps_what_is_left_of_it() {
        let at = |start_line, line| Anchor { path: "tap.rs".to_owned(), side: Side::Right, start_line, line };
        let track = Track::new(OLD, &OLD.replace("    open();\n", ""));
        assert_eq!(track.anchor(&at(Some(2), 4)), Some(at(Some(2), 3)));
        assert_eq!(track.anchor(&at(Some(2), 3)), Some(at(None, 2)));
        assert_eq!(track.anchor(&at(None, 2)), None);
        assert!(track.has_changed(2) && !track.has_changed(3));
        let base = Anchor { side: Side::Left, ..at(None, 2) };
        assert_eq!(track.anchor(&base), Some(base.clone()));
    }

    #[test]
    fn what_took_the_place_of_a_line_is_watched_too() {
        let at = |line| Anchor { path: "tap.rs".to_owned(), side: Side::Right, start_line: None, line };
        let fixed = OLD.replace("    drip();", "    stop();\n    dry();");
        let check = |line, then: &str, now: &str, expect| {
            assert_eq!(was_rewritten(&at(line), OLD, then, now), expect, "{line} {then} {now}");
        };
        check(7, OLD, OLD, false);
        check(7, OLD, &fixed, true);
        check(2, OLD, &fixed, false);
        check(7, &fixed, &fixed, false);
        check(7, &fixed, OLD, true);
        check(7, &fixed, &format!("// Wet.\n{fixed}"), false);
        check(7, &fixed, &fixed.replace("open", "shut"), false);
        check(7, &fixed, &fixed.replace("dry", "wipe"), true);
        let without = OLD.replace("    drip();\n", "");
        check(7, &without, &without, false);
        check(7, &without, OLD, true);
        check(7, "", "", false);
        check(7, "", OLD, true);
    }

    #[test]
    fn a_comment_is_found_again_by_its_piece_of_the_diff() {
        let hunk = "@@ -1,3 +1,4 @@ fn tap()\n fn tap() {\n-    shut();\n+    open();\n+    close();";
        assert_eq!(refind(hunk, &format!("// Wet.\n{OLD}")), Some(4));
        assert_eq!(refind(hunk, "fn other() {}\n"), None);
        assert_eq!(refind("@@ -1 +0,0 @@\n-gone();", OLD), None);
        assert_eq!(refind("", OLD), None);
    }
}
