//! One issue or pull request with its comments.

use jiff::Timestamp;
use maud::{Markup, html};

use crate::{
    page::{markdown, pull},
    rest::timestamp,
    state::{
        Association, Comment, Issue, IssueState, PersonKind, Reaction, ReactionContent, Repo, Review, State,
    },
};

/// What stands in one card, be it the opening text, a comment or a review.
pub(super) struct Card<'a> {
    anchor: String,
    author: &'a str,
    association: Association,
    body: &'a str,
    created_at: Timestamp,
    edited: bool,
    reactions: &'a [Reaction],
}

/// The whole thread.
pub(super) fn page(state: &State, repo: &Repo, issue: &Issue) -> Markup {
    let opening = Card {
        anchor: format!("issue-{}", issue.id),
        author: &issue.author,
        association: issue.association,
        body: &issue.body,
        created_at: issue.created_at,
        edited: false,
        reactions: &issue.reactions,
    };
    let n_comments = issue.comments.len();
    html! {
        h1 { (issue.title) " " span.quiet { "#" (issue.number) } }
        p.meta {
            (pill(issue))
            span.quiet {
                b { (issue.author) } " opened this on " (when(issue.created_at)) " · "
                (n_comments) @if n_comments == 1 { " comment" } @else { " comments" }
            }
            @for name in &issue.labels { (label(repo, name)) }
        }
        @if let Some(pull) = &issue.pull {
            p.quiet { code { (pull.head_ref) } " → " code { (pull.base_ref) } }
        }
        div.thread {
            (card(state, &opening))
            @for comment in &issue.comments { (card(state, &Card::from_comment(comment, "issuecomment-"))) }
            @if let Some(pull) = &issue.pull { (pull::talk(state, pull)) }
        }
        @if let Some(pull) = &issue.pull { (pull::change(pull)) }
        @if issue.locked { p.notice { "🔒 Only collaborators may comment here." } }
    }
}

/// Open, closed or merged.
pub(super) fn pill(issue: &Issue) -> Markup {
    let (class, word) = match issue.state {
        IssueState::Open => ("open", "Open"),
        IssueState::Closed => ("closed", "Closed"),
        IssueState::Merged => ("merged", "Merged"),
    };
    let kind = if issue.pull.is_some() { "⇄" } else { "◎" };
    html! { span class={ "pill " (class) } { (kind) " " (word) } }
}

/// A label in its own colour.
pub(super) fn label(repo: &Repo, name: &str) -> Markup {
    let known = repo.label(name);
    let color = known.map_or("ededed", |label| &label.color);
    let meaning = known.and_then(|label| label.description.as_deref());
    html! { span.label style={ "--color: #" (color) } title=[meaning] { (name) } }
}

/// A time for people, exact in its machine-readable form.
pub(super) fn when(time: Timestamp) -> Markup {
    html! { time datetime=(timestamp(time)) { (time.strftime("%-d %B %Y, %H:%M UTC")) } }
}

impl<'a> Card<'a> {
    /// A comment, whose address ends like this before its number.
    pub(super) fn from_comment(comment: &'a Comment, anchor: &str) -> Self {
        Self {
            anchor: format!("{anchor}{}", comment.id),
            author: &comment.author,
            association: comment.association,
            body: &comment.body,
            created_at: comment.created_at,
            edited: comment.updated_at > comment.created_at,
            reactions: &comment.reactions,
        }
    }

    /// What a review says as a whole.
    pub(super) fn of_review(review: &'a Review) -> Self {
        Self {
            anchor: format!("pullrequestreview-{}", review.id),
            author: &review.author,
            association: Association::None,
            body: &review.body,
            created_at: review.submitted_at,
            edited: false,
            reactions: &[],
        }
    }
}

/// Draws a card.
pub(super) fn card(state: &State, card: &Card<'_>) -> Markup {
    let person = state.person(card.author);
    let hue = person.map_or(0, |person| person.id % 8);
    let initial: String = card.author.chars().take(1).flat_map(char::to_uppercase).collect();
    html! {
        article id=(card.anchor) {
            div class={ "avatar hue-" (hue) } aria-hidden="true" { (initial) }
            div.card {
                div.head {
                    b { (card.author) }
                    @if person.is_some_and(|person| person.kind == PersonKind::Bot) { span.badge { "bot" } }
                    a.quiet href={ "#" (card.anchor) } { (when(card.created_at)) }
                    @if card.edited { span.quiet { "· edited" } }
                    @if let Some(badge) = badge(card.association) { span.badge.right { (badge) } }
                }
                div.body {
                    @if card.body.trim().is_empty() { p.quiet { i { "No description provided." } } }
                    @else { (markdown::html(card.body)) }
                }
                @if !card.reactions.is_empty() { (chips(card.reactions)) }
            }
        }
    }
}

fn badge(association: Association) -> Option<&'static str> {
    match association {
        Association::Owner => Some("Owner"),
        Association::Member => Some("Member"),
        Association::Collaborator => Some("Collaborator"),
        Association::Contributor => Some("Contributor"),
        Association::FirstTimeContributor | Association::FirstTimer => Some("First time contributor"),
        Association::None => None,
    }
}

/// The reactions as GitHub groups them: one chip for each kind, with those who left it.
fn chips(reactions: &[Reaction]) -> Markup {
    let of_kind = |content| reactions.iter().filter(move |reaction| reaction.content == content);
    let kinds = ReactionContent::ALL.into_iter().filter(|content| of_kind(*content).next().is_some());
    html! {
        div.chips {
            @for content in kinds {
                @let authors: Vec<_> = of_kind(content).map(|reaction| reaction.author.as_str()).collect();
                span.chip title={ (authors.join(", ")) " (" (content.word()) ")" } {
                    (content.emoji()) " " (authors.len())
                }
            }
        }
    }
}
