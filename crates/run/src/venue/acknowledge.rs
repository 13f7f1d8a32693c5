//! 👀 and the label while a run works, another reaction at its end. A failure of these never fails a run.

use std::time::Duration;

use fro_core::{Fault, Permit, Reaction, Subject, Target, say, task::Visibility};
use fro_github::{Error, Label, ReactionId};
use tokio::time::timeout;

use super::Venue;
use crate::{
    ending::Ending,
    progress::{Progress, Tell},
};

/// How long the end of a run may wait for reactions: a runner that cancels a job gives it ten seconds.
const PATIENCE: Duration = Duration::from_secs(6);

/// What was left on the request to show that we are at work.
pub(crate) struct Acknowledgement<'a> {
    venue: Venue<'a>,
    visibility: Visibility,
    eyes: Option<ReactionId>,
    label: Option<Label>,
}

impl<'a> Acknowledgement<'a> {
    /// Prepares the acknowledgement of one request.
    pub(super) fn new(venue: Venue<'a>, visibility: Visibility) -> Self {
        Self { venue, visibility, eyes: None, label: None }
    }

    /// Tells whether there is something to react to.
    fn reacts(&self) -> bool {
        self.visibility == Visibility::Shown && *self.venue.permit.target() != Target::Nowhere
    }

    /// Shows that the request was seen. Who may not even do that could not post an answer either: then nothing is
    /// begun, and no model is paid for.
    pub(crate) async fn begin(&mut self) -> Result<(), Fault> {
        if !self.reacts() {
            return Ok(());
        }
        match self.venue.github.react(self.venue.permit, Reaction::Eyes).await {
            Ok(id) => {
                self.eyes = Some(id);
                (self.venue.tell)(Progress::Acknowledged);
            }
            Err(error) if error.is_forbidden() => return Err(error.fault()),
            Err(error) => warn(self.venue.tell, &error),
        }
        Ok(())
    }

    /// Puts the label on, where there is something that wears it.
    pub(crate) async fn label(&mut self) {
        let Venue { github, permit, .. } = self.venue;
        if !self.reacts() || !wears_labels(permit) {
            return;
        }
        // Set before the request: if we are stopped in between, taking off a label that is not there is harmless.
        self.label = Some(Label::WORKING);
        let labelled = async {
            github.ensure_label(permit, &Label::WORKING).await?;
            github.add_label(permit, &Label::WORKING).await
        };
        if let Err(error) = labelled.await {
            warn(self.venue.tell, &error);
        }
    }

    /// Takes up what an earlier step left: asking for a reaction that is there returns it.
    pub(crate) async fn resume(&mut self) {
        if !self.reacts() {
            return;
        }
        self.eyes = self.venue.github.react(self.venue.permit, Reaction::Eyes).await.ok();
        self.label = wears_labels(self.venue.permit).then_some(Label::WORKING);
    }

    /// Takes 👀 and the label away and leaves what the end deserves.
    pub(crate) async fn end(self, ended: &Result<Ending, Fault>) {
        let last = match ended {
            Ok(Ending::Answered(_) | Ending::Reviewed(_)) => Some(Reaction::Hooray),
            Ok(Ending::ToldFailure(_)) | Err(_) => Some(Reaction::Confused),
            Ok(Ending::Interrupted | Ending::Stopped | Ending::Skipped(_)) => None,
        };
        let react = async {
            match last.filter(|_| self.reacts()) {
                Some(reaction) => self.venue.github.react(self.venue.permit, reaction).await.map(drop),
                None => Ok(()),
            }
        };
        let unreact = async {
            match self.eyes {
                Some(id) => self.venue.github.unreact(self.venue.permit, id).await,
                None => Ok(()),
            }
        };
        let unlabel = async {
            match &self.label {
                Some(label) => self.venue.github.remove_label(self.venue.permit, label).await,
                None => Ok(()),
            }
        };
        let all = async { tokio::join!(react, unreact, unlabel) };
        let Ok((reacted, unreacted, unlabelled)) = timeout(PATIENCE, Box::pin(all)).await else {
            return (self.venue.tell)(Progress::Warning(
                "GitHub is too slow: 👀 and the label may still be there".to_owned(),
            ));
        };
        for error in [reacted.err(), unreacted.err(), unlabelled.err()].into_iter().flatten() {
            warn(self.venue.tell, &error);
        }
    }
}

/// Tells whether there is something that the label goes on. What is answered without the engine is no work, and must not take off
/// the label of a run that is at work meanwhile.
fn wears_labels(permit: &Permit) -> bool {
    let is_builtin = say::command::reply(permit.said(), permit.name(), permit.work_words()).is_some();
    let quiet = is_builtin || *permit.target() == Target::Nowhere;
    match permit.subject() {
        Subject::Issue(_) | Subject::PullRequest(_) | Subject::Discussion(_) => !quiet,
        Subject::Thread(_) | Subject::Repository => false,
    }
}

fn warn(tell: Tell<'_>, error: &Error) {
    tell(Progress::Warning(error.fault().what().to_owned()));
}
