//! Settles what leaves: one comment, clean, and what belongs to it.

use crate::{
    clean::{Clean, Redactor},
    conversation::outcome::Outcome,
    say::{
        answer::{self, CommentStyle},
        marker::Marker,
        summary::Account,
    },
};

/// What is about to be posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The comment.
    pub body: Clean,
    /// Where a re-run finds it again.
    pub marker: Marker,
    /// The run summary, if it stands in a comment of its own.
    pub summary: Option<Clean>,
    /// Everything that was said, if the comment is too short for it.
    pub whole: Option<Clean>,
}

/// Settles the answer of a run.
pub fn settle(
    outcome: &Outcome,
    account: &Account,
    marker: Marker,
    look: CommentStyle,
    redactor: &Redactor,
) -> Delivery {
    let written = answer::comment(outcome, account, &marker, look);
    let clean = |text: String| redactor.clean(&text);
    Delivery {
        body: clean(written.text),
        summary: written.summary.map(clean),
        whole: written.whole.map(clean),
        marker,
    }
}

impl Delivery {
    /// Returns the run summary as a delivery of its own, if it stands apart.
    pub fn apart(&self) -> Option<Self> {
        let body = self.summary.clone()?;
        Some(Self { body, marker: self.marker.of_summary(), summary: None, whole: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gate::tests::a_mention, say::summary::tests::an_account, secret::Secret};

    #[test]
    fn a_secret_in_the_answer_does_not_leave() {
        let token = Secret::new("ghs-not-a-real-token");
        let outcome = Outcome::Answered { text: format!("it is {}", token.expose()), cut_short: false };
        let marker = Marker::new("42", &a_mention());
        let delivery =
            settle(&outcome, &an_account(), marker, CommentStyle::default(), &Redactor::knowing([&token]));
        assert!(delivery.body.as_str().contains("it is [redacted]"));
        assert_eq!(delivery.body.found(), 1);
    }
}
