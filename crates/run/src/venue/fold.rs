//! Folds away the answers to earlier states of a pull request, once there is one to the newest.

use fro_core::{
    Trigger,
    own_comments::{PullComment, outdated},
};
use fro_github::Error;

use super::Venue;
use crate::progress::Progress;

impl Venue<'_> {
    /// Folds what a new push has made outdated. Nothing here fails a run.
    pub(crate) async fn fold_outdated(self, trigger: &Trigger) {
        let Trigger::Pull(pull) = trigger else { return };
        if let Err(error) = self.fold(pull.number).await {
            (self.tell)(Progress::Warning(error.fault().what().to_owned()));
        }
    }

    async fn fold(self, pull: u64) -> Result<(), Error> {
        let remarks = self.github.pull_remarks(pull).await?;
        let notes = remarks.notes.iter().map(|note| PullComment {
            id: &note.id,
            author: note.author.as_ref(),
            body: &note.body,
            folded: note.folded,
        });
        for id in outdated(&remarks.head, self.permit.own(), &notes.collect::<Vec<_>>()) {
            self.github.fold(self.permit, id).await?;
        }
        Ok(())
    }
}
