//! Where a request is heard and answered: a conversation, thread or discussion on GitHub, or the run's own page.
//!
//! Only the modules below this one talk to GitHub. A [`Host`] answers questions before the gate has decided; a
//! [`Venue`] takes a permit besides, and is what a task is given: acknowledge, hydrate, publish, read back.

mod acknowledge;
mod amend;
mod attach;
mod check_run;
mod deliver;
mod facts;
mod fold;
mod hydrate;
mod inline_comments;
mod progress_comment;
mod pull_so_far;
mod repo_settings;
mod review;
mod step_summary;
mod stop;
mod write;

pub(crate) use acknowledge::Acknowledgement;
pub(crate) use check_run::check_run;
pub(crate) use hydrate::Hydrated;
pub(crate) use inline_comments::Placed;
pub(crate) use progress_comment::ProgressComment;
pub(crate) use pull_so_far::PullSoFar;
pub use repo_settings::{REPO_SETTINGS, repo_settings};
pub(crate) use review::{Publisher, say_what_was_left_unsaid};
pub(crate) use step_summary::{account, list, memory};
pub(crate) use write::Write;

use std::time::Duration;

use fro_core::{
    Fault, Login, Permit, Trigger, gate::Policy, remembered::Audience, say::marker::Marker, task::Visibility,
};
use fro_github::{GitHub, Since};
use jiff::Timestamp;

use crate::{answer::Request, occasion::Occasion, process::Process, progress::Tell};

/// The surface of everything that happens here, as the ledger knows it.
pub(crate) const SURFACE: &str = "github";

/// The repository's host, asked before anybody may do anything.
pub(crate) struct Host {
    github: GitHub,
}

impl Host {
    /// Knows where to ask; nothing is asked yet.
    pub(crate) fn open(process: &Process, trigger: &Trigger) -> Result<Self, Fault> {
        Ok(Self { github: process.github(trigger.repo())? })
    }

    /// Asks what the gate's decision depends on.
    pub(crate) async fn facts(
        &self,
        trigger: &Trigger,
        policy: &Policy,
        occasion: &Occasion,
    ) -> Result<fro_core::gate::Facts, Fault> {
        facts::gather(&self.github, trigger, policy, occasion).await
    }

    /// Asks who can read the repository, if nobody knows yet.
    pub(crate) async fn audience(&self, occasion: &Occasion) -> Option<Audience> {
        facts::audience(&self.github, occasion).await
    }

    /// Reads the settings that live with the repository.
    pub(crate) async fn repo_settings(&self) -> Result<Option<String>, Fault> {
        repo_settings(&self.github).await
    }

    /// Returns the place where this permit may be used.
    pub(crate) fn venue<'a>(
        &'a self,
        permit: &'a Permit,
        occasion: &'a Occasion,
        tell: Tell<'a>,
    ) -> Venue<'a> {
        Venue { github: &self.github, permit, occasion, tell }
    }
}

/// Returns how far back is read for what was written after `time`. Clocks differ; a minute of comments more costs nothing.
fn since(time: Timestamp) -> Since {
    time.checked_sub(Duration::from_mins(1)).map_or(Since::TheBeginning, Since::Time)
}

/// Where one permitted request is answered.
#[derive(Clone, Copy)]
pub(crate) struct Venue<'a> {
    github: &'a GitHub,
    permit: &'a Permit,
    occasion: &'a Occasion,
    tell: Tell<'a>,
}

impl<'a> Venue<'a> {
    /// Prepares to show that the request was seen.
    pub(crate) fn acknowledgement(self, visibility: Visibility) -> Acknowledgement<'a> {
        Acknowledgement::new(self, visibility)
    }

    /// Waits for somebody who may push to say that the run should stop, and returns who it was.
    pub(crate) async fn wait_for_stop(self) -> Login {
        stop::wait_for_word(self.github, self.permit, self.occasion).await
    }

    /// Tells what came of that word.
    pub(crate) async fn stopped(self) -> Result<String, Fault> {
        stop::answer(self.github, self.permit).await.map_err(|error| error.fault())
    }

    /// Adds to the summary of the answer what went wrong since.
    pub(crate) async fn amend(self, request: &Request<'_>, trouble: &[String]) {
        amend::with_trouble(self.github, request, trouble).await;
    }

    /// Reads the whole conversation, and what an earlier attempt of this run left in it.
    pub(crate) async fn hydrate(self, trigger: &Trigger, marker: &Marker) -> Result<Hydrated, Fault> {
        hydrate::hydrate(self, trigger, marker).await
    }
}

#[cfg(test)]
mod tests;
