//! The one comment that a run leaves.

use std::fmt::Write as _;

use super::{
    marker::Marker,
    summary::{self, Account},
    trouble,
    whole::closed,
};
use crate::{budget::Bounded, conversation::outcome::Outcome};

/// GitHub takes 65 536 characters; the rest is for the summary.
const LONGEST: usize = 60_000;

/// Returns the whole comment. `seed` picks the colour of the peace sign.
pub fn comment(outcome: &Outcome, account: &Account, marker: &Marker, seed: u64) -> String {
    let mut text = format!("{marker}\n{}\n", said(outcome));
    let _ = write!(text, "\n---\n{}\n\n{}\n", peace(seed), summary::folded(account));
    text
}

fn said(outcome: &Outcome) -> String {
    let words = match outcome {
        Outcome::Answered { text, .. } => Some(text),
        Outcome::Refused { partial } | Outcome::OutOfTime { partial } | Outcome::Failed { partial, .. } => {
            partial.as_ref()
        }
    };
    let words = words.map(|words| closed(&shortened(words)));
    let note = match outcome {
        Outcome::Answered { cut_short: true, .. } => Some(
            "> ⚠️ The model reached the longest answer it can give; this one may be incomplete.".to_owned(),
        ),
        Outcome::Answered { cut_short: false, .. } => None,
        Outcome::Refused { .. } | Outcome::OutOfTime { .. } | Outcome::Failed { .. } => {
            trouble::told(outcome).map(|told| {
                let partial = if words.is_some() { "\n>\n> What I have so far is above." } else { "" };
                format!("> ❌ **{}** (`{}`)\n>\n> {}{partial}", told.what, told.kind, told.next)
            })
        }
    };
    [words, note].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

fn shortened(words: &str) -> String {
    let bounded = Bounded::text(words.trim(), LONGEST);
    match bounded.cut() {
        0 => bounded.value().clone(),
        cut => format!(
            "{}\n\n*({cut} more bytes did not fit into a comment; the run's log has the whole answer.)*",
            closed(bounded.value())
        ),
    }
}

/// Returns a peace sign in one of its colours.
fn peace(seed: u64) -> &'static str {
    const SIGNS: [&str; 7] = ["✌️", "✌🏻", "✌🏼", "✌🏽", "✌🏾", "✌🏿", "☮️"];
    let at = usize::try_from(seed % 7).unwrap_or(0);
    SIGNS[at]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        conversation::outcome::{Failure, Trouble},
        gate::tests::a_mention,
        say::summary::tests::an_account,
    };

    fn told(outcome: &Outcome) -> String {
        comment(outcome, &an_account(), &Marker::new("42", &a_mention()), 3)
    }

    #[test]
    fn an_answer_reads_like_this() {
        let outcome =
            Outcome::Answered { text: "The hose leaks at `tap.rs:12`.".to_owned(), cut_short: false };
        insta::assert_snapshot!(told(&outcome));
    }

    #[test]
    fn a_failure_keeps_what_was_said_and_says_what_broke() {
        let failure = Failure::from(Trouble::RateLimited);
        let outcome = Outcome::Failed { failure, partial: Some("I looked at\n```sh\nls".to_owned()) };
        insta::assert_snapshot!(told(&outcome));
    }

    #[test]
    fn the_longest_answer_still_fits_a_comment() {
        let outcome = Outcome::Answered { text: "x".repeat(200_000), cut_short: false };
        let text = told(&outcome);
        assert!(text.chars().count() < 65_536 && text.contains("140000 more bytes"));
    }
}
