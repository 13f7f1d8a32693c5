//! What a history comes to, known from what was done and not from what can be read.
//!
//! The oracle keeps its own books: whose comment each is, what it meant when it was written, and what edits made of that.
//! It knows nothing of how a state is rebuilt.

use std::collections::BTreeMap;

use super::{Edit, Happening, Identity, Who, Words, text};
use crate::say::{Closing, Verdict};

/// What has become of one of our threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// `PENDING`, `RESOLVED`, `DISPUTED` or `ESCALATED`.
    pub status: &'static str,
    /// Why it is settled: `open`, `fixed`, `conceded` or `dismissed`.
    pub settled: &'static str,
    /// How often people spoke.
    pub replies: usize,
    /// How often they did since our own last word.
    pub unanswered: usize,
}

pub(super) struct Oracle {
    identity: Identity,
    keyed: bool,
    comments: Vec<Entry>,
    /// Who resolved which thread.
    resolved: BTreeMap<usize, Who>,
}

struct Entry {
    root: usize,
    who: Who,
    meaning: Meaning,
    there: bool,
}

/// What a comment by our own identity does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// It is a finding.
    Finding,
    /// It is our word on a thread.
    Word(Ruling),
    /// It has a marker and no block.
    Marked(&'static str),
    /// It has neither.
    Bare,
    /// It answers the question in this comment, as its first line says.
    Answer(usize),
    /// It has a block that must not count.
    Void,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ruling {
    status: &'static str,
    settled: &'static str,
    /// Whether the thread was resolved with it.
    closed: bool,
    /// The last comment that it takes into account; all above it if it does not say.
    heard: Option<usize>,
}

impl Ruling {
    fn open(status: &'static str) -> Self {
        let settled = if status == "RESOLVED" { "fixed" } else { "open" };
        Self { status, settled, closed: false, heard: None }
    }

    fn read(verdict: &Verdict, closing: Closing, heard: Option<usize>) -> Self {
        let (status, settled) = match verdict {
            Verdict::Fixed { .. } => ("RESOLVED", "fixed"),
            Verdict::Conceded | Verdict::DeveloperDecides => ("RESOLVED", "conceded"),
            Verdict::Upheld => ("DISPUTED", "open"),
            Verdict::Escalated { .. } | Verdict::LeftToPeople => ("ESCALATED", "open"),
        };
        Self { status, settled, closed: closing == Closing::Closed, heard }
    }
}

impl Oracle {
    pub(super) fn new(identity: Identity, keyed: bool) -> Self {
        Self { identity, keyed, comments: Vec::new(), resolved: BTreeMap::new() }
    }

    pub(super) fn is_keyed(&self) -> bool {
        self.keyed
    }

    pub(super) fn comments(&self) -> usize {
        self.comments.len()
    }

    pub(super) fn is_there(&self, comment: usize) -> bool {
        self.comments[comment].there
    }

    pub(super) fn all_there(&self) -> Vec<usize> {
        (0..self.comments.len()).filter(|at| self.is_there(*at)).collect()
    }

    /// Returns everything that was said in a thread.
    pub(super) fn replies(&self, root: usize) -> Vec<usize> {
        (0..self.comments.len()).filter(|at| *at != root && self.comments[*at].root == root).collect()
    }

    /// Returns our own words, as they were said, that stand in other threads.
    pub(super) fn own_words_outside(&self, root: usize) -> Vec<usize> {
        let ours =
            |entry: &Entry| matches!(entry.meaning, Meaning::Word(_)) && entry.root != root && entry.there;
        (0..self.comments.len()).filter(|at| ours(&self.comments[*at])).collect()
    }

    pub(super) fn hear(&mut self, deed: &Happening) {
        match deed {
            Happening::Begin(who, words) => self.enter(self.comments.len(), *who, words),
            Happening::Reply(who, root, words) => self.enter(*root, *who, words),
            Happening::Resolve(who, root) => drop(self.resolved.insert(*root, *who)),
            Happening::Unresolve(root) => drop(self.resolved.remove(root)),
            Happening::Edit(comment, edit) => self.edit(*comment, *edit),
            Happening::Delete(comment) => self.comments[*comment].there = false,
        }
    }

    fn enter(&mut self, root: usize, who: Who, words: &Words) {
        let meaning = match words {
            Words::Finding(_) => Meaning::Finding,
            Words::Verdict(_, verdict, closing, heard) => {
                Meaning::Word(Ruling::read(verdict, *closing, *heard))
            }
            Words::Answer(question) => Meaning::Answer(*question),
            Words::Copy(_) => Meaning::Void,
            Words::Text(text) => self.meaning(text),
        };
        self.comments.push(Entry { root, who, meaning, there: true });
    }

    /// Tells what a text means if our own identity says it.
    fn meaning(&self, text: &str) -> Meaning {
        let forged =
            text::FORGED.into_iter().find(|status| text.contains(&format!("\"status\": \"{status}\"")));
        match forged {
            Some(_) if self.keyed => Meaning::Void,
            Some(status) => Meaning::Word(Ruling::open(status)),
            None if text == text::FORGED_FINDING => Meaning::Void,
            None if text == text::BARE[1] => Meaning::Marked("RESOLVED"),
            None if text == text::BARE[2] => Meaning::Marked("ESCALATED"),
            None => Meaning::Bare,
        }
    }

    fn edit(&mut self, comment: usize, edit: Edit) {
        let meaning = &mut self.comments[comment].meaning;
        match (edit, *meaning) {
            (Edit::Emptied, _) => *meaning = Meaning::Bare,
            // The first line of an answer counts only as long as it is the first.
            (Edit::Above, Meaning::Answer(_)) => *meaning = Meaning::Marked("RESOLVED"),
            // It says the same as before.
            (Edit::Tampered, Meaning::Word(Ruling { status: "ESCALATED", .. })) => {}
            (Edit::Tampered, Meaning::Finding | Meaning::Word(_)) if self.keyed => *meaning = Meaning::Void,
            (Edit::Tampered, Meaning::Word(word)) => {
                *meaning = Meaning::Word(Ruling { status: "ESCALATED", settled: "open", ..word });
            }
            (
                Edit::Tampered,
                Meaning::Finding | Meaning::Marked(_) | Meaning::Bare | Meaning::Answer(_) | Meaning::Void,
            )
            | (Edit::LineEnds | Edit::Above | Edit::Below | Edit::Tildes, _) => {}
        }
    }

    pub(super) fn outcomes(&self) -> BTreeMap<usize, Outcome> {
        let ours = |at: &usize| {
            let Entry { root, who, meaning, there } = &self.comments[*at];
            root == at && *who == Who::Us && *meaning == Meaning::Finding && *there
        };
        (0..self.comments.len()).filter(ours).map(|root| (root, self.outcome(root))).collect()
    }

    fn outcome(&self, root: usize) -> Outcome {
        let (mut last, mut replies, mut waiting) = (None, 0, Vec::new());
        let thread = self.comments.iter().enumerate().filter(|(at, entry)| entry.root == root && *at != root);
        for (at, entry) in thread.filter(|(_, entry)| entry.there) {
            match self.heard(entry) {
                Voice::Us(word) => {
                    waiting.retain(|reply| word.heard.is_some_and(|heard| *reply > heard));
                    last = Some(word);
                }
                Voice::Answer(question) => waiting.retain(|reply| *reply != question),
                Voice::People => {
                    waiting.push(at);
                    replies += 1;
                }
                Voice::Nobody => {}
            }
        }
        let unanswered = waiting.len();
        let (status, settled) = self.concluded(root, last, unanswered);
        Outcome { status, settled, replies, unanswered }
    }

    fn heard(&self, entry: &Entry) -> Voice {
        let person = self.identity == Identity::Person;
        match (entry.who, entry.meaning) {
            (Who::Us, Meaning::Word(word)) => Voice::Us(word),
            (Who::Us, Meaning::Answer(question)) => Voice::Answer(question),
            (Who::Us, Meaning::Marked(status)) if !self.keyed => Voice::Us(Ruling::open(status)),
            (Who::Us, Meaning::Marked(_) | Meaning::Bare) if person => Voice::People,
            // A bot that says something else upholds; with a key it would have sealed that.
            (Who::Us, Meaning::Bare) if !self.keyed => Voice::Us(Ruling::open("DISPUTED")),
            (Who::Us | Who::OtherBot, _) => Voice::Nobody,
            (Who::Twin, _) if person => Voice::Nobody,
            (Who::Twin | Who::Writer | Who::Stranger, _) => Voice::People,
        }
    }

    /// GitHub's mark counts before our word; a thread that our word closed and that is open was opened again.
    fn concluded(
        &self,
        root: usize,
        last: Option<Ruling>,
        unanswered: usize,
    ) -> (&'static str, &'static str) {
        match (self.resolved.get(&root), last) {
            (Some(_), Some(Ruling { status: "RESOLVED", settled, .. })) => ("RESOLVED", settled),
            // A person whose token we use may have done it by hand.
            (Some(Who::Us), _) if self.identity == Identity::Person => ("RESOLVED", "dismissed"),
            // Whoever waits for an answer was right: we were stopped before we could say so.
            (Some(Who::Us), _) if unanswered > 0 => ("RESOLVED", "conceded"),
            (Some(Who::Us), _) => ("RESOLVED", "fixed"),
            (Some(_), _) => ("RESOLVED", "dismissed"),
            (None, Some(Ruling { status: "RESOLVED", closed: true, .. }) | None) => ("PENDING", "open"),
            (None, Some(Ruling { status, settled, .. })) => (status, settled),
        }
    }
}

enum Voice {
    Us(Ruling),
    Answer(usize),
    People,
    Nobody,
}
