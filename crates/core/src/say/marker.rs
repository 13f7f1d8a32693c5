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
    part: MarkedPart,
}

/// Which part of an answer a comment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MarkedPart {
    /// The answer itself.
    Answer,
    /// The run summary, if it stands apart.
    Summary,
    /// What is shown until there is an answer, which then takes its place.
    Progress,
}

/// The state of a pull request that a comment is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reviewed<'a> {
    /// The pull request's newest commit at that time.
    pub head: &'a str,
    /// Whether somebody asked for it, or it happened by itself.
    pub asked: bool,
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
                    PullAction::ReviewRequested(_) => REQUESTED,
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
        Self { run: plain(run), event, part: MarkedPart::Answer }
    }

    /// Reads the marker of a comment, if its text begins with one.
    pub fn read(body: &str) -> Option<Self> {
        let first = body.lines().next()?;
        let told = first.strip_prefix("<!-- fro-bot run=")?.strip_suffix(" -->")?;
        let (run, event) = told.split_once(" event=")?;
        let (event, part) = match (event.strip_suffix(SUMMARY), event.strip_suffix(PROGRESS)) {
            (Some(event), _) => (event, MarkedPart::Summary),
            (None, Some(event)) => (event, MarkedPart::Progress),
            (None, None) => (event, MarkedPart::Answer),
        };
        Some(Self { run: run.to_owned(), event: event.to_owned(), part })
    }

    /// Returns the marker of the run summary that goes with the answer.
    #[must_use]
    pub fn of_summary(&self) -> Self {
        Self { part: MarkedPart::Summary, ..self.clone() }
    }

    /// Returns the marker of what is shown until there is an answer.
    #[must_use]
    pub fn of_progress(&self) -> Self {
        Self { part: MarkedPart::Progress, ..self.clone() }
    }

    /// Returns what state of a pull request it answers, if it answers one.
    pub fn reviewed(&self) -> Option<Reviewed<'_>> {
        if self.part == MarkedPart::Progress {
            return None;
        }
        let (_, rest) = self.event.strip_prefix("pull-")?.split_once('-')?;
        Some(match rest.strip_prefix(REQUESTED) {
            Some(head) => Reviewed { head, asked: true },
            None => Reviewed { head: rest, asked: false },
        })
    }

    /// Returns the comment beside the code that it answers, if it answers one.
    pub fn answered_remark(&self) -> Option<u64> {
        if self.part == MarkedPart::Progress {
            return None;
        }
        self.event.strip_prefix("review-comment-")?.parse().ok()
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
        Self::read(body).is_some_and(|other| {
            other.run != self.run && other.event == self.event && other.part == MarkedPart::Answer
        })
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = match self.part {
            MarkedPart::Answer => "",
            MarkedPart::Summary => SUMMARY,
            MarkedPart::Progress => PROGRESS,
        };
        write!(f, "<!-- fro-bot run={} event={}{part} -->", self.run, self.event)
    }
}

/// Stands in the marker of a summary.
const SUMMARY: &str = " part=summary";

/// Stands in the marker of a comment that has no answer yet.
const PROGRESS: &str = " part=progress";

/// Stands before the commit if somebody asked for the review.
const REQUESTED: &str = "requested-";

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
    fn a_summary_is_not_the_answer() {
        let answer = Marker::new("42", &a_mention());
        let summary = answer.of_summary();
        assert_eq!(summary.to_string(), "<!-- fro-bot run=42 event=comment-99 part=summary -->");
        assert!(!answer.opens(&summary.to_string()) && !summary.opens(&answer.to_string()));
        assert!(!Marker::new("43", &a_mention()).is_anothers(&summary.to_string()));
        assert_eq!((Marker::read(&summary.to_string()), Marker::read("Hello")), (Some(summary), None));
    }

    #[test]
    fn what_is_shown_before_the_answer_is_not_the_answer() {
        let answer = Marker::new("42", &a_mention());
        let progress = answer.of_progress();
        assert_eq!(progress.to_string(), "<!-- fro-bot run=42 event=comment-99 part=progress -->");
        assert!(!answer.opens(&progress.to_string()) && !progress.opens(&answer.to_string()));
        assert!(!Marker::new("43", &a_mention()).is_anothers(&progress.to_string()));
        assert_eq!(Marker::read(&progress.to_string()), Some(progress));
        let pull =
            all().iter().map(|trigger| Marker::new("1", trigger)).find(|marker| marker.reviewed().is_some());
        assert_eq!(pull.map(|marker| marker.of_progress().reviewed().is_none()), Some(true));
    }

    #[test]
    fn an_answer_beside_the_code_names_what_it_answers_once_it_is_there() {
        let read = |text: &str| Marker::read(text).expect("it is one").answered_remark();
        assert_eq!(read("<!-- fro-bot run=1 event=review-comment-7 -->\nYes."), Some(7));
        assert_eq!(read("<!-- fro-bot run=1 event=review-comment-7 part=progress -->"), None);
        assert_eq!(read("<!-- fro-bot run=1 event=comment-7 -->"), None);
    }

    #[test]
    fn a_review_knows_its_commit_and_whether_it_was_asked_for() {
        let told: Vec<_> = all()
            .iter()
            .map(|trigger| Marker::new("1", trigger))
            .filter_map(|marker| marker.reviewed().map(|Reviewed { head, asked }| format!("{head} {asked}")))
            .collect();
        assert_eq!(told, ["89e6c98d false", "89e6c98d false", "89e6c98d true"]);
    }

    #[test]
    fn each_kind_of_event_has_its_own() {
        let told: Vec<_> = all().iter().map(|trigger| Marker::new("1", trigger).event).collect();
        insta::assert_debug_snapshot!(told);
    }
}
