//! Lines that fit a terminal: words stay whole, and what goes on below is set in.

use std::io::{IsTerminal as _, stdout};

use textwrap::{Options, WordSplitter};

/// Returns the terminal's width; a pipe has none.
pub(crate) fn width() -> Option<usize> {
    stdout().is_terminal().then(textwrap::termwidth)
}

/// Wraps a text that stands behind so many columns.
pub(crate) fn hanging(text: &str, columns: usize, width: Option<usize>) -> String {
    match width.map(|width| width.saturating_sub(columns)) {
        Some(room) if room > 20 && textwrap::core::display_width(text) > room => {
            let lines = textwrap::wrap(
                text,
                Options::new(room).break_words(false).word_splitter(WordSplitter::NoHyphenation),
            );
            lines.join(&format!("\n{}", " ".repeat(columns)))
        }
        Some(_) | None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_goes_on_below_itself_and_an_address_stays_whole() {
        let text = "answered: http://127.0.0.1:4096/octo/garden/issues/4#issuecomment-275 on issue #4";
        assert_eq!(
            hanging(text, 4, Some(40)),
            "answered:\n    http://127.0.0.1:4096/octo/garden/issues/4#issuecomment-275\n    on issue #4"
        );
        assert_eq!(hanging(text, 4, None), text);
        assert_eq!(hanging("  short", 4, Some(40)), "  short");
    }
}
