//! Links as Discord shows them: what a link is called does not hide where it leads.

use std::sync::LazyLock;

use pulldown_cmark::LinkType;
use regex::Regex;

/// Where a link may lead whose address is not shown.
const KNOWN: &str = "https://github.com/";

/// Where Discord may see a link that a parser of Markdown does not.
#[expect(clippy::expect_used, reason = "the pattern is a constant that the tests compile")]
static UNSEEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\]\((\s*<?\s*(?i:https?|discord):)").expect("the constant pattern compiles")
});

/// What a link becomes.
pub(super) enum Shown {
    /// The link stands as it was written.
    AsWritten,
    /// This stands in its place.
    Instead(String),
}

/// Decides how a link is shown.
pub(super) fn show(kind: LinkType, words: &str, address: &str) -> Shown {
    match kind {
        // The address is all there is to see.
        LinkType::Autolink | LinkType::Email => Shown::AsWritten,
        LinkType::Inline if is_plain(address) && address.starts_with(KNOWN) => Shown::AsWritten,
        _ if is_plain(address) && address.starts_with(KNOWN) => {
            Shown::Instead(format!("[{words}](<{address}>)"))
        }
        _ => Shown::Instead(spelt_out(words, address)),
    }
}

/// Writes the words of a link with its address.
pub(super) fn spelt_out(words: &str, address: &str) -> String {
    let is_web = address.starts_with("https://") || address.starts_with("http://");
    let place = if is_web && is_plain(address) {
        format!("<{address}>")
    } else {
        format!("`{}`", address.replace('`', "ˋ").split_whitespace().collect::<Vec<_>>().join(" "))
    };
    match words.trim() {
        "" => place,
        same if same == address => place,
        words => format!("{words} ({place})"),
    }
}

/// Breaks what Discord would take for a link, by a character that does not show.
pub(super) fn broken(text: &str) -> String {
    UNSEEN.replace_all(text, "]\u{200b}($1").into_owned()
}

/// Tells whether an address is made of letters that look like no others, and cannot end its brackets.
fn is_plain(address: &str) -> bool {
    address.chars().all(|c| c.is_ascii_graphic() && !"<>`\\".contains(c))
}
