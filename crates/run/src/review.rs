//! One review: read what was said, look at the change in four passes, write what is worth it, and decide the gate.
//!
//! The rules are `review`'s; here is only who is asked, in which order, and what is written.

mod input;
mod local;
mod tools;
mod web;

pub use local::{Change, Commits, LocalClone, LocalReview, review_local_clone};

use std::sync::Arc;

use fro_agent::{Agent, Handover, Offer, Plan, Prepared, Question, Role, Session, Tools};
use fro_core::{
    Delivery, Fault, Permit, Trust,
    continuity::{Fresh, Topic},
    conversation::outcome::{Outcome, Trouble, Turn, Usage},
    delivery,
    gate::{ReviewWish, SkipReason},
    own_comments::Earlier,
    say::{answer::CommentStyle, marker::Marker, summary::Account, trouble},
    trust::Spoken,
};
use fro_review::{
    Look,
    dispute::{self, Next},
    finding::Pass,
    passes::{Do, about_reply},
    review::{Review, Settled, Writes},
    say::{Tally, rated, unread_listed, unsaid_listed, withdrawn_listed},
};

use jiff::Timestamp;

use crate::{
    answer::{Request, acknowledge_and_hydrate, session_plan, unprepared},
    ending::{Ending, Receipt},
    process::Process,
    progress::Progress,
    publish::{Answer, account},
    review::{input::ReviewInput, tools::ReviewTools, web::WebTools},
    venue::{self, Acknowledgement, Hydrated, Publisher, PullSoFar, Write},
};

/// What came of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewed {
    /// How it ended.
    pub status: ReviewStatus,
    /// How many findings were said.
    pub found: usize,
    /// How many threads were answered or resolved.
    pub answered: usize,
    /// How many open threads make the check red.
    pub blocking: usize,
    /// Where it can be read, if anything was written.
    pub url: Option<String>,
}

/// How a review ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewStatus {
    /// All passes were gone through, and nothing open is bad enough.
    Completed,
    /// Something open is bad enough to make the check red.
    Blocked,
    /// The review broke off, and said so.
    Incomplete,
}

impl ReviewStatus {
    /// Returns how a review ended that stopped somewhere or not, and left so many open threads that are bad enough.
    fn decide(stopped: Option<&(Pass, String)>, blocking: usize) -> Self {
        match (stopped, blocking) {
            (Some(_), _) => Self::Incomplete,
            (None, 0) => Self::Completed,
            (None, _) => Self::Blocked,
        }
    }

    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Blocked => "has_blocking_issues",
            Self::Incomplete => "incomplete",
        }
    }
}

/// The only agent of a reviewer's engine.
pub(crate) const REVIEWER: &str = "reviewer";

/// What every look at a change needs, whatever set it off.
#[derive(Clone, Copy)]
struct ReviewScope<'a> {
    process: &'a Process,
    permit: &'a Permit,
    began: Timestamp,
}

/// What the model left when it was done.
struct PassesResult {
    tools: Arc<ReviewTools>,
    settled: Settled,
    usage: Usage,
    /// Where it broke off, and why.
    stopped: Option<(Pass, String)>,
    left_out: Vec<String>,
    /// What was read of the web, if anything was asked for.
    web: Option<String>,
}

/// Reviews once.
pub(crate) async fn review_pull(
    request: &Request<'_>,
    wish: ReviewWish,
    acknowledgement: &mut Acknowledgement<'_>,
    agent: &mut Agent<'_>,
) -> Result<Ending, Fault> {
    let mut pull = PullSoFar::fetch(request).await?;
    if venue::say_what_was_left_unsaid(request, &pull).await? {
        pull = PullSoFar::fetch(request).await?;
    }
    if let ReviewWish::Reply { root } = wish
        && !has_reply_to_judge(&pull, root)
    {
        let reason = SkipReason::NothingNew(request.permit.subject());
        (request.tell)(Progress::Skipped(reason.clone()));
        return Ok(Ending::Skipped(reason));
    }
    let marker = request.marker();
    let (hydrated, prepared) =
        Box::pin(acknowledge_and_hydrate(request, acknowledgement, agent.prepare())).await?;
    let earlier = hydrated.as_ref().map(|hydrated| hydrated.earlier.clone()).unwrap_or_default();
    let looked = match (hydrated, prepared) {
        (Ok(hydrated), Ok(prepared)) => {
            Box::pin(review_change(request, wish, &pull, hydrated, prepared)).await
        }
        (Err(fault), _) | (Ok(_), Err(fault)) => Err(fault),
    };
    let (outcomes, mut session) = match looked {
        Ok(looked) => looked,
        Err(fault) if wish == ReviewWish::Asked => {
            return tell_asker(request, agent, &marker, (fault, earlier)).await;
        }
        Err(fault) => return Err(fault),
    };
    let working = (&*agent, &session);
    let reviewed = publish_review(request, wish, (&pull, &marker, &earlier), &outcomes, working).await?;
    (request.tell)(Progress::Reviewed(reviewed.clone()));
    let server = &request.process.agent.settings.server;
    let page = format!("{server}/{}/pull/{}", request.permit.repo(), pull.number);
    let turn = Turn { usage: outcomes.usage, ..Turn::answered(String::new()) };
    session.record(&turn, vec![reviewed.url.clone().unwrap_or(page)]).await;
    Ok(Ending::Reviewed(reviewed))
}

/// Tells who asked for a review that none could be begun. The run fails all the same.
async fn tell_asker(
    request: &Request<'_>,
    agent: &Agent<'_>,
    marker: &Marker,
    (fault, earlier): (Fault, Earlier),
) -> Result<Ending, Fault> {
    let answer = Answer { earlier, ..unprepared(request, agent, fault.clone()) };
    let account = account(request, (agent, None), (&answer.turn, Handover::default(), None));
    let receipt = answer.publish(request, account, marker).await?;
    (request.tell)(Progress::Delivered { url: receipt.url });
    Err(fault)
}

/// Gets to know the change and what is remembered of it, and has the model look at it.
async fn review_change<'a>(
    request: &Request<'_>,
    wish: ReviewWish,
    pull: &PullSoFar,
    hydrated: Hydrated,
    mut prepared: Prepared<'_, 'a>,
) -> Result<(PassesResult, Session<'a>), Fault> {
    let scope =
        ReviewScope { process: request.process, permit: request.permit, began: request.occasion.began };
    let mut begun = input::gather(scope, pull, prepared.store(), wish).await?;
    let paths: Vec<&str> = begun.ground.diff.files().iter().map(|file| file.path.as_str()).collect();
    let topic = Topic::from_context(&hydrated.context, &paths.join(" "));
    let reminder = prepared.remember_afresh(request.permit, topic, Fresh::Review).await;
    if let Some(reminder) = &reminder {
        begun.briefing.recalled = input::recalled(reminder);
    }
    let plan = session_plan(request, &hydrated.context, reminder);
    Box::pin(run_passes(scope, wish, pull, begun, (prepared, plan))).await
}

/// Tells whether somebody whose word counts said something new in a thread of ours.
fn has_reply_to_judge(pull: &PullSoFar, root: u64) -> bool {
    pull.state.thread(root).is_some_and(|thread| {
        matches!(dispute::next(thread.status, &pull.unanswered(thread)), Next::Judge(_))
    })
}

/// Has the model go through all passes, or through one thread.
async fn run_passes<'a>(
    scope: ReviewScope<'_>,
    wish: ReviewWish,
    pull: &PullSoFar,
    begun: ReviewInput,
    (prepared, plan): (Prepared<'_, 'a>, Plan),
) -> Result<(PassesResult, Session<'a>), Fault> {
    let ReviewInput { ground, briefing, instructions, texts } = begun;
    let left_out = briefing.change.left_out.clone();
    let (review, redactor) = (Review::new(ground), scope.process.redactor().clone());
    let web = WebTools::open(scope, pull);
    let (tools, mut next) = match wish {
        ReviewWish::Reply { root } => {
            let first = Do::Ask(about_reply(&root.to_string(), &new_replies(pull, root)));
            (ReviewTools::of_reply(review, root, briefing, texts, redactor), first)
        }
        ReviewWish::Unasked | ReviewWish::Asked => ReviewTools::of_passes(review, briefing, texts, redactor),
    };
    let tools = Arc::new(tools);
    let role = Role::Reader { name: REVIEWER, instructions };
    let lists = ReviewTools::lists().into_iter().chain(web.as_ref().map(|web| web.list())).collect();
    let mut sets = ReviewTools::sets(&tools);
    sets.extend(web.clone().map(|web| -> Arc<dyn Tools> { web }));
    let running = prepared.start(Offer { tools: lists, role, people: None }).await?;
    let mut session = running.open_session(Plan { tools: sets, ..plan }).await?;
    let stopped = loop {
        match next {
            Do::Ask(text) => {
                let question = Question { text, files: Vec::new(), began: scope.began };
                let turn = session.ask(question).await;
                next = tools.turn_ended(why_stopped(&turn.outcome));
            }
            Do::Wait | Do::Finish => break None,
            Do::GiveUp { pass, why } => break Some((pass, why)),
        }
    };
    let settled = tools.settle();
    let usage = session.usage();
    let web = web.and_then(|web| web.summarize());
    Ok((PassesResult { tools, settled, usage, stopped, left_out, web }, session))
}

/// New replies in a thread that the model is told; anybody can write them.
const REPLIES: usize = 10;

/// Returns what is new in a thread.
fn new_replies(pull: &PullSoFar, root: u64) -> Vec<Spoken> {
    let Some(thread) = pull.state.thread(root) else { return Vec::new() };
    let counts: Vec<bool> =
        pull.unanswered(thread).into_iter().map(fro_review::dispute::Speaker::has_standing).collect();
    let replies: Vec<_> = thread.unanswered().collect();
    let spoken = |reply: &fro_review::state::DeveloperReply| Spoken {
        who: fro_core::Login::new(&reply.author),
        trust: Trust::Stranger,
        text: fro_core::Bounded::text(&reply.body, 20_000).noted(),
    };
    dispute::pick_replies(&counts, REPLIES).into_iter().map(|at| spoken(replies[at])).collect()
}

/// Returns why the session cannot go on, if it cannot. A turn that ends without words has ended like any other.
fn why_stopped(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Answered { .. } => None,
        Outcome::Failed { failure, .. } if failure.trouble == Trouble::Silent => None,
        Outcome::Failed { .. } | Outcome::Refused { .. } | Outcome::OutOfTime { .. } => {
            let told = trouble::advise(outcome).map_or("it broke off", |told| told.what);
            Some(told.trim_end_matches('.').to_owned())
        }
    }
}

/// Writes threads, then the review, and accounts for the run.
async fn publish_review(
    request: &Request<'_>,
    wish: ReviewWish,
    (pull, marker, earlier): (&PullSoFar, &Marker, &Earlier),
    outcomes: &PassesResult,
    (agent, session): (&Agent<'_>, &Session<'_>),
) -> Result<Reviewed, Fault> {
    let PassesResult { tools, settled, usage, stopped, left_out, web } = outcomes;
    let people = pull.people().into_iter().chain(settled.called()).collect();
    let head = pull.told.head.as_str();
    let looked = looked_at(wish, head, outcomes);
    // Threads are answered first: who is killed before the findings are said has not seen the commit.
    let look = if settled.findings.is_empty() { looked.clone() } else { looked.as_part() };
    let publisher = Publisher { request, pull, people, look };
    let resolved = publisher.deeds(settled).await.inspect_err(|_| tell_unsaid(request, settled))?;
    let unsaid = publisher.unsaid(settled).await.inspect_err(|_| tell_unsaid(request, settled))?;
    let (settled, said_meanwhile) = (&unsaid.0, unsaid.1);
    let diff = tools.diff();
    let writes = settled.writes(&diff, &pull.seal, &looked, |anchor| tools.touched(anchor));
    let blocking = settled.gate.count_blocking();
    let tally = Tally {
        commit: head.to_owned(),
        found: settled.findings.len(),
        said_meanwhile,
        resolved,
        blocking,
        stopped: stopped.clone(),
        elsewhere: writes.in_summary.clone(),
        untouched: settled.untouched(&diff),
        left_out: left_out.clone(),
    };
    let text = tally.text(&request.process.review.thresholds);
    let turn = Turn { usage: *usage, ..Turn::answered(text) };
    let mut account = account(request, (agent, Some(session)), (&turn, Handover::default(), None));
    // The engine of a reviewer has no other way out.
    account.network = web.clone().or(account.network);
    let look = CommentStyle { summary: request.process.summary, seed: request.occasion.seed };
    let outcome = turn.outcome.published(&publisher.people);
    let delivery = delivery::settle(&outcome, &account, marker.clone(), look, request.process.redactor());
    (request.tell)(Progress::Accounted { duration: account.duration, usage: account.usage });
    let mut leaving = match how_to_publish(wish, stopped.is_some(), &writes) {
        PublishAs::Nothing => Vec::new(),
        PublishAs::Review => {
            vec![Write::Findings { delivery: &delivery, findings: &writes, publisher: &publisher }]
        }
        PublishAs::Comment => vec![Write::Answer { delivery: &delivery, earlier: earlier.answer.as_ref() }],
    };
    let check = venue::check_run(request, settled, &diff);
    leaving.extend(check.as_ref().map(|check| Write::Check { check, commit: head }));
    let delivered = request.venue.publish(&leaving).await;
    write_run_page(request, pull.number, (&account, &delivery, &delivered), (left_out, settled));
    let delivered = delivered.inspect_err(|_| tell_unsaid(request, settled));
    let url = delivered?.map(|receipt| receipt.url);
    if let Some(url) = &url {
        (request.tell)(Progress::Delivered { url: url.clone() });
    }
    let status = ReviewStatus::decide(stopped.as_ref(), blocking);
    let (found, answered) = (settled.findings.len(), settled.deeds.len());
    Ok(Reviewed { status, found, answered, blocking, url })
}

/// Returns how much was looked at: what nobody has read is not left out of the next review.
fn looked_at(wish: ReviewWish, head: &str, outcomes: &PassesResult) -> Look {
    match (wish, &outcomes.stopped) {
        (ReviewWish::Reply { .. }, _) | (_, Some(_)) => Look::part(head),
        (ReviewWish::Unasked | ReviewWish::Asked, None) => Look::whole(head, &outcomes.left_out),
    }
}

/// Accounts for the run on its page, with every file that the model was not shown, and what it took back.
fn write_run_page(
    request: &Request<'_>,
    number: u64,
    (account, delivery, delivered): (&Account, &Delivery, &Result<Option<Receipt>, Fault>),
    (left_out, settled): (&[String], &Settled),
) {
    let (occasion, redactor) = (request.occasion, request.process.redactor());
    let unsaid = || Receipt { url: format!("{}/pull/{number}", request.permit.repo()) };
    let page = delivered.clone().map(|receipt| receipt.unwrap_or_else(unsaid));
    venue::account(occasion, request.permit, (account, redactor), (delivery, &page));
    for list in [unread_listed(left_out), withdrawn_listed(&settled.withdrawn)].into_iter().flatten() {
        venue::list(occasion, redactor, &list);
    }
}

/// Tells what was found where it could not be said: in the log, and on the run's page.
fn tell_unsaid(request: &Request<'_>, settled: &Settled) {
    for finding in &settled.findings {
        let told = rated(finding.score, &finding.finding);
        (request.tell)(Progress::Warning(format!("not posted: {told} ({})", finding.anchor)));
    }
    if let Some(list) = unsaid_listed(&settled.findings) {
        venue::list(request.occasion, request.process.redactor(), &list);
    }
}

/// Whether and how a review is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PublishAs {
    /// As a review: there is something to say.
    Review,
    /// As a comment: there is nothing, but somebody asked, or it broke off.
    Comment,
    /// Not at all: the code is good.
    Nothing,
}

fn how_to_publish(wish: ReviewWish, broke_off: bool, writes: &Writes) -> PublishAs {
    let empty = writes.beside.is_empty() && writes.on_files.is_empty() && writes.in_summary.is_empty();
    match (wish, empty) {
        (ReviewWish::Unasked | ReviewWish::Asked, false) => PublishAs::Review,
        (ReviewWish::Asked, true) => PublishAs::Comment,
        (ReviewWish::Unasked, true) if broke_off => PublishAs::Comment,
        (ReviewWish::Unasked, true) | (ReviewWish::Reply { .. }, _) => PublishAs::Nothing,
    }
}

#[cfg(test)]
mod tests;
