//! The ledger's row of a run: what was asked of whom, what came of it and what it took.

use fro_core::{Permit, conversation::outcome::Turn, remembered::Audience};
use fro_memory::{Figures, Run, Tokens};
use jiff::Timestamp;

use crate::job::Origin;

/// What is known of a turn when its answer is given.
pub(crate) struct FinishedTurn<'a> {
    pub(crate) turn: &'a Turn,
    /// Where the answer can be read.
    pub(crate) links: Vec<String>,
    /// What it had of its memory; the row adds what it took.
    pub(crate) figures: Figures,
}

/// Returns what a permit is about, as the ledger knows it.
pub fn subject(permit: &Permit) -> String {
    format!("{}{}", permit.repo(), permit.subject().mark())
}

/// Whose row it is: who asked, for which run, and who can read the repository.
#[derive(Clone, Copy)]
pub(crate) struct RowOwner<'a> {
    pub(crate) permit: &'a Permit,
    pub(crate) origin: &'a Origin,
    pub(crate) audience: Option<Audience>,
}

impl RowOwner<'_> {
    /// Returns the row of a run that has just begun in a session.
    pub(crate) fn begun(self, session: &str) -> Run {
        let Self { permit, origin, audience } = self;
        Run {
            id: origin.key.clone(),
            subject: subject(permit),
            session: Some(session.to_owned()),
            ended_at: Timestamp::now(),
            surface: origin.surface.clone(),
            event: origin.event.clone(),
            actor: permit.asker().to_string(),
            trust: permit.trust().word().to_owned(),
            // What may be private is kept as if it were.
            visibility: audience.unwrap_or(Audience::Insiders),
            outcome: "broken off".to_owned(),
            links: Vec::new(),
            figures: Figures::default(),
        }
    }

    /// Returns the row of a run whose answer was given.
    pub(crate) fn ended(self, session: &str, ended: FinishedTurn<'_>) -> Run {
        let began = self.begun(session);
        let since =
            |begin| u64::try_from(began.ended_at.duration_since(begin).as_millis()).unwrap_or_default();
        let Turn { outcome, usage } = ended.turn;
        Run {
            outcome: outcome.word().to_owned(),
            links: ended.links,
            figures: Figures {
                duration: since(self.origin.began),
                first_output: Some(since(self.origin.waited_since)),
                cost: usage.millionths(),
                tokens: Tokens {
                    input: usage.input + usage.cache_read,
                    output: usage.output + usage.reasoning,
                },
                ..ended.figures
            },
            ..began
        }
    }
}
