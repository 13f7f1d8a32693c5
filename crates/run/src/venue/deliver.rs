//! Posts an answer once and proves it by reading it back; a write whose answer was lost is looked up.

use fro_core::{Delivery, Fault, Permit, Surface, Target, own_comments::is_own, say::marker::Marker};
use fro_github::{Answer, GitHub};
use jiff::Timestamp;

use super::{Venue, since, step_summary};
use crate::ending::Receipt;

/// Gives the answer where it belongs, or edits the one that an earlier attempt of this run left.
pub(super) async fn post_answer(
    Venue { github, permit, occasion, .. }: Venue<'_>,
    delivery: &Delivery,
    earlier: Option<&Target>,
) -> Result<Receipt, Fault> {
    if *permit.surface() == Surface::RunPage {
        return step_summary::answer(occasion, delivery);
    }
    let began = Timestamp::now();
    let written = match earlier {
        Some(target) => github.update_answer(permit, target, &delivery.body).await,
        None => github.post_answer(permit, &delivery.body).await,
    };
    let answer = match written {
        Ok(answer) => answer,
        Err(error) if error.ambiguous() => {
            find_lost(github, permit, &delivery.marker, began).await?.ok_or_else(|| error.fault())?
        }
        Err(error) => return Err(error.fault()),
    };
    read_back(github, permit, delivery, &answer.target).await
}

/// Looks for an answer that was taken although we never heard of it. It may take GitHub a moment to show it, so that
/// who finds nothing looks again before the run is called failed.
pub(super) async fn find_lost(
    github: &GitHub,
    permit: &Permit,
    marker: &Marker,
    began: Timestamp,
) -> Result<Option<Answer>, Fault> {
    for pause in github.pauses() {
        if let Some(answer) = find_answer(github, permit, marker, began).await? {
            return Ok(Some(answer));
        }
        tokio::time::sleep(*pause).await;
    }
    find_answer(github, permit, marker, began).await
}

async fn find_answer(
    github: &GitHub,
    permit: &Permit,
    marker: &Marker,
    began: Timestamp,
) -> Result<Option<Answer>, Fault> {
    let answers = github.answers(permit, since(began)).await.map_err(|error| error.fault())?;
    let mut answers = answers.into_iter();
    Ok(answers.find(|answer| is_own(answer.author.as_ref(), &answer.body, permit.own(), marker)))
}

/// Reads the answer back: GitHub can accept a comment and not show it, or show it changed.
pub(super) async fn read_back(
    github: &GitHub,
    permit: &Permit,
    delivery: &Delivery,
    target: &Target,
) -> Result<Receipt, Fault> {
    let read = github.answer(permit, target).await.map_err(|error| error.fault())?;
    if plain(&read.body) == plain(delivery.body.as_str()) {
        return Ok(Receipt { url: read.url });
    }
    let place = format!("{}{}", permit.repo(), permit.subject().mark());
    Err(Fault::ours(format!("the comment on {place} does not read as it was written: {}", read.url)))
}

/// GitHub may change how lines end.
fn plain(text: &str) -> String {
    text.replace("\r\n", "\n").trim_end().to_owned()
}
