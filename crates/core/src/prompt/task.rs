//! What the agent is to do, by what set the run off.

use super::{Piece, Wishes};
use crate::{
    budget::Bounded,
    command::{AfterMention, Command},
    event::{IssueAction, ReviewComment, Trigger},
    fence,
    gate::Permit,
    names::Login,
    trust::{Spoken, Trust},
};

/// Bytes of a diff hunk that are shown.
const HUNK: usize = 4_000;
const REVIEW: &str = "Review this pull request for code quality, potential bugs, and improvements.";
const FIX: &str = "Find the cause, fix it and show that it is fixed.";
/// Ends each task.
pub(super) const LAST: &str = "Follow all instructions and requirements listed in this prompt.";

pub(super) fn pieces(trigger: &Trigger, permit: &Permit, wishes: &Wishes) -> Vec<Piece> {
    let mut pieces = vec![Piece::Instruction(directive(trigger, permit.said()))];
    if let Trigger::ReviewComment(comment) = trigger {
        pieces.extend(where_it_stands(comment));
    }
    // An order's directive is the operator's prompt already.
    let more = wishes.prompt.as_ref().filter(|_| !matches!(trigger, Trigger::Order(_)));
    pieces.extend(more.map(|more| Piece::Instruction(format!("### Additional Instructions\n\n{more}"))));
    pieces.push(Piece::Instruction(LAST.to_owned()));
    pieces
}

/// Tells whether a task begins with a directive of ours and not with an order of the operator.
pub(super) fn is_directive(task: &str) -> bool {
    let ours = ["Respond to the ", "Triage this issue: ", REVIEW, FIX];
    ours.iter().any(|beginning| task.starts_with(beginning))
}

/// Returns the one thing to do.
fn directive(trigger: &Trigger, said: &AfterMention) -> String {
    let by_trigger = match trigger {
        Trigger::Comment(_) => "Respond to the comment above.",
        Trigger::DiscussionComment(_) => "Respond to the discussion comment above.",
        Trigger::Discussion(_) => "Respond to the discussion above.",
        Trigger::ReviewComment(_) => "Respond to the review comment with the following context:",
        Trigger::Issue(issue) => match issue.action {
            IssueAction::Opened => "Triage this issue: summarize, reproduce if possible, propose next steps.",
            IssueAction::Edited => "Respond to the words that the edit of this issue added.",
        },
        Trigger::Pull(_) => REVIEW,
        Trigger::Order(order) => return order.prompt.clone(),
    };
    match said {
        AfterMention::Command(Command::Review) => {
            format!("{REVIEW} Heed what the comment above adds.\n\n{by_trigger}")
        }
        AfterMention::Command(Command::Fix) => {
            format!("{FIX}\n\n{by_trigger}")
        }
        AfterMention::Command(Command::Help | Command::Stop | Command::Status | Command::Forget)
        | AfterMention::Unknown { .. }
        | AfterMention::Request => by_trigger.to_owned(),
    }
}

/// Tells where a review comment stands. The hunk and the path are the author's words, so they are quoted.
fn where_it_stands(comment: &ReviewComment) -> [Piece; 3] {
    let anchor = &comment.anchor;
    let mut lines = vec![
        "<review_comment_context>".to_owned(),
        format!("File: {}", fence::inline(Bounded::text(&anchor.path, 256).value())),
    ];
    match (anchor.line, anchor.original_line) {
        (Some(line), _) => lines.push(format!("Line: {line}")),
        (None, Some(line)) => lines.push(format!("Line: {line} (the code has changed since)")),
        (None, None) => {}
    }
    lines.push(format!("Commit: {}", fence::inline(Bounded::text(&anchor.commit_id, 64).value())));
    let hunk = Bounded::text(&anchor.diff_hunk, HUNK).noted();
    let spoken = Spoken { who: Login::new("diff"), trust: Trust::Stranger, text: hunk };
    [
        Piece::Instruction(lines.join("\n")),
        Piece::Quoted { lead: "Diff hunk:".to_owned(), spoken },
        Piece::Instruction("</review_comment_context>".to_owned()),
    ]
}
