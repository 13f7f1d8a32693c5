//! Remarks beside the code of a pull request, by whichever door they come in.

use crate::state::{Anchor, Comment, Misfit, Place, Pull, ReviewThread, State, anchor};

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

/// Begins a thread with a remark and returns the id of its comment; `None` if there is no such pull request.
pub(crate) fn begin(
    state: &mut State,
    (full_name, number): (&str, u64),
    login: &str,
    (remark, anchor): (Remark, Anchor),
    review: Option<u64>,
) -> Option<u64> {
    let (id, thread, now) = (state.next_id(), state.next_id(), state.clock.now());
    let repo = state.repo_mut(full_name)?;
    let association = repo.association(login);
    let pull = repo.issue_mut(number)?.pull.as_mut()?;
    let first = Comment::new(id, login, association, &remark.body, now);
    let thread = ReviewThread::new(thread, &remark.path, anchor, &pull.head_oid, first);
    pull.threads.push(ReviewThread { review, ..thread });
    Some(id)
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

    /// What is wrong with it, in GitHub's words.
    pub(crate) fn complaint(self) -> &'static str {
        match self {
            Self::Path => "path is invalid",
            Self::Line => "line must be part of the diff",
            Self::StartLine => "start line must be part of the diff",
            Self::Order => "start line must precede the end line",
            Self::OtherHunk => "start line must be part of the same hunk as the line",
        }
    }
}
