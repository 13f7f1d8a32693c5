//! From the permit to the receipt: acknowledge, prepare, ask the engine, deliver.

use std::sync::Arc;

use fro_agent::{Agent, Job, Offer, Plan, Prepared, Question, Resume, Role, Session, Tools};
use fro_core::{
    Context, Fault, Permit, Trigger,
    continuity::{Reminder, Topic},
    conversation::{
        outcome::{Outcome, Trouble, Turn},
        todo::TodoList,
    },
    gate,
    prompt::{self, Prompt},
    say::{self, command::CommandReply, marker::Marker},
};
use fro_review::rubric;
use tokio::sync::watch;

use crate::{
    builtin_commands,
    ending::Ending,
    occasion::Occasion,
    process::Process,
    progress::{Progress, Tell},
    publish::{self, Answer},
    result::{OutputSchema, ResultTools},
    review::REVIEWER,
    share,
    venue::{Acknowledgement, Hydrated, ProgressComment, Venue},
};

/// A request that may be answered.
pub(crate) struct Request<'a> {
    pub(crate) process: &'a Process,
    pub(crate) occasion: &'a Occasion,
    pub(crate) job: &'a Job,
    pub(crate) tell: Tell<'a>,
    pub(crate) trigger: &'a Trigger,
    pub(crate) permit: &'a Permit,
    pub(crate) venue: Venue<'a>,
    /// The agent's list of things to do, as it stands.
    pub(crate) todos: &'a watch::Sender<TodoList>,
}

impl Request<'_> {
    /// Returns what the answer of this run opens with.
    pub(crate) fn marker(&self) -> Marker {
        Marker::new(&self.occasion.run.id, self.trigger)
    }
}

/// Has the agent answer. Whatever breaks after the 👀 is told in the one comment, and the run fails with it.
pub(crate) async fn by_agent(
    request: &Request<'_>,
    acknowledgement: &mut Acknowledgement<'_>,
    agent: &mut Agent<'_>,
) -> Result<Ending, Fault> {
    let (hydrated, prepared) =
        Box::pin(acknowledge_and_hydrate(request, acknowledgement, agent.prepare())).await?;
    let mut session = None;
    let answer = match (hydrated, prepared) {
        (Ok(hydrated), Ok(prepared)) => Box::pin(converse(request, prepared, hydrated, &mut session)).await,
        (Err(fault), _) => Answer::context_unreadable(fault),
        (Ok(hydrated), Err(fault)) => {
            Answer { earlier: hydrated.earlier, ..unprepared(request, agent, fault) }
        }
    };
    conclude(request, answer, agent, session).await
}

/// Answers one of our own words without the engine.
pub(crate) async fn without_engine(
    request: &Request<'_>,
    reply: &CommandReply,
    acknowledgement: &mut Acknowledgement<'_>,
    agent: &mut Agent<'_>,
) -> Result<Ending, Fault> {
    let (hydrated, ()) =
        acknowledge_and_hydrate(request, acknowledgement, builtin_commands::prepare(agent, reply)).await?;
    let answer = match hydrated {
        Ok(hydrated) => {
            Answer { earlier: hydrated.earlier, ..builtin_commands::answer(request, agent, reply).await }
        }
        Err(fault) => Answer::context_unreadable(fault),
    };
    conclude(request, answer, agent, None).await
}

/// Shows that the request was seen, and reads the conversation while something is prepared.
pub(crate) async fn acknowledge_and_hydrate<T>(
    request: &Request<'_>,
    acknowledgement: &mut Acknowledgement<'_>,
    prepare: impl Future<Output = T>,
) -> Result<(Result<Hydrated, Fault>, T), Fault> {
    acknowledgement.begin().await?;
    let marker = request.marker();
    let hydrate = request.venue.hydrate(request.trigger, &marker);
    let ((), hydrated, prepared) = tokio::join!(acknowledgement.label(), hydrate, prepare);
    Ok((hydrated, prepared))
}

/// Gives the answer with what the agent hands over besides, and writes the turn down.
async fn conclude<'a>(
    request: &Request<'_>,
    answer: Answer,
    agent: &mut Agent<'a>,
    session: Option<Session<'a>>,
) -> Result<Ending, Fault> {
    let handover = agent.hand_over().await;
    let share = share::share(request, agent, session.as_ref()).await;
    let turn = Turn { outcome: answer.turn.outcome.noted(&handover.notes), ..answer.turn };
    let answer = Answer { turn, ..answer };
    let account = publish::account(request, (agent, session.as_ref()), (&answer.turn, handover, share));
    let receipt = answer.publish(request, account, &request.marker()).await?;
    (request.tell)(Progress::Delivered { url: receipt.url.clone() });
    if let Outcome::Answered { .. } = answer.turn.outcome {
        request.venue.fold_outdated(request.trigger).await;
    }
    if let Some(mut session) = session {
        session.record(&answer.turn, vec![receipt.url.clone()]).await;
    }
    let settings = &request.process.agent.settings;
    Ending::after(receipt, &answer.turn.outcome, answer.broke, settings.model().as_deref(), &settings.scratch)
}

/// Tells why nothing could be prepared. What is wrong with the model is named, since whoever asked cannot see the log.
pub(crate) fn unprepared(request: &Request<'_>, agent: &Agent<'_>, fault: Fault) -> Answer {
    let unasked = match request.process.agent.settings.models() {
        Err(why) => Some(say::trouble::no_model(&why)),
        Ok(_) if agent.was_refused() => Some(say::trouble::no_model(&fault)),
        Ok(_) => None,
    };
    let turn = match unasked {
        None => Turn::failed(Trouble::NotStarted),
        Some(why) => {
            let Turn { outcome, usage } = Turn::failed(Trouble::NoModel);
            Turn { outcome: outcome.noted(&[why]), usage }
        }
    };
    Answer { broke: Some(fault), ..Answer::new(turn) }
}

/// Puts the request to the engine.
async fn converse<'a>(
    request: &Request<'_>,
    mut prepared: Prepared<'_, 'a>,
    hydrated: Hydrated,
    session: &mut Option<Session<'a>>,
) -> Answer {
    let Hydrated { context, earlier, files, warnings } = hydrated;
    let mut prompt = prompt::compose(request.trigger, request.permit, &context, &request.process.wishes);
    let topic = Topic::from_context(&context, request.trigger.words());
    let reminder = prepared.remember(request.permit, topic).await;
    if let Some(reminder) = &reminder {
        prompt = prompt.reminding(reminder);
    }
    prepared.note(warnings);
    let prompt = with_deeds(request, &prepared, prompt);
    let result =
        request.process.output.as_ref().map(|schema| ResultTools::new(schema, request.process.redactor()));
    let result = result.map(Arc::new);
    let prompt = if result.is_some() { prompt.with_result() } else { prompt };
    let judged = prepared.judged();
    let opened = async {
        let running = prepared.start(offer(request)).await?;
        let tools = result.iter().map(|tools| Arc::clone(tools) as Arc<dyn Tools>).collect();
        let plan = Plan { tools, ..session_plan(request, &context, reminder) };
        let session = running.open_session(plan).await?;
        Ok((running, session))
    };
    let (mut running, session) = match opened.await {
        Ok((running, opened)) => (running, session.insert(opened)),
        Err(fault) => return Answer::not_started(fault, earlier),
    };
    let question = Question { text: prompt.render(), files, began: request.occasion.began };
    let mut progress = ProgressComment::new(request, &earlier);
    let Turn { outcome, mut usage } = Box::pin(progress.beside(session.ask(question))).await;
    let earlier = progress.left(earlier);
    usage += judged;
    if let Some(result) = result {
        running.note(report_result(request, &result));
    }
    let (outcome, remarks) = match session.drafts().last() {
        Some(draft) => (outcome.with_draft(draft.body), draft.comments),
        None => (outcome, Vec::new()),
    };
    let people = context.people(request.permit);
    let commit = context.change.map(|change| change.outline.head_oid);
    Answer { remarks, commit, people, earlier, ..Answer::new(Turn { outcome, usage }) }
}

/// Returns what the engine is started with: the usual tools, and the one for the result if one is wanted. A reviewer
/// that is asked something only looks, as in its reviews.
fn offer(request: &Request<'_>) -> Offer {
    let usual = Offer::usual();
    let result = request.process.output.as_ref().map(OutputSchema::offered);
    let role = match request.process.policy.role {
        gate::Role::Agent => usual.role,
        gate::Role::Reviewer => {
            Role::Reader { name: REVIEWER, instructions: rubric::on_questions().to_owned() }
        }
    };
    Offer { tools: usual.tools.into_iter().chain(result).collect(), role, people: usual.people }
}

/// Adds how to hand in changes, and what the agent can reach. A reviewer does neither.
fn with_deeds(request: &Request<'_>, prepared: &Prepared<'_, '_>, prompt: Prompt) -> Prompt {
    match request.process.policy.role {
        gate::Role::Agent => {
            let settings = &request.process.agent.settings;
            let reachable = fro_agent::reachable(settings, request.permit);
            let prompt = prompt.with_work(&prepared.workbench()).with_network(&reachable);
            prompt.with_deeds(request.permit, settings.delegation.gh_deeds)
        }
        gate::Role::Reviewer => prompt,
    }
}

/// Hands the result on to the steps after the run; returns what a maintainer should know if there is none.
fn report_result(request: &Request<'_>, result: &ResultTools) -> Vec<String> {
    if let Some(json) = result.taken() {
        (request.tell)(Progress::Result { json });
        return Vec::new();
    }
    let warning = "the agent handed in no result that fits `output-schema`".to_owned();
    (request.tell)(Progress::Warning(warning.clone()));
    vec![warning]
}

/// Returns what the session of the run is opened for.
pub(crate) fn session_plan(request: &Request<'_>, context: &Context, reminder: Option<Reminder>) -> Plan {
    let about = fro_agent::subject(request.permit);
    Plan {
        permit: request.permit.clone(),
        origin: request.job.origin.clone(),
        title: say::sessions::title(&about, context.title.value(), request.trigger.words()),
        recalled: reminder.as_ref().map(Reminder::sessions).unwrap_or_default(),
        continuity: reminder.map(|reminder| reminder.continuity),
        resume: Resume::InPlace,
        tools: Vec::new(),
    }
}
