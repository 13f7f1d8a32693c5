//! What has to be asked of GitHub before the gate can decide.

use std::time::Duration;

use fro_core::{
    Fault, Permission, Trigger,
    gate::{Answered, Facts, Policy, Role, Standing},
    remembered::Audience,
    say::marker::Marker,
};
use fro_github::{Comment, GitHub, Since};

use crate::occasion::Occasion;

/// Asks who we are, and what else the decision depends on, all at once.
pub(super) async fn gather(
    github: &GitHub,
    trigger: &Trigger,
    policy: &Policy,
    occasion: &Occasion,
) -> Result<Facts, Fault> {
    let lately = lately(github, trigger, policy, occasion);
    let asked = tokio::join!(github.viewer(), permission(github, trigger, policy), lately);
    let own = asked.0.map_err(|error| error.fault())?;
    let marker = Marker::new(&occasion.run.id, trigger);
    let is_ours = |comment: &Comment| {
        let author = comment.author.as_ref();
        author.is_some_and(|author| author.is_same_identity(&own)) && marker.is_anothers(&comment.body)
    };
    let answered = if asked.2?.iter().any(is_ours) { Answered::Lately } else { Answered::No };
    Ok(Facts { permission: asked.1?, answered, own })
}

/// Returns who can read the repository. The payload of a schedule does not tell, nor does a made-up one; a run goes on
/// without knowing.
pub(super) async fn audience(github: &GitHub, occasion: &Occasion) -> Option<Audience> {
    if occasion.audience.is_some() {
        return occasion.audience;
    }
    match github.rights().await {
        Ok(rights) if rights.private => Some(Audience::Insiders),
        Ok(_) => Some(Audience::Everyone),
        Err(error) => {
            tracing::warn!("nobody knows who can read the repository: {}", error.fault().what());
            None
        }
    }
}

async fn permission(github: &GitHub, trigger: &Trigger, policy: &Policy) -> Result<Permission, Fault> {
    match Standing::of(trigger, policy) {
        Standing::Asker => github.permission(trigger.asker()).await.map_err(|error| error.fault()),
        Standing::Anyone | Standing::Operator => Ok(Permission::None),
    }
}

/// Reads what was said within the window in which the same is not answered twice.
///
/// Only what happens by itself is held back; who asks in a comment means it.
async fn lately(
    github: &GitHub,
    trigger: &Trigger,
    policy: &Policy,
    occasion: &Occasion,
) -> Result<Vec<Comment>, Fault> {
    let number = match trigger {
        Trigger::Issue(issue) => issue.number,
        Trigger::Pull(pull) => pull.number,
        Trigger::Comment(_)
        | Trigger::ReviewComment(_)
        | Trigger::Discussion(_)
        | Trigger::DiscussionComment(_)
        | Trigger::Order(_) => return Ok(Vec::new()),
    };
    // What a review said is known from its threads.
    let window = match policy.role {
        Role::Agent => policy.dedup_window,
        Role::Reviewer => Duration::ZERO,
    };
    let Some(since) = occasion.began.checked_sub(window).ok().filter(|_| !window.is_zero()) else {
        return Ok(Vec::new());
    };
    github.comments(number, Since::Time(since)).await.map_err(|error| error.fault())
}
