//! What the operator says, as plain values: only the binary reads the environment, so that a run can be given a
//! whole world.

use fro_core::{Secret, gate::Policy, prompt::Wishes, say::answer::SummaryPlace};
use fro_review::{scoring::Thresholds, sensitivity::Declared, shown_change::Generated, web::SearchAddress};

use crate::result::OutputSchema;

/// What the operator says. It holds for every event that a process answers.
pub type Settings = RunOptions<fro_agent::Settings>;

/// How a run is wanted, beside what is known of agents: as settings at first, in a [`Process`](crate::Process) as
/// something that can start engines.
#[derive(Debug, Clone)]
pub struct RunOptions<A> {
    /// Engines, memory and credentials.
    pub agent: A,
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

impl<A> RunOptions<A> {
    /// Returns the same with what is made of the agent's part.
    pub(crate) fn with_agent<B>(self, make: impl FnOnce(A) -> B) -> RunOptions<B> {
        let Self { agent, policy, wishes, output, summary, progress, share, review } = self;
        RunOptions { agent: make(agent), policy, wishes, output, summary, progress, share, review }
    }
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
    /// Findings outside the change become a check run.
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
    /// Sessions are shared where everybody can read the repository.
    #[default]
    Public,
    /// Every session is shared.
    Always,
    /// No session is shared.
    Never,
}

/// Whether a shared session is shown as a picture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Card {
    /// A link is enough.
    #[default]
    Link,
    /// A picture of the session stands below the answer.
    Picture,
}
