//! What a review says as a whole, above the remarks beside the code.

use std::fmt::Write as _;

use fro_core::{Anchor, fence, say::remarks};

use super::{harmless, rated};
use crate::{
    finding::{Finding, Pass},
    scoring::Thresholds,
};

/// What came of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// The commit that was looked at.
    pub commit: String,
    /// How many findings are said.
    pub found: usize,
    /// How many findings another run has said while this one looked.
    pub said_meanwhile: usize,
    /// How many threads were resolved.
    pub resolved: usize,
    /// How many open threads make the check red.
    pub blocking: usize,
    /// Where the review ended early, and why.
    pub stopped: Option<(Pass, String)>,
    /// Findings that have no place beside the code.
    pub elsewhere: Vec<(Anchor, String)>,
    /// Findings about files that the change does not touch, each in a sentence: they stand beside other code.
    pub untouched: Vec<(Anchor, String)>,
    /// Files that did not fit into a prompt.
    pub left_out: Vec<String>,
}

/// Files and findings that are named in the text; the rest is counted.
const NAMED: usize = 20;

/// Letters of one finding that is named in the text.
const SENTENCE: usize = 200;

/// Files that are named on the run's page, which takes a megabyte.
const LISTED: usize = 5_000;

impl Tally {
    /// Writes the text.
    pub fn text(&self, thresholds: &Thresholds) -> String {
        let commit: String = self.commit.chars().take(7).collect();
        let threshold = thresholds.problem;
        let mut text = match (self.found, self.said_meanwhile) {
            (0, 1..) => {
                format!("What there is to say about `{commit}` has been said by another review meanwhile.")
            }
            (0, 0) => format!("No finding at or above {threshold}/10 in `{commit}`."),
            (1, _) => format!("One finding at or above {threshold}/10 in `{commit}`."),
            (many, _) => format!("{many} findings at or above {threshold}/10 in `{commit}`."),
        };
        if self.found > 0 && self.said_meanwhile > 0 {
            let _ = write!(text, " Another review has said {} more meanwhile.", self.said_meanwhile);
        }
        match self.resolved {
            0 => {}
            1 => text.push_str(" One earlier thread is resolved."),
            many => {
                let _ = write!(text, " {many} earlier threads are resolved.");
            }
        }
        if self.blocking > 0 {
            let (open, blocking) = (self.blocking, thresholds.blocking);
            let threads = if open == 1 { "thread" } else { "threads" };
            let _ = write!(
                text,
                "\n\n🛑 {open} open {threads} at or above {blocking}/10: the check stays red until that is settled."
            );
        }
        if let Some((pass, why)) = &self.stopped {
            let (number, why) = (pass.number(), fence::one_line(why));
            let _ = write!(
                text,
                "\n\n> ⚠️ **This review is incomplete**: it ended in pass {number} of 4 ({why}). What was found until then \
                 is here; a new review can be asked for."
            );
        }
        text.push_str(&self.unread());
        text.push_str(&self.outside());
        text.push_str(&remarks::listed(&self.elsewhere));
        text
    }

    fn outside(&self) -> String {
        let told = |(anchor, told): &(Anchor, String)| {
            let told: String = told.chars().take(SENTENCE).collect();
            format!("\n- `{}`: `{}`", fence::inline(&anchor.to_string()), fence::inline(&told))
        };
        let listed: String = self.untouched.iter().take(NAMED).map(told).collect();
        let more = self.untouched.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!("\n- and {more} more") };
        match self.untouched.len() {
            0 => String::new(),
            _ => format!(
                "\n\nAbout files that this change does not touch, each in a thread beside the code that is nearest to it:\n{listed}{more}"
            ),
        }
    }

    fn unread(&self) -> String {
        if self.left_out.is_empty() {
            return String::new();
        }
        let named: Vec<String> =
            self.left_out.iter().take(NAMED).map(|path| format!("`{}`", fence::inline(path))).collect();
        let more = self.left_out.len().saturating_sub(NAMED);
        let more =
            if more == 0 { String::new() } else { format!(" and {more} more, all named on the run's page") };
        format!(
            "\n\nToo large to be shown to the model whole, and left to it to open: {}{more}.",
            named.join(", ")
        )
    }
}

/// Lists files that did not fit into a prompt, for the run's page.
pub fn unread_listed(left_out: &[String]) -> Option<String> {
    let count = left_out.len();
    let named = left_out.iter().take(LISTED).map(|path| format!("- `{}`\n", fence::inline(path)));
    let more = count.saturating_sub(LISTED);
    let more = if more == 0 { String::new() } else { format!("- and {more} more\n") };
    let heading = "### Files that were too large to be shown to the model whole\n\n";
    (count > 0).then(|| format!("{heading}{}{more}", named.collect::<String>()))
}

/// Tells of findings outside the change, for a check run: what stands above it, and what it says.
pub fn outside_told(found: usize) -> (String, String) {
    let findings = if found == 1 { "finding" } else { "findings" };
    let title = format!("{found} {findings} outside the change");
    let what = if found == 1 { "It is" } else { "They are" };
    (
        title,
        format!(
            "{what} part of the review of this pull request, and shown here beside the lines that are meant."
        ),
    )
}

/// Lists findings that the model took back, for the run's page: a change may have talked it into that.
pub fn withdrawn_listed(findings: &[Finding]) -> Option<String> {
    let told = |finding: &Finding| {
        let at = fence::inline(&finding.anchor.to_string());
        format!("- `{at}`: `{}`\n", fence::inline(&rated(finding.score, &finding.finding)))
    };
    let heading = "### Findings that the model took back\n\n";
    (!findings.is_empty()).then(|| format!("{heading}{}", findings.iter().map(told).collect::<String>()))
}

/// Lists findings that could not be posted, for the run's page.
pub fn unsaid_listed(findings: &[Finding]) -> Option<String> {
    let told = |finding: &Finding| {
        let (rated, body) = (rated(finding.score, &finding.finding), harmless(&finding.body));
        format!("#### `{}`\n\n{rated}\n\n{body}\n\n", fence::inline(&finding.anchor.to_string()))
    };
    let heading = "### Findings that could not be posted\n\n";
    (!findings.is_empty()).then(|| format!("{heading}{}", findings.iter().map(told).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use fro_core::Side;

    use super::*;
    use crate::finding::{Kind, Score};

    fn quiet() -> Tally {
        Tally {
            commit: "a1b2c3d4e5".to_owned(),
            found: 0,
            said_meanwhile: 0,
            resolved: 0,
            blocking: 0,
            stopped: None,
            elsewhere: Vec::new(),
            untouched: Vec::new(),
            left_out: Vec::new(),
        }
    }

    #[test]
    fn every_file_that_was_left_out_is_listed_within_bounds() {
        let many: Vec<String> = (0..5_002).map(|at| format!("f{at}.rs")).collect();
        assert_eq!(unread_listed(&[]), None);
        insta::assert_snapshot!(unread_listed(&many[..2]).unwrap_or_default(), @r"
        ### Files that were too large to be shown to the model whole

        - `f0.rs`
        - `f1.rs`
        ");
        let listed = unread_listed(&many).unwrap_or_default();
        assert!(listed.ends_with("- `f4999.rs`\n- and 2 more\n"), "{}", &listed[listed.len() - 80..]);
    }

    #[test]
    fn what_cannot_be_posted_or_stands_outside_reads_like_this() {
        let anchor = Anchor { path: "ho`se.rs".to_owned(), side: Side::Right, start_line: Some(2), line: 3 };
        let score = Score::new(7).unwrap();
        let finding = Finding {
            anchor,
            pass: Pass::Diff,
            kind: Kind::Logic,
            given: score,
            score,
            finding: "It leaks.\n## Not a heading".to_owned(),
            assessment: String::new(),
            body: "See:\n```suggestion\nfixed\n```".to_owned(),
        };
        assert_eq!(unsaid_listed(&[]), None);
        let (one, two) = (outside_told(1), outside_told(2));
        assert_eq!(withdrawn_listed(&[]), None);
        let listed = unsaid_listed(std::slice::from_ref(&finding)).unwrap();
        insta::assert_snapshot!([one.0, one.1, two.0, two.1, listed].join("\n---\n"));
        insta::assert_snapshot!(withdrawn_listed(&[finding]).unwrap(), @r"
        ### Findings that the model took back

        - `ho'se.rs:2-3`: `7/10 It leaks. ## Not a heading`
        ");
    }

    #[test]
    fn what_another_review_has_said_meanwhile_is_told_and_not_counted() {
        let text =
            |found, said_meanwhile| Tally { found, said_meanwhile, ..quiet() }.text(&Thresholds::default());
        insta::assert_snapshot!([text(0, 2), text(1, 2)].join("\n"), @r"
        What there is to say about `a1b2c3d` has been said by another review meanwhile.
        One finding at or above 5/10 in `a1b2c3d`. Another review has said 2 more meanwhile.
        ");
    }

    #[test]
    fn a_review_as_a_whole_reads_like_this() {
        let anchor = Anchor { path: "hose.rs".to_owned(), side: Side::Right, start_line: None, line: 3 };
        let stopped = Some((Pass::Structure, "out of time".to_owned()));
        let many: Vec<String> = (0..23).map(|at| format!("f{at}.rs")).collect();
        let tallies = [
            quiet(),
            Tally { found: 1, resolved: 1, ..quiet() },
            Tally { found: 3, resolved: 2, blocking: 1, ..quiet() },
            Tally { blocking: 2, stopped, left_out: many, ..quiet() },
            Tally { found: 1, elsewhere: vec![(anchor.clone(), "It is old.".to_owned())], ..quiet() },
            Tally { found: 21, untouched: vec![(anchor, "7/10 It `is` old.".to_owned()); 21], ..quiet() },
        ];
        let texts = tallies.map(|tally| tally.text(&Thresholds::default()));
        insta::assert_snapshot!(texts.join("\n\n=======\n\n"));
    }
}
