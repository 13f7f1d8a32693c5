//! Reads the whole conversation in one question.

use fro_core::{
    Context, Fault, Login, Permit, Spot, Subject, Surface, Trigger,
    context::{Extent, Told, ToldComment},
    say::marker::Marker,
};
use fro_github::{GitHub, Since};
use fro_opencode::File;

use crate::{
    attach,
    deliver::is_own,
    news::{News, Tell},
};

/// The conversation as the agent is shown it, and our own answer if this run already left one.
pub(crate) struct Hydrated {
    pub(crate) context: Context,
    pub(crate) earlier: Option<Spot>,
    pub(crate) files: Vec<File>,
    /// What a maintainer should know.
    pub(crate) warnings: Vec<String>,
}

/// Asks GitHub for the subject and cuts the answer to the budget.
pub(crate) async fn hydrate(
    github: &GitHub,
    trigger: &Trigger,
    permit: &Permit,
    marker: &Marker,
    tell: Tell<'_>,
) -> Result<Hydrated, Fault> {
    let (told, in_thread) = tokio::join!(told(github, permit), replies(github, permit, marker));
    let Some((told, extent)) = told? else {
        let mut context = Context::of_repository(permit);
        context.set_rules(rules(github, "").await.as_deref());
        return Ok(Hydrated { context, earlier: None, files: Vec::new(), warnings: Vec::new() });
    };
    let earlier = match permit.surface() {
        Surface::Conversation(_) | Surface::Discussion { .. } => own(&told, permit.own(), marker),
        Surface::ReviewThread { .. } | Surface::RunPage => in_thread?,
    };
    let base = told.change.as_ref().map_or(told.default_branch.as_str(), |change| change.base.as_str());
    let texts = [attach::request(trigger, permit), told.body.as_str()];
    let (rules, files) = tokio::join!(rules(github, base), attach::bring(github, texts, tell));
    let mut context = Context::within_budget(permit, told);
    context.extent = extent;
    context.attach(files.attached);
    context.set_rules(rules.as_deref());
    tell(News::Hydrated { subject: permit.subject(), n_comments: context.comments.value().len() });
    let warnings = match extent {
        Extent::Whole => Vec::new(),
        Extent::Degraded => vec![DEGRADED.to_owned()],
    };
    for warning in &warnings {
        tell(News::Warning(warning.clone()));
    }
    Ok(Hydrated { context, earlier, files: files.given, warnings })
}

/// What is said of a run that saw less than there is.
const DEGRADED: &str =
    "degraded: GitHub's GraphQL failed, so the agent was not shown reviews, threads and commits";

/// Reads the maintainers' rules for agents; a run goes on without them.
async fn rules(github: &GitHub, branch: &str) -> Option<String> {
    match github.house_rules(branch).await {
        Ok(rules) => rules,
        Err(error) => {
            tracing::warn!("going on without `AGENTS.md`: {}", error.fault().what());
            None
        }
    }
}

/// Asks for what the run is about, if it is about something.
async fn told(github: &GitHub, permit: &Permit) -> Result<Option<(Told, Extent)>, Fault> {
    let told = match permit.subject() {
        Subject::Issue(number) | Subject::PullRequest(number) => match github.subject(number).await {
            Ok(hydrated) => Ok((hydrated.told, Extent::Whole)),
            // The first refusal is the one to tell of: a subject that is not there is not there by REST either.
            Err(error) => match github.subject_in_parts(number).await {
                Ok(told) => Ok((told, Extent::Degraded)),
                Err(_) => Err(error),
            },
        },
        Subject::Discussion(number) => {
            github.discussion(number).await.map(|discussion| (discussion.told, Extent::Whole))
        }
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

/// Finds our answer among comments and reviews.
fn own(told: &Told, own: &Login, marker: &Marker) -> Option<Spot> {
    let reviews = told.change.iter().flat_map(|change| &change.reviews).map(|review| &review.comment);
    let all: Vec<&ToldComment> = told.comments.iter().chain(reviews).collect();
    let mut ours = all.into_iter().filter(|said| is_own(said.author.as_ref(), &said.body, own, marker));
    ours.next().map(|said| said.spot.clone())
}
