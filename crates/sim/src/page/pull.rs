//! What a pull request has besides its conversation: reviews, threads beside the code, and the change itself.

use maud::{Markup, html};

use crate::{
    page::{
        issue::{Card, card},
        markdown,
    },
    state::{ChangedFile, Pull, Review, ReviewState, ReviewThread, State},
};

/// So many lines of the code stand above a thread, as on GitHub.
const LINES_ABOVE: usize = 4;

/// The reviews that say something, and the threads.
pub(super) fn talk(state: &State, pull: &Pull) -> Markup {
    let reviews = pull.reviews.iter().filter(|review| review.is_seen_by(None) && says_something(review));
    html! {
        @for review in reviews {
            p.verdict { b { (review.author) } " " (verdict(review.state)) }
            @if !review.body.is_empty() { (card(state, &Card::of_review(review))) }
        }
        @for thread in pull.threads_seen_by(None) { (beside_code(state, &thread)) }
    }
}

/// The files that differ, each folded up.
pub(super) fn change(pull: &Pull) -> Markup {
    let (added, removed) = pull
        .files
        .iter()
        .fold((0, 0), |(added, removed), file| (added + file.additions, removed + file.deletions));
    html! {
        @if !pull.files.is_empty() {
            h2 { "Files changed " span.quiet { (pull.files.len()) " · " (counts(added, removed)) } }
            @for file in &pull.files { (changed(file)) }
        }
    }
}

fn says_something(review: &Review) -> bool {
    !review.body.is_empty() || matches!(review.state, ReviewState::Approved | ReviewState::ChangesRequested)
}

fn verdict(state: ReviewState) -> &'static str {
    match state {
        ReviewState::Approved => "approved these changes",
        ReviewState::ChangesRequested => "requested changes",
        ReviewState::Commented | ReviewState::Pending => "reviewed",
        ReviewState::Dismissed => "reviewed; dismissed since",
    }
}

fn beside_code(state: &State, thread: &ReviewThread) -> Markup {
    let line = thread.line.or(thread.original_line).map(|line| format!(":{line}")).unwrap_or_default();
    let lines: Vec<_> = thread.diff_hunk.lines().collect();
    let near = lines[lines.len().saturating_sub(LINES_ABOVE)..].join("\n");
    html! {
        details.beside open[!thread.resolved] {
            summary {
                code { (thread.path) (line) }
                @if thread.resolved { span.badge { "resolved" } }
                @else if thread.line.is_none() && thread.original_line.is_some() { span.badge { "outdated" } }
            }
            @if !near.is_empty() { (diff(&near)) }
            @for comment in &thread.comments { (card(state, &Card::from_comment(comment, "discussion_r"))) }
        }
    }
}

fn changed(file: &ChangedFile) -> Markup {
    html! {
        details.file {
            summary { code { (file.path) } " " span.quiet { (counts(file.additions, file.deletions)) } }
            @match &file.patch {
                Some(patch) => (diff(patch)),
                None => p.quiet { "Not a text" },
            }
        }
    }
}

fn counts(added: u64, removed: u64) -> String {
    format!("+{added} −{removed}")
}

fn diff(lines: &str) -> Markup {
    html! { pre { code { (markdown::colored(lines)) } } }
}
