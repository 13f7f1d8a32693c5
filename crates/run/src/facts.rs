//! What has to be asked of GitHub before the gate can decide.

use fro_core::{
    Fault, Permission, Trigger,
    gate::{Answered, Facts, Standing},
    say::marker::Marker,
};
use fro_github::{Comment, GitHub, Since};

use crate::settings::Settings;

/// Asks who we are, and what else the decision depends on, all at once.
pub(crate) async fn gather(github: &GitHub, trigger: &Trigger, settings: &Settings) -> Result<Facts, Fault> {
    let asked = tokio::join!(github.viewer(), permission(github, trigger), lately(github, trigger, settings));
    let own = asked.0.map_err(|error| error.fault())?;
    let marker = Marker::new(&settings.run.id, trigger);
    let is_ours = |comment: &Comment| {
        let author = comment.author.as_ref();
        author.is_some_and(|author| author.is_same_identity(&own)) && marker.is_anothers(&comment.body)
    };
    let answered = if asked.2?.iter().any(is_ours) { Answered::Lately } else { Answered::No };
    Ok(Facts { permission: asked.1?, answered, own })
}

async fn permission(github: &GitHub, trigger: &Trigger) -> Result<Permission, Fault> {
    match Standing::of(trigger) {
        Standing::Asker => github.permission(trigger.asker()).await.map_err(|error| error.fault()),
        Standing::Anyone | Standing::Operator => Ok(Permission::None),
    }
}

/// Reads what was said within the window in which the same is not answered twice.
///
/// Only what happens by itself is held back; who asks in a comment means it.
async fn lately(github: &GitHub, trigger: &Trigger, settings: &Settings) -> Result<Vec<Comment>, Fault> {
    let number = match trigger {
        Trigger::Issue(issue) => issue.number,
        Trigger::Pull(pull) => pull.number,
        Trigger::Comment(_)
        | Trigger::ReviewComment(_)
        | Trigger::Discussion(_)
        | Trigger::DiscussionComment(_)
        | Trigger::Order(_) => return Ok(Vec::new()),
    };
    let window = settings.policy.dedup_window;
    let Some(since) = settings.began.checked_sub(window).ok().filter(|_| !window.is_zero()) else {
        return Ok(Vec::new());
    };
    github.comments(number, Since::Time(since)).await.map_err(|error| error.fault())
}
