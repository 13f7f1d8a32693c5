//! `schedule` and `workflow_dispatch`: the workflow itself says what to do.

use super::{Event, Reading, Trigger};
use crate::{
    gate::SkipReason,
    names::{Login, RepoName},
};

/// Something that the workflow orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// How it came about.
    pub occasion: Occasion,
    /// The repository whose workflow it is.
    pub repo: RepoName,
    /// Who set it off; for a schedule, whoever changed it last.
    pub actor: Login,
    /// What is to be done.
    pub prompt: String,
}

/// How an order comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// It was time.
    Schedule,
    /// Somebody pressed the button.
    Dispatch,
}

/// Reads an order. The payload says nothing that the run does not know anyway.
pub(super) fn read(occasion: Occasion, event: &Event) -> Reading {
    let prompt = event.prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty());
    let Some(prompt) = prompt else { return Reading::Skip(SkipReason::PromptRequired) };
    Reading::Trigger(Trigger::Order(Order {
        occasion,
        repo: event.repo.clone(),
        actor: event.actor.clone(),
        prompt: prompt.to_owned(),
    }))
}
