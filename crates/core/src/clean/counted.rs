//! Rows of numbers that count letters: `103, 104`, `0x67 0x68`, `01100111 01101000`.

use std::{ops::Range, sync::LazyLock};

use regex::{Captures, Regex};

use super::skeleton::letter;

/// Returns the letters that rows of numbers in a text count, and where each was written.
pub(super) fn letters(text: &str) -> impl Iterator<Item = (char, Range<usize>)> {
    NUMBERS.rows.find_iter(text).flat_map(|row| {
        let numbers = NUMBERS.one.captures_iter(row.as_str());
        numbers.filter_map(move |found| {
            let number = found.get_match();
            let origin = row.start() + number.start()..row.start() + number.end();
            meant(&found).map(|letter| (letter, origin))
        })
    })
}

fn meant(number: &Captures<'_>) -> Option<char> {
    let read = |name, radix| number.name(name).and_then(|digits| letter(digits.as_str(), radix));
    read("bits", 2).or(read("hex", 16)).or(read("octal", 8)).or(read("decimal", 10))
}

struct Numbers {
    /// As many numbers as the shortest skeleton has letters, each of one letter, with little between them.
    rows: Regex,
    one: Regex,
}

#[expect(clippy::expect_used, reason = "the patterns are constants that the tests compile")]
static NUMBERS: LazyLock<Numbers> = LazyLock::new(|| {
    let one = r"(?:(?:0b)?(?<bits>[01]{8})|0[xX](?<hex>[0-9A-Fa-f]{2})|0o(?<octal>[0-7]{2,3})|(?<decimal>[0-9]{2,3}))\b";
    let plain = r"(?:(?:0b)?[01]{8}|0[xX][0-9A-Fa-f]{2}|0o[0-7]{2,3}|[0-9]{2,3})";
    let rows = format!(r"\b{plain}(?:[^A-Za-z0-9]{{1,6}}{plain}){{11,}}\b");
    Numbers {
        rows: Regex::new(&rows).expect("the constant pattern compiles"),
        one: Regex::new(&format!(r"\b{one}")).expect("the constant pattern compiles"),
    }
});
