//! Reads the whole conversation in one question.

use fro_core::{Context, Fault, Permit, say::marker::Marker};
use fro_github::GitHub;

use crate::{
    deliver::is_own,
    news::{News, Tell},
};

/// The conversation as the agent is shown it, and our own answer if this run already left one.
pub(crate) struct Hydrated {
    pub(crate) context: Context,
    pub(crate) earlier: Option<u64>,
}

/// Asks GitHub for the subject and cuts the answer to the budget.
pub(crate) async fn hydrate(
    github: &GitHub,
    permit: &Permit,
    marker: &Marker,
    tell: Tell<'_>,
) -> Result<Hydrated, Fault> {
    let told = github.subject(permit.subject().number()).await.map_err(|error| error.fault())?.told;
    let mut comments = told.comments.iter();
    let earlier =
        comments.find(|comment| is_own(comment.author.as_ref(), &comment.body, permit.own(), marker));
    let earlier = earlier.map(|comment| comment.id);
    let context = Context::within_budget(permit, told);
    tell(News::Hydrated { subject: permit.subject(), n_comments: context.comments.value().len() });
    Ok(Hydrated { context, earlier })
}
