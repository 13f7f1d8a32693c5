//! One turn with the engine as a stepper without I/O: what was heard goes in with the time, what to do next comes out.
//!
//! The first terminal state is sticky, nothing that waits for a person can wait for ever, and every path is bounded by the
//! deadline or by a count. The driver performs each [`Do`] and reports with [`Conversation::hear`], or asks again with
//! [`Conversation::tick`] when there is nothing to report.

use std::{collections::VecDeque, mem, time::Duration};

use jiff::Timestamp;

use crate::conversation::{
    heard::{Ask, FinalMessage, FinishReason, Heard, SessionActivity},
    outcome::{Breakage, Outcome, Trouble, Turn, TurnVerdict, Usage},
};

pub mod again;
pub mod heard;
pub mod outcome;
pub mod todo;

/// What the driver has to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Do {
    /// Listen; if nothing comes until then, [`Conversation::tick`].
    Wait {
        /// The latest moment to come back.
        until: Timestamp,
    },
    /// Tell the engine that nobody will answer, in a way that lets it go on; then [`Conversation::tick`].
    Refuse(Ask),
    /// Ask what the session does; answer with [`Heard::SessionActivity`] or [`Heard::NoPulse`].
    Poll,
    /// Stop the session; then [`Conversation::tick`].
    Abort,
    /// Remind the model of what it left undone; then [`Conversation::tick`].
    Nudge,
    /// Read this turn's messages; answer with [`Heard::Read`] or [`Heard::Unreadable`].
    Settle,
    /// The turn is over.
    Finish(Turn),
}

/// The bounds of one turn.
#[derive(Debug, Clone)]
pub struct Limits {
    /// When the turn has to be over, however often it was tried.
    pub deadline: Option<Timestamp>,
    /// How often the model may be called, if there is a limit.
    pub steps: Option<u32>,
    /// How often a model that rests with things left to do is reminded of them.
    pub nudges: u32,
    /// How many retries of one call of the model are borne; the next one ends the turn.
    pub retries: u32,
    /// How many streams in a row may end without a reason: the engine itself would call again for ever.
    pub cut_streams: u32,
    /// After how much silence the session is looked at.
    pub silence: Duration,
    /// How often a session is looked at that rests while a subagent works on.
    pub resting: Duration,
    /// How many looks in a row may go unanswered.
    pub unanswered: u32,
    /// After an error the messages are complete only a moment later than the session rests.
    pub settling: Duration,
    /// How long a broken or aborted session may take to rest.
    pub stopping: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline: None,
            steps: None,
            nudges: 1,
            retries: 3,
            cut_streams: 3,
            silence: Duration::from_secs(25),
            resting: Duration::from_millis(500),
            unanswered: 3,
            settling: Duration::from_millis(300),
            stopping: Duration::from_secs(10),
        }
    }
}

/// The state of one turn.
pub struct Conversation {
    limits: Limits,
    stage: Stage,
    verdict: Option<TurnVerdict>,
    /// Busy or retrying was heard, so that a rest is this turn's rest.
    awake: bool,
    began: Timestamp,
    look_at: Timestamp,
    unanswered: u32,
    cut_streams: u32,
    /// A subagent was born, which may work on while its parent rests.
    has_children: bool,
    /// The session rests, and only its subagents are waited for.
    resting: bool,
    n_open: usize,
    nudges: u32,
    asked: VecDeque<Ask>,
    /// What the events alone tell, for the case that the messages cannot be read.
    said: Option<String>,
    finish: Option<FinishReason>,
    usage: Usage,
}

enum Stage {
    Listening,
    /// The session rests with things left to do.
    Nudging,
    /// The turn is given up, the engine does not know yet.
    GivingUp,
    /// The turn is lost, the session should rest soon.
    Stopping {
        until: Timestamp,
    },
    Settling {
        at: Timestamp,
    },
    Over(Turn),
}

impl Conversation {
    /// Starts the clock of a turn whose prompt is about to be sent.
    pub fn new(limits: Limits, now: Timestamp) -> Self {
        Self {
            stage: Stage::Listening,
            verdict: None,
            awake: false,
            began: now,
            look_at: now + limits.silence,
            unanswered: 0,
            cut_streams: 0,
            has_children: false,
            resting: false,
            n_open: 0,
            nudges: 0,
            asked: VecDeque::new(),
            said: None,
            finish: None,
            usage: Usage::default(),
            limits,
        }
    }

    /// Takes in what was heard and returns what to do next.
    pub fn hear(&mut self, now: Timestamp, heard: Heard) -> Do {
        if !matches!(heard, Heard::Quiet | Heard::NoPulse) {
            self.look_at = now + self.limits.silence;
        }
        match heard {
            Heard::Busy => self.awake = true,
            Heard::Idle => self.rest(now),
            Heard::Retrying { attempt, next, spent } => self.retry(attempt, next, spent),
            Heard::Broke(breakage) => self.lose(now, breakage),
            Heard::Said(text) => self.said = Some(text),
            Heard::StepDone { finish, usage } => self.count(finish, usage),
            Heard::Asked(ask) => self.asked.push_back(ask),
            Heard::Gap => self.look_at = now,
            Heard::Gone => self.end(Trouble::Gone.into(), None),
            Heard::Pulse(pulse) => self.feel(now, pulse),
            Heard::NoPulse => self.miss(),
            Heard::Read(reading) => self.end(TurnVerdict::Done, Some(reading)),
            Heard::Unreadable => self.end(TurnVerdict::Done, None),
            Heard::ChildBorn => self.has_children = true,
            Heard::TodoChanged(list) => self.n_open = list.total().saturating_sub(list.done()),
            Heard::Writing
            | Heard::ToolBegan(_)
            | Heard::ToolEnded { .. }
            | Heard::Compacted
            | Heard::Quiet => {}
        }
        self.tick(now)
    }

    /// Returns what to do next when nothing was heard.
    pub fn tick(&mut self, now: Timestamp) -> Do {
        if let Stage::Over(turn) = &self.stage {
            return Do::Finish(turn.clone());
        }
        if let Some(ask) = self.asked.pop_front() {
            return Do::Refuse(ask);
        }
        if self.limits.deadline.is_some_and(|deadline| now >= deadline) {
            self.give_up(TurnVerdict::OutOfTime);
        }
        match self.stage {
            Stage::Listening if now >= self.look_at => {
                self.look_at = now + self.limits.silence;
                Do::Poll
            }
            Stage::Listening => {
                Do::Wait { until: self.limits.deadline.unwrap_or(self.look_at).min(self.look_at) }
            }
            Stage::Nudging => {
                self.stage = Stage::Listening;
                (self.awake, self.look_at) = (false, now + self.limits.silence);
                Do::Nudge
            }
            Stage::GivingUp => {
                self.stage = Stage::Stopping { until: now + self.limits.stopping };
                Do::Abort
            }
            Stage::Stopping { until: at } | Stage::Settling { at } if now < at => Do::Wait { until: at },
            Stage::Stopping { .. } | Stage::Settling { .. } | Stage::Over(_) => Do::Settle,
        }
    }

    fn rest(&mut self, now: Timestamp) {
        if !self.awake {
            return;
        }
        match self.stage {
            // Events do not tell whether subagents rest too.
            Stage::Listening if self.has_children => (self.resting, self.look_at) = (true, now),
            Stage::Listening => self.come_to_an_end(now),
            Stage::GivingUp | Stage::Stopping { .. } => {
                self.stage = Stage::Settling { at: now + self.limits.settling };
            }
            Stage::Nudging | Stage::Settling { .. } | Stage::Over(_) => {}
        }
    }

    /// Nothing works any more: the turn is done, unless the model is to be reminded of something.
    fn come_to_an_end(&mut self, now: Timestamp) {
        self.resting = false;
        if self.n_open > 0 && self.nudges < self.limits.nudges && self.verdict.is_none() {
            self.nudges += 1;
            self.stage = Stage::Nudging;
        } else {
            self.stage = Stage::Settling { at: now };
        }
    }

    fn retry(&mut self, attempt: u32, next: Timestamp, spent: bool) {
        self.awake = true;
        if spent {
            self.give_up(Trouble::Quota.into());
        } else if attempt > self.limits.retries
            || self.limits.deadline.is_some_and(|deadline| next > deadline)
        {
            self.give_up(Trouble::Unavailable.into());
        }
    }

    /// A session that breaks before it works never rests: an unknown agent is told in this way.
    fn lose(&mut self, now: Timestamp, breakage: Breakage) {
        self.verdict.get_or_insert(breakage.into());
        if matches!(self.stage, Stage::Listening | Stage::GivingUp) {
            self.stage = if self.awake {
                Stage::Stopping { until: now + self.limits.stopping }
            } else {
                Stage::Settling { at: now + self.limits.settling }
            };
        }
    }

    fn count(&mut self, finish: FinishReason, usage: Usage) {
        self.usage += usage;
        self.finish = Some(finish);
        let spent = self.limits.steps.is_some_and(|steps| self.usage.calls >= steps);
        if spent && finish == FinishReason::ToolCalls {
            self.give_up(Trouble::Steps.into());
        }
        self.cut_streams = if finish == FinishReason::Cut { self.cut_streams + 1 } else { 0 };
        if self.cut_streams > self.limits.cut_streams {
            self.give_up(Trouble::CutStream.into());
        }
    }

    /// A session that rests although nothing was heard of it had its events lost, unless the prompt is only just on its way.
    fn feel(&mut self, now: Timestamp, pulse: SessionActivity) {
        self.unanswered = 0;
        self.awake |= pulse.busy || now >= self.began + self.limits.silence;
        self.asked.extend(pulse.asked);
        match self.stage {
            _ if pulse.busy => {
                let pause = if self.resting { self.limits.resting } else { self.limits.silence };
                self.look_at = now + pause;
            }
            Stage::Listening if self.awake => self.come_to_an_end(now),
            Stage::Listening
            | Stage::Nudging
            | Stage::GivingUp
            | Stage::Stopping { .. }
            | Stage::Settling { .. }
            | Stage::Over(_) => self.rest(now),
        }
    }

    fn miss(&mut self) {
        self.unanswered += 1;
        if self.unanswered >= self.limits.unanswered {
            self.give_up(Trouble::Engine.into());
        }
    }

    fn give_up(&mut self, verdict: TurnVerdict) {
        if matches!(self.stage, Stage::Listening) {
            self.verdict.get_or_insert(verdict);
            self.stage = Stage::GivingUp;
        }
    }

    /// Draws the outcome: the first verdict if there was one, else what the messages say, else the one given.
    fn end(&mut self, verdict: TurnVerdict, reading: Option<FinalMessage>) {
        if matches!(self.stage, Stage::Over(_)) {
            return;
        }
        let usage = reading.as_ref().map_or(self.usage, |reading| reading.usage);
        let FinalMessage { text, finish, breakage, .. } = reading.unwrap_or_default();
        let finish = finish.or(self.finish);
        let verdict = match (self.verdict.take(), breakage) {
            (Some(first), _) => first,
            (None, Some(breakage)) => breakage.into(),
            (None, None) if finish == Some(FinishReason::Filtered) => TurnVerdict::Refused,
            (None, None) => verdict,
        };
        let text = text.or(mem::take(&mut self.said));
        let outcome = match (verdict, text) {
            (TurnVerdict::Done, Some(text)) => {
                Outcome::Answered { text, cut_short: finish == Some(FinishReason::Length) }
            }
            (TurnVerdict::Done, None) => Outcome::Failed { failure: Trouble::Silent.into(), partial: None },
            (TurnVerdict::Refused, partial) => Outcome::Refused { partial },
            (TurnVerdict::OutOfTime, partial) => Outcome::OutOfTime { partial },
            (TurnVerdict::Failed(failure), partial) => Outcome::Failed { failure, partial },
        };
        self.stage = Stage::Over(Turn { outcome, usage });
    }
}

#[cfg(test)]
mod tests;
