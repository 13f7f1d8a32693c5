//! The reviewer's figures on labelled data: how many places, repeats and threads it gets right.
//!
//! `fro-bot eval` prints them for any file of the same shape, so that whoever doubts a figure can bring their own.

pub mod anchors;
mod dice;
pub mod duplicates;
pub mod histories;
pub mod plot;
pub mod pushes;
mod stage;

/// A line of a data file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read line {number}")]
pub struct BadLine {
    /// Which line, from one.
    pub number: usize,
    /// What is wrong with it.
    #[source]
    pub source: serde_json::Error,
}

/// Reads one value from each line.
pub(crate) fn lines<T: serde::de::DeserializeOwned>(text: &str) -> Result<Vec<T>, BadLine> {
    let full = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(at, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|source| BadLine { number: at + 1, source })
    };
    full.map(read).collect()
}

/// Returns a share in thousandths; all of nothing is all.
pub(crate) fn thousandths(part: usize, whole: usize) -> usize {
    (part * 1_000).checked_div(whole).unwrap_or(1_000)
}
