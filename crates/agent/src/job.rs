//! What one engine is for: whose words, in which repository, on which checkout.

use std::path::PathBuf;

use fro_core::{
    Fault, Permit,
    delegation::{Claim, NoWork},
    remembered::Audience,
};
use fro_github::GitHub;
use jiff::Timestamp;

use crate::{process::Process, settings::Settings, step::Tell};

/// The purpose of one engine. Its wall, its clone, its network and its `gh` are drawn for this permit.
#[derive(Debug, Clone)]
pub struct Job {
    /// Whose words, in which repository, and how far they reach.
    pub permit: Permit,
    /// Who can read the repository, if anybody could tell.
    pub audience: Option<Audience>,
    /// The run that it is for.
    pub origin: Origin,
    /// The runner's checkout, of which the agent gets a clone.
    pub checkout: PathBuf,
    /// The branch or tag that the checkout is on.
    pub git_ref: Option<String>,
    /// The commit of a pull request that the event names, or one of the checkout: the newest one counts if nobody says.
    pub head: Option<String>,
    /// The work that is claimed to be delegated, or why there is none.
    pub work: Result<Claim, NoWork>,
}

/// Which run something is done for, as the ledger knows it.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The id of the run.
    pub run: String,
    /// The key of its row in the ledger: a second attempt has the same.
    pub key: String,
    /// Where it was set off: `github`.
    pub surface: String,
    /// What set it off, by the name that the surface has for it.
    pub event: String,
    /// When it began; the time limit counts from here.
    pub began: Timestamp,
    /// When the wait of people began: with the workflow's job that the run is a step of, else with the run.
    pub waited_since: Timestamp,
}

impl Job {
    /// Returns who reads what is said. Where nobody could tell, it counts as everyone: nothing private is recalled.
    pub fn audience(&self) -> Audience {
        self.audience.unwrap_or(Audience::Everyone)
    }

    /// Makes sure that a session may work in the engine of this job: what the engine can reach, all its sessions can.
    pub(crate) fn admits(&self, permit: &Permit) -> Result<(), Fault> {
        if permit.repo() != self.permit.repo() {
            let what = format!("an engine for {} was asked to work on {}", self.permit.repo(), permit.repo());
            return Err(Fault::ours(what));
        }
        if permit.reach() != self.permit.reach() {
            return Err(Fault::ours("an engine was asked to work for somebody whose words reach otherwise"));
        }
        Ok(())
    }
}

/// A process, the job of one engine, and who hears of it.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) process: &'a Process,
    pub(crate) job: &'a Job,
    pub(crate) tell: Tell<'a>,
}

impl<'a> Scope<'a> {
    /// Returns what the operator says.
    pub(crate) fn settings(self) -> &'a Settings {
        &self.process.settings
    }

    /// Returns the permit that the engine is started with.
    pub(crate) fn permit(self) -> &'a Permit {
        &self.job.permit
    }

    /// Speaks to GitHub about the repository.
    pub(crate) fn github(self) -> Result<GitHub, Fault> {
        self.process.github(self.permit().repo())
    }
}

#[cfg(test)]
mod tests {
    use fro_core::Reach;

    use super::*;
    use crate::tests::{job, permit, permit_in};

    #[test]
    fn an_engine_serves_one_repository_and_one_reach() {
        let check = |engine: Permit, session: &Permit, expect: Option<&str>| {
            let refused = job(engine).admits(session).err();
            assert_eq!(refused.as_ref().map(Fault::what), expect);
        };
        let other_reach = "an engine was asked to work for somebody whose words reach otherwise";
        check(permit(Reach::Work), &permit(Reach::Work), None);
        check(permit(Reach::Work), &permit(Reach::Answer), Some(other_reach));
        check(permit(Reach::ReadOnly), &permit(Reach::Work), Some(other_reach));
        let elsewhere = permit_in("octo/shed", Reach::Work);
        let other_repo = "an engine for octo/garden was asked to work on octo/shed";
        check(permit(Reach::Work), &elsewhere, Some(other_repo));
    }

    #[test]
    fn where_nobody_knows_who_reads_it_counts_as_everyone() {
        let job = job(permit(Reach::Work));
        assert_eq!(job.audience(), Audience::Everyone);
        let known = Job { audience: Some(Audience::Insiders), ..job };
        assert_eq!(known.audience(), Audience::Insiders);
    }
}
