//! What the operator says, as plain values: only the binary reads the environment, so that a run can be given a
//! whole world.

use fro_core::{Secret, gate::Policy, prompt::Wishes, say::answer::SummaryPlace};
use fro_review::{parcel::Generated, scoring::Thresholds, sensitivity::Declared, web::SearchAddress};

use crate::result::OutputSchema;

/// What the operator says. It holds for every event that a process answers.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Engines, memory and credentials.
    pub agent: fro_agent::Settings,
    /// Who may ask, and under which name.
    pub policy: Policy,
    /// What the operator adds to the prompt.
    pub wishes: Wishes,
    /// What the result of a run has to look like, if one is wanted.
    pub output: Option<OutputSchema>,
    /// Where the run summary stands.
    pub summary: SummaryPlace,
    /// Where people see how far a run is.
    pub progress: ProgressPlace,
    /// Whether everybody may read the session.
    pub share: ShareSettings,
    /// How the reviewer judges.
    pub review: ReviewSettings,
}

/// Where people see how far a run is, besides the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProgressPlace {
    /// 👀 is enough.
    #[default]
    Nowhere,
    /// The agent's list of things to do stands in the comment that becomes the answer.
    Comment,
}

/// How the reviewer judges.
#[derive(Debug, Clone, Default)]
pub struct ReviewSettings {
    /// The three numbers.
    pub thresholds: Thresholds,
    /// What blocks of state are signed with.
    pub state_key: Option<Secret>,
    /// What the operator says about the data that is handled.
    pub declared: Declared,
    /// What becomes of files that nobody wrote by hand.
    pub generated: Generated,
    /// Whether findings outside the change are told in a check run as well.
    pub check_runs: CheckRuns,
    /// What the model may read of the web, if anything.
    pub web: Option<WebSettings>,
}

/// What the model may read of the web.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebSettings {
    /// Who answers searches, if anybody does.
    pub search: Option<SearchAddress>,
}

/// Whether findings outside the change are told in a check run as well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CheckRuns {
    /// The review is enough.
    #[default]
    Off,
    /// They are.
    On,
}

/// Whether everybody may read the session.
#[derive(Debug, Clone)]
pub struct ShareSettings {
    /// Whether it is shared.
    pub sharing: Sharing,
    /// The host that shows it.
    pub host: String,
    /// Whether a picture of it stands below the answer.
    pub card: Card,
}

/// Whether a session is shared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sharing {
    /// It is, if everybody can read the repository.
    #[default]
    Public,
    /// It is.
    Always,
    /// It is not.
    Never,
}

/// Whether a shared session is shown as a picture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Card {
    /// A link is enough.
    #[default]
    Link,
    /// It is.
    Picture,
}
