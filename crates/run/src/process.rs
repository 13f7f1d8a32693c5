//! What is built once for a whole process, however many events it answers.

use fro_core::{Fault, Redactor, RepoName, gate::Policy, prompt::Wishes, say::answer::SummaryPlace};
use fro_github::GitHub;

use crate::{
    result::OutputSchema,
    settings::{ProgressPlace, ReviewSettings, Settings, ShareSettings},
};

/// What a process has. Clones share the HTTP client and its connections.
#[derive(Debug, Clone)]
pub struct Process {
    /// Starts engines; it has the HTTP client and the redactor.
    pub agent: fro_agent::Process,
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

impl Process {
    /// Takes the settings; nothing is opened yet.
    pub fn new(settings: Settings) -> Self {
        let Settings { agent, policy, wishes, output, summary, progress, share, review } = settings;
        Self {
            agent: fro_agent::Process::new(agent),
            policy,
            wishes,
            output,
            summary,
            progress,
            share,
            review,
        }
    }

    /// Returns this process with other settings, as when the repository's own file adds to them. The client stays:
    /// how requests travel is not the repository's to say.
    #[must_use]
    pub fn with(&self, settings: Settings) -> Self {
        let Settings { agent, policy, wishes, output, summary, progress, share, review } = settings;
        Self { agent: self.agent.with(agent), policy, wishes, output, summary, progress, share, review }
    }

    /// Knows every credential of the settings.
    pub fn redactor(&self) -> &Redactor {
        &self.agent.redactor
    }

    /// Speaks to GitHub about a repository, with our own credential.
    pub fn github(&self, repo: &RepoName) -> Result<GitHub, Fault> {
        self.agent.github(repo)
    }
}
