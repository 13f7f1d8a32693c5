//! A finding: what is wrong, where, how bad, and which pass found it.

use std::fmt;

use fro_core::Anchor;
use serde::{Deserialize, Serialize};

/// How bad something is, from 1 to 10.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u8")]
pub struct Score(u8);

/// A number that is no score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a score is a whole number from 1 to 10, not {0}")]
pub struct BadScore(u64);

impl Score {
    /// A matter of taste.
    pub const LOWEST: Self = Self(1);
    /// A catastrophe.
    pub const HIGHEST: Self = Self(10);

    /// Takes a number from 1 to 10.
    pub fn new(number: u64) -> Result<Self, BadScore> {
        match u8::try_from(number) {
            Ok(score @ 1..=10) => Ok(Self(score)),
            Ok(_) | Err(_) => Err(BadScore(number)),
        }
    }

    /// Returns the number.
    pub fn get(self) -> u8 {
        self.0
    }

    /// Adds points, up to the highest score.
    #[must_use]
    pub fn raised(self, points: u8) -> Self {
        Self(self.0.saturating_add(points).min(Self::HIGHEST.0))
    }
}

impl TryFrom<u64> for Score {
    type Error = BadScore;

    fn try_from(number: u64) -> Result<Self, BadScore> {
        Self::new(number)
    }
}

impl From<Score> for u8 {
    fn from(score: Score) -> Self {
        score.0
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a finding is about. Findings of one kind can add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Taste: how it is written.
    Style,
    /// Names that say too little or the wrong thing.
    Naming,
    /// More code than it takes, or the same twice.
    Redundancy,
    /// What a reader is not told.
    Documentation,
    /// What is not tested, or tested wrongly.
    Tests,
    /// A brittle way to do it.
    Pattern,
    /// More work than it takes.
    Performance,
    /// What goes wrong and is not handled.
    Errors,
    /// A wrong result.
    Logic,
    /// Things that happen at the same time.
    Concurrency,
    /// A rule of the project, or its structure.
    Rules,
    /// Who can do or see what they should not.
    Security,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::Style,
        Self::Naming,
        Self::Redundancy,
        Self::Documentation,
        Self::Tests,
        Self::Pattern,
        Self::Performance,
        Self::Errors,
        Self::Logic,
        Self::Concurrency,
        Self::Rules,
        Self::Security,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Style => "style",
            Self::Naming => "naming",
            Self::Redundancy => "redundancy",
            Self::Documentation => "documentation",
            Self::Tests => "tests",
            Self::Pattern => "pattern",
            Self::Performance => "performance",
            Self::Errors => "errors",
            Self::Logic => "logic",
            Self::Concurrency => "concurrency",
            Self::Rules => "rules",
            Self::Security => "security",
        }
    }

    /// Returns the kind that the rubric gives as the example of a score, for a finding that names none.
    pub fn guess(score: Score, pass: Pass) -> Self {
        match (pass, score.get()) {
            (Pass::Security, 7..) => Self::Security,
            (_, 0..=1) => Self::Style,
            (_, 2) => Self::Naming,
            (_, 3) => Self::Redundancy,
            (_, 4) => Self::Documentation,
            (_, 5) => Self::Pattern,
            (_, 6) => Self::Performance,
            (_, 8) => Self::Rules,
            (_, 7 | 9..) => Self::Logic,
        }
    }
}

/// One of the four passes of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u8")]
pub enum Pass {
    /// 1: the change, hunk by hunk.
    Diff,
    /// 2: what it does to the rest of the code.
    Structure,
    /// 3: security and the project's rules.
    Security,
    /// 4: what of all that is worth saying.
    Consolidation,
}

/// A number that is no pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no pass {0}; passes are numbered from 1 to 4")]
pub struct BadPass(u64);

impl Pass {
    /// Every pass, in order.
    pub const ALL: [Self; 4] = [Self::Diff, Self::Structure, Self::Security, Self::Consolidation];

    /// Returns its number.
    pub fn number(self) -> u8 {
        match self {
            Self::Diff => 1,
            Self::Structure => 2,
            Self::Security => 3,
            Self::Consolidation => 4,
        }
    }

    /// Returns the pass after it.
    pub fn next(self) -> Option<Self> {
        Self::ALL.into_iter().find(|pass| pass.number() == self.number() + 1)
    }
}

impl TryFrom<u64> for Pass {
    type Error = BadPass;

    fn try_from(number: u64) -> Result<Self, BadPass> {
        Self::ALL.into_iter().find(|pass| u64::from(pass.number()) == number).ok_or(BadPass(number))
    }
}

impl From<Pass> for u8 {
    fn from(pass: Pass) -> Self {
        pass.number()
    }
}

/// Something that is wrong with a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The lines that it is about.
    pub anchor: Anchor,
    /// The pass that found it.
    pub pass: Pass,
    /// What it is about.
    pub kind: Kind,
    /// How bad the model says it is.
    pub given: Score,
    /// How bad it counts, after promotion.
    pub score: Score,
    /// What was found, in one sentence.
    pub finding: String,
    /// Why it matters.
    pub assessment: String,
    /// What people read.
    pub body: String,
}

#[cfg(test)]
mod tests;
