//! Remarks beside the code: placed by the pull request's own hunks, given as one review.

use fro_core::{
    Clean, Delivery, Fault, Target,
    draft::{InlineComment, beside},
};
use fro_github::{ChangedFile, Error, GitHub, Remark};
use fro_review::{Diff, FileDiff, Layout};
use jiff::Timestamp;

use super::{Venue, deliver};
use crate::ending::Receipt;

/// Remarks on one commit, each with its place.
#[derive(Default)]
pub(crate) struct Placed {
    /// The commit that the agent saw.
    pub(crate) commit: String,
    pub(crate) layout: Layout,
}

impl Venue<'_> {
    /// Finds a place for every remark. Where that cannot be, because the code has moved on or an earlier attempt has
    /// answered already, they stand in the answer itself.
    pub(crate) async fn place(
        self,
        remarks: &[InlineComment],
        seen: Option<&str>,
        earlier: Option<&Target>,
    ) -> Placed {
        let below = || Placed { commit: String::new(), layout: Layout::below(remarks) };
        let Some((pull, commit)) = beside(self.permit, remarks, seen, earlier) else { return below() };
        match diff(self.github, pull, commit).await {
            Ok(Some(diff)) => Placed { layout: diff.lay_out(remarks), commit: commit.to_owned() },
            Ok(None) => below(),
            Err(error) => {
                tracing::warn!("remarks stay in the answer: {}", error.fault().what());
                below()
            }
        }
    }
}

/// Reads the hunks, unless there is a newer commit than the one that was looked at.
async fn diff(github: &GitHub, pull: u64, commit: &str) -> Result<Option<Diff>, Error> {
    let files = github.changed_files(pull).await?;
    if github.head(pull).await? != commit {
        return Ok(None);
    }
    let read = |file: ChangedFile| {
        let hunks = FileDiff::from_patch(&file.path, file.moved_from.clone(), file.patch.as_deref());
        hunks.unwrap_or(FileDiff { path: file.path, moved_from: file.moved_from, hunks: Vec::new() })
    };
    Ok(Some(Diff::new(files.into_iter().map(read).collect())))
}

/// Gives the answer as a review with its remarks beside the code. Nothing came of it if GitHub did not take one of the
/// places.
pub(super) async fn deliver(
    Venue { github, permit, .. }: Venue<'_>,
    delivery: &Delivery,
    placed: &Placed,
    clean: impl Fn(&str) -> Clean,
) -> Result<Option<Receipt>, Fault> {
    let beside = placed.layout.beside.iter();
    let remarks: Vec<_> =
        beside.map(|(anchor, body)| Remark { anchor: anchor.clone(), body: clean(body) }).collect();
    let began = Timestamp::now();
    let answer = match github.post_review(permit, &placed.commit, &delivery.body, &remarks).await {
        Ok(answer) => answer,
        Err(error) if error.status() == Some(422) => return Ok(None),
        Err(error) if error.ambiguous() => {
            deliver::find_lost(github, permit, &delivery.marker, began).await?.ok_or_else(|| error.fault())?
        }
        Err(error) => return Err(error.fault()),
    };
    let receipt = deliver::read_back(github, permit, delivery, &answer.target).await?;
    let (Target::Review(id), Some(pull)) = (&answer.target, permit.subject().number()) else {
        return Ok(Some(receipt));
    };
    let shown = github.remarks(pull, *id).await.map_err(|error| error.fault())?;
    if shown == remarks.len() {
        return Ok(Some(receipt));
    }
    let told = format!("{shown} of {} remarks of the review are there: {}", remarks.len(), receipt.url);
    Err(Fault::ours(told))
}
