//! What becomes of a score: promotion, threshold, elevation and the gate, in whole numbers.
//!
//! The model gives a number; everything that follows from it is decided here, so that no words in a pull request can
//! move it.

use crate::{
    finding::{Finding, Kind, Pass, Score},
    sensitivity::Sensitivity,
    state::Status,
};

/// What a finding of the security pass gains where personal or financial data is handled.
const PROMOTION: u8 = 2;

/// The operator's three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// `problem_score_threshold`: from this score on, a finding is said.
    pub problem: Score,
    /// `score_elevation_threshold`: so many findings of one kind below it are said together.
    pub elevation: usize,
    /// `blocking_score_threshold`: from this score on, an open thread makes the check red.
    pub blocking: Score,
}

impl Thresholds {
    /// Takes the numbers as they were given, or says which of them is wrong.
    pub fn new(problem: u64, elevation: u64, blocking: u64) -> Result<Self, String> {
        let score = |name: &str, number| Score::new(number).map_err(|wrong| format!("`{name}`: {wrong}"));
        let problem = score("problem_score_threshold", problem)?;
        let blocking = score("blocking_score_threshold", blocking)?;
        if blocking < problem {
            return Err(format!(
                "`blocking_score_threshold` ({blocking}) is below `problem_score_threshold` ({problem}): nothing that \
                 is not said can block"
            ));
        }
        match usize::try_from(elevation) {
            Ok(elevation @ 2..) => Ok(Self { problem, elevation, blocking }),
            Ok(_) | Err(_) => Err(format!("`score_elevation_threshold`: at least 2, not {elevation}")),
        }
    }
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { problem: Score::LOWEST.raised(4), elevation: 5, blocking: Score::LOWEST.raised(8) }
    }
}

/// Returns how bad a finding counts: the security pass is stricter where data of people or money is handled.
pub fn promoted(given: Score, pass: Pass, sensitivity: &Sensitivity) -> Score {
    match (pass, sensitivity) {
        (Pass::Security, Sensitivity::Sensitive { .. }) => given.raised(PROMOTION),
        (Pass::Security, Sensitivity::Plain) | (Pass::Diff | Pass::Structure | Pass::Consolidation, _) => {
            given
        }
    }
}

/// Findings that are too small to be said alone and too many to be left unsaid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elevation {
    /// What they are all about.
    pub kind: Kind,
    /// What they count together.
    pub score: Score,
    /// Which of the findings they are, in order.
    pub members: Vec<usize>,
}

/// Finds the kinds of which so many findings are below the threshold that they count together.
pub fn elevated(findings: &[Finding], thresholds: &Thresholds) -> Vec<Elevation> {
    let below = |kind: Kind| {
        let of_kind = move |(_, finding): &(usize, &Finding)| {
            finding.kind == kind && finding.score < thresholds.problem
        };
        findings.iter().enumerate().filter(of_kind)
    };
    let elevation = |kind: Kind| {
        let members: Vec<usize> = below(kind).map(|(at, _)| at).collect();
        let highest = below(kind).map(|(_, finding)| finding.score).max()?;
        let score = thresholds.problem.max(highest.raised(1));
        (members.len() >= thresholds.elevation).then_some(Elevation { kind, score, members })
    };
    Kind::ALL.into_iter().filter_map(elevation).collect()
}

/// Whether the check is green.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// Nothing open is bad enough.
    Passed,
    /// So many open threads are.
    Blocked(usize),
}

impl Gate {
    /// Returns how many open threads make the check red.
    pub fn count_blocking(self) -> usize {
        match self {
            Self::Passed => 0,
            Self::Blocked(blocking) => blocking,
        }
    }
}

/// Decides from the threads alone: what the model says about blocking decides nothing.
pub fn gate(threads: impl IntoIterator<Item = (Status, Score)>, thresholds: &Thresholds) -> Gate {
    let blocks = |(status, score): &(Status, Score)| status.is_open() && *score >= thresholds.blocking;
    match threads.into_iter().filter(blocks).count() {
        0 => Gate::Passed,
        blocking => Gate::Blocked(blocking),
    }
}

#[cfg(test)]
mod tests {
    use fro_core::{Anchor, Side};

    use super::*;

    fn score(number: u64) -> Score {
        Score::new(number).unwrap()
    }

    fn sensitive() -> Sensitivity {
        Sensitivity::Sensitive { why: "the settings say so".to_owned() }
    }

    fn finding(kind: Kind, number: u64) -> Finding {
        let anchor = Anchor { path: "tap.rs".to_owned(), side: Side::Right, start_line: None, line: 1 };
        let (given, score) = (score(number), score(number));
        let (finding, assessment, body) = (String::new(), String::new(), String::new());
        Finding { anchor, pass: Pass::Diff, kind, given, score, finding, assessment, body }
    }

    #[test]
    fn only_the_security_pass_is_promoted_and_only_where_data_is_sensitive() {
        for number in 1..=10 {
            let given = score(number);
            for pass in [Pass::Diff, Pass::Structure, Pass::Consolidation] {
                assert_eq!(promoted(given, pass, &sensitive()), given);
            }
            assert_eq!(promoted(given, Pass::Security, &Sensitivity::Plain), given);
        }
        let promoted: Vec<u8> =
            (1..=10).map(|number| promoted(score(number), Pass::Security, &sensitive()).get()).collect();
        assert_eq!(promoted, [3, 4, 5, 6, 7, 8, 9, 10, 10, 10]);
    }

    /// Elevation: the threshold, how many are needed, the scores of one kind, and what comes of them.
    #[test]
    fn small_findings_add_up_at_the_boundary_and_not_before() {
        let table: [(u64, u64, &[u64], Option<u8>); 12] = [
            (5, 5, &[2, 2, 2, 2], None),
            (5, 5, &[2, 2, 2, 2, 2], Some(5)),
            (5, 5, &[2, 2, 2, 2, 2, 2], Some(5)),
            (5, 5, &[4, 4, 4, 4, 4], Some(5)),
            (5, 5, &[4, 4, 4, 4, 5], None),
            (5, 5, &[4, 4, 4, 4, 4, 9], Some(5)),
            (7, 3, &[6, 1, 1], Some(7)),
            (7, 3, &[6, 1], None),
            (10, 2, &[9, 9], Some(10)),
            (10, 2, &[1, 1], Some(10)),
            (1, 2, &[1, 1, 1], None),
            (5, 5, &[], None),
        ];
        for (problem, elevation, scores, expect) in table {
            let thresholds = Thresholds::new(problem, elevation, 10).unwrap();
            let findings: Vec<_> = scores.iter().map(|number| finding(Kind::Naming, *number)).collect();
            let found = elevated(&findings, &thresholds);
            assert_eq!(
                found.first().map(|found| found.score.get()),
                expect,
                "{problem} {elevation} {scores:?}"
            );
        }
    }

    #[test]
    fn kinds_do_not_add_up_with_each_other() {
        let kinds = [Kind::Naming, Kind::Naming, Kind::Style, Kind::Style, Kind::Naming];
        let findings: Vec<_> = kinds.into_iter().map(|kind| finding(kind, 2)).collect();
        assert_eq!(elevated(&findings, &Thresholds::new(5, 4, 9).unwrap()), []);
        let expect = Elevation { kind: Kind::Naming, score: score(5), members: vec![0, 1, 4] };
        assert_eq!(elevated(&findings, &Thresholds::new(5, 3, 9).unwrap()), [expect]);
    }

    #[test]
    fn the_gate_is_shut_by_an_open_thread_at_the_boundary() {
        let statuses = [Status::Pending, Status::Disputed, Status::Escalated, Status::Resolved];
        for blocking in 5..=10 {
            let thresholds = Thresholds::new(5, 5, blocking).unwrap();
            for status in statuses {
                for number in 1..=10 {
                    let shut = status != Status::Resolved && number >= blocking;
                    let expect = if shut { Gate::Blocked(1) } else { Gate::Passed };
                    let decided = gate([(status, score(number))], &thresholds);
                    assert_eq!(decided, expect, "{blocking} {status:?} {number}");
                }
            }
        }
        let threads =
            [(Status::Pending, score(9)), (Status::Escalated, score(10)), (Status::Resolved, score(10))];
        assert_eq!(gate(threads, &Thresholds::default()), Gate::Blocked(2));
        assert_eq!(gate([], &Thresholds::default()), Gate::Passed);
    }

    #[test]
    fn wrong_numbers_are_named() {
        let wrong = [
            Thresholds::new(0, 5, 9),
            Thresholds::new(5, 1, 9),
            Thresholds::new(5, 5, 11),
            Thresholds::new(7, 5, 6),
        ];
        insta::assert_snapshot!(wrong.map(Result::unwrap_err).join("\n"), @r"
        `problem_score_threshold`: a score is a whole number from 1 to 10, not 0
        `score_elevation_threshold`: at least 2, not 1
        `blocking_score_threshold`: a score is a whole number from 1 to 10, not 11
        `blocking_score_threshold` (6) is below `problem_score_threshold` (7): nothing that is not said can block
        ");
        assert_eq!(Thresholds::new(5, 5, 9), Ok(Thresholds::default()));
    }
}
