//! What people are told when it did not work: fixed words per kind, never the provider's.

use crate::{
    conversation::outcome::{Outcome, Trouble},
    fault::Fault,
    fence,
};

/// An error as people are told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advice {
    /// One word for machines and searches.
    pub kind: &'static str,
    /// What happened.
    pub what: &'static str,
    /// What to do next.
    pub next: &'static str,
}

/// Returns the words for an outcome, or nothing if it went well.
pub fn advise(outcome: &Outcome) -> Option<Advice> {
    Some(match outcome {
        Outcome::Answered { .. } => return None,
        Outcome::Refused { .. } => Advice {
            kind: "refused",
            what: "The model's provider withheld the answer.",
            next: "Ask in other words.",
        },
        Outcome::OutOfTime { .. } => Advice {
            kind: "out_of_time",
            what: "The work was not finished within the time limit.",
            next: "Ask for a smaller step, or raise the input `timeout`.",
        },
        Outcome::Failed { failure, .. } => advice_for(failure.trouble),
    })
}

/// Names why no model can be asked, and the remedy.
pub fn no_model(fault: &Fault) -> String {
    format!("{}; {}", fence::one_line(fault.what()), fence::one_line(&fault.hint()))
}

/// Returns the words for a trouble.
pub(super) fn advice_for(trouble: Trouble) -> Advice {
    Advice { kind: kind(trouble), what: what(trouble), next: next(trouble) }
}

/// Says that a key is wrong, which only its provider can find out.
pub fn wrong_key(model: Option<&str>) -> Fault {
    let whose = model
        .map_or_else(|| "the agent's own model".to_owned(), |model| format!("`{}`", fence::inline(model)));
    Fault::yours(
        format!("the provider of {whose} did not accept the key"),
        "put that provider's right key into `auth-json`",
    )
}

fn kind(trouble: Trouble) -> &'static str {
    match trouble {
        Trouble::Auth => "model_auth",
        Trouble::Quota => "model_quota",
        Trouble::Budget => "run_budget",
        Trouble::Steps => "run_steps",
        Trouble::RateLimited => "model_rate_limit",
        Trouble::Unavailable => "model_unavailable",
        Trouble::Rejected => "model_rejected",
        Trouble::ContextOverflow => "context_overflow",
        Trouble::UnknownAgent => "unknown_agent",
        Trouble::UnknownModel => "unknown_model",
        Trouble::CutStream => "model_cut",
        Trouble::Silent => "model_silent",
        Trouble::Aborted => "aborted",
        Trouble::Engine => "engine",
        Trouble::Gone => "engine_gone",
        Trouble::DiskFull => "disk_full",
        Trouble::NotStarted => "engine_not_started",
        Trouble::NoContext => "no_context",
        Trouble::NoModel => "no_model",
        Trouble::Memory => "memory",
    }
}

fn what(trouble: Trouble) -> &'static str {
    match trouble {
        Trouble::Auth => "The model's provider did not accept the credentials.",
        Trouble::Quota => "The account at the model's provider has no credit left.",
        Trouble::Budget => "The run reached its cost limit.",
        Trouble::Steps => "The run reached its limit of steps.",
        Trouble::RateLimited => "The model's provider asked for fewer requests.",
        Trouble::Unavailable => "The model's provider could not be reached or kept failing.",
        Trouble::Rejected => "The model's provider did not accept the request.",
        Trouble::ContextOverflow => "The conversation does not fit into the model.",
        Trouble::UnknownAgent => "The agent that the workflow asks for does not exist.",
        Trouble::UnknownModel => "The model that the workflow asks for does not exist.",
        Trouble::CutStream => "The model's answer broke off again and again.",
        Trouble::Silent => "The model ended without an answer.",
        Trouble::Aborted => "The work was stopped before it was done.",
        Trouble::Engine => "The engine failed.",
        Trouble::Gone => "The engine ended in the middle of the work.",
        Trouble::DiskFull => "The disk of the machine that ran this is full.",
        Trouble::NotStarted => "The engine could not be set up or started.",
        Trouble::NoContext => "The conversation could not be read from GitHub.",
        Trouble::NoModel => {
            "The workflow's settings name no model that can be asked, so nothing was started."
        }
        Trouble::Memory => "The memory could not be changed.",
    }
}

fn next(trouble: Trouble) -> &'static str {
    match trouble {
        Trouble::Auth => "Check the provider's key in the workflow's secrets.",
        Trouble::Quota => "Add credit, or choose another model with the input `model`.",
        Trouble::Budget => "Ask for less at once, or raise the input `max-cost`.",
        Trouble::Steps => "Ask for less at once, or raise the input `max-steps`.",
        Trouble::RateLimited | Trouble::Unavailable | Trouble::CutStream => "Ask again in a few minutes.",
        Trouble::NoContext => {
            "The run's log says why. Where GitHub had a failure, ask again in a few minutes."
        }
        Trouble::Rejected => "The run's log has the provider's words.",
        Trouble::ContextOverflow => "Ask on a new issue, or choose a model with a larger context window.",
        Trouble::UnknownAgent => "Check the input `agent`.",
        Trouble::UnknownModel => "Check the input `model`; it reads `provider/model`.",
        Trouble::Silent => "Ask again, in other words if need be.",
        Trouble::Aborted => "Ask again if it is still wanted.",
        Trouble::Engine | Trouble::Gone => "See the run's log; if it happens again, please report it.",
        Trouble::DiskFull => "Make room on that machine, or ask for work that needs less; then ask again.",
        Trouble::NoModel => "Fix it in the workflow's `with:` block, and ask again.",
        Trouble::NotStarted | Trouble::Memory => "The run's log says why and what to do.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_in_fixed_words() {
        insta::assert_debug_snapshot!(advise(&Outcome::OutOfTime { partial: None }));
        assert_eq!(advice_for(Trouble::Auth).kind, "model_auth");
        assert_eq!(advise(&Outcome::Answered { text: "x".to_owned(), cut_short: false }), None);
    }
}
