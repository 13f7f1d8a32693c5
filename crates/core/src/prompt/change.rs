//! What the agent is told of a pull request's change: branches, commits, files, reviews and open threads.

use super::{Piece, remarks};
use crate::{
    budget::Bounded,
    context::{Change, Context},
    fence,
    trust::{Spoken, Trust},
};

pub(super) fn pieces(change: &Change, context: &Context) -> Vec<Piece> {
    let mut pieces = vec![Piece::Instruction(branches(change))];
    pieces.extend(listed("Commits, oldest first", "older ones", &change.commits, context));
    pieces.extend(listed("Changed files", "more", &change.files, context));
    pieces.extend(remarks("Review", "reviews", &change.reviews));
    pieces.extend(remarks("Thread", "remarks in threads", &change.threads));
    pieces
}

fn branches(change: &Change) -> String {
    let pull = &change.outline;
    let origin = if pull.fork { ", from a fork" } else { "" };
    let draft = if pull.draft { ", still a draft" } else { "" };
    format!(
        "- From `{}` into `{}`{origin}{draft}\n- Newest commit: `{}`\n- {} lines added, {} deleted",
        fence::inline(&pull.head),
        fence::inline(&pull.base),
        fence::inline(&pull.head_oid),
        pull.additions,
        pull.deletions,
    )
}

/// Quotes lines that the pull request's author chose, such as paths and commit messages.
fn listed(what: &str, rest: &str, lines: &Bounded<Vec<String>>, context: &Context) -> Option<Piece> {
    if lines.value().is_empty() {
        return None;
    }
    let left_out = match lines.cut() {
        0 => String::new(),
        cut => format!(" ({cut} {rest} left out)"),
    };
    let text: Vec<_> = lines.value().iter().map(|line| fence::one_line(line)).collect();
    let who = context.description.spoken.who.clone();
    Some(Piece::Quoted {
        lead: format!("{what}{left_out}:"),
        spoken: Spoken { who, trust: Trust::Stranger, text: text.join("\n") },
    })
}
