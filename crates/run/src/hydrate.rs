//! Reads the whole conversation in one question.

use fro_core::{
    Context, Fault, Login, Permit, Spot, Subject, Surface,
    context::{Told, ToldComment},
    say::marker::Marker,
};
use fro_github::{GitHub, Since};

use crate::{
    deliver::is_own,
    news::{News, Tell},
};

/// The conversation as the agent is shown it, and our own answer if this run already left one.
pub(crate) struct Hydrated {
    pub(crate) context: Context,
    pub(crate) earlier: Option<Spot>,
}

/// Asks GitHub for the subject and cuts the answer to the budget.
pub(crate) async fn hydrate(
    github: &GitHub,
    permit: &Permit,
    marker: &Marker,
    tell: Tell<'_>,
) -> Result<Hydrated, Fault> {
    let (told, in_thread) = tokio::join!(told(github, permit), replies(github, permit, marker));
    let Some(told) = told? else {
        return Ok(Hydrated { context: Context::of_repository(permit), earlier: None });
    };
    let earlier = match permit.surface() {
        Surface::Conversation(_) | Surface::Discussion { .. } => own(&told.comments, permit.own(), marker),
        Surface::ReviewThread { .. } | Surface::RunPage => in_thread?,
    };
    let context = Context::within_budget(permit, told);
    tell(News::Hydrated { subject: permit.subject(), n_comments: context.comments.value().len() });
    Ok(Hydrated { context, earlier })
}

/// Asks for what the run is about, if it is about something.
async fn told(github: &GitHub, permit: &Permit) -> Result<Option<Told>, Fault> {
    let told = match permit.subject() {
        Subject::Issue(number) | Subject::PullRequest(number) => {
            github.subject(number).await.map(|hydrated| hydrated.told)
        }
        Subject::Discussion(number) => github.discussion(number).await.map(|discussion| discussion.told),
        Subject::Repository => return Ok(None),
    };
    told.map(Some).map_err(|error| error.fault())
}

/// Looks for our answer in a review thread, of which the subject shows the open ones only.
async fn replies(github: &GitHub, permit: &Permit, marker: &Marker) -> Result<Option<Spot>, Fault> {
    match permit.surface() {
        Surface::ReviewThread { .. } => {}
        Surface::Conversation(_) | Surface::Discussion { .. } | Surface::RunPage => return Ok(None),
    }
    let replies = github.answers(permit, Since::TheBeginning).await.map_err(|error| error.fault())?;
    let mut own =
        replies.into_iter().filter(|reply| is_own(reply.author.as_ref(), &reply.body, permit.own(), marker));
    Ok(own.next().map(|reply| reply.spot))
}

fn own(comments: &[ToldComment], own: &Login, marker: &Marker) -> Option<Spot> {
    let mut ours = comments.iter().filter(|said| is_own(said.author.as_ref(), &said.body, own, marker));
    ours.next().map(|said| said.spot.clone())
}
