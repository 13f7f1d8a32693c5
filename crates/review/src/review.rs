//! One review while it goes on: what the tools answer, what is collected, and what is written at the end.
//!
//! Nothing is posted before the last pass: findings are drafts until then, replies and resolved threads are deeds that
//! wait. So a review that stops in the middle has posted nothing half, and a finding can be withdrawn without a trace.

mod answer;
mod deed;
mod settle;

pub use deed::Deed;
use fro_core::tool_call::ToolReply;
pub use settle::{Settled, Writes};

use crate::{
    Diff,
    dispute::{self, Deciders, Judgement, Next, Speaker},
    duplicate::{self, Aftermath, Whereabouts},
    finding::{Finding, Kind, Pass, Score},
    markdown,
    say::Verdict,
    scoring::{self, Thresholds},
    sensitivity::Sensitivity,
    since::{Evidence, Since},
    state::{Status, Thread},
    tools::{Post, Resolve, ReviewCall, ThreadReply},
};

/// A thread of an earlier review, with what the newest commit and GitHub say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The thread.
    pub thread: Thread,
    /// Where its lines are now.
    pub place: Whereabouts,
    /// What became of its fix, if it was fixed.
    pub aftermath: Aftermath,
    /// Whether its lines were changed since the last review.
    pub rewritten: bool,
    /// Those who spoke since our own last word, oldest first.
    pub unanswered: Vec<Speaker>,
    /// Who decides if we do not agree.
    pub deciders: Deciders,
}

/// What a review is about, and by which numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ground {
    /// The operator's numbers.
    pub thresholds: Thresholds,
    /// How much care the data needs.
    pub sensitivity: Sensitivity,
    /// The whole change.
    pub diff: Diff,
    /// What is new since the last review.
    pub since: Since,
    /// What was said before.
    pub known: Vec<Known>,
}

/// A review while it goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    ground: Ground,
    drafts: Vec<Draft>,
    deeds: Vec<Deed>,
}

/// A finding that may be posted.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Draft {
    finding: Finding,
    standing: Standing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// The finding is posted at the end.
    Kept,
    /// The finding is too small to be posted alone.
    Aside,
    /// The model took the finding back.
    Withdrawn,
}

impl Review {
    /// Begins a review.
    pub fn new(ground: Ground) -> Self {
        Self { ground, drafts: Vec::new(), deeds: Vec::new() }
    }

    /// Answers a tool. `touched` is how many lines the function has that a finding is about.
    ///
    /// Passes are submitted elsewhere: [`crate::passes::Passes`] knows which one is on.
    pub fn call(&mut self, pass: Pass, call: &ReviewCall, touched: usize) -> ToolReply {
        let answered = match call {
            ReviewCall::RunState => Ok(answer::run_state(&self.ground)),
            ReviewCall::Post(post) => self.post(pass, post, touched),
            ReviewCall::Reply(reply) => self.reply(reply),
            ReviewCall::Resolve(resolve) => self.resolve(resolve),
            ReviewCall::Submit(submit) => Ok(answer::submitted(submit.pass_number)),
        };
        answered.map_or_else(ToolReply::Failed, ToolReply::Said)
    }

    fn post(&mut self, pass: Pass, post: &Post, touched: usize) -> Result<String, String> {
        let finding = self.finding(pass, post)?;
        let most = markdown::most_lines(finding.score, touched);
        let longest = markdown::longest_block(&finding.body);
        if longest > most {
            return Err(answer::too_much_code(finding.score, longest, most));
        }
        let known = self.ground.known.iter();
        let threads: Vec<_> = known.map(|one| (&one.thread, &one.place, one.aftermath)).collect();
        if let Some(repeat) = duplicate::said_before(&finding, &threads) {
            return Ok(answer::repeated(&repeat));
        }
        let is_live = |draft: &Draft| draft.standing != Standing::Withdrawn;
        let says_this = |draft: &Draft| is_live(draft) && duplicate::is_same(&finding, &draft.finding);
        match self.drafts.iter().position(says_this) {
            // What the security pass says again may count more than what the first pass said.
            Some(at) if finding.score > self.drafts[at].finding.score => Ok(self.draft(at, finding)),
            Some(at) => Ok(answer::drafted_before(at)),
            None => Ok(self.draft(self.drafts.len(), finding)),
        }
    }

    /// Takes a finding as the draft of this number, in place of the one that may be there.
    fn draft(&mut self, at: usize, finding: Finding) -> String {
        let (score, threshold) = (finding.score, self.ground.thresholds.problem);
        let standing = if score < threshold { Standing::Aside } else { Standing::Kept };
        let promoted = (score != finding.given).then_some(finding.given);
        let place = self.ground.diff.place(&finding.anchor);
        let draft = Draft { finding, standing };
        match self.drafts.get_mut(at) {
            Some(earlier) => *earlier = draft,
            None => self.drafts.push(draft),
        }
        match standing {
            Standing::Aside | Standing::Withdrawn => answer::aside(at, score, threshold),
            Standing::Kept => answer::drafted(at, score, promoted, &place),
        }
    }

    fn finding(&self, pass: Pass, post: &Post) -> Result<Finding, String> {
        let given = &post.assessment;
        let empty = [("assessment.finding", &given.finding), ("body", &post.body), ("file", &post.file)];
        if let Some((name, _)) = empty.into_iter().find(|(_, text)| text.trim().is_empty()) {
            return Err(format!("`{name}` is empty; nothing was taken"));
        }
        let score = scoring::promoted(given.score, pass, &self.ground.sensitivity);
        Ok(Finding {
            anchor: post.anchor(),
            pass,
            kind: given.kind.unwrap_or_else(|| Kind::guess(given.score, pass)),
            given: given.score,
            score,
            finding: given.finding.clone(),
            assessment: given.assessment.clone(),
            body: post.body.clone(),
        })
    }

    fn reply(&mut self, reply: &ThreadReply) -> Result<String, String> {
        if let Some(at) = answer::draft_at(&reply.thread_id) {
            return if reply.is_concession { self.withdraw(at) } else { Err(answer::unposted(at)) };
        }
        let known = self.open_thread(&reply.thread_id)?;
        let thread = &known.thread;
        let Next::Judge(at) = dispute::next(thread.status, &known.unanswered) else {
            return Err(answer::nothing_new(&reply.thread_id));
        };
        let speaker = known.unanswered[at];
        let judged = if reply.is_concession { Judgement::Convincing } else { Judgement::Unconvincing };
        let so_far = (thread.status, thread.assessment.score, thread.upheld);
        let verdict = dispute::settled(so_far, speaker, judged, &known.deciders);
        let (said, deed) = (answer::replied(&verdict), Deed::new(thread, verdict, &reply.body));
        self.deeds.push(deed);
        Ok(said)
    }

    fn resolve(&mut self, resolve: &Resolve) -> Result<String, String> {
        if let Some(at) = answer::draft_at(&resolve.thread_id) {
            return self.withdraw(at);
        }
        let known = self.open_thread(&resolve.thread_id)?;
        let path = match &known.place {
            Whereabouts::At(anchor) => &anchor.path,
            Whereabouts::Gone { path } => path,
        };
        let path = match Evidence::find(path, known.rewritten, &self.ground.since, &resolve.reason) {
            Evidence::Missing => return Err(answer::no_evidence(&resolve.thread_id, path)),
            Evidence::Here => None,
            Evidence::In(path) => Some(path),
        };
        let deed = Deed::new(&known.thread, Verdict::Fixed { path }, &resolve.reason);
        self.deeds.push(deed);
        Ok(answer::resolved(&resolve.thread_id))
    }

    fn withdraw(&mut self, at: usize) -> Result<String, String> {
        let draft = self.drafts.get_mut(at).ok_or_else(|| answer::unknown(&answer::draft(at)))?;
        draft.standing = Standing::Withdrawn;
        Ok(answer::withdrawn(at))
    }

    /// Finds a thread that is open and that nothing was decided about in this review.
    fn open_thread(&self, id: &str) -> Result<&Known, String> {
        let number: u64 = id.trim().parse().map_err(|_| answer::unknown(id))?;
        let known = self.ground.known.iter().find(|known| known.thread.root.id == number);
        let known = known.ok_or_else(|| answer::unknown(id))?;
        if known.thread.status == Status::Resolved {
            return Err(format!("thread {number} is resolved already; nothing was done"));
        }
        if self.deeds.iter().any(|deed| deed.thread == number) {
            return Err(format!("thread {number} was answered in this review already; nothing was done"));
        }
        Ok(known)
    }

    /// Returns the whole change.
    pub fn diff(&self) -> &Diff {
        &self.ground.diff
    }

    /// Tells whether anything is to be written into a thread.
    pub fn has_deeds(&self) -> bool {
        !self.deeds.is_empty()
    }

    /// Returns how many drafts will be posted.
    pub fn kept(&self) -> usize {
        self.drafts.iter().filter(|draft| draft.standing == Standing::Kept).count()
    }

    /// Returns the highest score of what will be posted.
    pub fn worst(&self) -> Option<Score> {
        let kept = self.drafts.iter().filter(|draft| draft.standing == Standing::Kept);
        kept.map(|draft| draft.finding.score).max()
    }
}

#[cfg(test)]
mod tests;
