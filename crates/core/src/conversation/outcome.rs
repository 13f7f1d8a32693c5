//! How a turn can end, and what it cost.

use std::{fmt, iter::Sum, ops::AddAssign};

use crate::{
    names::Login,
    say::{published::published, whole::closed},
};

/// A finished turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// How it ended.
    pub outcome: Outcome,
    /// What it took.
    pub usage: Usage,
}

/// The four ways in which a turn ends.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The model answered.
    Answered {
        /// The final message.
        text: String,
        /// The model had to stop at its longest possible answer.
        cut_short: bool,
    },
    /// The provider withheld the answer.
    Refused {
        /// What was said before.
        partial: Option<String>,
    },
    /// The deadline passed.
    OutOfTime {
        /// What was said before.
        partial: Option<String>,
    },
    /// The turn failed.
    Failed {
        /// Why.
        failure: Failure,
        /// What was said before.
        partial: Option<String>,
    },
}

impl Outcome {
    /// Adds notes of the harness below what the model said.
    #[must_use]
    pub fn noted(mut self, notes: &[String]) -> Self {
        let words = match &mut self {
            Self::Answered { text, .. } => text,
            Self::Refused { partial } | Self::OutOfTime { partial } | Self::Failed { partial, .. } => {
                if notes.is_empty() {
                    return self;
                }
                partial.get_or_insert_default()
            }
        };
        for note in notes {
            let both = format!("{}\n\n{note}", closed(words));
            both.trim_start().clone_into(words);
        }
        self
    }
}

impl Turn {
    /// A turn that needed no model, because the harness knows the answer.
    pub fn answered(text: String) -> Self {
        Self { outcome: Outcome::Answered { text, cut_short: false }, usage: Usage::default() }
    }

    /// A turn that broke before the model was asked anything.
    pub fn failed(trouble: Trouble) -> Self {
        let failure = Failure::from(trouble);
        Self { outcome: Outcome::Failed { failure, partial: None }, usage: Usage::default() }
    }
}

impl Outcome {
    /// Returns how it ended, in a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Answered { .. } => "answered",
            Self::Refused { .. } => "refused by the provider",
            Self::OutOfTime { .. } => "out of time",
            Self::Failed { .. } => "failed",
        }
    }

    /// Adds to the end of what was said, if anything was.
    #[must_use]
    pub fn and(mut self, more: &str) -> Self {
        match &mut self {
            Self::Answered { text, .. } => text.push_str(more),
            Self::Refused { partial } | Self::OutOfTime { partial } | Self::Failed { partial, .. } => {
                if let Some(text) = partial {
                    text.push_str(more);
                }
            }
        }
        self
    }

    /// Makes what the model said fit to be published, where these people may be called.
    #[must_use]
    pub fn published(self, people: &[Login]) -> Self {
        self.reworded(|words| published(words, people))
    }

    /// Puts other words into the place of what the model said.
    #[must_use]
    pub fn reworded(mut self, reword: impl Fn(&str) -> String) -> Self {
        let words = match &mut self {
            Self::Answered { text, .. } => Some(text),
            Self::Refused { partial } | Self::OutOfTime { partial } | Self::Failed { partial, .. } => {
                partial.as_mut()
            }
        };
        if let Some(words) = words {
            *words = reword(words);
        }
        self
    }

    /// Puts what was handed in into the place of what was said last.
    #[must_use]
    pub fn with_draft(self, body: String) -> Self {
        match self {
            // Whoever handed the answer in has nothing left to say.
            Self::Answered { .. }
            | Self::Failed { failure: Failure { trouble: Trouble::Silent, .. }, .. } => {
                Self::Answered { text: body, cut_short: false }
            }
            Self::Refused { .. } => Self::Refused { partial: Some(body) },
            Self::OutOfTime { .. } => Self::OutOfTime { partial: Some(body) },
            Self::Failed { failure, .. } => Self::Failed { failure, partial: Some(body) },
        }
    }
}

/// Why a turn failed, and the words that came with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What people are told.
    pub trouble: Trouble,
    /// What only the log is told.
    pub words: ForLog,
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        Self { trouble, words: ForLog::default() }
    }
}

/// Words of a provider or of the engine. They may quote keys and prompts, so they go to the log and nowhere else.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ForLog(String);

impl ForLog {
    const LONGEST: usize = 600;

    /// Keeps the first few hundred characters.
    pub fn new(words: &str) -> Self {
        Self(words.chars().take(Self::LONGEST).collect())
    }

    /// Returns the words for a log line.
    pub fn for_log(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ForLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[words for the log]")
    }
}

/// What went wrong, told by structured fields alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The provider does not accept the key.
    Auth,
    /// The account has nothing left to spend.
    Quota,
    /// The run reached its cost limit.
    Budget,
    /// The model was called as often as the run allows.
    Steps,
    /// The provider wants fewer requests.
    RateLimited,
    /// The provider could not be reached or kept failing.
    Unavailable,
    /// The provider refuses this request.
    Rejected,
    /// The conversation does not fit into the model.
    ContextOverflow,
    /// No primary agent has this name.
    UnknownAgent,
    /// No provider has this model.
    UnknownModel,
    /// The model's stream broke off again and again.
    CutStream,
    /// The model ended without an answer.
    Silent,
    /// Somebody else stopped the turn.
    Aborted,
    /// The engine failed by itself.
    Engine,
    /// The engine is not there any more.
    Gone,
    /// The engine failed or ended because the disk has no room left.
    DiskFull,
    /// The engine could not be set up or started.
    NotStarted,
    /// The conversation could not be read.
    NoContext,
    /// What the workflow says is not enough to ask a model.
    NoModel,
    /// What is remembered could not be changed.
    Memory,
}

/// An error as the engine reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breakage {
    /// The error's name, such as `APIError`.
    pub name: String,
    /// The provider's HTTP status.
    pub status: Option<u16>,
    /// The provider's own machine-readable code.
    pub code: Option<String>,
    /// What it says to people.
    pub words: ForLog,
}

/// What a breakage makes of the turn.
pub(super) enum TurnVerdict {
    Done,
    Refused,
    OutOfTime,
    Failed(Failure),
}

impl From<Trouble> for TurnVerdict {
    fn from(trouble: Trouble) -> Self {
        Self::Failed(trouble.into())
    }
}

impl From<Breakage> for TurnVerdict {
    fn from(breakage: Breakage) -> Self {
        let trouble = match breakage.name.as_str() {
            "ContentFilterError" => return Self::Refused,
            "ProviderAuthError" => Trouble::Auth,
            "ContextOverflowError" => Trouble::ContextOverflow,
            "MessageAbortedError" => Trouble::Aborted,
            "APIError" => breakage.of_provider(),
            _ => Trouble::Engine,
        };
        Self::Failed(Failure { trouble, words: breakage.words })
    }
}

impl Breakage {
    /// The provider's code is more exact than the status: an empty account answers 429 as well as too many requests do.
    fn of_provider(&self) -> Trouble {
        match self.code.as_deref() {
            Some("insufficient_quota" | "billing_error" | "usage_not_included") => Trouble::Quota,
            Some("run_budget") => Trouble::Budget,
            Some("invalid_api_key" | "authentication_error") => Trouble::Auth,
            Some("model_not_found") => Trouble::UnknownModel,
            Some("context_length_exceeded") => Trouble::ContextOverflow,
            _ => match self.status {
                Some(401 | 403) => Trouble::Auth,
                Some(402) => Trouble::Quota,
                Some(413) => Trouble::ContextOverflow,
                Some(429) => Trouble::RateLimited,
                Some(500..) | None => Trouble::Unavailable,
                Some(_) => Trouble::Rejected,
            },
        }
    }
}

/// What calls of the model took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// How often the model was called.
    pub calls: u32,
    /// Tokens read that were not in the provider's cache.
    pub input: u64,
    /// Tokens written, without the reasoning.
    pub output: u64,
    /// Tokens of reasoning.
    pub reasoning: u64,
    /// Tokens read from the provider's cache.
    pub cache_read: u64,
    /// Tokens put into the provider's cache.
    pub cache_write: u64,
    /// US dollars by the engine's price list.
    pub cost: f64,
}

impl Usage {
    /// Returns what it cost in millionths of a dollar.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of a float saturates"
    )]
    pub fn millionths(&self) -> u64 {
        (self.cost * 1e6).round() as u64
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.input += other.input;
        self.output += other.output;
        self.reasoning += other.reasoning;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.cost += other.cost;
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::default(), |mut sum, usage| {
            sum += usage;
            sum
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_stands_for_the_last_words_whatever_the_end() {
        let failed = |trouble: Trouble, partial: Option<&str>| Outcome::Failed {
            failure: Failure::from(trouble),
            partial: partial.map(str::to_owned),
        };
        let answered = |text: &str| Outcome::Answered { text: text.to_owned(), cut_short: false };
        let check = |outcome: Outcome, expect: Outcome| {
            assert_eq!(outcome.with_draft("draft".to_owned()), expect);
        };
        check(answered("I have handed it in."), answered("draft"));
        check(failed(Trouble::Silent, None), answered("draft"));
        check(failed(Trouble::Engine, Some("so far")), failed(Trouble::Engine, Some("draft")));
        check(Outcome::OutOfTime { partial: None }, Outcome::OutOfTime { partial: Some("draft".to_owned()) });
    }
}
