//! The four passes as a stepper: it is told what happened and says what to do, and touches nothing itself.
//!
//! A pass begins when the one before was submitted. A turn that ends without that is reminded of it once; then the
//! review ends as incomplete, with what was collected.

mod prompt;

pub use prompt::{Briefing, about_reply, opening, reply_reminder};

use crate::finding::Pass;

/// What happened in the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// The model submitted a pass.
    Submitted {
        /// Which one it says.
        pass: Pass,
        /// What it says about it.
        summary: String,
    },
    /// The model stopped talking.
    TurnEnded,
    /// The session cannot go on: out of time, out of money, or broken.
    Stopped {
        /// Why, for people.
        why: String,
    },
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Do {
    /// Ask the model this, in the same session.
    Ask(String),
    /// Let it go on.
    Wait,
    /// Everything was looked at.
    Finish,
    /// The review ends early, and says so.
    GiveUp {
        /// Where it stopped.
        pass: Pass,
        /// Why, for people.
        why: String,
    },
}

/// A submission that does not fit; the complaint is for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is pass {}, so pass {} cannot be submitted; submit pass {0} when you are done with it", .now.number(), .given.number())]
pub struct WrongPass {
    now: Pass,
    given: Pass,
}

/// How far a review has got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passes {
    now: Pass,
    progress: Progress,
    summaries: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Working,
    Submitted,
    Reminded,
    Over,
}

impl Passes {
    /// Begins with the first pass.
    pub fn begin(briefing: &Briefing) -> (Self, Do) {
        let passes = Self { now: Pass::Diff, progress: Progress::Working, summaries: Vec::new() };
        (passes, Do::Ask(opening(Pass::Diff, briefing)))
    }

    /// Returns the pass that is on.
    pub fn now(&self) -> Pass {
        self.now
    }

    /// Returns what the model said about the passes it submitted.
    pub fn summaries(&self) -> &[String] {
        &self.summaries
    }

    /// Tells whether this pass may be submitted now.
    pub fn check(&self, given: Pass) -> Result<(), WrongPass> {
        if given == self.now { Ok(()) } else { Err(WrongPass { now: self.now, given }) }
    }

    /// Takes in what happened. The next pass is asked for when the turn that submitted one has ended.
    pub fn heard(&mut self, heard: Heard, briefing: &Briefing) -> Do {
        match (heard, self.progress) {
            (_, Progress::Over) => Do::Wait,
            (Heard::Stopped { .. }, Progress::Submitted) if self.now.next().is_none() => {
                self.over(Do::Finish)
            }
            (Heard::Stopped { why }, _) => self.over(Do::GiveUp { pass: self.now, why }),
            (Heard::Submitted { pass, summary }, progress) => {
                if self.check(pass).is_ok() && progress != Progress::Submitted {
                    self.summaries.push(summary);
                    self.progress = Progress::Submitted;
                }
                Do::Wait
            }
            (Heard::TurnEnded, Progress::Submitted) => self.advance(briefing),
            (Heard::TurnEnded, Progress::Working) => {
                self.progress = Progress::Reminded;
                Do::Ask(prompt::reminder(self.now))
            }
            (Heard::TurnEnded, Progress::Reminded) => {
                let why = format!("pass {} was never submitted", self.now.number());
                self.over(Do::GiveUp { pass: self.now, why })
            }
        }
    }

    fn advance(&mut self, briefing: &Briefing) -> Do {
        let Some(next) = self.now.next() else { return self.over(Do::Finish) };
        self.now = next;
        self.progress = Progress::Working;
        Do::Ask(opening(next, briefing))
    }

    fn over(&mut self, ended: Do) -> Do {
        self.progress = Progress::Over;
        ended
    }
}

#[cfg(test)]
mod tests;
