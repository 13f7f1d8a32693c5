//! The ledger's row of a run: what was asked of whom, what came of it and what it took.

use fro_core::{Permit, conversation::outcome::Turn, remembered::Audience, say::marker::Marker};
use fro_memory::{Figures, Run, Tokens, Visibility};
use jiff::Timestamp;

use crate::{Receipt, answer::Asked};

/// What is known of a run when its answer is given.
pub(crate) struct Ended<'a> {
    pub(crate) turn: &'a Turn,
    pub(crate) receipt: &'a Receipt,
    /// What it had of its memory; the row adds what it took.
    pub(crate) figures: Figures,
}

/// Returns what a run is about, as the ledger knows it.
pub(crate) fn subject(permit: &Permit) -> String {
    format!("{}{}", permit.repo(), permit.subject().mark())
}

/// Returns the row of a run that has just begun in a session.
pub(super) fn begun(asked: &Asked<'_>, session: &str) -> Run {
    let permit = asked.permit;
    Run {
        id: Marker::new(&asked.occasion.run.id, asked.trigger).key(),
        subject: subject(permit),
        session: Some(session.to_owned()),
        ended_at: Timestamp::now(),
        surface: "github".to_owned(),
        event: asked.trigger.event_name().to_owned(),
        actor: permit.asker().to_string(),
        trust: permit.trust().word().to_owned(),
        visibility: match asked.occasion.audience {
            Some(Audience::Everyone) => Visibility::Public,
            Some(Audience::Insiders) | None => Visibility::Private,
        },
        outcome: "broken off".to_owned(),
        links: Vec::new(),
        figures: Figures::default(),
    }
}

/// Returns the row of a run whose answer was given.
pub(super) fn ended(asked: &Asked<'_>, session: &str, ended: &Ended<'_>) -> Run {
    let began = begun(asked, session);
    let took = began.ended_at.duration_since(asked.occasion.began);
    let took = u64::try_from(took.as_millis()).unwrap_or_default();
    let Turn { outcome, usage } = ended.turn;
    Run {
        outcome: outcome.word().to_owned(),
        links: vec![ended.receipt.url.clone()],
        figures: Figures {
            duration: took,
            first_output: Some(took),
            cost: millionths(usage.cost),
            tokens: Tokens { input: usage.input + usage.cache_read, output: usage.output + usage.reasoning },
            ..ended.figures.clone()
        },
        ..began
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of a float saturates")]
fn millionths(dollars: f64) -> u64 {
    (dollars * 1e6).round() as u64
}
