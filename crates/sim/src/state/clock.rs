//! What time it is in the simulated world.

use jiff::{SignedDuration, Timestamp};

/// The source of all timestamps.
#[derive(Debug, Clone, Copy, Default)]
pub enum Clock {
    /// The machine's own time.
    #[default]
    Real,
    /// A given time that goes on by one second whenever it is asked, so that nothing happens at once.
    Counting(Timestamp),
}

impl Clock {
    /// Tells the time without taking any.
    pub fn peek(&self) -> Timestamp {
        match self {
            Self::Real => Timestamp::now(),
            Self::Counting(now) => *now,
        }
    }

    /// Tells the time, in whole seconds as GitHub does.
    pub fn now(&mut self) -> Timestamp {
        let now = match self {
            Self::Real => Timestamp::now(),
            Self::Counting(now) => {
                *now += SignedDuration::from_secs(1);
                *now
            }
        };
        Timestamp::from_second(now.as_second()).unwrap_or(now)
    }
}
