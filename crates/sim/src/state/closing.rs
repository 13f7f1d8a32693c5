//! The issues that a text says it closes: one of GitHub's nine words, then a number.

/// The words, in any case.
const WORDS: [&str; 9] =
    ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"];

/// Finds the numbers of this repository that a text closes, each once.
pub(crate) fn closed_by_words(text: &str) -> Vec<u64> {
    let words: Vec<_> = text.split_whitespace().collect();
    let mut numbers = Vec::new();
    for pair in words.windows(2) {
        let word = pair[0].trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
        let digits = pair[1].strip_prefix('#').unwrap_or_default();
        let digits = digits.trim_end_matches(|letter: char| !letter.is_ascii_digit());
        match digits.parse() {
            Ok(number) if WORDS.contains(&word.as_str()) && !numbers.contains(&number) => {
                numbers.push(number);
            }
            _ => {}
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closing_word_and_a_number_close() {
        assert_eq!(closed_by_words("Fixes #1. Also resolves: #12, and see #3; closed #1"), [1, 12]);
        assert_eq!(closed_by_words("Prefixes #1, fix 4"), [0; 0]);
    }
}
