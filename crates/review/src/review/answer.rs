//! What the tools answer: each decision with its reason, so that the model does not try the same again.

use fro_core::{Bounded, Login, Trust, fence, trust::Spoken};
use serde_json::json;

use super::{Ground, Known};
use crate::{
    Place, dispute,
    duplicate::{Repeat, Whereabouts},
    finding::{Pass, Score},
    say::{Verdict, rated},
    state::{DeveloperReply, Settlement},
};

/// What the id of a draft begins with.
const DRAFT: &str = "draft-";

/// Reads the id of a draft.
pub(super) fn draft_at(id: &str) -> Option<usize> {
    id.trim().strip_prefix(DRAFT)?.parse::<usize>().ok()?.checked_sub(1)
}

pub(super) fn draft(at: usize) -> String {
    format!("{DRAFT}{}", at + 1)
}

/// Replies of a thread that are told.
const REPLIES: usize = 10;
/// Bytes of one reply.
const WORDS: usize = 4_000;
/// Bytes of all threads together.
const TOLD: usize = 200_000;

/// Tells what was said before, in the shape that the tool promises: what is open first, and as much as fits.
pub(super) fn run_state(ground: &Ground) -> String {
    let mut known: Vec<&Known> = ground.known.iter().collect();
    known.sort_by_key(|known| !known.thread.status.is_open());
    let mut room = TOLD;
    let fits = |thread: &serde_json::Value| {
        room = room.saturating_sub(thread.to_string().len());
        room > 0
    };
    let threads: Vec<_> = known.iter().map(|known| thread(known)).take_while(fits).collect();
    let mut metadata = json!({ "problem_score_threshold": ground.thresholds.problem });
    if threads.len() < known.len() {
        metadata["threads_not_told"] = json!(known.len() - threads.len());
    }
    let state = json!({ "threads": threads, "metadata": metadata });
    serde_json::to_string_pretty(&state).unwrap_or_default()
}

impl Known {
    /// Tells of the thread on one line.
    pub fn describe(&self) -> String {
        let thread = &self.thread;
        let place = match &self.place {
            Whereabouts::At(anchor) => anchor.to_string(),
            Whereabouts::Gone { path } => format!("{path}, lines changed since"),
        };
        let rated = rated(thread.assessment.score, &thread.assessment.finding);
        let new = if self.unanswered.is_empty() { "" } else { ", with a new reply" };
        format!("thread {}: {rated} ({}{new}) at {place}", thread.root.id, thread.status.word())
    }
}

fn thread(known: &Known) -> serde_json::Value {
    let thread = &known.thread;
    let (file, line) = match &known.place {
        Whereabouts::At(anchor) => (&anchor.path, Some(anchor.line)),
        Whereabouts::Gone { path } => (path, thread.said_of().map(|said_of| said_of.line)),
    };
    json!({
        "id": thread.root.id.to_string(),
        "file": file,
        "line": line,
        "status": thread.status,
        "score": thread.assessment.score,
        "assessment": thread.assessment,
        "developer_replies": replies(known),
    })
}

/// Tells what others said, fenced: anybody can reply in a thread.
fn replies(known: &Known) -> Vec<serde_json::Value> {
    let (replies, mut new) = (&known.thread.replies, known.unanswered.iter());
    let counts: Vec<bool> = replies
        .iter()
        .map(|reply| !reply.is_answered && new.next().is_some_and(|speaker| speaker.has_standing()))
        .collect();
    let told = |reply: &DeveloperReply| {
        let text = Bounded::text(&reply.body, WORDS).noted();
        let spoken = Spoken { who: Login::new(&reply.author), trust: Trust::Stranger, text };
        json!({ "author": reply.author, "body": fence::fenced(&spoken), "timestamp": reply.timestamp })
    };
    dispute::pick_replies(&counts, REPLIES).into_iter().map(|at| told(&replies[at])).collect()
}

pub(super) fn drafted(at: usize, score: Score, promoted: Option<Score>, place: &Place) -> String {
    let raised = promoted.map(|given| {
        format!(" It counts {score} instead of {given}, because of the data that is handled here.")
    });
    let moved = match place {
        Place::Lines(_) => "",
        Place::Near(_) => {
            " The line is not part of the diff, so it will stand beside the nearest one that is."
        }
        Place::File { .. } => " No line nearby is part of the diff, so it will stand with the file.",
        Place::Summary => {
            " The file is not part of the change, so it will stand beside the nearest code that is, and say what it is about."
        }
    };
    format!("{}: taken with score {score}.{}{moved}", draft(at), raised.unwrap_or_default())
}

pub(super) fn aside(at: usize, score: Score, threshold: Score) -> String {
    format!(
        "{}: kept aside, because its score {score} is below the threshold {threshold}. It is not posted; do not bundle it with others.",
        draft(at)
    )
}

pub(super) fn drafted_before(at: usize) -> String {
    format!(
        "Not taken: {} of this review says the same. If it is something else, say what differs in `assessment.finding`.",
        draft(at)
    )
}

pub(super) fn repeated(repeat: &Repeat) -> String {
    let id = repeat.thread;
    match repeat.settlement {
        Settlement::Open => format!("Not taken: thread {id} says the same and is open."),
        Settlement::Fixed => format!(
            "Not taken: thread {id} said the same, it was resolved as fixed, and those lines have not changed since."
        ),
        Settlement::Conceded => {
            format!("Not taken: thread {id} said the same and the point was conceded. It is not made again.")
        }
        Settlement::Dismissed => {
            format!("Not taken: thread {id} said the same and somebody resolved it. It is not raised again.")
        }
    }
}

pub(super) fn too_much_code(score: Score, longest: usize, most: usize) -> String {
    format!(
        "Not taken: a code block has {longest} lines, and a finding of score {score} may show {most} here. Show the core of it and report it again."
    )
}

pub(super) fn withdrawn(at: usize) -> String {
    format!("{} is withdrawn and will not be posted.", draft(at))
}

pub(super) fn unposted(at: usize) -> String {
    format!(
        "{} is not posted yet, so nobody has said anything about it; withdraw it with `github_resolve_thread`, or leave it",
        draft(at)
    )
}

pub(super) fn unknown(id: &str) -> String {
    format!(
        "there is no thread or draft `{}` here; `github_get_run_state` tells the threads",
        fence::inline(id)
    )
}

pub(super) fn nothing_new(id: &str) -> String {
    format!("nobody whose word counts said anything new in thread {id}; nothing was written")
}

pub(super) fn no_evidence(id: &str, path: &str) -> String {
    format!(
        "thread {id} stays open: `{}` has not changed since the last review, and the reason names no file that has. If another file fixed it, name its path.",
        fence::inline(path)
    )
}

pub(super) fn resolved(id: &str) -> String {
    format!("thread {id} will be resolved as fixed")
}

pub(super) fn replied(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Fixed { .. } => "it will be resolved as fixed",
        Verdict::Conceded => "conceded: the thread will be resolved, and the point is not made again",
        Verdict::DeveloperDecides => "your answer will be posted and the thread resolved: nobody else reviews this pull request, so the developer's word counts",
        Verdict::Upheld => "your answer will be posted and the finding stands",
        Verdict::Escalated { .. } => "you do not agree for the second time, so people are asked to decide; your answer will be posted with that",
        Verdict::LeftToPeople => "your answer will be posted; people were asked to decide already",
    }
    .to_owned()
}

pub(super) fn submitted(pass: Pass) -> String {
    match pass.next() {
        Some(next) => {
            format!("Pass {} is done. End your turn; pass {} begins then.", pass.number(), next.number())
        }
        None => "Pass 4 is done, and with it the review. End your turn.".to_owned(),
    }
}
