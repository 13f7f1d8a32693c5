//! Remarks beside the code of a pull request, by whichever door they come in.

use crate::state::{Anchor, Comment, Misfit, Place, Pull, Review, ReviewState, ReviewThread, State, anchor};

/// A remark to be made.
pub(crate) struct Remark {
    pub(crate) path: String,
    pub(crate) body: String,
    pub(crate) place: Place,
}

/// Finds where a remark stands in what a pull request changes.
pub(crate) fn fit(pull: &Pull, remark: &Remark) -> Result<Anchor, Misfit> {
    let file = pull.files.iter().find(|file| file.path == remark.path).ok_or(Misfit::Path)?;
    anchor(file, remark.place)
}

/// Begins a thread with a remark of a review and returns the id of its comment; `None` if there is no such review's
/// pull request.
pub(crate) fn begin(
    state: &mut State,
    (full_name, number): (&str, u64),
    login: &str,
    (remark, anchor): (Remark, Anchor),
    review: u64,
) -> Option<u64> {
    let (id, thread, now) = (state.next_id(), state.next_id(), state.clock.now());
    let repo = state.repo_mut(full_name)?;
    let association = repo.association(login);
    let pull = repo.issue_mut(number)?.pull.as_mut()?;
    let first = Comment { review: Some(review), ..Comment::new(id, login, association, &remark.body, now) };
    pull.threads.push(ReviewThread::new(thread, &remark.path, anchor, &pull.head_oid, first));
    Some(id)
}

/// The review that somebody has begun and not given.
pub(crate) fn pending<'a>(pull: &'a Pull, login: &str) -> Option<&'a Review> {
    pull.reviews
        .iter()
        .find(|review| review.state == ReviewState::Pending && review.author.eq_ignore_ascii_case(login))
}

/// Enters a review; whoever was asked for it has given it, unless it is only begun.
pub(crate) fn enter(state: &mut State, (full_name, number): (&str, u64), review: Review) {
    let Some(issue) = state.issue_mut(full_name, number) else { return };
    issue.updated_at = review.submitted_at;
    let Some(pull) = &mut issue.pull else { return };
    if review.state != ReviewState::Pending {
        pull.requested_reviewers.retain(|login| *login != review.author);
    }
    pull.reviews.retain(|own| own.id != review.id);
    pull.reviews.push(review);
}

/// Takes a comment beside the code away, and with it a thread and a review that then hold nothing.
pub(crate) fn remove(pull: &mut Pull, id: u64) {
    for thread in &mut pull.threads {
        thread.comments.retain(|comment| comment.id != id);
    }
    pull.threads.retain(|thread| !thread.comments.is_empty());
    let carried: Vec<_> = pull
        .threads
        .iter()
        .flat_map(|thread| &thread.comments)
        .filter_map(|comment| comment.review)
        .collect();
    pull.reviews.retain(|review| {
        let empty = review.state == ReviewState::Commented && review.body.is_empty();
        !empty || carried.contains(&review.id)
    });
}

impl Misfit {
    /// The part of the remark that is wrong.
    pub(crate) fn field(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Line => "line",
            Self::StartLine | Self::Order | Self::OtherHunk => "start_line",
        }
    }

    /// What is wrong with that part, in GitHub's words.
    pub(crate) fn complaint(self) -> &'static str {
        match self {
            Self::Path => "is invalid",
            Self::Line | Self::StartLine => "must be part of the diff",
            Self::Order => "must precede the end line",
            Self::OtherHunk => "must be part of the same hunk as the line",
        }
    }

    /// The same as a sentence about a thread.
    pub(crate) fn sentence(self) -> String {
        format!("Pull request review thread {} {}", self.field().replace('_', " "), self.complaint())
    }
}
