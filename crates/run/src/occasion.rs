//! What comes with each event: the event itself, the run that answers it, and the checkout that it finds.

use std::path::PathBuf;

use fro_agent::{Delegation, Job, Origin};
use fro_core::{
    Permit, RepoName, Trigger,
    delegation::Claim,
    event::Event,
    remembered::Audience,
    say::{marker::Marker, summary::RunLink},
};
use jiff::Timestamp;

use crate::{process::Process, venue};

/// One event and the run that answers it.
#[derive(Debug, Clone)]
pub struct Occasion {
    /// What happened.
    pub event: Event,
    /// Who can read the repository, as far as the event tells; GitHub is asked where it does not.
    pub audience: Option<Audience>,
    /// The run's id and page.
    pub run: RunLink,
    /// The repository that the running action came from, if it is one of a release.
    pub action: Option<RepoName>,
    /// The file behind the run's page, where answers go that are for nobody in particular.
    pub run_page: Option<PathBuf>,
    /// The runner's checkout, of which the agent gets a clone.
    pub checkout: PathBuf,
    /// The branch or tag that the run is on.
    pub git_ref: Option<String>,
    /// When the first step of the job began that the run is a step of, if it is one of a workflow.
    pub job_began: Option<Timestamp>,
    /// When the run began.
    pub began: Timestamp,
    /// When the run was asked for, which is sooner if it had to wait for a runner.
    pub requested: Timestamp,
    /// Picks what may be random.
    pub seed: u64,
}

impl Occasion {
    /// Returns what an engine is for that answers it.
    pub(crate) fn job(&self, process: &Process, trigger: &Trigger, permit: &Permit) -> Job {
        let Delegation { work, output, .. } = &process.agent.settings.delegation;
        Job {
            permit: permit.clone(),
            audience: self.audience,
            origin: Origin {
                key: Marker::new(&self.run.id, trigger).key(),
                ..self.origin(trigger.event_name())
            },
            checkout: self.checkout.clone(),
            git_ref: self.git_ref.clone(),
            head: trigger.commit().map(str::to_owned),
            work: Claim::decide(trigger, permit, *work, *output),
        }
    }

    /// Returns the run that answers it, as far as it is known without reading the event.
    pub(crate) fn origin(&self, event: &str) -> Origin {
        Origin {
            run: self.run.id.clone(),
            key: self.run.id.clone(),
            surface: venue::SURFACE.to_owned(),
            event: event.to_owned(),
            began: self.began,
            waited_since: self.job_began.unwrap_or(self.began),
        }
    }
}
