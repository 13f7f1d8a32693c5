//! The end of a review: what is posted where, and whether the check is green.

use fro_core::{Anchor, Login, Side, say::remarks};

use super::{Deed, Known, Review, Standing};
use crate::{
    Diff, Place, Seal,
    coverage::Look,
    duplicate::{self, Aftermath, Whereabouts},
    finding::{Finding, Kind, Score},
    markdown,
    say::{self, Verdict},
    scoring::{self, Gate},
    state::{State, Status},
};

/// What a review comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// What is posted, by file and line.
    pub findings: Vec<Finding>,
    /// What would have been posted, had the model not taken it back.
    pub withdrawn: Vec<Finding>,
    /// What is written into threads.
    pub deeds: Vec<Deed>,
    /// Whether the check is green.
    pub gate: Gate,
}

/// Comments, sorted by where they can stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Writes {
    /// Beside lines, all in one review.
    pub beside: Vec<(Anchor, String)>,
    /// With whole files, each a comment of its own.
    pub on_files: Vec<(String, String)>,
    /// In the review's own text, because the change does not touch the file.
    pub in_summary: Vec<(Anchor, String)>,
}

impl Review {
    /// Ends the review: small findings are counted together, the gate is decided.
    pub fn settle(self) -> Settled {
        let of = |standing: Standing| {
            let drafts = self.drafts.iter().filter(move |draft| draft.standing == standing);
            drafts.map(|draft| draft.finding.clone())
        };
        let small: Vec<Finding> = of(Standing::Aside).collect();
        let mut elevated = scoring::elevated(&small, &self.ground.thresholds);
        elevated.retain(|elevation| !self.was_elevated(elevation.kind));
        let mut findings: Vec<Finding> = of(Standing::Kept).collect();
        findings.extend(elevated.iter().filter_map(|elevation| say::together(elevation, &small)));
        findings.sort_by(|a, b| (&a.anchor.path, a.anchor.line).cmp(&(&b.anchor.path, b.anchor.line)));
        let gate = scoring::gate(self.open(&findings), &self.ground.thresholds);
        let threshold = self.ground.thresholds.problem;
        let withdrawn = of(Standing::Withdrawn).filter(|finding| finding.score >= threshold).collect();
        Settled { findings, withdrawn, deeds: self.deeds, gate }
    }

    /// Tells whether small findings of this kind were said together before, and nothing says that they are back.
    fn was_elevated(&self, kind: Kind) -> bool {
        self.ground.known.iter().any(|Known { thread, aftermath, .. }| {
            let back = duplicate::may_be_back(thread, *aftermath);
            thread.kind == kind && say::is_together(&thread.assessment.finding) && !back
        })
    }

    /// Returns status and score of every thread there will be.
    fn open(&self, findings: &[Finding]) -> Vec<(Status, Score)> {
        let status = |id: u64, now: Status| {
            let deed = self.deeds.iter().find(|deed| deed.thread == id);
            deed.map_or(now, |deed| deed.verdict.status())
        };
        let known = self.ground.known.iter().map(|known| &known.thread);
        let known = known.map(|thread| (status(thread.root.id, thread.status), thread.assessment.score));
        known.chain(findings.iter().map(|finding| (Status::Pending, finding.score))).collect()
    }
}

impl Writes {
    /// Returns all of it for a text that begins no threads, and so has no blocks.
    pub fn without_threads(&self) -> Vec<(Anchor, String)> {
        let whole =
            |path: &String| Anchor { path: path.clone(), side: Side::Right, start_line: None, line: 1 };
        let on_files = self.on_files.iter().map(|(path, text)| (whole(path), text));
        let beside = self.beside.iter().map(|(anchor, text)| (anchor.clone(), text));
        beside.chain(on_files).map(|(anchor, text)| (anchor, say::without_block(text))).collect()
    }
}

impl Settled {
    /// Leaves out what another run has said since the threads were read, and returns that besides. The gate stays as it is:
    /// what another run has said is open too.
    #[must_use]
    pub fn without_said(self, read: &State, now: &State) -> (Self, Vec<Finding>) {
        let new = now.threads.iter().filter(|thread| read.thread(thread.root.id).is_none());
        let places = new.map(|thread| {
            let path = thread.path().to_owned();
            (thread, thread.said_of().map_or(Whereabouts::Gone { path }, Whereabouts::At))
        });
        let places: Vec<_> = places.collect();
        let threads: Vec<_> =
            places.iter().map(|(thread, place)| (*thread, place, Aftermath::Stands)).collect();
        let is_said = |finding: &Finding| duplicate::said_before(finding, &threads).is_some();
        let (said, findings) = self.findings.into_iter().partition(is_said);
        (Self { findings, ..self }, said)
    }

    /// Tells whether there is anything to write.
    pub fn is_silent(&self) -> bool {
        self.findings.is_empty() && self.deeds.is_empty()
    }

    /// Returns whom the replies call by name: people and teams who are asked to decide.
    pub fn called(&self) -> Vec<Login> {
        let names = self.deeds.iter().flat_map(|deed| match &deed.verdict {
            Verdict::Escalated { to } => to.as_slice(),
            Verdict::Fixed { .. }
            | Verdict::Conceded
            | Verdict::DeveloperDecides
            | Verdict::Upheld
            | Verdict::LeftToPeople => &[],
        });
        names.map(Login::new).collect()
    }

    /// Returns the findings that cannot stand where they belong, because the change does not touch those lines.
    pub fn outside(&self, diff: &Diff) -> Vec<&Finding> {
        let is_outside = |finding: &&Finding| !matches!(diff.place(&finding.anchor), Place::Lines(_));
        self.findings.iter().filter(is_outside).collect()
    }

    /// Writes the comments, each where GitHub takes it. `touched` tells the length of the function around a place.
    pub fn writes(
        &self,
        diff: &Diff,
        seal: &Seal,
        look: &Look,
        touched: impl Fn(&Anchor) -> usize,
    ) -> Writes {
        let mut writes = Writes::default();
        for finding in &self.findings {
            let about = &finding.anchor;
            let most = markdown::most_lines(finding.score, touched(about));
            let body = markdown::shortened(&finding.body, most);
            let (place, body) = match diff.place(about) {
                place @ Place::Lines(_) => (place, body),
                place @ (Place::Near(_) | Place::File { .. }) => (place, remarks::moved(about, &body)),
                Place::Summary => (diff.home(&about.path), remarks::untouched(about, &body)),
            };
            let text = say::comment(seal, &Finding { body, ..finding.clone() }, &place, look);
            match place {
                Place::Lines(anchor) | Place::Near(anchor) => writes.beside.push((anchor, text)),
                Place::File { path } => writes.on_files.push((path, text)),
                // What stands in no thread has no state, so it has no block either.
                Place::Summary => writes.in_summary.push((about.clone(), say::harmless(&finding.body))),
            }
        }
        writes
    }

    /// Returns the findings about files that the change does not touch, which stand beside others.
    pub fn untouched(&self, diff: &Diff) -> Vec<(Anchor, String)> {
        let is_untouched = |finding: &&Finding| {
            diff.place(&finding.anchor) == Place::Summary && diff.home(&finding.anchor.path) != Place::Summary
        };
        let told = |finding: &Finding| (finding.anchor.clone(), say::rated(finding.score, &finding.finding));
        self.findings.iter().filter(is_untouched).map(told).collect()
    }
}
