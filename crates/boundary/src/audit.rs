//! The record of what the agent asked for: a line of the log for each call, but no more than anybody would read.

use std::sync::atomic::{AtomicU32, Ordering};

/// The most lines of one run about one thing; whoever has more to ask is counted all the same.
const MOST: u32 = 500;

/// The longest line.
const LONGEST: usize = 300;

/// The record about one thing.
#[derive(Debug)]
pub(crate) struct Audit {
    about: &'static str,
    calls: AtomicU32,
}

impl Audit {
    pub(crate) fn new(about: &'static str) -> Self {
        Self { about, calls: AtomicU32::new(0) }
    }

    /// Writes a call down, as long as there is room.
    pub(crate) fn note(&self, what: &str) {
        if let Some(line) = self.line(what) {
            tracing::info!(target: "audit", "{line}");
        }
    }

    fn line(&self, what: &str) -> Option<String> {
        let about = self.about;
        match self.calls.fetch_add(1, Ordering::Relaxed) {
            call if call < MOST => {
                // A name of the agent's must not begin a line of its own, nor turn one round.
                let shown = |c: char| if is_odd(c) { '\u{fffd}' } else { c };
                let cut: String = what.chars().take(LONGEST).map(shown).collect();
                let more = if what.chars().nth(LONGEST).is_some() { "…" } else { "" };
                Some(format!("{about}: {cut}{more}"))
            }
            MOST => Some(format!("{about}: further calls are counted, and not written down")),
            _ => None,
        }
    }
}

/// Tells whether a character changes how the rest of a line is read.
fn is_odd(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_calls_is_no_flood_of_lines() {
        let audit = Audit::new("gh");
        let lines: Vec<String> =
            (0..2 * MOST).filter_map(|call| audit.line(&format!("GET /{call}"))).collect();

        assert_eq!(lines.len(), 501);
        assert_eq!(lines[499], "gh: GET /499");
        assert_eq!(lines[500], "gh: further calls are counted, and not written down");
    }

    #[test]
    fn a_call_is_one_line() {
        let line = Audit::new("gh").line("GET /a\r\n::set-output name=x::\u{1b}[2J\u{202e}b").unwrap();
        assert_eq!(line, "gh: GET /a\u{fffd}\u{fffd}::set-output name=x::\u{fffd}[2J\u{fffd}b");
    }

    #[test]
    fn a_long_call_is_cut() {
        let line = Audit::new("git").line(&"ü".repeat(1000)).unwrap();
        assert_eq!(line, format!("git: {}…", "ü".repeat(LONGEST)));
    }
}
