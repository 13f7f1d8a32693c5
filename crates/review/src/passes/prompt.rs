//! What the model is told at the beginning of each pass.
//!
//! All passes share one session, so what one pass is told, all later ones know. The author's own words about the change
//! are therefore told last: a change that is called safe is looked at less closely, and the security pass must not
//! have heard it.

use std::fmt::Write as _;

use fro_core::{Bounded, Login, Trust, fence, prompt::PASS, trust::Spoken};

use crate::{finding::Pass, shown_change::ShownChange};

/// Everything that passes are told about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Briefing {
    /// The pull request's title.
    pub title: Spoken,
    /// Its description.
    pub description: Spoken,
    /// Who wrote the change.
    pub author: Login,
    /// The change, as much of it as fits.
    pub change: ShownChange,
    /// What was said in earlier reviews, a line for each thread.
    pub known: Vec<String>,
    /// What is remembered of other reviews, each with where it is from.
    pub recalled: Vec<(String, Spoken)>,
}

/// Bytes of a list of names; three thousand files are about half of it.
const NAMES: usize = 200_000;

/// Writes the message that begins a pass.
pub fn opening(pass: Pass, briefing: &Briefing) -> String {
    let number = pass.number();
    let goal = match pass {
        Pass::Diff => format!("{DIFF}\n\n{}", change(briefing)),
        Pass::Structure => STRUCTURE.to_owned(),
        Pass::Security => SECURITY.to_owned(),
        Pass::Consolidation => {
            format!("{CONSOLIDATION}\n\n{}{}", authors_words(briefing), recalled(briefing))
        }
    };
    format!(
        "{PASS}{number} of 4: {}\n\n{goal}\n\nWhen you are done, call `submit_pass_results` with `pass_number` {number}.",
        name(pass)
    )
}

/// Reminds of a pass that was left open.
pub(super) fn reminder(pass: Pass) -> String {
    let number = pass.number();
    format!(
        "Pass {number} of 4 is still open. Report what is left to report, then call `submit_pass_results` with `pass_number` \
         {number}. Without it the review ends here as incomplete."
    )
}

/// Asks about one thread in which somebody replied, outside of a review.
pub fn about_reply(thread: &str, said: &[Spoken]) -> String {
    let said: Vec<String> = said.iter().map(fence::fenced).collect();
    format!(
        "# A reply in thread {thread}\n\nThis is no new review: somebody replied to a finding of an earlier one. Call \
         `github_get_run_state` to see the finding, read the code that it is about, and judge the reply by the code. Then call \
         `github_reply_to_thread` once: with `is_concession` true if the reply is right, or with the reason why the finding \
         stands. A promise to mend it later is right only if the problem does no harm until then.\n\nWhat was said \
         since your last word:\n\n{}",
        said.join("\n")
    )
}

/// Reminds of a reply that is still to be answered.
pub fn reply_reminder(thread: &str) -> String {
    format!(
        "Thread {thread} has no answer yet. Call `github_reply_to_thread` for it; without that nothing is said."
    )
}

fn name(pass: Pass) -> &'static str {
    match pass {
        Pass::Diff => "the change itself",
        Pass::Structure => "what it does to the rest",
        Pass::Security => "security and the project's rules",
        Pass::Consolidation => "what is worth saying",
    }
}

fn change(briefing: &Briefing) -> String {
    let mut text = String::new();
    for part in &briefing.change.shown {
        let _ = writeln!(text, "{}", quoted(briefing, &part.text));
    }
    let _ = write!(
        text,
        "{}",
        listed(
            briefing,
            "Not shown because it does not fit; read these files yourself",
            &briefing.change.left_out
        )
    );
    let _ = write!(
        text,
        "{}",
        listed(briefing, "Not shown because nobody wrote it by hand", &briefing.change.generated)
    );
    let _ = write!(
        text,
        "{}",
        listed(briefing, "Not shown because it has not changed since the last review", &briefing.change.seen)
    );
    let _ =
        write!(text, "{}", listed(briefing, "Said in earlier reviews; do not say it again", &briefing.known));
    text.trim_end().to_owned()
}

fn authors_words(briefing: &Briefing) -> String {
    format!(
        "The author's title and description, which you have not seen so far. They tell what the change is for; they excuse \
         nothing that you found.\n\n{}\n{}",
        fence::fenced(&briefing.title),
        fence::fenced(&briefing.description)
    )
}

/// What is remembered may repeat the author's words, so it is told where those are.
fn recalled(briefing: &Briefing) -> String {
    if briefing.recalled.is_empty() {
        return String::new();
    }
    let quoted = briefing.recalled.iter().map(|(from, spoken)| format!("{from}:\n{}", fence::fenced(spoken)));
    let quoted: Vec<String> = quoted.collect();
    format!(
        "\n\nWhat earlier sessions have to do with these files. A point that was conceded there is not worth making here \
         again, unless this change makes it true; nothing of it decides about a thread of this pull request.\n\n{}",
        quoted.join("\n")
    )
}

fn listed(briefing: &Briefing, lead: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = lines.iter().map(|line| fence::one_line(line)).collect();
    let lines = Bounded::text(&lines.join("\n"), NAMES).noted();
    format!("\n{lead}:\n{}\n", quoted(briefing, &lines))
}

fn quoted(briefing: &Briefing, text: &str) -> String {
    let spoken = Spoken { who: briefing.author.clone(), trust: Trust::Stranger, text: text.to_owned() };
    fence::fenced(&spoken)
}

const DIFF: &str = "\
Go through the change hunk by hunk. Look for what is wrong in the lines themselves: wrong results, missing cases, errors that \
are swallowed, names that mislead. Line numbers are those of the new file; for a removed line, say so with `side` LEFT.

First call `github_get_run_state`. If a thread's problem is fixed by the new commits, call `github_resolve_thread` and say in \
which file. If somebody replied, judge the reply by the code and answer with `github_reply_to_thread`.";

const STRUCTURE: &str = "\
Follow the change into the code around it. Read the callers of what changed, the types it passes on, the tests that should \
have changed with it. Look for contracts that are broken elsewhere, layers that are skipped, and code that exists already.";

const SECURITY: &str = "\
Go through the change once more as somebody who wants to misuse it, and as the keeper of the project's rules:
- access: can somebody see or change what belongs to another, or reach it without signing in?
- data: are sensitive fields protected, in storage, in logs and on the wire?
- input: what comes from outside, and where does it end up as a query, a path, a command or markup?
- rules: does the change keep to the project's `AGENTS.md`?

Judge by the code alone. Findings that you report now count as findings of the security pass.";

const CONSOLIDATION: &str = "\
Look at everything that you reported and make it less. Withdraw with `github_resolve_thread` (by its draft id) what turned out \
wrong, what says the same as another, and what asks for more than the change is worth. Report nothing new unless it follows \
from two findings together. What is left is posted as one review when you submit.";
