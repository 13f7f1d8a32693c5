//! Tables of sessions and runs on a terminal: names in colour, times dimmed, the same words without colour.

use anstyle::{AnsiColor, Style};
use fro_core::say::log::harmless;
use jiff::Timestamp;

/// Returns a name in colour.
pub(crate) fn name(text: &str) -> String {
    let style = AnsiColor::Cyan.on_default();
    format!("{style}{}{style:#}", harmless(text))
}

/// Returns a text that matters less.
pub(crate) fn dim(text: &str) -> String {
    let style = Style::new().dimmed();
    format!("{style}{text}{style:#}")
}

/// Returns a time as people read it.
pub(crate) fn time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}
