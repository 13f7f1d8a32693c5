//! What comes with each event: the event itself, the run that answers it, and the checkout that it finds.

use std::path::PathBuf;

use fro_core::{event::Event, remembered::Audience, say::summary::RunLink};
use jiff::Timestamp;

/// One event and the run that answers it.
#[derive(Debug, Clone)]
pub struct Occasion {
    /// What happened.
    pub event: Event,
    /// Who can read the repository, as far as the event tells; GitHub is asked where it does not.
    pub audience: Option<Audience>,
    /// The run's id and page.
    pub run: RunLink,
    /// The file behind the run's page, where answers go that are for nobody in particular.
    pub run_page: Option<PathBuf>,
    /// The runner's checkout, of which the agent gets a clone.
    pub checkout: PathBuf,
    /// The branch or tag that the run is on.
    pub git_ref: Option<String>,
    /// When the run began.
    pub began: Timestamp,
    /// Picks what may be random.
    pub seed: u64,
}

impl Occasion {
    /// Returns who reads what the run says. Where nobody could tell, it counts as everyone: nothing private is recalled.
    pub(crate) fn audience(&self) -> Audience {
        self.audience.unwrap_or(Audience::Everyone)
    }
}
