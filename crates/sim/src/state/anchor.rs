//! Where a remark can stand in a change: on lines that the diff shows, and nowhere else.

use crate::state::ChangedFile;

/// Which side of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// What was there before: deleted lines.
    Left,
    /// What is there now: added and unchanged lines.
    Right,
}

/// Where somebody wants a remark to stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// At the file as a whole.
    File,
    /// So many lines below the first hunk's header, as it used to be told.
    Position(usize),
    /// At a line, or at the lines that end there.
    Lines { line: u64, side: Side, start: Option<(u64, Side)> },
}

/// Where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Anchor {
    /// The last line; none for the whole file.
    pub(crate) line: Option<u64>,
    pub(crate) side: Side,
    pub(crate) start: Option<(u64, Side)>,
    /// So many lines below the first hunk's header; 0 for the whole file.
    pub(crate) position: usize,
    /// The hunk up to that line.
    pub(crate) diff_hunk: String,
}

/// Why it cannot stand there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// The file is not part of the change, or has no lines to show.
    Path,
    /// The line is not shown.
    Line,
    /// The first line is not shown.
    StartLine,
    /// The first line is not before the last one.
    Order,
    /// The first line is in another hunk.
    OtherHunk,
}

/// A line that the diff shows.
struct Shown<'a> {
    hunk: usize,
    at: usize,
    line: u64,
    side: Side,
    text: &'a str,
}

/// Finds where a remark stands in a file's change.
pub(crate) fn anchor(file: &ChangedFile, place: Place) -> Result<Anchor, Misfit> {
    let (line, side, start) = match place {
        Place::File => {
            return Ok(Anchor {
                line: None,
                side: Side::Right,
                start: None,
                position: 0,
                diff_hunk: String::new(),
            });
        }
        Place::Position(_) => (0, Side::Right, None),
        Place::Lines { line, side, start } => (line, side, start),
    };
    let patch = file.patch.as_deref().ok_or(Misfit::Path)?;
    let lines = shown(patch);
    let find = |line, side| lines.iter().find(|shown| (shown.line, shown.side) == (line, side));
    let last = match place {
        Place::Position(position) => lines.iter().find(|shown| shown.at == position),
        Place::File | Place::Lines { .. } => find(line, side),
    };
    let last = last.ok_or(Misfit::Line)?;
    if let Some((line, side)) = start {
        let first = find(line, side).ok_or(Misfit::StartLine)?;
        if first.at >= last.at {
            return Err(Misfit::Order);
        }
        if first.hunk != last.hunk {
            return Err(Misfit::OtherHunk);
        }
    }
    let diff_hunk: Vec<_> = patch.lines().skip(last.hunk).take(last.at - last.hunk + 1).collect();
    Ok(Anchor {
        line: Some(last.line),
        side: last.side,
        start,
        position: last.at,
        diff_hunk: diff_hunk.join("\n"),
    })
}

/// Finds the line again that a remark was made on, after the change itself has changed, and its position.
pub(crate) fn moved(file: &ChangedFile, anchor: &Anchor) -> Option<(u64, usize)> {
    let text = anchor.diff_hunk.lines().last()?;
    let lines = shown(file.patch.as_deref()?);
    let same = lines.iter().filter(|shown| shown.side == anchor.side && shown.text == text);
    let near = |shown: &&Shown<'_>| shown.line.abs_diff(anchor.line.unwrap_or_default());
    same.min_by_key(near).map(|shown| (shown.line, shown.at))
}

/// Reads the hunks of a file. `hunk` and `at` count the patch's lines, headers too, from 0.
fn shown(patch: &str) -> Vec<Shown<'_>> {
    let (mut old, mut new, mut hunk) = (0, 0, 0);
    let mut lines = Vec::new();
    for (at, text) in patch.lines().enumerate() {
        if let Some(header) = text.strip_prefix("@@ ") {
            let mut starts = header.split(' ').map(|range| range[1..].split(',').next()?.parse().ok());
            (old, new) = (starts.next().flatten().unwrap_or(1), starts.next().flatten().unwrap_or(1));
            hunk = at;
            continue;
        }
        let (line, side) = match text.chars().next() {
            Some('-') => (&mut old, Side::Left),
            Some('\\') => continue,
            Some('+') => (&mut new, Side::Right),
            _ => {
                old += 1;
                (&mut new, Side::Right)
            }
        };
        lines.push(Shown { hunk, at, line: *line, side, text });
        *line += 1;
    }
    lines
}

impl Side {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Left => "LEFT",
            Self::Right => "RIGHT",
        }
    }

    /// Reads the word on the wire.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Left, Self::Right].into_iter().find(|side| side.word() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Change;

    const PATCH: &str =
        "@@ -2,3 +2,4 @@ fn tap\n one\n-two\n+2\n+3\n four\n@@ -20,2 +21,2 @@\n-twenty\n+20\n end";

    fn place(line: u64, side: Side, start: Option<(u64, Side)>) -> Result<Anchor, Misfit> {
        let file = ChangedFile {
            path: "tap.rs".to_owned(),
            additions: 3,
            deletions: 2,
            change: Change::Modified,
            previous_path: None,
            blob: String::new(),
            patch: Some(PATCH.to_owned()),
        };
        anchor(&file, Place::Lines { line, side, start })
    }

    #[test]
    fn a_line_of_the_diff_is_found_on_its_side() {
        let found = |line, side| place(line, side, None).map(|anchor| anchor.diff_hunk);
        assert_eq!(found(3, Side::Right).unwrap(), "@@ -2,3 +2,4 @@ fn tap\n one\n-two\n+2");
        assert_eq!(found(3, Side::Left).unwrap(), "@@ -2,3 +2,4 @@ fn tap\n one\n-two");
        assert_eq!(found(22, Side::Right).unwrap(), "@@ -20,2 +21,2 @@\n-twenty\n+20\n end");
        assert_eq!(found(2, Side::Left), Err(Misfit::Line));
        assert_eq!(found(9, Side::Right), Err(Misfit::Line));
    }

    #[test]
    fn a_range_stays_in_its_hunk_and_goes_down() {
        let range =
            |start, line| place(line, Side::Right, Some((start, Side::Right))).map(|anchor| anchor.start);
        assert_eq!(range(2, 4), Ok(Some((2, Side::Right))));
        assert_eq!(range(4, 4), Err(Misfit::Order));
        assert_eq!(range(5, 4), Err(Misfit::Order));
        assert_eq!(range(4, 21), Err(Misfit::OtherHunk));
        assert_eq!(range(1, 4), Err(Misfit::StartLine));
    }
}
