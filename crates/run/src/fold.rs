//! Folds away the answers to earlier states of a pull request, once there is one to the newest.

use fro_core::{Permit, Trigger, say::marker::Marker};
use fro_github::{Error, GitHub, Note};

use crate::progress::{Progress, Tell};

/// Folds what a new push has made outdated. Who asked for a review keeps it in sight, and nothing here fails a run.
pub(crate) async fn outdated(github: &GitHub, trigger: &Trigger, permit: &Permit, tell: Tell<'_>) {
    let Trigger::Pull(pull) = trigger else { return };
    if let Err(error) = fold(github, pull.number, permit).await {
        tell(Progress::Warning(error.fault().what().to_owned()));
    }
}

async fn fold(github: &GitHub, pull: u64, permit: &Permit) -> Result<(), Error> {
    let standing = github.standing(pull).await?;
    let ours =
        |note: &&Note| note.author.as_ref().is_some_and(|author| author.is_same_identity(permit.own()));
    let reviews: Vec<_> = standing
        .notes
        .iter()
        .filter(ours)
        .filter_map(|note| Some((note, Marker::read(&note.body)?)))
        .collect();
    let is_newest = |marker: &Marker| marker.reviewed().is_some_and(|about| about.head == standing.head);
    // A run that was slower than the one after it must not fold the newer answer.
    if !reviews.iter().any(|(_, marker)| is_newest(marker)) {
        return Ok(());
    }
    for (note, marker) in &reviews {
        let by_itself = marker.reviewed().is_some_and(|about| !about.asked);
        if by_itself && !is_newest(marker) && !note.folded {
            github.fold(permit, &note.id).await?;
        }
    }
    Ok(())
}
