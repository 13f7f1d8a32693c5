//! What the ledger's rows say together: how often the memory was of use, and what runs took.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::ledger::Run;

/// Figures over all runs of a memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stats {
    /// How many runs are written down.
    pub runs: usize,
    /// The share of runs that found a memory.
    pub hit_rate: f64,
    /// The share of runs in which the agent searched or read earlier sessions.
    pub reuse: f64,
    /// The share of runs whose prompt quoted earlier sessions.
    pub reminded: f64,
    /// How often the agent explored the code in the first run on a subject, on average.
    pub exploration_first: f64,
    /// The same for later runs on the same subject.
    pub exploration_repeat: f64,
    /// Seconds to the first words for a person: the median of the runs that found a memory, from the start of the job.
    pub first_output: f64,
    /// US dollars, in all.
    pub cost: f64,
    /// Tokens read and written, in all.
    pub tokens: u64,
}

impl Stats {
    /// Sums up runs, oldest first.
    pub fn sum_up(runs: &[Run]) -> Self {
        let mut subjects = BTreeSet::new();
        let (first, repeat): (Vec<&Run>, Vec<&Run>) =
            runs.iter().partition(|run| subjects.insert(&run.subject));
        let explored = |runs: &[&Run]| mean(runs.iter().map(|run| f64::from(run.figures.exploration_calls)));
        let hits = runs.iter().filter(|run| run.figures.is_warm);
        let outputs = hits.filter_map(|run| run.figures.first_output);
        Self {
            runs: runs.len(),
            hit_rate: mean(runs.iter().map(|run| share(run.figures.is_warm))),
            reuse: mean(runs.iter().map(|run| share(run.figures.memory_calls > 0))),
            reminded: mean(runs.iter().map(|run| share(!run.figures.recalled.is_empty()))),
            exploration_first: explored(&first),
            exploration_repeat: explored(&repeat),
            first_output: median(outputs.map(|milliseconds| as_float(milliseconds) / 1000.0)),
            cost: runs.iter().map(|run| as_float(run.figures.cost)).sum::<f64>() / 1e6,
            tokens: runs.iter().map(|run| run.figures.tokens.input + run.figures.tokens.output).sum(),
        }
    }

    /// Returns how much less was explored in later runs, if there were any.
    pub fn exploration_saved(&self) -> Option<f64> {
        (self.exploration_first > 0.0 && self.runs > 1)
            .then(|| 1.0 - self.exploration_repeat / self.exploration_first)
    }
}

fn share(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn as_float(number: u64) -> f64 {
    number as f64
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

/// Returns the middle of some values, or between the two in the middle.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.as_slice() {
        [] => 0.0,
        all if all.len() % 2 == 1 => all[middle],
        all => f64::midpoint(all[middle - 1], all[middle]),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use fro_core::remembered::Audience;

    use crate::ledger::{Figures, Tokens};

    fn a_run(subject: &str, exploration_calls: u32, memory_calls: u32) -> Run {
        Run {
            id: "1".to_owned(),
            subject: subject.to_owned(),
            session: None,
            ended_at: Timestamp::UNIX_EPOCH,
            surface: "github".to_owned(),
            event: "issue_comment".to_owned(),
            actor: "maya".to_owned(),
            trust: "maintainer".to_owned(),
            visibility: Audience::Everyone,
            outcome: "answered".to_owned(),
            links: Vec::new(),
            figures: Figures {
                duration: 40_000,
                first_output: Some(40_000),
                cost: 12_500,
                tokens: Tokens { input: 1_000, output: 50 },
                recalled: Vec::new(),
                memory_calls,
                exploration_calls,
                is_warm: memory_calls > 0,
            },
        }
    }

    #[test]
    fn later_runs_on_a_subject_are_told_apart_from_the_first() {
        let stats =
            Stats::sum_up(&[a_run("#1", 10, 0), a_run("#2", 6, 1), a_run("#1", 2, 1), a_run("#1", 4, 1)]);
        let expect = Stats {
            runs: 4,
            hit_rate: 0.75,
            reuse: 0.75,
            reminded: 0.0,
            exploration_first: 8.0,
            exploration_repeat: 3.0,
            first_output: 40.0,
            cost: 0.05,
            tokens: 4_200,
        };
        assert_eq!(stats, expect);
        assert_eq!(stats.exploration_saved(), Some(0.625));
        assert_eq!(Stats::sum_up(&[]).exploration_saved(), None);
    }

    #[test]
    fn the_time_to_the_first_words_is_the_median_of_runs_that_found_a_memory() {
        let took = |memory_calls, milliseconds| {
            let run = a_run("#1", 0, memory_calls);
            Run { figures: Figures { first_output: Some(milliseconds), ..run.figures.clone() }, ..run }
        };
        let (miss, hits) = (took(0, 900_000), [10_000, 30_000, 200_000].map(|time| took(1, time)));
        let runs = [vec![miss], hits.to_vec()].concat();
        assert!((Stats::sum_up(&runs).first_output - 30.0).abs() < 1e-9);
        assert!((Stats::sum_up(&runs[..3]).first_output - 20.0).abs() < 1e-9);
        assert!(Stats::sum_up(&runs[..1]).first_output.abs() < 1e-9);
    }
}
