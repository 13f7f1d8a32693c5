//! Reads the whole conversation in one question.

use fro_core::{
    Context, Fault, Permit, Subject, Surface, Trigger,
    attachment::GivenFile,
    context::{Extent, RawContext},
    event,
    own_comments::Earlier,
    say::marker::Marker,
};
use fro_github::{GitHub, Since};
use jiff::Timestamp;

use super::{Venue, attach, since};
use crate::progress::Progress;

/// The conversation as the agent is shown it, and our own answer if this run already left one.
pub(crate) struct Hydrated {
    pub(crate) context: Context,
    pub(crate) earlier: Earlier,
    pub(crate) files: Vec<GivenFile>,
    /// What a maintainer should know.
    pub(crate) warnings: Vec<String>,
}

/// Asks GitHub for the subject and cuts the answer to the budget.
///
/// What was changed or written after somebody asked is not shown as if it had been there.
pub(super) async fn hydrate(venue: Venue<'_>, trigger: &Trigger, marker: &Marker) -> Result<Hydrated, Fault> {
    let Venue { github, permit, occasion, tell } = venue;
    let Some((told, extent)) = read_subject(github, permit).await? else {
        let mut context = Context::of_repository(permit);
        context.git_ref.clone_from(&occasion.git_ref);
        context.set_rules(rules(github, "").await.as_deref());
        let earlier = Earlier::default();
        return Ok(Hydrated { context, earlier, files: Vec::new(), warnings: Vec::new() });
    };
    let asked_at = event::asked_at(&occasion.event);
    let earlier = earlier(github, permit, marker, (&told, extent, asked_at)).await?;
    let (told, n_later) = told.as_of(asked_at, event::subject_then(&occasion.event));
    let base =
        told.change.as_ref().map_or(told.default_branch.as_str(), |change| change.outline.base.as_str());
    let texts = [attach::request(trigger, permit), told.body.as_str()];
    let (rules, files) = tokio::join!(rules(github, base), attach::bring(github, texts, tell));
    let mut context = Context::within_budget(permit, told);
    context.extent = extent;
    context.n_later = n_later;
    context.git_ref.clone_from(&occasion.git_ref);
    context.attach(files.attached);
    context.set_rules(rules.as_deref());
    tell(Progress::Hydrated { subject: permit.subject(), n_comments: context.comments.value().len() });
    let warnings = match extent {
        Extent::Whole => Vec::new(),
        Extent::Degraded => vec![DEGRADED.to_owned()],
    };
    for warning in &warnings {
        tell(Progress::Warning(warning.clone()));
    }
    Ok(Hydrated { context, earlier, files: files.given, warnings })
}

/// What is said of a run that saw less than there is.
const DEGRADED: &str =
    "degraded: GitHub's GraphQL failed, so the agent was not shown reviews, threads and commits";

/// Reads the maintainers' rules for agents; a run goes on without them.
async fn rules(github: &GitHub, branch: &str) -> Option<String> {
    match github.file("AGENTS.md", branch).await {
        Ok(rules) => rules,
        Err(error) => {
            tracing::warn!("going on without `AGENTS.md`: {}", error.fault().what());
            None
        }
    }
}

/// Asks for what the run is about, if it is about something.
async fn read_subject(github: &GitHub, permit: &Permit) -> Result<Option<(RawContext, Extent)>, Fault> {
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
        Subject::Thread(_) | Subject::Repository => return Ok(None),
    };
    told.map(Some).map_err(|error| error.fault())
}

/// Looks for what an earlier attempt left: in what was told, and where that may not be all, in everything that was written
/// since somebody asked.
async fn earlier(
    github: &GitHub,
    permit: &Permit,
    marker: &Marker,
    (told, extent, asked_at): (&RawContext, Extent, Option<Timestamp>),
) -> Result<Earlier, Fault> {
    let earlier = Earlier::find(told.messages(), permit.own(), marker);
    let is_all = match permit.surface() {
        Surface::Conversation(_) => earlier.answer.is_some() || told.shows_all(extent),
        // Of a thread the subject shows the open ones only.
        Surface::ReviewThread { .. } => false,
        Surface::Discussion { .. } => true,
        Surface::Thread(_) | Surface::RunPage => return Ok(Earlier::default()),
    };
    if is_all {
        return Ok(earlier);
    }
    let since = asked_at.map_or(Since::TheBeginning, since);
    let answers = github.answers(permit, since).await.map_err(|error| error.fault())?;
    let messages =
        answers.iter().map(|answer| (answer.author.as_ref(), answer.body.as_str(), &answer.target));
    Ok(Earlier::find(messages, permit.own(), marker))
}
