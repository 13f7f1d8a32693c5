//! One line of a log, whatever it is about.
//!
//! The runner takes commands from the log: `::name::` at the start of a line and `##[name` anywhere in it.
//! Text from outside is made harmless here before it is printed.

use crate::{budget::Bounded, fence};

/// Bytes of outside text that one line may show.
const LONGEST: usize = 240;

/// Returns a text from outside as the harmless part of one line.
pub fn harmless(text: &str) -> String {
    let line = fence::one_line(text.trim());
    let bounded = Bounded::text(&line, LONGEST);
    let more = if bounded.cut() > 0 { "…" } else { "" };
    let line = format!("{}{more}", bounded.value());
    // Twice: of four colons the first pass leaves two beside each other.
    line.replace("##[", "# #[").replace("::", ": :").replace("::", ": :")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_a_command() {
        assert_eq!(harmless("::add-mask::x"), ": :add-mask: :x");
        assert_eq!(harmless("a\r\n::set-output name=x::y"), "a : :set-output name=x: :y");
        assert_eq!(harmless("see ##[error]x"), "see # #[error]x");
        assert_eq!(harmless("a:::b::::c"), "a: : :b: : : :c");
        assert_eq!(harmless("\u{1b}[31mred"), "\\u{1b}[31mred");
    }

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(harmless(&"x".repeat(300)).chars().count(), LONGEST + 1);
    }
}
