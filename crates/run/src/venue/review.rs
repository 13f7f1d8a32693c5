//! What a review writes: threads first, then one review. Each once, and none lost.

use fro_core::{Bounded, Clean, Delivery, Fault, Login, NodeId, Target, say::remarks};
use fro_github::{Answer, Error, Remark};
use fro_review::{
    Look,
    review::{Deed, Settled, Writes},
    say::{self, Closing, ThreadWord, Verdict},
    state::{Settlement, Status, Thread},
};
use jiff::Timestamp;

use super::{deliver, pull_so_far::PullSoFar};
use crate::{answer::Request, ending::Receipt, progress::Progress};

/// What is said once to a maintainer whose token cannot resolve threads.
const CANNOT_RESOLVE: &str = "threads are answered but not resolved: GitHub asks for `contents: write` for that, beside \
                              `pull-requests: write`";

/// What further parts of a review say that GitHub did not take in one piece.
const CONTINUED: &str = "More of the same review: GitHub did not take all of its remarks at once.";

/// What is told where a branch was rewritten under a review.
const REWRITTEN: &str = "the branch was rewritten while it was looked at";

/// What is told where the token is a person's who writes a review at the same time.
const PENDING: &str = "the owner of `github-token` has begun a review of this pull request by hand, and GitHub takes no second one";

/// Bytes of a comment; GitHub takes 65,536 characters.
const LONGEST: usize = 60_000;

/// What became of a reply.
enum Replied {
    There,
    /// The reply was not posted, for this reason.
    Not(&'static str),
}

/// What is said of a thread that an earlier run has resolved, and then was stopped.
const UNSAID: &str = "An earlier run resolved this thread and was stopped before it could say why.";

/// Somebody deleted the thread since it was read.
const GONE: &str = "it was deleted meanwhile";

/// A run for a reply and one for a push can go on at the same time, and both may be about the same thread.
const ANSWERED: &str = "another run has answered it meanwhile";

/// Somebody resolved the thread since it was read.
const RESOLVED: &str = "it was resolved meanwhile";

/// What became of a review that was posted in one piece.
enum Posted {
    There(Receipt),
    /// GitHub does not take one of its places, and does not say which.
    Misplaced,
    /// Somebody has begun another one in our name.
    Pending,
}

/// Writes into a pull request in the name of one review.
pub(crate) struct Publisher<'a> {
    pub(crate) request: &'a Request<'a>,
    pub(crate) pull: &'a PullSoFar,
    pub(crate) people: Vec<Login>,
    /// How much was looked at.
    pub(crate) look: Look,
}

/// Says what a run has left unsaid that was stopped between resolving a thread and replying in it, so that the thread tells
/// when it was settled and why. Returns whether anything was said.
pub(crate) async fn say_what_was_left_unsaid(request: &Request<'_>, pull: &PullSoFar) -> Result<bool, Fault> {
    if !pull.state.threads.iter().any(|thread| thread.is_unsaid) {
        return Ok(false);
    }
    let github = request.venue.github;
    // A run that goes on at the same time says it itself in a moment.
    for pause in github.pauses() {
        tokio::time::sleep(*pause).await;
    }
    let now = pull.state_now(github).await?;
    let publisher = Publisher { request, pull, people: Vec::new(), look: Look::part(&pull.told.head) };
    let mut said = false;
    for thread in now.threads.iter().filter(|thread| thread.is_unsaid) {
        let verdict = match thread.settlement {
            Settlement::Conceded => Verdict::Conceded,
            Settlement::Open | Settlement::Fixed | Settlement::Dismissed => Verdict::Fixed { path: None },
        };
        let deed = Deed::new(thread, verdict, UNSAID);
        said |= matches!(publisher.reply(&deed, thread, Closing::Closed).await?, Replied::There);
    }
    Ok(said)
}

impl Publisher<'_> {
    /// Leaves out what another run has said since the threads were read, and tells of that; returns how much it is.
    ///
    /// A push and somebody's mention may have the same commit looked at twice at the same time.
    pub(crate) async fn unsaid(&self, settled: &Settled) -> Result<(Settled, usize), Fault> {
        if settled.findings.is_empty() {
            return Ok((settled.clone(), 0));
        }
        let now = self.pull.state_now(self.request.venue.github).await?;
        let (unsaid, said) = settled.clone().without_said(&self.pull.state, &now);
        for finding in &said {
            let told = say::rated(finding.score, &finding.finding);
            (self.request.tell)(Progress::Warning(format!("another run has said meanwhile: {told}")));
        }
        Ok((unsaid, said.len()))
    }

    /// Resolves threads and replies in them. A thread is resolved before the reply says so.
    pub(crate) async fn deeds(&self, settled: &Settled) -> Result<usize, Fault> {
        let (mut resolved, mut warned) = (0, false);
        if settled.deeds.is_empty() {
            return Ok(resolved);
        }
        let now = self.pull.state_now(self.request.venue.github).await?;
        for deed in &settled.deeds {
            let Some(thread) = self.pull.state.thread(deed.thread) else { continue };
            if let Some(why) = overtaken(thread, now.thread(deed.thread)) {
                self.tell_unsaid(deed, why);
                continue;
            }
            let closing = match deed.verdict.status() {
                Status::Resolved => self.close(thread).await?,
                Status::Pending | Status::Disputed | Status::Escalated => Closing::LeftOpen,
            };
            if let Replied::Not(why) = self.reply(deed, thread, closing).await? {
                self.tell_unsaid(deed, why);
                continue;
            }
            if deed.verdict.status() == Status::Resolved {
                resolved += 1;
                if closing == Closing::LeftOpen && !warned {
                    warned = true;
                    (self.request.tell)(Progress::Warning(CANNOT_RESOLVE.to_owned()));
                }
            }
        }
        Ok(resolved)
    }

    fn tell_unsaid(&self, deed: &Deed, why: &str) {
        let unsaid = format!("nothing is said in thread {}: {why}", deed.thread);
        (self.request.tell)(Progress::Warning(unsaid));
    }

    async fn close(&self, thread: &Thread) -> Result<Closing, Fault> {
        let Some(fact) = thread.fact.as_ref().filter(|fact| fact.can_resolve || fact.resolved) else {
            return Ok(Closing::LeftOpen);
        };
        if fact.resolved {
            return Ok(Closing::Closed);
        }
        match self.request.venue.github.resolve_thread(self.request.permit, &NodeId::new(&fact.node)).await {
            Ok(()) => Ok(Closing::Closed),
            Err(error) if error.is_forbidden() || error.is_missing() => Ok(Closing::LeftOpen),
            Err(error) => Err(error.fault()),
        }
    }

    async fn reply(&self, deed: &Deed, thread: &Thread, closing: Closing) -> Result<Replied, Fault> {
        let (github, permit) = (self.request.venue.github, self.request.permit);
        let Deed { verdict, body, heard, .. } = deed;
        let word = ThreadWord { verdict, closing, body, heard: *heard };
        let text = say::reply(&self.pull.seal, &thread.finding_id, &word, &self.look);
        let body = self.clean(&text);
        match github.reply_in_thread(permit, thread.root.id, &body).await {
            Ok(_) => Ok(Replied::There),
            Err(error) if error.is_missing() => Ok(Replied::Not(GONE)),
            Err(error) if error.is_about_a_pending_review() => Ok(Replied::Not(PENDING)),
            Err(error) if error.ambiguous() && self.are_there(Some(thread.root.id), &[&body]).await? => {
                Ok(Replied::There)
            }
            Err(error) => Err(error.fault()),
        }
    }

    /// Looks for comments that were taken although we never heard of it: replies in a thread, or threads of their own.
    /// It may take GitHub a moment to show them, so that who finds nothing looks again.
    async fn are_there(&self, root: Option<u64>, bodies: &[&Clean]) -> Result<bool, Fault> {
        for pause in self.request.venue.github.pauses() {
            if self.show(root, bodies).await? {
                return Ok(true);
            }
            tokio::time::sleep(*pause).await;
        }
        self.show(root, bodies).await
    }

    async fn show(&self, root: Option<u64>, bodies: &[&Clean]) -> Result<bool, Fault> {
        let comments =
            self.request.venue.github.code_comments(self.pull.number).await.map_err(|error| error.fault())?;
        let plain = |text: &str| text.replace("\r\n", "\n").trim_end().to_owned();
        let there: Vec<String> = comments
            .iter()
            .filter(|comment| comment.in_reply_to == root)
            .map(|comment| plain(&comment.body))
            .collect();
        Ok(bodies.iter().all(|body| there.contains(&plain(body.as_str()))))
    }

    /// Posts the review, and what cannot stand in it beside.
    pub(crate) async fn review(&self, delivery: &Delivery, writes: &Writes) -> Result<Receipt, Fault> {
        let remarks: Vec<Remark> = writes
            .beside
            .iter()
            .map(|(anchor, text)| Remark { anchor: anchor.clone(), body: self.clean(text) })
            .collect();
        let receipt = match self.whole(delivery, &remarks).await? {
            Posted::There(receipt) => receipt,
            Posted::Pending => return self.in_conversation(delivery, writes, PENDING).await,
            Posted::Misplaced if self.is_rewritten().await? => {
                return self.in_conversation(delivery, writes, REWRITTEN).await;
            }
            Posted::Misplaced => self.in_parts(delivery, remarks).await?,
        };
        for (path, text) in &writes.on_files {
            self.on_file(path, &self.clean(text)).await?;
        }
        Ok(receipt)
    }

    /// Posts it in one piece, if GitHub takes it so.
    async fn whole(&self, delivery: &Delivery, remarks: &[Remark]) -> Result<Posted, Fault> {
        let (github, permit, began) = (self.request.venue.github, self.request.permit, Timestamp::now());
        let posted = github.post_review(permit, &self.pull.told.head, &delivery.body, remarks).await;
        let answer = match posted {
            Ok(answer) => answer,
            Err(error) if error.is_about_a_pending_review() => return Ok(Posted::Pending),
            Err(error) if is_misplaced(&error) => return Ok(Posted::Misplaced),
            Err(error) if error.ambiguous() => deliver::find_lost(github, permit, &delivery.marker, began)
                .await?
                .ok_or_else(|| error.fault())?,
            Err(error) => return Err(error.fault()),
        };
        let receipt = deliver::read_back(github, permit, delivery, &answer.target).await?;
        self.count(&answer, remarks.len()).await?;
        Ok(Posted::There(receipt))
    }

    /// Tells whether the commit that was looked at is not the newest one any more. GitHub takes remarks on older commits
    /// as long as they are part of the pull request.
    async fn is_rewritten(&self) -> Result<bool, Fault> {
        let head = self.request.venue.github.head(self.pull.number).await.map_err(|error| error.fault())?;
        Ok(head != self.pull.told.head)
    }

    /// Posts everything as one comment, where no review can be given.
    async fn in_conversation(
        &self,
        delivery: &Delivery,
        writes: &Writes,
        why: &str,
    ) -> Result<Receipt, Fault> {
        (self.request.tell)(Progress::Warning(format!(
            "{why}: what was found stands in one comment, without threads"
        )));
        let (head, room) = (delivery.body.as_str(), LONGEST.saturating_sub(delivery.body.as_str().len()));
        let listed = self.clean(&Bounded::text(&remarks::listed(&writes.without_threads()), room).noted());
        let body = self.request.process.redactor().clean(&format!("{head}\n\n{}", listed.as_str()));
        let delivery = Delivery { body, ..delivery.clone() };
        deliver::post_answer(self.request.venue, &delivery, None).await
    }

    /// Posts it in halves of halves: GitHub does not say which place it does not take. A remark without a place
    /// stands with its file, and if even that is refused, in the conversation.
    async fn in_parts(&self, delivery: &Delivery, remarks: Vec<Remark>) -> Result<Receipt, Fault> {
        let (github, permit, began) = (self.request.venue.github, self.request.permit, Timestamp::now());
        let mut parts = halves(remarks);
        let (mut receipt, continued) = (None, self.clean(CONTINUED));
        while let Some(part) = parts.pop() {
            let body = if receipt.is_none() { &delivery.body } else { &continued };
            match github.post_review(permit, &self.pull.told.head, body, &part).await {
                Ok(answer) => {
                    self.count(&answer, part.len()).await?;
                    receipt.get_or_insert(Receipt { url: answer.url });
                }
                Err(error) if error.ambiguous() => {
                    let bodies: Vec<&Clean> = part.iter().map(|remark| &remark.body).collect();
                    if !self.are_there(None, &bodies).await? {
                        return Err(error.fault());
                    }
                    if receipt.is_none() {
                        let taken = deliver::find_lost(github, permit, &delivery.marker, began).await?;
                        receipt = taken.map(|answer| Receipt { url: answer.url });
                    }
                }
                Err(error) if is_misplaced(&error) && part.len() > 1 => parts.extend(halves(part)),
                Err(error) if is_misplaced(&error) => {
                    for remark in part {
                        self.on_file(&remark.anchor.path, &remark.body).await?;
                    }
                }
                Err(error) => return Err(error.fault()),
            }
        }
        match receipt {
            Some(receipt) => Ok(receipt),
            None => match self.whole(delivery, &[]).await? {
                Posted::There(receipt) => Ok(receipt),
                Posted::Pending | Posted::Misplaced => {
                    Err(Fault::ours("GitHub does not take the text of the review"))
                }
            },
        }
    }

    async fn on_file(&self, path: &str, body: &Clean) -> Result<(), Fault> {
        let (github, permit) = (self.request.venue.github, self.request.permit);
        match github.remark_on_file(permit, (&self.pull.told.head, path), body).await {
            Ok(_) => Ok(()),
            Err(error) if error.ambiguous() && self.are_there(None, &[body]).await? => Ok(()),
            Err(error) if is_misplaced(&error) => {
                github.post_answer(permit, body).await.map(drop).map_err(|error| error.fault())
            }
            Err(error) => Err(error.fault()),
        }
    }

    /// Makes sure that all remarks are there: GitHub has been known to lose some without a word.
    async fn count(&self, answer: &Answer, wanted: usize) -> Result<(), Fault> {
        let Target::Review(id) = answer.target else { return Ok(()) };
        let shown =
            self.request.venue.github.remarks(self.pull.number, id).await.map_err(|error| error.fault())?;
        if shown == wanted {
            return Ok(());
        }
        Err(Fault::ours(format!("{shown} of {wanted} remarks of the review are there: {}", answer.url)))
    }

    /// Makes a text fit to leave: only who takes part is called, and nothing secret is in it.
    fn clean(&self, text: &str) -> Clean {
        self.request.process.redactor().clean(&say::fit_to_leave(text, &self.people))
    }
}

/// Tells why a word is not said any more that was decided about a thread as it was read: what became of it since counts.
fn overtaken(read: &Thread, now: Option<&Thread>) -> Option<&'static str> {
    match now {
        None => Some(GONE),
        Some(now) if now.decisions > read.decisions => Some(ANSWERED),
        Some(now) if now.status == Status::Resolved && read.status.is_open() => Some(RESOLVED),
        Some(_) => None,
    }
}

fn is_misplaced(error: &Error) -> bool {
    error.status() == Some(422)
}

fn halves(mut remarks: Vec<Remark>) -> Vec<Vec<Remark>> {
    let second = remarks.split_off(remarks.len() / 2);
    // The first half is taken up first.
    [second, remarks].into_iter().filter(|half| !half.is_empty()).collect()
}
