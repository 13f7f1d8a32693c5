//! Lists: the repositories, and the issues of one.

use maud::{Markup, html};

use crate::{
    page::issue::{label, pill, when},
    state::{Issue, Repo, State},
};

/// All public repositories with their issues.
pub(super) fn home(state: &State) -> Markup {
    html! {
        @for repo in state.repos.iter().filter(|repo| !repo.private) {
            section {
                h2 { a href={ "/" (repo.full_name()) } { (repo.full_name()) } }
                p.quiet { (repo.description) }
                (list(repo))
            }
        }
    }
}

/// One repository with its issues.
pub(super) fn issues(repo: &Repo) -> Markup {
    html! {
        h1 { (repo.full_name()) }
        p.quiet { (repo.description) }
        (list(repo))
    }
}

fn list(repo: &Repo) -> Markup {
    html! {
        ul.list {
            @for issue in repo.issues.iter().rev() { li { (row(repo, issue)) } }
        }
    }
}

fn row(repo: &Repo, issue: &Issue) -> Markup {
    html! {
        (pill(issue))
        div {
            a.title href={ "/" (repo.full_name()) "/" (issue.page()) } { (issue.title) }
            " "
            @for name in &issue.labels { (label(repo, name)) }
            p.quiet { "#" (issue.number) " by " (issue.author) " on " (when(issue.created_at)) }
        }
        @if !issue.comments.is_empty() { span.quiet { "💬 " (issue.comments.len()) } }
    }
}
