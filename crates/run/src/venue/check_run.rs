//! The check run that tells of findings outside the change, where the operator wants one.

use fro_core::{Bounded, Clean};
use fro_github::{Annotation, AnnotationLevel, CheckRun, Conclusion};
use fro_review::{
    Diff,
    finding::Finding,
    review::Settled,
    say::{harmless, outside_told, rated},
    scoring::{Gate, Thresholds},
};

use crate::{answer::Request, settings::CheckRuns};

/// What the check is called.
const NAME: &str = "fro-bot review";

/// Bytes of one annotation; GitHub takes 64 kB.
const MESSAGE: usize = 16_000;

/// Bytes of what stands above an annotation; GitHub takes 255 letters.
const TITLE: usize = 200;

/// Makes it, if it is wanted and has anything to say.
pub(crate) fn check_run(request: &Request<'_>, settled: &Settled, diff: &Diff) -> Option<CheckRun> {
    let outside = settled.outside(diff);
    let is_wanted = request.process.review.check_runs == CheckRuns::On && !outside.is_empty();
    is_wanted.then(|| check(request, settled, &outside))
}

fn check(request: &Request<'_>, settled: &Settled, outside: &[&Finding]) -> CheckRun {
    let (redactor, thresholds) = (request.process.redactor(), &request.process.review.thresholds);
    let clean = |text: &str| redactor.clean(text);
    let (title, summary) = outside_told(outside.len());
    CheckRun {
        name: NAME,
        conclusion: match settled.gate {
            Gate::Passed => Conclusion::Neutral,
            Gate::Blocked(_) => Conclusion::Failure,
        },
        title: clean(&title),
        summary: clean(&summary),
        annotations: outside.iter().map(|finding| annotation(finding, thresholds, &clean)).collect(),
    }
}

fn annotation(finding: &Finding, thresholds: &Thresholds, clean: &impl Fn(&str) -> Clean) -> Annotation {
    let title = rated(finding.score, &finding.finding);
    let message = harmless(&finding.body);
    Annotation {
        anchor: finding.anchor.clone(),
        level: if finding.score >= thresholds.blocking {
            AnnotationLevel::Failure
        } else {
            AnnotationLevel::Warning
        },
        title: clean(Bounded::text(&title, TITLE).value()),
        message: clean(&Bounded::text(&message, MESSAGE).noted()),
    }
}
