//! Puts a turn to an agent: an engine of its own, the thread's session, and what is handed over in the end.

use std::sync::Arc;

use fro_agent::{Agent, Finished, Job, Offer, Origin, Plan, Question, Resume, Session, Step};
use fro_core::{
    Context, Fault, Permit,
    chat::{Thread, say},
    continuity::{Continuity, Fresh, Reminder, Topic, topic},
    conversation::{
        heard::Heard,
        outcome::{Trouble, Turn, Usage},
    },
    delegation::Claim,
    prompt::{self, InThread, Workbench},
};
use jiff::Timestamp;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{
    Worker,
    admission::Admitted,
    approvals,
    hand_out::{self, HandedOut, Named},
    lease_keeper::{LeaseKeeper, LeaseState},
    turn_writer::TurnWriter,
    weight::{self, Engine},
};
use crate::{place::place, store::queue::Claimed};

/// What a turn came to.
pub(super) struct Answered {
    pub(super) told: Turn,
    /// The session that the thread goes on in.
    pub(super) session: Option<String>,
    /// What was pushed and opened, in words.
    pub(super) notes: Vec<String>,
    /// The branch that was pushed.
    pub(super) branch: Option<String>,
    /// What was changed.
    pub(super) patch: Option<String>,
    /// The files that the agent hands out.
    pub(super) handed: HandedOut,
    /// Whether the memory was saved.
    pub(super) saved: bool,
}

/// Answers a turn. If it is lost on the way, nothing of it is kept or told.
pub(super) async fn give(
    worker: &Worker,
    admitted: &Admitted,
    claimed: &Claimed,
    began: Timestamp,
    (keeper, writer): (&mut LeaseKeeper, &mut TurnWriter<'_>),
) -> Option<Answered> {
    let job = job(admitted, claimed, began);
    let (sender, mut stream) = unbounded_channel::<Heard>();
    let engine = Engine::default();
    let tell = |step| tell((&sender, &engine), step);
    let mut agent = match Agent::open(&admitted.process, &job, &tell) {
        Ok(agent) => agent,
        Err(fault) => return Some(not_started(&fault)),
    };
    let (people, mut requests) = approvals::people(admitted.channel.approvals);
    let usual = Offer::usual();
    let offer = Offer { people, tools: [usual.tools.clone(), vec![hand_out::tool()]].concat(), ..usual };
    let redactor = &admitted.process.redactor;
    let ended = tokio::select! {
        answered = Box::pin(converse(admitted, claimed, &job, (&mut agent, offer), began)) => Some(answered),
        _ = approvals::ask_all(worker, claimed, redactor, &mut requests) => None,
        _ = writer.follow(&mut stream) => None,
        () = weight::too_heavy(&engine, worker.engine_memory) => Some(too_heavy(worker)),
        standing = keeper.break_off() => (standing == LeaseState::Stopped).then(aborted),
    };
    let Some(mut answered) = ended.filter(|_| !keeper.is_lost()) else {
        if let Err(fault) = agent.discard().await {
            tracing::warn!("what was left of a lost turn stays: {}", fault.what());
        }
        return None;
    };
    writer.catch_up(&mut stream);
    // Whatever broke off, the session has what was said in it.
    answered.session = agent.sessions().pop();
    let finished = agent.finish().await;
    answered.saved = finished.saved();
    let Finished { cleaned, .. } = finished;
    if let Err(fault) = cleaned {
        tracing::warn!("not everything is cleaned up: {}", fault.what());
    }
    Some(answered)
}

fn tell((sender, engine): (&UnboundedSender<Heard>, &Engine), step: Step) {
    match step {
        Step::EngineUp { process, .. } => {
            // This is told once.
            if let Some(process) = process {
                drop(engine.set(process));
            }
        }
        // Nobody listens any more when the turn has ended.
        Step::Heard(heard) => drop(sender.send(heard)),
        Step::Warning(warning) => tracing::warn!("{warning}"),
        Step::Kept(kept) => tracing::info!("memory: {kept:?}"),
        Step::Opened { .. }
        | Step::Installing(_)
        | Step::Installed { .. }
        | Step::Recalled(_)
        | Step::Reminded(_)
        | Step::Session { .. }
        | Step::EngineStopped => {}
    }
}

/// Asks the engine, and hands over what was pushed.
async fn converse(
    admitted: &Admitted,
    claimed: &Claimed,
    job: &Job,
    (agent, offer): (&mut Agent<'_>, Offer),
    began: Timestamp,
) -> Answered {
    let named = Named::default();
    let opening = Box::pin(open(admitted, claimed, job, (&mut *agent, offer, named.clone()), began));
    let OpenedSession { mut session, anew, question, workbench, judged } = match opening.await {
        Ok(opened) => opened,
        Err(fault) => return unprepared(admitted, &fault),
    };
    let mut told = session.ask(question).await;
    told.usage += judged;
    if let Some(draft) = session.drafts().last() {
        told.outcome = told.outcome.with_draft(draft.body);
    }
    let handed = named.read(agent, &admitted.process.redactor).await;
    let handover = agent.hand_over().await;
    for warning in &handover.warnings {
        tracing::warn!("{warning}");
    }
    let branch = match workbench {
        Workbench::Branch { name, .. } if !handover.links.is_empty() => Some(name),
        Workbench::Branch { .. } | Workbench::Closed | Workbench::Patch { .. } => None,
    };
    session.record(&told, vec![address(&admitted.thread)]).await;
    let links = say::handed_over(&handover.links);
    let notes = anew.into_iter().chain(handover.notes).chain(links).collect();
    Answered { told, session: None, notes, branch, patch: handover.patch, handed, saved: false }
}

/// A session that waits for its question.
struct OpenedSession<'a> {
    session: Session<'a>,
    /// Why the thread's own session is not gone on with.
    anew: Option<String>,
    question: Question,
    workbench: Workbench,
    /// What was asked of models before the engine came.
    judged: Usage,
}

/// Starts the engine and opens the session; tells why the thread's own could not be gone on with.
async fn open<'a>(
    admitted: &Admitted,
    claimed: &Claimed,
    job: &Job,
    (agent, offer, named): (&mut Agent<'a>, Offer, Named),
    began: Timestamp,
) -> Result<OpenedSession<'a>, Fault> {
    let (permit, words) = (&admitted.permit, &claimed.turn.words);
    let mut prepared = agent.prepare().await?;
    let looked_for = Topic { words: topic("", &words.text), around: Vec::new() };
    let thread = &admitted.thread;
    let reminder = match thread.session.as_ref().or(thread.forked_from.as_ref()) {
        Some(session) => prepared.remember_in(permit, looked_for, session).await,
        None => prepared.remember_afresh(permit, looked_for, Fresh::First).await,
    };
    let mut context = Context::of_repository(permit);
    context.set_rules(admitted.rules.as_deref());
    context.attach(admitted.files.attached.clone());
    let said = InThread {
        permit,
        name: &words.name,
        text: &words.text,
        quoted: words.quoted.as_ref(),
        context: &context,
        wishes: &admitted.wishes,
    };
    let mut prompt = prompt::in_thread(&said);
    if let Some(reminder) = &reminder {
        prompt = prompt.reminding(reminder);
    }
    let reachable = fro_agent::reachable(&admitted.process.settings, permit);
    let (workbench, judged) = (prepared.workbench(), prepared.judged());
    let prompt = prompt.with_work(&workbench).with_network(&reachable);
    let anew = reminder.as_ref().and_then(|reminder| begun_anew(&admitted.thread, reminder));
    let running = prepared.start(offer).await?;
    let resume = if thread.session.is_none() { Resume::InACopy } else { Resume::InPlace };
    let plan = Plan { resume, tools: vec![Arc::new(named)], ..plan(permit, job, &words.text, reminder) };
    let session = running.open_session(plan).await?;
    let question = Question { text: prompt.render(), files: admitted.files.given.clone(), began };
    Ok(OpenedSession { session, anew, question, workbench, judged })
}

/// Says why a thread that had a session goes on in another.
fn begun_anew(thread: &Thread, reminder: &Reminder) -> Option<String> {
    thread.session.as_ref().or(thread.forked_from.as_ref())?;
    match &reminder.continuity {
        Continuity::Continued(_) => None,
        Continuity::Fresh(why) => Some(say::begun_anew(*why)),
    }
}

fn plan(permit: &Permit, job: &Job, text: &str, reminder: Option<Reminder>) -> Plan {
    let about = fro_agent::subject(permit);
    Plan {
        permit: permit.clone(),
        origin: job.origin.clone(),
        title: fro_core::say::sessions::title(&about, "", text),
        recalled: reminder.as_ref().map(Reminder::sessions).unwrap_or_default(),
        continuity: reminder.map(|reminder| reminder.continuity),
        resume: Resume::InPlace,
        tools: Vec::new(),
    }
}

fn job(admitted: &Admitted, claimed: &Claimed, began: Timestamp) -> Job {
    let settings = &admitted.process.settings;
    let key = format!("discord-{}", claimed.turn.source);
    Job {
        permit: admitted.permit.clone(),
        audience: admitted.audience,
        origin: Origin {
            run: key.clone(),
            key,
            surface: place(claimed.turn.words.seen_by, admitted.thread.channel),
            event: "message".to_owned(),
            began,
            waited_since: began,
        },
        // There is none: the agent's clone is made of what GitHub has.
        checkout: settings.scratch.join("no-checkout"),
        git_ref: None,
        head: None,
        work: Claim::in_thread(&claimed.turn.words.text, &admitted.permit, settings.delegation.work),
    }
}

/// Returns where people read a thread.
fn address(thread: &Thread) -> String {
    format!("https://discord.com/channels/{}/{}", thread.guild, thread.id)
}

fn unprepared(admitted: &Admitted, fault: &Fault) -> Answered {
    match admitted.process.settings.models() {
        Ok(_) => not_started(fault),
        Err(why) => {
            let told = Turn::failed(Trouble::NoModel);
            let notes = vec![fro_core::say::trouble::no_model(&why)];
            Answered { notes, ..failed(told) }
        }
    }
}

fn not_started(fault: &Fault) -> Answered {
    tracing::warn!("the engine could not be started: {}; {}", fault.what(), fault.hint());
    failed(Turn::failed(Trouble::NotStarted))
}

fn too_heavy(worker: &Worker) -> Answered {
    let most = worker.engine_memory.unwrap_or_default();
    tracing::warn!("an engine was ended: it took more than {most} bytes of memory");
    Answered { notes: vec![say::too_heavy(most)], ..aborted() }
}

fn aborted() -> Answered {
    failed(Turn::failed(Trouble::Aborted))
}

fn failed(told: Turn) -> Answered {
    let (notes, handed) = (Vec::new(), HandedOut::default());
    Answered { told, session: None, notes, branch: None, patch: None, handed, saved: false }
}
