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

/// A data file that nothing can be measured on.
#[derive(Debug, thiserror::Error)]
pub enum BadData {
    /// A line cannot be read.
    #[error("cannot read line {number}")]
    Line {
        /// Which line, from one.
        number: usize,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// There is no line: a figure of nothing would look as if all were well.
    #[error("there is nothing in it")]
    Empty,
}

/// Reads one value from each line.
pub(crate) fn lines<T: serde::de::DeserializeOwned>(text: &str) -> Result<Vec<T>, BadData> {
    let full = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(at, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|source| BadData::Line { number: at + 1, source })
    };
    let values: Vec<T> = full.map(read).collect::<Result<_, _>>()?;
    if values.is_empty() { Err(BadData::Empty) } else { Ok(values) }
}

/// Returns a share in thousandths; all of nothing is all.
pub(crate) fn thousandths(part: usize, whole: usize) -> usize {
    (part * 1_000).checked_div(whole).unwrap_or(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_nothing_in_it_is_no_measure() {
        for text in ["", "\n", " \n\t\n"] {
            let bad = lines::<u8>(text).unwrap_err();
            assert_eq!(bad.to_string(), "there is nothing in it", "{text:?}");
        }
        assert_eq!(lines::<u8>("1\n\n2\n").unwrap(), [1, 2]);
        let bad = lines::<u8>("1\n\nx\n").unwrap_err();
        assert_eq!(bad.to_string(), "cannot read line 3");
    }
}
