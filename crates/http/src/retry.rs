//! When a request is sent again, and how long to wait before.

use std::time::Duration;

use crate::error::Error;

/// How patient we are.
///
/// Each list holds the pauses before the second, third … attempt; when it is used up, the error stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// The pauses after being told to slow down, when the server names no time itself.
    pub limited: Vec<Duration>,
    /// The pauses after a server's failure or a broken connection.
    pub failing: Vec<Duration>,
    /// The longest wait that a server may ask of us; beyond it the error stands at once.
    pub longest: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            limited: [30, 60, 120].map(Duration::from_secs).into(),
            failing: [1, 5, 15].map(Duration::from_secs).into(),
            longest: Duration::from_mins(5),
        }
    }
}

impl Retry {
    /// Returns a policy under which nothing is sent twice.
    pub fn never() -> Self {
        Self { limited: Vec::new(), failing: Vec::new(), longest: Duration::ZERO }
    }

    /// Returns how long to wait after this many failed attempts, or nothing when the error stands.
    pub(crate) fn pause(&self, failed: usize, error: &Error) -> Option<Duration> {
        if !error.retryable() {
            return None;
        }
        let pauses = if error.limited() { &self.limited } else { &self.failing };
        let usual = *pauses.get(failed.checked_sub(1)?)?;
        match error.wait() {
            Some(wait) => (wait <= self.longest).then_some(wait),
            None => Some(usual),
        }
    }
}
