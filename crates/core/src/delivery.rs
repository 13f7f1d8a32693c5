//! Settles what leaves: one comment, clean, and the reaction that goes with it.

use crate::{
    clean::{Clean, Redactor},
    conversation::outcome::Outcome,
    names::Reaction,
    say::{answer, marker::Marker, summary::Account},
};

/// What is about to be posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The comment.
    pub body: Clean,
    /// What takes the place of 👀.
    pub reaction: Reaction,
    /// Where a re-run finds it again.
    pub marker: Marker,
}

/// Settles the answer of a run.
pub fn settle(
    outcome: &Outcome,
    account: &Account,
    marker: Marker,
    redactor: &Redactor,
    seed: u64,
) -> Delivery {
    let body = redactor.clean(&answer::comment(outcome, account, &marker, seed));
    let reaction = match outcome {
        Outcome::Answered { .. } => Reaction::Hooray,
        Outcome::Refused { .. } | Outcome::OutOfTime { .. } | Outcome::Failed { .. } => Reaction::Confused,
    };
    Delivery { body, reaction, marker }
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
        let delivery = settle(&outcome, &an_account(), marker, &Redactor::knowing([&token]), 0);
        assert!(delivery.body.as_str().contains("it is [redacted]"));
        assert_eq!((delivery.body.found(), delivery.reaction), (1, Reaction::Hooray));
    }
}
