//! Whether a turn that failed is worth another one, and how.

use std::time::Duration;

use crate::conversation::outcome::{Outcome, Trouble};

/// How long to wait before a model is asked again that broke off.
pub const PAUSE: Duration = Duration::from_secs(10);

/// What to do after a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// The turn is not tried again.
    No,
    /// Say everything again in a new session, because this one is full.
    InNewSession,
    /// Wait a little and ask to go on.
    GoOn,
}

/// What was tried in one run: each remedy helps once or not at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tried {
    new_session: bool,
    going_on: bool,
}

impl Tried {
    /// Decides after a turn, and remembers it.
    ///
    /// Keys and quotas do not mend themselves, and what the engine itself has retried is not retried once more.
    pub fn after(&mut self, outcome: &Outcome) -> Again {
        let Outcome::Failed { failure, .. } = outcome else { return Again::No };
        match failure.trouble {
            Trouble::ContextOverflow if !self.new_session => {
                self.new_session = true;
                Again::InNewSession
            }
            Trouble::CutStream | Trouble::Silent | Trouble::Engine if !self.going_on => {
                self.going_on = true;
                Again::GoOn
            }
            Trouble::ContextOverflow
            | Trouble::CutStream
            | Trouble::Silent
            | Trouble::Engine
            | Trouble::Gone
            | Trouble::DiskFull
            | Trouble::Auth
            | Trouble::Quota
            | Trouble::Budget
            | Trouble::Steps
            | Trouble::RateLimited
            | Trouble::Unavailable
            | Trouble::Rejected
            | Trouble::UnknownAgent
            | Trouble::UnknownModel
            | Trouble::Aborted
            | Trouble::NotStarted
            | Trouble::NoContext
            | Trouble::NoModel
            | Trouble::Memory => Again::No,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(trouble: Trouble) -> Outcome {
        Outcome::Failed { failure: trouble.into(), partial: None }
    }

    #[test]
    fn each_remedy_is_tried_once() {
        let mut tried = Tried::default();
        let told = [
            Trouble::Silent,
            Trouble::ContextOverflow,
            Trouble::ContextOverflow,
            Trouble::CutStream,
            Trouble::Engine,
        ]
        .map(|trouble| tried.after(&failed(trouble)));
        assert_eq!(told, [Again::GoOn, Again::InNewSession, Again::No, Again::No, Again::No]);
    }

    #[test]
    fn what_a_pause_does_not_mend_is_left() {
        for trouble in [Trouble::Auth, Trouble::Quota, Trouble::RateLimited, Trouble::Unavailable] {
            assert_eq!(Tried::default().after(&failed(trouble)), Again::No, "{trouble:?}");
        }
        assert_eq!(Tried::default().after(&Outcome::OutOfTime { partial: None }), Again::No);
    }

    #[test]
    fn the_pause_is_ten_seconds() {
        assert_eq!(PAUSE.as_secs(), 10);
    }
}
