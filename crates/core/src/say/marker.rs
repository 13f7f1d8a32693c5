//! The hidden first line of our comments, by which a re-run finds its own answer.
//!
//! It counts only at the very start of a comment and only if the comment is ours: the same characters
//! further down, or in someone else's comment, are just text.

use std::fmt;

use crate::event::Trigger;

/// Which run's answer to which event a comment is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    run: String,
    event: String,
}

impl Marker {
    /// Makes the marker of a run's answer. A second attempt of the same run has the same marker.
    pub fn new(run: &str, trigger: &Trigger) -> Self {
        let event = match trigger {
            Trigger::Comment(comment) => format!("comment-{}", comment.id),
        };
        Self { run: plain(run), event }
    }

    /// Tells whether a comment's text begins with this marker.
    pub fn opens(&self, body: &str) -> bool {
        body.starts_with(&self.to_string())
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<!-- fro-bot run={} event={} -->", self.run, self.event)
    }
}

/// Keeps what cannot end an HTML comment.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::tests::a_mention;

    #[test]
    fn a_marker_counts_only_at_the_start() {
        let marker = Marker::new("42", &a_mention());
        assert_eq!(marker.to_string(), "<!-- fro-bot run=42 event=comment-99 -->");
        assert!(marker.opens("<!-- fro-bot run=42 event=comment-99 -->\nHello"));
        assert!(!marker.opens("Hello <!-- fro-bot run=42 event=comment-99 -->"));
        assert!(!marker.opens("<!-- fro-bot run=43 event=comment-99 -->"));
    }

    #[test]
    fn a_run_cannot_break_out_of_it() {
        assert_eq!(
            Marker::new("4--> <b>", &a_mention()).to_string(),
            "<!-- fro-bot run=4b event=comment-99 -->"
        );
    }
}
