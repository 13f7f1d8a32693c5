//! The review so far, rebuilt from the comments of the pull request and from GitHub's own word on its threads.
//!
//! There is no other memory of it: a comment that somebody deletes is forgotten, a thread that somebody resolves is
//! resolved. A thread is ours if its first comment is by our own identity and has a block that counts; each reply of
//! ours that carries a status is an event, and the last event wins.

mod told;
mod word;

use fro_core::{Anchor, say::marker::Marker};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use told::{Account, ReviewComment, ThreadFact};
use word::{Event, WhoseWord};

use crate::{
    coverage::Look,
    finding::{Kind, Pass, Score},
    rmcoc::{self, Fields},
    seal::Seal,
};

/// What a reply says that resolves a thread.
pub const RESOLVED_MARKER: &str = "✅ **Issue Resolved**";
/// What a reply says that leaves a thread to people.
pub const ESCALATED_MARKER: &str = "🔺 **Escalated to Human Review**";

/// How far the talk about a finding has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Said, and open.
    Pending,
    /// Fixed, conceded, or resolved by somebody.
    Resolved,
    /// Contradicted, and upheld.
    Disputed,
    /// Left to people.
    Escalated,
}

impl Status {
    /// Returns the word for it, as blocks have it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Resolved => "RESOLVED",
            Self::Disputed => "DISPUTED",
            Self::Escalated => "ESCALATED",
        }
    }

    /// Tells whether it still counts.
    pub fn is_open(self) -> bool {
        match self {
            Self::Pending | Self::Disputed | Self::Escalated => true,
            Self::Resolved => false,
        }
    }
}

/// Why a thread is not open any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// The thread is open.
    Open,
    /// The code was changed.
    Fixed,
    /// Somebody convinced us: it is never raised again.
    Conceded,
    /// Somebody else resolved it, with a reason or without: that is their word.
    Dismissed,
}

/// When a finding was fixed, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The newest commit when that was said.
    pub commit: String,
    /// The file whose change fixed it; none if the finding's own lines were changed.
    pub path: Option<String>,
}

/// What a finding says, as the block has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assessment {
    /// What was found, in one sentence.
    pub finding: String,
    /// Why it matters.
    pub assessment: String,
    /// How bad it is.
    pub score: Score,
}

/// What somebody else said in one of our threads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeveloperReply {
    /// The comment.
    #[serde(skip)]
    pub id: u64,
    /// Who.
    pub author: String,
    /// What.
    pub body: String,
    /// When.
    pub timestamp: Timestamp,
    /// Whether a word of ours came after it that took it into account.
    #[serde(skip)]
    pub is_answered: bool,
}

/// A finding that was said, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// The first comment, as GitHub tells it; its id is the thread's.
    pub root: ReviewComment,
    /// GitHub's own word on the thread, if it was asked.
    pub fact: Option<ThreadFact>,
    /// The finding's own name, the same in every block of the thread; empty in blocks of older makes.
    pub finding_id: String,
    /// What was said.
    pub assessment: Assessment,
    /// What it is about.
    pub kind: Kind,
    /// How far it has got.
    pub status: Status,
    /// Why it is settled, if it is.
    pub settlement: Settlement,
    /// When it was fixed; none if it was not, or if no word of ours says when.
    pub fix: Option<Fix>,
    /// How often we upheld it since it was last open.
    pub upheld: usize,
    /// What others said, oldest first.
    pub replies: Vec<DeveloperReply>,
    /// How often we decided about it.
    pub decisions: usize,
    /// Whether we have resolved it and never said so, because the run was stopped in between.
    pub is_unsaid: bool,
    /// What it is about, where its first comment had to stand beside other lines.
    pub about: Option<Anchor>,
}

impl Thread {
    /// Returns what others said that we have not answered, oldest first.
    pub fn unanswered(&self) -> impl Iterator<Item = &DeveloperReply> {
        self.replies.iter().filter(|reply| !reply.is_answered)
    }

    /// Returns the file that it is about.
    pub fn path(&self) -> &str {
        self.about.as_ref().map_or(&self.root.path, |about| &about.path)
    }

    /// Returns the lines that it was about when it was said; nothing if it is about the file as a whole.
    pub fn said_of(&self) -> Option<Anchor> {
        self.about.clone().or_else(|| self.root.original())
    }
}

/// Everything that was said so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    /// Our threads, oldest first.
    pub threads: Vec<Thread>,
    /// The reviews that saw a whole commit and left a trace, newest first.
    pub reviewed: Vec<Look>,
    /// How many comments of our own identity had a block that does not count.
    pub refused: usize,
}

impl State {
    /// Rebuilds the state. Comments come in any order, facts for any of the threads.
    pub fn rebuild(own: &Account, seal: &Seal, comments: &[ReviewComment], facts: &[ThreadFact]) -> Self {
        let mut ordered: Vec<&ReviewComment> = comments.iter().collect();
        ordered.sort_by_key(|comment| (comment.created_at, comment.id));
        ordered.dedup_by_key(|comment| comment.id);
        let reader = Reader { own, seal, comments: ordered, facts, looks: Vec::new() };
        reader.read()
    }

    /// Returns the newest commit before this one that a review of ours saw all of, and what that review left out.
    ///
    /// A run that was killed may have left traces on the newest commit already; they are not evidence of anything.
    pub fn seen_before(&self, head: &str) -> Option<&Look> {
        self.reviewed.iter().find(|look| look.commit != head)
    }

    /// Returns the newest commit before this one that a finding of ours is about, whatever else was seen of it.
    pub fn spoken_before(&self, head: &str) -> Option<&str> {
        let roots = self.threads.iter().map(|thread| &thread.root);
        let earlier = roots.filter(|root| root.original_commit != head && !root.original_commit.is_empty());
        earlier.max_by_key(|root| (root.created_at, root.id)).map(|root| root.original_commit.as_str())
    }

    /// Finds a thread by its id.
    pub fn thread(&self, id: u64) -> Option<&Thread> {
        self.threads.iter().find(|thread| thread.root.id == id)
    }
}

struct Reader<'a> {
    own: &'a Account,
    seal: &'a Seal,
    comments: Vec<&'a ReviewComment>,
    facts: &'a [ThreadFact],
    /// Reviews of whole commits, each with when it was told.
    looks: Vec<(Timestamp, u64, Look)>,
}

impl Reader<'_> {
    fn read(mut self) -> State {
        let mut state = State::default();
        for root in self.comments.clone() {
            if root.in_reply_to.is_some() || !self.is_own(root) {
                continue;
            }
            let Some(fields) = rmcoc::last(&root.body) else { continue };
            let known =
                |id: &str| state.threads.iter().any(|thread| !id.is_empty() && thread.finding_id == id);
            let id = text(&fields, "id");
            match self.seal.accepts(&fields).then(|| assessment(&fields)).flatten() {
                // A block that was copied under another comment is not a second finding.
                Some(_) if known(&id) => state.refused += 1,
                Some(assessment) => {
                    self.look(root, &fields);
                    let thread = self.thread(root, &fields, assessment, &mut state);
                    state.threads.push(thread);
                }
                None => state.refused += 1,
            }
        }
        self.looks.sort_by_key(|(when, id, _)| (*when, *id));
        state.reviewed = self.looks.into_iter().rev().map(|(_, _, look)| look).collect();
        state
    }

    /// Notes that a whole commit was looked at, if the block of a comment says so.
    fn look(&mut self, comment: &ReviewComment, fields: &Fields) {
        let look = Look::read_whole(fields);
        self.looks.extend(look.map(|look| (comment.created_at, comment.id, look)));
    }

    fn thread(
        &mut self,
        root: &ReviewComment,
        fields: &Fields,
        assessment: Assessment,
        state: &mut State,
    ) -> Thread {
        let finding_id = text(fields, "id");
        let pass = fields.get("pass").and_then(Value::as_u64).and_then(|number| Pass::try_from(number).ok());
        let kind = fields.get("kind").and_then(|kind| Kind::deserialize(kind).ok());
        let kind = kind.unwrap_or_else(|| Kind::guess(assessment.score, pass.unwrap_or(Pass::Diff)));
        let (mut events, mut replies) = (Vec::<Event>::new(), Vec::new());
        for reply in self.comments.clone() {
            if reply.in_reply_to != Some(root.id) {
                continue;
            }
            match self.word(reply, &finding_id, state) {
                WhoseWord::Ours(event) => {
                    event.answers(&mut replies);
                    events.push(event);
                }
                WhoseWord::Answer(question) => word::answered(question, &mut replies),
                WhoseWord::Theirs => replies.push(said(reply)),
                WhoseWord::Nobodys => {}
            }
        }
        let fact = self.facts.iter().find(|fact| fact.root == root.id).cloned();
        let waits = replies.iter().any(|reply| !reply.is_answered);
        let (status, settlement) = word::concluded(events.last(), fact.as_ref(), self.own, waits);
        let is_unsaid = word::is_unsaid(events.last(), fact.as_ref(), self.own);
        let fix = events.last().and_then(|event| event.fix.clone());
        let fix = fix.filter(|_| settlement == Settlement::Fixed);
        let upheld = events.iter().rev().take_while(|event| event.status == Status::Disputed).count();
        let root = root.clone();
        Thread {
            root,
            fact,
            finding_id,
            assessment,
            kind,
            status,
            settlement,
            fix,
            upheld,
            replies,
            decisions: events.len(),
            is_unsaid,
            about: fields.get("about").and_then(|about| Anchor::deserialize(about).ok()),
        }
    }

    /// Tells whose word a reply is, and what it did.
    fn word(&mut self, reply: &ReviewComment, finding_id: &str, state: &mut State) -> WhoseWord {
        if !self.is_own(reply) {
            return if reply.author.is_bot { WhoseWord::Nobodys } else { WhoseWord::Theirs };
        }
        // What an agent says in an answer decides about no thread, whatever block it writes.
        if let Some(marker) = Marker::read(&reply.body) {
            return WhoseWord::Answer(marker.answered_remark());
        }
        let fields = rmcoc::last(&reply.body);
        // A block of another thread says nothing about this one.
        let event = fields.as_ref().and_then(|fields| Event::read(fields, finding_id));
        match (event, fields) {
            (Some(event), Some(fields)) if self.seal.accepts(&fields) => {
                self.look(reply, &fields);
                WhoseWord::Ours(event)
            }
            (_, Some(_)) => {
                state.refused += 1;
                WhoseWord::Nobodys
            }
            (_, None) if self.seal.is_keyed() => self.plain(),
            (_, None) => Event::marked(&reply.body).map_or_else(|| self.plain_reply(), WhoseWord::Ours),
        }
    }

    /// Takes words of our own identity that have no block: a person whose token we use may speak for themselves.
    fn plain(&self) -> WhoseWord {
        if self.own.is_bot { WhoseWord::Nobodys } else { WhoseWord::Theirs }
    }

    /// The same, where nothing but the author tells that a reply is ours: a bot that replies without conceding upholds.
    fn plain_reply(&self) -> WhoseWord {
        let upheld = || Event::without_block(Status::Disputed);
        if self.own.is_bot { WhoseWord::Ours(upheld()) } else { WhoseWord::Theirs }
    }

    fn is_own(&self, comment: &ReviewComment) -> bool {
        comment.author.is(self.own)
    }
}

fn assessment(fields: &Fields) -> Option<Assessment> {
    let read = Assessment::deserialize(&Value::Object(fields.clone())).ok()?;
    (!read.finding.trim().is_empty()).then_some(read)
}

fn said(comment: &ReviewComment) -> DeveloperReply {
    let author = comment.author.login.as_str().to_owned();
    let (body, timestamp) = (comment.body.clone(), comment.created_at);
    DeveloperReply { id: comment.id, author, body, timestamp, is_answered: false }
}

fn text(fields: &Fields, name: &str) -> String {
    fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
