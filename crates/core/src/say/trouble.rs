//! What people are told when it did not work: fixed words per kind, never the provider's.

use crate::conversation::outcome::{Outcome, Trouble};

/// An error as people are told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    /// One word for machines and searches.
    pub kind: &'static str,
    /// What happened.
    pub what: &'static str,
    /// What to do next.
    pub next: &'static str,
}

/// Returns the words for an outcome, or nothing if it went well.
pub fn told(outcome: &Outcome) -> Option<Told> {
    Some(match outcome {
        Outcome::Answered { .. } => return None,
        Outcome::Refused { .. } => Told {
            kind: "refused",
            what: "The model's provider withheld the answer.",
            next: "Ask in other words.",
        },
        Outcome::OutOfTime { .. } => Told {
            kind: "out_of_time",
            what: "The work was not finished within the time limit.",
            next: "Ask for a smaller step, or raise the input `timeout`.",
        },
        Outcome::Failed { failure, .. } => of(failure.trouble),
    })
}

fn of(trouble: Trouble) -> Told {
    let (kind, what, next) = match trouble {
        Trouble::Auth => (
            "model_auth",
            "The model's provider did not accept the credentials.",
            "Check the provider's key in the workflow's secrets.",
        ),
        Trouble::Quota => (
            "model_quota",
            "The account at the model's provider has nothing left to spend.",
            "Add credit, or choose another model with the input `model`.",
        ),
        Trouble::RateLimited => (
            "model_rate_limit",
            "The model's provider asked for fewer requests.",
            "Ask again in a few minutes.",
        ),
        Trouble::Unavailable => (
            "model_unavailable",
            "The model's provider could not be reached or kept failing.",
            "Ask again in a few minutes.",
        ),
        Trouble::Rejected => (
            "model_rejected",
            "The model's provider did not accept the request.",
            "See the run's log for what it said.",
        ),
        Trouble::ContextOverflow => (
            "context_overflow",
            "The conversation does not fit into the model.",
            "Ask on a fresh issue, or choose a model with more room.",
        ),
        Trouble::UnknownAgent => (
            "unknown_agent",
            "The agent that the workflow asks for does not exist.",
            "Check the input `agent`.",
        ),
        Trouble::UnknownModel => (
            "unknown_model",
            "The model that the workflow asks for does not exist.",
            "Check the input `model`; it reads `provider/model`.",
        ),
        Trouble::CutStream => {
            ("model_cut", "The model's answer broke off again and again.", "Ask again in a few minutes.")
        }
        Trouble::Silent => {
            ("model_silent", "The model ended without a word.", "Ask again, in other words if need be.")
        }
        Trouble::Aborted => {
            ("aborted", "The work was stopped before it was done.", "Ask again if it is still wanted.")
        }
        Trouble::Engine => {
            ("engine", "The engine failed.", "See the run's log; if it happens again, please report it.")
        }
        Trouble::NotStarted => (
            "engine_not_started",
            "The engine could not be set up or started.",
            "The run's log says why and what to do.",
        ),
        Trouble::NoContext => {
            ("no_context", "The conversation could not be read from GitHub.", "Ask again in a few minutes.")
        }
    };
    Told { kind, what, next }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_in_fixed_words() {
        insta::assert_debug_snapshot!(told(&Outcome::OutOfTime { partial: None }));
        assert_eq!(of(Trouble::Auth).kind, "model_auth");
        assert_eq!(told(&Outcome::Answered { text: "x".to_owned(), cut_short: false }), None);
    }
}
