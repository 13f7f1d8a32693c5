//! The hidden first line of our comments, by which a re-run finds its own answer.
//!
//! It counts only at the very start of a comment and only if the comment is ours: the same characters
//! further down, or in someone else's comment, are just text.

use std::fmt;

use crate::event::{IssueAction, PullAction, Trigger};

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
            Trigger::ReviewComment(comment) => format!("review-comment-{}", comment.id),
            Trigger::Issue(issue) => match issue.action {
                IssueAction::Opened => format!("issue-{}-opened", issue.number),
                IssueAction::Edited => format!("issue-{}-edited", issue.number),
            },
            Trigger::Pull(pull) => {
                let asked = match pull.action {
                    PullAction::ReviewRequested(_) => "requested-",
                    PullAction::Opened
                    | PullAction::Synchronized
                    | PullAction::Reopened
                    | PullAction::Ready => "",
                };
                format!("pull-{}-{asked}{}", pull.number, plain(&pull.sha))
            }
            Trigger::Discussion(discussion) => format!("discussion-{}", discussion.number),
            Trigger::DiscussionComment(comment) => format!("discussion-comment-{}", comment.database_id),
            Trigger::Order(_) => "order".to_owned(),
        };
        Self { run: plain(run), event }
    }

    /// Returns the run and the event in one word, which no other run has.
    pub fn key(&self) -> String {
        format!("{}/{}", self.run, self.event)
    }

    /// Tells whether a comment's text begins with this marker.
    pub fn opens(&self, body: &str) -> bool {
        body.starts_with(&self.to_string())
    }

    /// Tells whether a comment's text is another run's answer to the same.
    pub fn is_anothers(&self, body: &str) -> bool {
        let first = body.lines().next().unwrap_or_default();
        let told = first.strip_prefix("<!-- fro-bot run=").and_then(|rest| rest.strip_suffix(" -->"));
        told.and_then(|told| told.split_once(" event="))
            .is_some_and(|(run, event)| run != self.run && event == self.event)
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
    use crate::{event::tests::all, gate::tests::a_mention};

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

    #[test]
    fn another_run_s_answer_to_the_same_is_told_apart() {
        let marker = Marker::new("42", &a_mention());
        assert!(marker.is_anothers("<!-- fro-bot run=41 event=comment-99 -->\nHello"));
        assert!(!marker.is_anothers("<!-- fro-bot run=42 event=comment-99 -->\nHello"));
        assert!(!marker.is_anothers("<!-- fro-bot run=41 event=comment-98 -->\nHello"));
        assert!(!marker.is_anothers("Look: <!-- fro-bot run=41 event=comment-99 -->"));
    }

    #[test]
    fn each_kind_of_event_has_its_own() {
        let told: Vec<_> = all().iter().map(|trigger| Marker::new("1", trigger).event).collect();
        insta::assert_debug_snapshot!(told);
    }
}
