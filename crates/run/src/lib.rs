//! One run, from the event to the receipt.
//!
//! Nothing is asked of the network before the event itself says that it may be for us, nothing is written
//! without a `Permit`, and whatever happens after the 👀 ends in exactly one comment or in a failed run.

mod acknowledge;
mod answer;
mod ask;
mod attach;
mod delegate;
mod deliver;
mod desk;
mod equip;
mod facts;
mod fold;
mod gh;
mod give;
mod handover;
mod hydrate;
mod memory;
mod models;
mod network;
mod news;
mod page;
mod parcels;
mod post;
mod propose;
mod remarks;
mod repo_settings;
mod repository;
mod settings;
mod sitting;
mod state;
mod wall;
mod wallet;
mod word;
mod workplace;

pub use memory::told_of_save;
pub use news::{News, Tell};
pub use post::finish;
pub use repo_settings::{REPO_SETTINGS, Reread, repo_settings};
pub use settings::{
    Card, Delegation, Destination, Elevated, EngineSettings, Settings, ShareSettings, Sharing, Unwalled,
};

use std::pin::pin;

use fro_core::{
    Decision, Fault,
    event::{self, Reading},
    gate::{self, SkipReason},
};

use crate::{acknowledge::Acknowledgement, answer::Asked, workplace::Workplace};

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// There was nothing to do.
    Skipped(SkipReason),
    /// The answer was posted.
    Answered(Receipt),
    /// A comment was posted that says what went wrong.
    ToldFailure(Receipt),
    /// Somebody stopped the run.
    Interrupted,
}

/// The proof of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Where people read it.
    pub url: String,
}

/// Runs once. `interrupt` ends when somebody asks the run to stop.
pub async fn run(
    settings: &Settings,
    reread: Reread<'_>,
    tell: Tell<'_>,
    interrupt: impl Future<Output = ()>,
) -> Result<Ending, Fault> {
    let skip = |reason: SkipReason| {
        tell(News::Skipped(reason.clone()));
        Ok(Ending::Skipped(reason))
    };
    let trigger = match event::read(&settings.event)? {
        Reading::Trigger(trigger) => trigger,
        Reading::Skip(reason) => return skip(reason),
    };
    if let Err(reason) = gate::glance(&trigger, &settings.policy) {
        return skip(reason);
    }

    let mut interrupt = pin!(interrupt);
    let github = settings.github(trigger.repo())?;
    let questions =
        async { tokio::join!(facts::gather(&github, &trigger, settings), repo_settings(&github)) };
    let (facts, file) = tokio::select! {
        answers = questions => answers,
        () = &mut interrupt => return Ok(Ending::Interrupted),
    };
    let permit = match gate::decide(&trigger, &facts?, &settings.policy) {
        Decision::Run(permit) => *permit,
        Decision::Skip(reason) => return skip(reason),
    };
    let settings = &repo_settings::below(settings, file?.as_deref(), reread)?;
    tell(News::Permitted(permit.clone()));

    let mut workplace = Workplace::open(settings, tell)?;
    let mut acknowledgement = Acknowledgement::new(&github, &permit, tell);
    let asked = Asked { settings, tell, trigger: &trigger, permit: &permit, github: &github };
    let ended = tokio::select! {
        ended = answer::once(&asked, &mut acknowledgement, &mut workplace) => ended,
        () = &mut interrupt => Ok(Ending::Interrupted),
    };
    let ((closed, _private), ()) = tokio::join!(workplace.close(settings, tell), acknowledgement.end(&ended));
    closed.and(ended)
}
