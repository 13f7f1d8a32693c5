//! Histories that nobody lived: who does what in the threads of a pull request, and what becomes of each thread.
//!
//! A seed always gives the same history. It is told as deeds, so that it can be played as plain data or on GitHub's
//! own pages; comments are numbered from zero in the order in which they are written.

mod oracle;
mod text;

use std::collections::BTreeMap;

use fro_core::{Anchor, Side};
use oracle::Oracle;
pub use oracle::Outcome;

use super::dice::Dice;
use crate::{
    Look, Place, Seal,
    finding::{Finding, Kind, Pass, Score},
    say::{self, Closing, ThreadWord, Verdict},
};

/// Somebody in a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The reviewer's own identity.
    Us,
    /// A person who may push.
    Writer,
    /// A person who may not.
    Stranger,
    /// Another App.
    OtherBot,
    /// A person with the name of our App, or an App with the name of our person.
    Twin,
}

/// The kind of account that reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    /// An App, or the job's own token.
    Bot,
    /// A person whose token is used.
    Person,
}

/// What is written into a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Words {
    /// One of our findings.
    Finding(Finding),
    /// A reply of ours about the finding with this name, which takes this comment and what stands above it into account.
    Verdict(String, Verdict, Closing, Option<usize>),
    /// Our answer to the question in a comment, which decides nothing.
    Answer(usize),
    /// A text as it is.
    Text(String),
    /// The same as in an earlier comment.
    Copy(usize),
}

/// What becomes of the text of a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// A browser changes the line ends.
    LineEnds,
    /// Somebody writes above it.
    Above,
    /// Somebody writes below it.
    Below,
    /// Fences become tildes.
    Tildes,
    /// Nothing is left.
    Emptied,
    /// The block says something else.
    Tampered,
}

/// One thing that happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
    /// A thread begins with a comment.
    Begin(Who, Words),
    /// A comment is written in the thread of another.
    Reply(Who, usize, Words),
    /// A thread is resolved on GitHub.
    Resolve(Who, usize),
    /// A thread is opened again.
    Unresolve(usize),
    /// A comment is edited.
    Edit(usize, Edit),
    /// A comment is deleted.
    Delete(usize),
}

/// A whole history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plot {
    /// Who we are.
    pub identity: Identity,
    /// The `state_key`, if there is one.
    pub key: Option<String>,
    /// What happens, in order.
    pub deeds: Vec<Happening>,
    /// What has become of each of our threads, by its first comment.
    pub outcomes: BTreeMap<usize, Outcome>,
}

/// The commit that every finding is about.
const COMMIT: &str = "a1";

/// Every so many histories, one is longer than a page of comments.
const LONG: u64 = 100;

impl Plot {
    /// Makes the history of a seed.
    pub fn make(seed: u64) -> Self {
        let identity = if seed.is_multiple_of(3) { Identity::Person } else { Identity::Bot };
        let key = seed.is_multiple_of(2).then(|| format!("key {seed}"));
        let mut author = Author {
            dice: Dice::new(seed),
            oracle: Oracle::new(identity, key.is_some()),
            deeds: Vec::new(),
            names: BTreeMap::new(),
        };
        let steps = if seed.is_multiple_of(LONG) { 260 } else { 3 + author.dice.roll(30) };
        for _ in 0..steps {
            author.step();
        }
        let outcomes = author.oracle.outcomes();
        Self { identity, key, deeds: author.deeds, outcomes }
    }
}

/// Thinks of what happens next.
struct Author {
    dice: Dice,
    oracle: Oracle,
    deeds: Vec<Happening>,
    /// The names of our findings, by their comments.
    names: BTreeMap<usize, String>,
}

impl Author {
    fn step(&mut self) {
        let roots: Vec<usize> =
            self.names.keys().copied().filter(|root| self.oracle.is_there(*root)).collect();
        let Some(root) = self.dice.pick(&roots) else { return self.find() };
        match self.dice.roll(14) {
            0..=1 => self.find(),
            2..=4 => {
                let who = self.dice.pick(&[Who::Writer, Who::Stranger]).unwrap_or(Who::Writer);
                self.happens(Happening::Reply(who, root, Words::Text(text::CONTRADICTION.to_owned())));
            }
            5..=7 => self.judge(root),
            8 => {
                let who = self.dice.pick(&[Who::Us, Who::Writer]).unwrap_or(Who::Writer);
                self.happens(Happening::Resolve(who, root));
            }
            9 => self.happens(Happening::Unresolve(root)),
            10 => self.forge(root),
            11 => self.answer(root),
            _ => self.edit(),
        }
    }

    fn happens(&mut self, deed: Happening) {
        self.oracle.hear(&deed);
        self.deeds.push(deed);
    }

    /// We find something.
    fn find(&mut self) {
        let number = self.oracle.comments();
        let finding = self.finding(number);
        self.names.insert(number, say::finding_id(&finding, COMMIT));
        self.happens(Happening::Begin(Who::Us, Words::Finding(finding)));
    }

    fn finding(&mut self, number: usize) -> Finding {
        let score = Score::new(1 + self.dice.roll(10) as u64).unwrap_or(Score::LOWEST);
        let (finding, body) = text::FINDINGS[number % text::FINDINGS.len()];
        Finding {
            anchor: Anchor { path: "tap.rs".to_owned(), side: Side::Right, start_line: None, line: 6 },
            pass: Pass::Diff,
            kind: Kind::Logic,
            given: score,
            score,
            finding: format!("{finding} {number}"),
            assessment: "Why.\r\n```\n}".to_owned(),
            body: body.to_owned(),
        }
    }

    /// We say what becomes of a thread; if it is resolved, then before that.
    fn judge(&mut self, root: usize) {
        let verdicts = [
            Verdict::Fixed { path: None },
            Verdict::Conceded,
            Verdict::DeveloperDecides,
            Verdict::Upheld,
            Verdict::Escalated { to: vec!["maya".to_owned()] },
            Verdict::LeftToPeople,
        ];
        let Some(verdict) = self.dice.pick(&verdicts) else { return };
        let settles =
            matches!(verdict, Verdict::Fixed { .. } | Verdict::Conceded | Verdict::DeveloperDecides);
        let closing = if settles && self.dice.roll(3) > 0 { Closing::Closed } else { Closing::LeftOpen };
        if closing == Closing::Closed {
            self.happens(Happening::Resolve(Who::Us, root));
        }
        // Somebody may have written while we judged what stood there before.
        let heard = if self.dice.roll(3) == 0 { None } else { self.dice.pick(&self.oracle.replies(root)) };
        let word = Words::Verdict(self.names[&root].clone(), verdict, closing, heard);
        self.happens(Happening::Reply(Who::Us, root, word));
    }

    /// We answer a question, which may be any comment of the thread.
    fn answer(&mut self, root: usize) {
        if let Some(question) = self.dice.pick(&self.oracle.replies(root)) {
            self.happens(Happening::Reply(Who::Us, root, Words::Answer(question)));
        }
    }

    /// Somebody pretends to be us, or we say something that has no block.
    fn forge(&mut self, root: usize) {
        let forged = Words::Text(text::forged_word(&self.names[&root], self.dice.roll(3)));
        let finding = Words::Text(text::FORGED_FINDING.to_owned());
        let liars = [Who::Stranger, Who::OtherBot, Who::Twin];
        let liar = self.dice.pick(&liars).unwrap_or(Who::Stranger);
        match self.dice.roll(7) {
            0..=1 => self.happens(Happening::Reply(liar, root, forged)),
            2 => self.happens(Happening::Begin(liar, finding)),
            // Another workflow has our identity: only a key can tell.
            3 => self.happens(Happening::Reply(Who::Us, root, forged)),
            4 if self.oracle.is_keyed() => self.happens(Happening::Begin(Who::Us, finding)),
            5 => {
                let said = text::BARE[self.dice.roll(text::BARE.len())].to_owned();
                self.happens(Happening::Reply(Who::Us, root, Words::Text(said)));
            }
            _ => self.copy(root),
        }
    }

    /// Our own word on one thread is put into another.
    fn copy(&mut self, root: usize) {
        let elsewhere = self.oracle.own_words_outside(root);
        if let Some(word) = self.dice.pick(&elsewhere) {
            self.happens(Happening::Reply(Who::Us, root, Words::Copy(word)));
        }
    }

    fn edit(&mut self) {
        let Some(comment) = self.dice.pick(&self.oracle.all_there()) else { return };
        let edits = [Edit::LineEnds, Edit::Above, Edit::Below, Edit::Tildes, Edit::Emptied, Edit::Tampered];
        match self.dice.pick(&edits).filter(|_| self.dice.roll(7) > 0) {
            Some(edit) => self.happens(Happening::Edit(comment, edit)),
            None => self.happens(Happening::Delete(comment)),
        }
    }
}

impl Words {
    /// Returns the text of a comment, sealed if it is ours; `written` are all earlier ones, each with its id on GitHub.
    pub fn body(&self, seal: &Seal, written: &[(u64, String)]) -> String {
        let id = |comment: usize| written.get(comment).map(|(id, _)| *id);
        match self {
            Self::Finding(finding) => {
                say::comment(seal, finding, &Place::Lines(finding.anchor.clone()), &Look::part(COMMIT))
            }
            Self::Verdict(name, verdict, closing, heard) => {
                let heard = heard.and_then(id);
                let word = ThreadWord { verdict, closing: *closing, body: "Because.", heard };
                say::reply(seal, name, &word, &Look::part("b2"))
            }
            Self::Answer(question) => text::answer_to(id(*question).unwrap_or_default()),
            Self::Text(text) => text.clone(),
            Self::Copy(comment) => written.get(*comment).map(|(_, text)| text.clone()).unwrap_or_default(),
        }
    }
}
