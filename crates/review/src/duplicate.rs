//! Whether something was said before: the same words at the same place, the same place reworded, or long settled.

use fro_core::Anchor;

use crate::{
    finding::Finding,
    state::{Settlement, Status, Thread},
    wording::{ALIKE, Wording},
};

/// Lines apart that still count as the same place: models point at a call or at what is called.
const NEAR: usize = 10;
/// The likeness it takes elsewhere in the same file.
const FAR: u64 = 550;
/// The likeness it takes in another file, and a name in common besides.
const ELSEWHERE: u64 = 750;

/// Where a thread's lines are in the newest commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whereabouts {
    /// There, unchanged.
    At(Anchor),
    /// Changed or deleted since; it was in this file.
    Gone {
        /// The file, by its newest name.
        path: String,
    },
}

/// What later commits made of the change that fixed a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aftermath {
    /// Nothing: it is as it was when the finding was called fixed, or nothing was fixed.
    Stands,
    /// They changed it once more, so that the problem may be back.
    Changed,
}

/// Something that was said already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeat {
    /// The thread that said it.
    pub thread: u64,
    /// How far that has got.
    pub status: Status,
    /// Why it is settled, if it is.
    pub settlement: Settlement,
}

/// Finds the thread that says the same, if there is one.
///
/// What was conceded or dismissed is not raised again, whatever became of the lines. What was fixed may be: if the
/// lines that fixed it changed since, the problem may be back.
pub fn said_before(finding: &Finding, threads: &[(&Thread, &Whereabouts, Aftermath)]) -> Option<Repeat> {
    let wording = Wording::new(&finding.finding);
    let best = threads.iter().filter_map(|(thread, place, aftermath)| {
        let said = Wording::new(&thread.assessment.finding);
        let likeness = wording.likeness(&said);
        let wanted = wanted(&finding.anchor, place);
        let named = wanted < ELSEWHERE || wording.shares_a_name(&said);
        (likeness >= wanted && named && !may_be_back(thread, *aftermath)).then_some((likeness, *thread))
    });
    let (_, thread) = best.max_by_key(|(likeness, _)| *likeness)?;
    Some(Repeat { thread: thread.root.id, status: thread.status, settlement: thread.settlement })
}

/// Tells whether what a thread says was fixed, and is worth saying again.
pub fn may_be_back(thread: &Thread, aftermath: Aftermath) -> bool {
    thread.settlement == Settlement::Fixed && aftermath == Aftermath::Changed
}

/// Tells whether two findings of one review say the same.
pub fn is_same(one: &Finding, other: &Finding) -> bool {
    let (a, b) = (Wording::new(&one.finding), Wording::new(&other.finding));
    let wanted = wanted(&one.anchor, &Whereabouts::At(other.anchor.clone()));
    a.likeness(&b) >= wanted && (wanted < ELSEWHERE || a.shares_a_name(&b))
}

/// Returns how alike words have to be at this distance.
fn wanted(anchor: &Anchor, place: &Whereabouts) -> u64 {
    match place {
        Whereabouts::At(at) if at.path == anchor.path && distance(anchor, at) <= NEAR => ALIKE,
        Whereabouts::At(at) if at.path == anchor.path => FAR,
        Whereabouts::Gone { path } if *path == anchor.path => ALIKE,
        Whereabouts::At(_) | Whereabouts::Gone { .. } => ELSEWHERE,
    }
}

/// Returns how many lines lie between two places; ranges that touch have none.
fn distance(a: &Anchor, b: &Anchor) -> usize {
    let span = |anchor: &Anchor| (anchor.start_line.unwrap_or(anchor.line), anchor.line);
    let ((a_start, a_end), (b_start, b_end)) = (span(a), span(b));
    b_start.saturating_sub(a_end).max(a_start.saturating_sub(b_end))
}

#[cfg(test)]
mod tests {
    use fro_core::{Login, Side};
    use jiff::Timestamp;

    use super::*;
    use crate::{
        finding::{Kind, Pass, Score},
        state::{Account, Assessment, ReviewComment},
    };

    const LEAK: &str = "`openValve` never closes the hose when `drain` throws";
    const LEAK_AGAIN: &str = "When `drain` throws, `openValve` does not close the hose";
    const OTHER: &str = "The pressure is compared as a string";

    fn at(path: &str, line: usize) -> Anchor {
        Anchor { path: path.to_owned(), side: Side::Right, start_line: None, line }
    }

    fn finding(text: &str, anchor: Anchor) -> Finding {
        let score = Score::LOWEST;
        let (finding, assessment, body) = (text.to_owned(), String::new(), String::new());
        Finding {
            anchor,
            pass: Pass::Diff,
            kind: Kind::Logic,
            given: score,
            score,
            finding,
            assessment,
            body,
        }
    }

    fn thread(settlement: Settlement) -> Thread {
        let author = Account { login: Login::new("fro-bot"), is_bot: true };
        let (path, diff_hunk, original_commit, body) =
            ("tap.rs".to_owned(), String::new(), String::new(), String::new());
        let (created_at, side, line) = (Timestamp::UNIX_EPOCH, Side::Right, Some(20));
        let root = ReviewComment {
            id: 1,
            in_reply_to: None,
            author,
            body,
            created_at,
            path,
            side,
            line,
            original_line: line,
            original_commit,
            diff_hunk,
        };
        let assessment =
            Assessment { finding: LEAK.to_owned(), assessment: String::new(), score: Score::LOWEST };
        let status = if settlement == Settlement::Open { Status::Pending } else { Status::Resolved };
        Thread {
            root,
            fact: None,
            finding_id: "id".to_owned(),
            assessment,
            kind: Kind::Logic,
            status,
            settlement,
            fix: None,
            upheld: 0,
            replies: Vec::new(),
            decisions: 0,
            is_unsaid: false,
            about: None,
        }
    }

    fn check(text: &str, anchor: &Anchor, settlement: Settlement, place: &Whereabouts, expect: bool) {
        check_after(Aftermath::Stands, (text, anchor, settlement, place), expect);
    }

    fn check_after(
        aftermath: Aftermath,
        (text, anchor, settlement, place): (&str, &Anchor, Settlement, &Whereabouts),
        expect: bool,
    ) {
        let thread = thread(settlement);
        let found = said_before(&finding(text, anchor.clone()), &[(&thread, place, aftermath)]);
        assert_eq!(found.is_some(), expect, "{text} {anchor} {settlement:?} {place:?} {aftermath:?}");
    }

    #[test]
    fn the_same_is_known_after_drift_and_in_other_words() {
        let moved = || Whereabouts::At(at("tap.rs", 87));
        check(LEAK, &at("tap.rs", 87), Settlement::Open, &moved(), true);
        check(LEAK_AGAIN, &at("tap.rs", 90), Settlement::Open, &moved(), true);
        check(OTHER, &at("tap.rs", 87), Settlement::Open, &moved(), false);
        check(LEAK, &at("tap.rs", 400), Settlement::Open, &moved(), true);
        check(OTHER, &at("tap.rs", 400), Settlement::Open, &moved(), false);
        check(LEAK, &at("hose.rs", 87), Settlement::Open, &moved(), true);
        check("The hose leaks", &at("hose.rs", 87), Settlement::Open, &moved(), false);
    }

    #[test]
    fn what_was_conceded_is_never_raised_again_and_what_was_fixed_only_if_the_fix_was_changed() {
        let gone = || Whereabouts::Gone { path: "tap.rs".to_owned() };
        let there = || Whereabouts::At(at("tap.rs", 20));
        for settlement in [Settlement::Open, Settlement::Conceded, Settlement::Dismissed] {
            for (place, aftermath) in [(gone(), Aftermath::Changed), (there(), Aftermath::Changed)] {
                check_after(aftermath, (LEAK_AGAIN, &at("tap.rs", 20), settlement, &place), true);
            }
        }
        // A fix that changed the lines and one that is elsewhere: what counts is whether the fix stands.
        for place in [there(), gone()] {
            let same = (LEAK_AGAIN, &at("tap.rs", 20), Settlement::Fixed, &place);
            check_after(Aftermath::Stands, same, true);
            check_after(Aftermath::Changed, same, false);
        }
    }

    #[test]
    fn two_findings_of_one_review_are_compared_in_the_same_way() {
        let one = finding(LEAK, at("tap.rs", 20));
        assert!(is_same(&one, &finding(LEAK_AGAIN, at("tap.rs", 25))));
        assert!(!is_same(&one, &finding(OTHER, at("tap.rs", 20))));
    }
}
