//! Places: real diffs, and a list of the lines that can be commented on that another program drew up.

use fro_core::Side;
use serde::Deserialize;

use super::{BadData, lines, pushes, thousandths};
use crate::{Diff, FileDiff};

/// The least share of surviving lines that are found again, in thousandths.
pub const FOUND_AGAIN: usize = 990;

/// A pull request, and the truth about its diff.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Pull {
    /// Which one.
    pub id: String,
    /// Its diff, as `git` writes it.
    pub diff: String,
    /// The truth, file by file.
    pub files: Vec<TrueFile>,
}

/// The truth about a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TrueFile {
    /// Its path.
    pub path: String,
    /// Old start and length, new start and length of each hunk.
    pub hunks: Vec<[usize; 4]>,
    /// Lines of the new file that can be commented on.
    pub right: Vec<usize>,
    /// Lines of the old file that can be commented on.
    pub left: Vec<usize>,
}

/// How many places were right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placed {
    /// Pull requests.
    pub pulls: usize,
    /// Files.
    pub files: usize,
    /// Lines that can be commented on.
    pub lines: usize,
    /// What is not as the truth has it, by name.
    pub wrong: Vec<String>,
    /// Lines with a text of their own that survived pushes.
    pub survived: usize,
    /// How many of them were found where they are.
    pub found_again: usize,
    /// How many were found where they are not.
    pub misplaced: usize,
    /// How many have another number than before.
    pub shifted: usize,
}

impl Placed {
    /// Reads every diff, and plays pushes on its lines.
    pub fn count(pulls: &[Pull]) -> Self {
        let mut placed = Self { pulls: pulls.len(), ..Self::default() };
        for (seed, pull) in (1..).zip(pulls) {
            placed.compare(pull);
            for file in shown(&pull.diff) {
                placed.push(&file, seed);
            }
        }
        placed
    }

    /// Returns how many of the surviving lines were found again, in thousandths.
    pub fn share(&self) -> usize {
        thousandths(self.found_again, self.survived)
    }

    /// Tells whether it is good enough: a file without a single line to compare proves nothing.
    pub fn passes(&self) -> bool {
        self.lines > 0 && self.wrong.is_empty() && self.share() >= FOUND_AGAIN
    }

    fn compare(&mut self, pull: &Pull) {
        let Ok(diff) = Diff::parse(&pull.diff) else { return self.wrong.push(pull.id.clone()) };
        let paths = diff.files().iter().map(|file| &file.path);
        if !paths.eq(pull.files.iter().map(|file| &file.path)) {
            return self.wrong.push(format!("{}: its files", pull.id));
        }
        for (ours, truth) in diff.files().iter().zip(&pull.files) {
            let right =
                commentable(ours, Side::Right) == truth.right && commentable(ours, Side::Left) == truth.left;
            if !right || ours.hunks.len() != truth.hunks.len() {
                self.wrong.push(format!("{}: {}", pull.id, truth.path));
            }
            self.files += 1;
            self.lines += truth.right.len() + truth.left.len();
        }
    }

    fn push(&mut self, file: &str, seed: u64) {
        let counted = pushes::follow(file, seed);
        self.survived += counted.survived;
        self.found_again += counted.found_again;
        self.misplaced += counted.misplaced;
        self.shifted += counted.shifted;
    }
}

/// Reads pull requests, one a line.
pub fn read(text: &str) -> Result<Vec<Pull>, BadData> {
    lines(text)
}

fn commentable(file: &FileDiff, side: Side) -> Vec<usize> {
    file.hunks.iter().flat_map(|hunk| hunk.lines(side)).collect()
}

/// Returns what a diff shows of the new files: real lines of code to play pushes on.
fn shown(diff: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    let mut inside = false;
    for line in diff.lines() {
        if line.starts_with("diff --git ") {
            files.push(String::new());
            inside = false;
        } else if line.starts_with("@@ ") {
            inside = true;
        } else if let (true, Some(file)) = (inside && line.starts_with(['+', ' ']), files.last_mut()) {
            file.push_str(&line[1..]);
            file.push('\n');
        }
    }
    files.retain(|file| file.lines().count() >= 10);
    files
}
