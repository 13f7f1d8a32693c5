//! Discord's marks around words, which end with a message: what is open there is closed, and opened again in the next.

use std::{borrow::Cow, sync::LazyLock};

use regex::Regex;

/// Marks that people write around a few words of a line.
pub(super) const OF_A_LINE: [&str; 4] = ["**", "__", "~~", "`"];

/// Marks that hide what stands between them, however many lines that is.
pub(super) const OF_SEVERAL_LINES: [&str; 1] = ["||"];

/// So many letters all marks of a kind take on one side of a piece.
pub(super) const MOST: usize = 7;

/// Code in a line, in which marks mean nothing.
#[expect(clippy::expect_used, reason = "the pattern is a constant that the tests compile")]
static CODE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("`[^`]*`").expect("the constant pattern compiles"));

/// Returns the sign of a quote that a line begins with: each of its pieces needs it.
pub(super) fn sign(line: &str) -> &'static str {
    if line.starts_with("> ") { "> " } else { "" }
}

/// Closes in each piece what is open at its end, and opens it in the next. A mark that the whole has without a partner
/// is no mark.
pub(super) fn balanced(whole: &str, pieces: Vec<String>, marks: &[&str]) -> Vec<String> {
    let marks: Vec<_> = marks.iter().filter(|mark| is_even(whole, mark)).collect();
    let mut open: Vec<&str> = Vec::new();
    let close = |piece: String| {
        let text = format!("{}{piece}", open.concat());
        open = marks.iter().filter(|mark| !is_even(&text, mark)).map(|mark| **mark).collect();
        let closing: String = open.iter().rev().copied().collect();
        text + &closing
    };
    pieces.into_iter().map(close).collect()
}

fn is_even(text: &str, mark: &str) -> bool {
    let text = if mark == "`" { Cow::Borrowed(text) } else { CODE.replace_all(text, "") };
    text.matches(mark).count() % 2 == 0
}
