//! Remarks beside the code of a pull request, by whichever door they come in.

use crate::{
    state::{Anchor, Comment, Issue, Misfit, Place, Pull, Review, ReviewState, ReviewThread, State, anchor},
    words,
};

/// A remark to be made.
pub(crate) struct Remark {
    pub(crate) path: String,
    pub(crate) body: String,
    pub(crate) place: Place,
}

/// A review to be given, or to be begun if its verdict is `Pending`.
pub(crate) struct Draft {
    pub(crate) verdict: ReviewState,
    pub(crate) text: String,
    /// The commit that it is about; the head unless it says so.
    pub(crate) commit_oid: Option<String>,
    pub(crate) remarks: Vec<Remark>,
}

/// Gives a review, or begins it, and returns its id; or says in a sentence why not.
pub(crate) fn give(state: &mut State, place: (&str, u64), login: &str, draft: Draft) -> Result<u64, String> {
    let (full_name, number) = place;
    let (issue, pull) = found(state, place)?;
    let Draft { verdict, text, commit_oid, remarks } = draft;
    acceptable(verdict, (&text, remarks.len()), issue, login)?;
    if pending(pull, login).is_some() {
        return Err("User can only have one pending review per pull request".to_owned());
    }
    let commit_oid = commit_oid.unwrap_or_else(|| pull.head_oid.clone());
    if !pull.commits.iter().any(|commit| commit.oid == commit_oid) {
        return Err("Commit is not part of the pull request".to_owned());
    }
    // The refusal does not say which one it was.
    let fitted = |remark: Remark| match fit(pull, &remark) {
        Ok(anchor) => Ok((remark, anchor)),
        Err(misfit) => Err(misfit.sentence()),
    };
    let remarks = remarks.into_iter().map(fitted).collect::<Result<Vec<_>, _>>()?;
    let (id, now) = (state.next_id(), state.clock.now());
    let carrier = Review::carrier(id, login, &commit_oid, now);
    enter(state, (full_name, number), Review { state: verdict, body: text, ..carrier });
    for remark in remarks {
        begin(state, (full_name, number), login, remark, id);
    }
    Ok(id)
}

/// Gives a review that was begun; or says in a sentence why not.
pub(crate) fn submit(
    state: &mut State,
    place: (&str, u64),
    (id, login): (u64, &str),
    (verdict, text): (ReviewState, Option<String>),
) -> Result<(), String> {
    let now = state.clock.now();
    let (issue, pull) = found(state, place)?;
    let begun = pull.reviews.iter().find(|review| review.id == id);
    let mut review = begun.cloned().ok_or_else(|| "There is no such review".to_owned())?;
    if review.state != ReviewState::Pending {
        return Err("Can not submit a review that has already been submitted".to_owned());
    }
    review.body = text.unwrap_or(review.body);
    let said = pull.threads.iter().flat_map(|thread| &thread.comments);
    let n_remarks = said.filter(|comment| comment.review == Some(id)).count();
    acceptable(verdict, (&review.body, n_remarks), issue, login)?;
    (review.state, review.submitted_at) = (verdict, now);
    enter(state, place, review);
    Ok(())
}

/// Takes a review away that was begun, with its remarks; or says in a sentence why not.
pub(crate) fn discard(pull: &mut Pull, id: u64) -> Result<(), String> {
    let begun = |review: &Review| review.id == id && review.state == ReviewState::Pending;
    if !pull.reviews.iter().any(begun) {
        return Err("Can not delete a non-pending pull request review".to_owned());
    }
    pull.reviews.retain(|review| review.id != id);
    for thread in &mut pull.threads {
        thread.comments.retain(|comment| comment.review != Some(id));
    }
    pull.threads.retain(|thread| !thread.comments.is_empty());
    Ok(())
}

/// Takes back what a review says; or says in a sentence why not.
pub(crate) fn dismiss(review: &mut Review) -> Result<(), String> {
    match review.state {
        ReviewState::Approved | ReviewState::ChangesRequested => {
            review.state = ReviewState::Dismissed;
            Ok(())
        }
        ReviewState::Commented => Err("Can not dismiss a commented pull request review".to_owned()),
        ReviewState::Dismissed | ReviewState::Pending => Err("Can not dismiss this review".to_owned()),
    }
}

/// Says in a sentence what GitHub has against a verdict with this text and so many remarks.
fn acceptable(
    verdict: ReviewState,
    (text, n_remarks): (&str, usize),
    issue: &Issue,
    login: &str,
) -> Result<(), String> {
    if let Some(complaint) = words::body(text) {
        return Err(complaint);
    }
    let own = issue.author.eq_ignore_ascii_case(login);
    let silent = text.trim().is_empty();
    let sentence = match verdict {
        ReviewState::Approved if own => "Can not approve your own pull request",
        ReviewState::ChangesRequested if own => "Can not request changes on your own pull request",
        ReviewState::ChangesRequested if silent => "Body can't be blank",
        // Remarks are words enough for a comment.
        ReviewState::Commented if silent && n_remarks == 0 => "Body can't be blank",
        ReviewState::Approved
        | ReviewState::ChangesRequested
        | ReviewState::Commented
        | ReviewState::Pending => return Ok(()),
        ReviewState::Dismissed => "A review cannot be given as dismissed",
    };
    Err(sentence.to_owned())
}

fn found<'a>(state: &'a State, (full_name, number): (&str, u64)) -> Result<(&'a Issue, &'a Pull), String> {
    let found = state.issue(full_name, number).and_then(|issue| Some((issue, issue.pull.as_ref()?)));
    found.ok_or_else(|| "There is no such pull request".to_owned())
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
