//! What a review found, for whoever asked from a terminal: with code frames, as JSON, or as SARIF.

mod frames;
mod sarif;

pub use frames::Paint;

use serde_json::{Value, json};

use crate::{
    finding::{Finding, Pass, Score},
    scoring::Thresholds,
};

/// What a review found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The commit that the change goes onto.
    pub base: String,
    /// The commit that was looked at.
    pub head: String,
    /// What the findings were held against.
    pub thresholds: Thresholds,
    /// The findings, by file and line.
    pub findings: Vec<Reported>,
    /// How many of all that is open are bad enough to fail.
    pub blocking: usize,
    /// Where the review ended early, and why.
    pub stopped: Option<(Pass, String)>,
    /// Files that did not fit into a prompt.
    pub left_out: Vec<String>,
}

/// A finding, and the file that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// The finding.
    pub finding: Finding,
    /// What the file says in the commit that was looked at, if it is a text.
    pub text: Option<String>,
}

/// How much a finding asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// The finding fails the review.
    Blocking,
    /// The finding is worth saying.
    Notable,
}

impl Weight {
    fn weigh(score: Score, thresholds: &Thresholds) -> Self {
        if score >= thresholds.blocking { Self::Blocking } else { Self::Notable }
    }
}

impl Report {
    /// Writes everything as one JSON value.
    pub fn json(&self) -> Value {
        let stopped = self.stopped.as_ref().map(|(pass, why)| json!({ "pass": pass, "why": why }));
        json!({
            "version": 1,
            "base": self.base,
            "head": self.head,
            "problem_score_threshold": self.thresholds.problem,
            "blocking_score_threshold": self.thresholds.blocking,
            "findings": self.findings.iter().map(Reported::json).collect::<Vec<_>>(),
            "blocking_issues": self.blocking,
            "stopped": stopped,
            "left_out": self.left_out,
        })
    }
}

impl Reported {
    fn json(&self) -> Value {
        let Finding { anchor, pass, kind, given, score, finding, assessment, body } = &self.finding;
        json!({
            "file": anchor.path,
            "side": anchor.side,
            "start_line": anchor.start_line.unwrap_or(anchor.line),
            "line": anchor.line,
            "score": score,
            "given_score": given,
            "kind": kind,
            "pass": pass,
            "finding": finding,
            "assessment": assessment,
            "body": body,
        })
    }
}

#[cfg(test)]
mod tests;
