//! Who may contradict a finding, and what follows: decided here, once for each new reply.
//!
//! The model only says whether a reply convinced it. Whether that reply counts, whether it was answered already, and
//! who has the last word, are rules.

use fro_core::Permission;

use crate::{finding::Score, say::Verdict, state::Status};

/// From this score on, somebody who may not push cannot wave a finding through alone.
const GRAVE: u8 = 9;

/// Somebody who replied in a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Speaker {
    /// Whether the pull request is theirs.
    pub wrote_the_pull: bool,
    /// What they may do in the repository.
    pub permission: Permission,
}

impl Speaker {
    /// Tells whether their word counts. Others are heard, and decide nothing.
    pub fn has_standing(self) -> bool {
        self.wrote_the_pull || self.may_push()
    }

    fn may_push(self) -> bool {
        self.permission >= Permission::Write
    }
}

/// What to do about a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Nothing: nobody whose word counts said anything new.
    Rest,
    /// The model is asked about this reply, counted among the unanswered ones from the oldest.
    Judge(usize),
}

/// Decides whether a thread is looked at. `unanswered` are those who spoke since our own last word, oldest first.
///
/// All new replies are judged together, in the name of the last speaker whose word counts. A resolved thread rests
/// until somebody opens it again; an escalated one until a person speaks.
pub fn next(status: Status, unanswered: &[Speaker]) -> Next {
    match status {
        Status::Resolved => Next::Rest,
        Status::Pending | Status::Disputed | Status::Escalated => {
            unanswered.iter().rposition(|speaker| speaker.has_standing()).map_or(Next::Rest, Next::Judge)
        }
    }
}

/// Picks which of many replies the model is told, counted from the oldest: first those whose word counts, then the newest
/// others. Who decides nothing cannot bury what somebody else says.
pub fn pick_replies(counts: &[bool], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..counts.len()).rev().collect();
    order.sort_by_key(|at| !counts[*at]);
    order.truncate(most);
    order.sort_unstable();
    order
}

/// What the model makes of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// The reply is right.
    Convincing,
    /// The reply is not right.
    Unconvincing,
}

/// Those above the developer, as they are mentioned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deciders {
    /// People and teams who review this pull request or were asked to, without its author and without bots.
    pub reviewers: Vec<String>,
    /// Owners of the file.
    pub code_owners: Vec<String>,
}

/// Decides what becomes of a thread after a reply was judged.
///
/// The first rejection is said with its reason. If the developer does not accept it, the human reviewers decide; if
/// there are none, the developer's opinion wins, but for grave findings only that of somebody who may push.
pub fn settled(
    thread: (Status, Score, usize),
    speaker: Speaker,
    judged: Judgement,
    deciders: &Deciders,
) -> Verdict {
    let (status, score, upheld) = thread;
    let grave = score.get() >= GRAVE;
    match (judged, status) {
        (Judgement::Convincing, _) => Verdict::Conceded,
        (Judgement::Unconvincing, Status::Escalated) => Verdict::LeftToPeople,
        (Judgement::Unconvincing, Status::Pending | Status::Disputed | Status::Resolved) if upheld == 0 => {
            Verdict::Upheld
        }
        (Judgement::Unconvincing, Status::Pending | Status::Disputed | Status::Resolved) => {
            if !deciders.reviewers.is_empty() {
                return Verdict::Escalated { to: deciders.reviewers.clone() };
            }
            if speaker.may_push() || !grave {
                return Verdict::DeveloperDecides;
            }
            Verdict::Escalated { to: deciders.code_owners.clone() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AUTHOR: Speaker = Speaker { wrote_the_pull: true, permission: Permission::Read };
    const WRITER: Speaker = Speaker { wrote_the_pull: false, permission: Permission::Write };
    const STRANGER: Speaker = Speaker { wrote_the_pull: false, permission: Permission::Triage };

    #[test]
    fn a_thread_is_judged_once_for_what_is_new_and_for_those_who_count() {
        let open = [Status::Pending, Status::Disputed, Status::Escalated];
        for status in open {
            assert_eq!(next(status, &[]), Next::Rest, "{status:?}");
            assert_eq!(next(status, &[STRANGER, STRANGER]), Next::Rest, "{status:?}");
            assert_eq!(next(status, &[AUTHOR]), Next::Judge(0), "{status:?}");
            assert_eq!(next(status, &[AUTHOR, WRITER, STRANGER]), Next::Judge(1), "{status:?}");
        }
        assert_eq!(next(Status::Resolved, &[AUTHOR, WRITER]), Next::Rest);
    }

    #[test]
    fn nobody_buries_the_words_of_those_who_count() {
        let (yes, no) = (true, false);
        for (counts, most, expect) in [
            (&[][..], 2, &[][..]),
            (&[no, no, no], 2, &[1, 2]),
            (&[yes, no, no], 2, &[0, 2]),
            (&[yes, yes, no, yes, no], 2, &[1, 3]),
            (&[yes, no], 5, &[0, 1]),
        ] {
            assert_eq!(pick_replies(counts, most), expect, "{counts:?} {most}");
        }
    }

    /// Status, score, how often upheld, who speaks, whether there are reviewers and owners, and the verdict.
    #[test]
    fn who_has_the_last_word_is_a_table() {
        let reviewers =
            || Deciders { reviewers: vec!["grace".to_owned()], code_owners: vec!["ada".to_owned()] };
        let owners = || Deciders { reviewers: Vec::new(), code_owners: vec!["ada".to_owned()] };
        let to = |name: &str| Verdict::Escalated { to: vec![name.to_owned()] };
        let table = [
            (Status::Pending, 7, 0, AUTHOR, reviewers(), Verdict::Upheld),
            (Status::Pending, 7, 0, AUTHOR, Deciders::default(), Verdict::Upheld),
            (Status::Disputed, 7, 1, AUTHOR, reviewers(), to("grace")),
            (Status::Disputed, 10, 1, WRITER, reviewers(), to("grace")),
            (Status::Disputed, 8, 1, AUTHOR, Deciders::default(), Verdict::DeveloperDecides),
            (Status::Disputed, 8, 1, AUTHOR, owners(), Verdict::DeveloperDecides),
            (Status::Disputed, 9, 1, AUTHOR, owners(), to("ada")),
            (Status::Disputed, 9, 1, AUTHOR, Deciders::default(), Verdict::Escalated { to: Vec::new() }),
            (Status::Disputed, 9, 1, WRITER, owners(), Verdict::DeveloperDecides),
            (Status::Disputed, 10, 2, WRITER, Deciders::default(), Verdict::DeveloperDecides),
            (Status::Escalated, 10, 0, WRITER, reviewers(), Verdict::LeftToPeople),
            (Status::Escalated, 3, 2, AUTHOR, Deciders::default(), Verdict::LeftToPeople),
        ];
        for (status, number, upheld, speaker, deciders, expect) in table {
            let thread = (status, Score::new(number).unwrap(), upheld);
            let decided = settled(thread, speaker, Judgement::Unconvincing, &deciders);
            assert_eq!(decided, expect, "{thread:?} {speaker:?} {deciders:?}");
            let conceded = settled(thread, speaker, Judgement::Convincing, &deciders);
            assert_eq!(conceded, Verdict::Conceded, "{thread:?}");
        }
    }
}
