//! What has to be asked of GitHub before the gate can decide.

use fro_core::{
    Fault, Permission, Trigger,
    gate::{self, Answered, Facts, OnBehalfOf, Policy},
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
    let (permission, reviewer) =
        (permission(github, trigger, policy), Box::pin(reviewer_looks(github, trigger, (policy, occasion))));
    let asked = tokio::join!(github.viewer(), permission, lately, reviewer);
    let own = asked.0.map_err(|error| error.fault())?;
    let marker = Marker::new(&occasion.run.id, trigger);
    let is_ours = |comment: &Comment| {
        let author = comment.author.as_ref();
        author.is_some_and(|author| author.is_same_identity(&own)) && marker.is_anothers(&comment.body)
    };
    let answered = Answered::from_runs(asked.3, asked.2?.iter().any(is_ours));
    Ok(Facts { permission: asked.1?, answered, own })
}

/// Workflow files that are read at most.
const WORKFLOWS: usize = 30;

/// Tells whether a workflow of the default branch has the reviewer look at what nobody asked us for: a change cannot say
/// so of itself. What cannot be read costs a second look and nothing else.
async fn reviewer_looks(
    github: &GitHub,
    trigger: &Trigger,
    (policy, occasion): (&Policy, &Occasion),
) -> bool {
    if !gate::may_be_reviewed(trigger, policy) {
        return false;
    }
    let names = github.folder(".github/workflows").await.unwrap_or_else(|error| {
        tracing::warn!("cannot tell whether there is a reviewer: {}", error.fault().what());
        Vec::new()
    });
    for name in names.into_iter().filter(|name| gate::is_workflow_file(name)).take(WORKFLOWS) {
        let file = github.file(&format!(".github/workflows/{name}"), "").await;
        if file
            .is_ok_and(|text| text.is_some_and(|text| gate::reviews_pulls(&text, occasion.action.as_ref())))
        {
            return true;
        }
    }
    false
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
            tracing::warn!("cannot tell who can read the repository: {}", error.fault().what());
            None
        }
    }
}

async fn permission(github: &GitHub, trigger: &Trigger, policy: &Policy) -> Result<Permission, Fault> {
    match OnBehalfOf::from_trigger(trigger, policy) {
        OnBehalfOf::Asker => github.permission(trigger.asker()).await.map_err(|error| error.fault()),
        OnBehalfOf::Anyone | OnBehalfOf::Operator => Ok(Permission::None),
    }
}

/// Reads what was said within the window in which the same is not answered twice.
async fn lately(
    github: &GitHub,
    trigger: &Trigger,
    policy: &Policy,
    occasion: &Occasion,
) -> Result<Vec<Comment>, Fault> {
    match gate::answered_since(trigger, policy, occasion.began) {
        Some((number, since)) => {
            github.comments(number, Since::Time(since)).await.map_err(|error| error.fault())
        }
        None => Ok(Vec::new()),
    }
}
