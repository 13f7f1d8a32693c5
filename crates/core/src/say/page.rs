//! The page of the run: what became of the answer, and what the run accounts for.

use std::fmt::Write as _;

use super::{
    summary::{self, Account},
    whole::closed,
};
use crate::{budget::Bounded, place::Subject};

/// GitHub takes a mebibyte per step; the rest is for the summary.
const LONGEST: usize = 900_000;

/// What became of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerFate<'a> {
    /// The answer is on GitHub.
    Posted {
        /// Where.
        url: &'a str,
        /// All of it, if it was too long for that place.
        whole: Option<&'a str>,
    },
    /// The answer stands on this page alone.
    Refused {
        /// All of it.
        answer: &'a str,
    },
}

/// Returns what is added to the page.
pub fn report(subject: Subject, account: &Account, fate: AnswerFate<'_>) -> String {
    let mut text = match fate {
        AnswerFate::Posted { url, .. } => {
            format!("### fro-bot on {subject}\n\n[The answer]({url}) was posted.\n\n")
        }
        AnswerFate::Refused { .. } => {
            format!("### fro-bot on {subject}\n\n> ❌ The answer could not be posted. Here it is.\n\n")
        }
    };
    text.push_str(&summary::open(account));
    let rest = match fate {
        AnswerFate::Posted { whole, .. } => whole,
        AnswerFate::Refused { answer } => Some(answer),
    };
    if let Some(rest) = rest {
        let bounded = Bounded::text(rest, LONGEST);
        let _ = write!(text, "\n### The whole answer\n\n{}\n", closed(&bounded.noted()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::say::summary::tests::an_account;

    #[test]
    fn a_page_reads_like_this() {
        let (subject, account) = (Subject::Issue(7), an_account());
        let posted = AnswerFate::Posted { url: "https://github.com/octo/garden/issues/7#x", whole: None };
        insta::assert_snapshot!(report(subject, &account, posted));
        let told = report(subject, &account, AnswerFate::Refused { answer: "It is\n```sh\nls" });
        assert!(
            told.starts_with("### fro-bot on issue #7\n\n> ❌ The answer could not be posted."),
            "{told}"
        );
        assert!(told.ends_with("### The whole answer\n\nIt is\n```sh\nls\n```\n"), "{told}");
    }

    #[test]
    fn a_page_stays_below_what_github_takes() {
        let long = "x".repeat(2_000_000);
        let posted = AnswerFate::Posted { url: "u", whole: Some(&long) };
        assert!(report(Subject::Issue(7), &an_account(), posted).len() < 1 << 20);
    }
}
