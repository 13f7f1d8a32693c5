//! Pushes that nobody made: a file is changed at random, and every line is followed through it.
//!
//! The truth comes from how the change was made, not from comparing: each line has a number of its own that it keeps
//! as long as its text stays.

use std::collections::BTreeMap;

use super::dice::Dice;
use crate::track::Track;

/// Pushes after each other on one file.
const PUSHES: usize = 4;

/// How many lines were found again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Followed {
    /// Lines with a text of their own that are still there.
    pub survived: usize,
    /// How many were found where they are.
    pub found_again: usize,
    /// How many were found where they are not.
    pub misplaced: usize,
    /// How many have another number than before.
    pub shifted: usize,
}

/// Plays pushes on a file, always the same ones for a seed, and follows its lines to the end.
pub fn follow(file: &str, seed: u64) -> Followed {
    let start: Vec<&str> = file.lines().collect();
    let mut worked = WorkedFile::new(&start, seed);
    for _ in 0..PUSHES {
        for _ in 0..=worked.dice.roll(4) {
            worked.change();
        }
    }
    let track = Track::new(file, &worked.text());
    let places: BTreeMap<usize, usize> =
        worked.lines.iter().enumerate().map(|(at, (number, _))| (*number, at + 1)).collect();
    let (before, after) =
        (counts(start.iter().copied()), counts(worked.lines.iter().map(|(_, text)| text.as_str())));
    let mut followed = Followed::default();
    for (at, text) in start.iter().enumerate() {
        // A closing brace looks like every other: only a line with a text of its own can be known.
        let alone = before[text] == 1 && after.get(text) == Some(&1) && !text.trim().is_empty();
        let Some(truth) = places.get(&at).filter(|_| alone) else { continue };
        let found = track.line(at + 1);
        followed.survived += 1;
        followed.found_again += usize::from(found == Some(*truth));
        followed.misplaced += usize::from(found.is_some_and(|found| found != *truth));
        followed.shifted += usize::from(*truth != at + 1);
    }
    followed
}

fn counts<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for line in lines {
        *counts.entry(line).or_default() += 1;
    }
    counts
}

/// A file that somebody works on: each line has the number that it began with, or a new one.
struct WorkedFile {
    lines: Vec<(usize, String)>,
    fresh: usize,
    dice: Dice,
}

impl WorkedFile {
    fn new(start: &[&str], seed: u64) -> Self {
        let lines = start.iter().map(|line| (*line).to_owned()).enumerate().collect();
        Self { lines, fresh: start.len(), dice: Dice::new(seed) }
    }

    fn number(&mut self) -> usize {
        self.fresh += 1;
        self.fresh
    }

    /// Does one of the things that people do to a file.
    fn change(&mut self) {
        if self.lines.is_empty() {
            return;
        }
        let at = self.dice.roll(self.lines.len());
        let end = at + (1 + self.dice.roll(8)).min(self.lines.len() - at);
        match self.dice.roll(8) {
            0..=2 => self.insert(at),
            3 => drop(self.lines.drain(at..end)),
            4..=5 => self.edit(at),
            6 => {
                let block = self.lines.drain(at..end).collect();
                self.paste(block);
            }
            _ => {
                let copied = self.lines[at..end].to_vec();
                let copied = copied.into_iter().map(|(_, text)| (self.number(), text)).collect();
                self.paste(copied);
            }
        }
    }

    fn insert(&mut self, at: usize) {
        for _ in 0..=self.dice.roll(12) {
            let number = self.number();
            self.lines.insert(at, (number, format!("    added_{number}();")));
        }
    }

    fn edit(&mut self, at: usize) {
        let number = self.number();
        let (_, text) = &self.lines[at];
        self.lines[at] = (number, format!("{text} // changed"));
    }

    fn paste(&mut self, block: Vec<(usize, String)>) {
        let to = self.dice.roll(self.lines.len() + 1);
        self.lines.splice(to..to, block);
    }

    fn text(&self) -> String {
        self.lines.iter().fold(String::new(), |text, (_, line)| text + line + "\n")
    }
}
