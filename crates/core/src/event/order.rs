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
    pub kind: OrderKind,
    /// The repository whose workflow it is.
    pub repo: RepoName,
    /// Who set it off; for a schedule, whoever changed it last.
    pub actor: Login,
    /// What is to be done.
    pub prompt: String,
}

/// How an order comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderKind {
    /// The workflow's schedule set the run off.
    Schedule,
    /// Somebody pressed the button.
    Dispatch,
}

/// Reads an order. The payload says nothing that the run does not know anyway.
pub(super) fn read(kind: OrderKind, event: &Event) -> Reading {
    let prompt = event.prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty());
    let Some(prompt) = prompt else { return Reading::Skip(SkipReason::PromptRequired) };
    Reading::Trigger(Trigger::Order(Order {
        kind,
        repo: event.repo.clone(),
        actor: event.actor.clone(),
        prompt: prompt.to_owned(),
    }))
}
