//! The one comment that a run leaves.

use super::{
    marker::Marker,
    summary::{self, Account, RunLink},
    trouble,
    whole::closed,
};
use crate::{budget::Bounded, conversation::outcome::Outcome};

/// GitHub takes 65 536 characters; the rest is for the summary.
const LONGEST: usize = 60_000;

/// A comment as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The comment.
    pub text: String,
    /// The run summary, if it stands in a comment of its own.
    pub summary: Option<String>,
    /// Everything that was said, if the comment is too short for it.
    pub whole: Option<String>,
}

/// Where the run summary stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SummaryPlace {
    /// Below the answer, folded.
    #[default]
    Inline,
    /// In a comment of its own.
    Separate,
}

/// How a comment looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommentStyle {
    /// Where the run summary stands.
    pub summary: SummaryPlace,
    /// Picks the colour of the peace sign.
    pub seed: u64,
}

/// Writes the comment.
pub fn comment(outcome: &Outcome, account: &Account, marker: &Marker, look: CommentStyle) -> Written {
    let (said, whole) = said(outcome, &account.run);
    let (peace, folded) = (peace(look.seed), summary::folded(account));
    let share = account.share.as_ref().map(|share| format!(" · {}", share.footer())).unwrap_or_default();
    let answer = format!("{marker}\n{said}\n\n---\n{peace}{share}\n");
    match look.summary {
        SummaryPlace::Inline => Written { text: format!("{answer}\n{folded}\n"), summary: None, whole },
        SummaryPlace::Separate => {
            let summary = format!("{}\n{folded}\n", marker.of_summary());
            Written { text: answer, summary: Some(summary), whole }
        }
    }
}

/// Returns what is said, and all of it if that is more than fits.
fn said(outcome: &Outcome, run: &RunLink) -> (String, Option<String>) {
    let words = match outcome {
        Outcome::Answered { text, .. } => Some(text),
        Outcome::Refused { partial } | Outcome::OutOfTime { partial } | Outcome::Failed { partial, .. } => {
            partial.as_ref()
        }
    };
    let whole = words.filter(|words| words.trim().len() > LONGEST).cloned();
    let words = words.map(|words| closed(&shortened(words, run)));
    let note = match outcome {
        Outcome::Answered { cut_short: true, .. } => Some(
            "> ⚠️ The model reached the longest answer it can give; this one may be incomplete.".to_owned(),
        ),
        Outcome::Answered { cut_short: false, .. } => None,
        Outcome::Refused { .. } | Outcome::OutOfTime { .. } | Outcome::Failed { .. } => {
            trouble::advise(outcome).map(|told| {
                // What a model said, that is: where none could be asked, the words above say why.
                let said = words.as_deref().is_some_and(has_more_than_notes) && told.kind != "no_model";
                let partial = if said { "\n>\n> What I have so far is above." } else { "" };
                format!("> ❌ **{}** (`{}`)\n>\n> {}{partial}", told.what, told.kind, told.next)
            })
        }
    };
    ([words, note].into_iter().flatten().collect::<Vec<_>>().join("\n\n"), whole)
}

/// Tells whether a text says more than the notes of the harness, which are quotes.
fn has_more_than_notes(words: &str) -> bool {
    words.lines().any(|line| !line.trim().is_empty() && !line.starts_with('>'))
}

fn shortened(words: &str, run: &RunLink) -> String {
    let bounded = Bounded::text(words.trim(), LONGEST);
    let page = match &run.url {
        Some(url) => format!("; the whole answer is on [the run's page]({url})"),
        None => String::new(),
    };
    match bounded.cut() {
        0 => bounded.value().clone(),
        cut => {
            format!("{}\n\n*({cut} more bytes did not fit into a comment{page}.)*", closed(bounded.value()))
        }
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

    fn written(outcome: &Outcome, summary: SummaryPlace) -> Written {
        comment(outcome, &an_account(), &Marker::new("42", &a_mention()), CommentStyle { summary, seed: 3 })
    }

    fn comment_text(outcome: &Outcome) -> String {
        written(outcome, SummaryPlace::Inline).text
    }

    #[test]
    fn an_answer_reads_like_this() {
        let outcome =
            Outcome::Answered { text: "The hose leaks at `tap.rs:12`.".to_owned(), cut_short: false };
        insta::assert_snapshot!(comment_text(&outcome));
    }

    #[test]
    fn a_failure_keeps_what_was_said_and_says_what_broke() {
        let failure = Failure::from(Trouble::RateLimited);
        let outcome = Outcome::Failed { failure, partial: Some("I looked at\n```sh\nls".to_owned()) };
        insta::assert_snapshot!(comment_text(&outcome));
    }

    #[test]
    fn a_note_of_the_harness_is_nothing_that_the_model_has_so_far() {
        let failed = |partial: &str| {
            let failure = Failure::from(Trouble::DiskFull);
            comment_text(&Outcome::Failed { failure, partial: Some(partial.to_owned()) })
        };
        let note = "> ℹ️ I pushed nothing.";
        assert!(!failed(note).contains("so far is above"), "{}", failed(note));
        assert!(failed(&format!("It is the seal.\n\n{note}")).contains("so far is above"));
    }

    #[test]
    fn the_longest_answer_still_fits_a_comment() {
        let outcome = Outcome::Answered { text: "x".repeat(200_000), cut_short: false };
        let Written { text, whole, .. } = written(&outcome, SummaryPlace::Inline);
        assert!(text.chars().count() < 65_536, "{}", text.len());
        let note = "*(140000 more bytes did not fit into a comment; the whole answer is on \
                    [the run's page](https://github.com/octo/garden/actions/runs/42).)*";
        assert!(text.contains(note), "{}", &text[60_000..]);
        assert_eq!(whole.map(|whole| whole.len()), Some(200_000));
    }

    #[test]
    fn a_summary_can_stand_apart() {
        let outcome = Outcome::Answered { text: "It is the seal.".to_owned(), cut_short: false };
        let Written { text, summary, whole } = written(&outcome, SummaryPlace::Separate);
        insta::assert_snapshot!(text, @r"
        <!-- fro-bot run=42 event=comment-99 -->
        It is the seal.

        ---
        ✌🏽 · [session](https://opncd.ai/share/abc12345)
        ");
        let summary = summary.unwrap_or_default();
        assert!(summary.starts_with("<!-- fro-bot run=42 event=comment-99 part=summary -->\n<details>"));
        assert_eq!(whole, None);
    }
}
