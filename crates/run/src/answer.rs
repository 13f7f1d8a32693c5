//! From the permit to the receipt: acknowledge, prepare, ask the engine, deliver.

use std::sync::Arc;

use fro_agent::{Agent, Job, Offer, Onward, Plan, Question, Role, Session, Tools};
use fro_core::{
    Context, Fault, Permit, Trigger,
    continuity::{Reminder, Topic},
    conversation::{
        outcome::{Failure, Outcome, Trouble, Turn},
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
    publish::{self, Said},
    result::{OutputSchema, ResultTools},
    review::REVIEWER,
    share,
    venue::{Acknowledgement, Hydrated, ProgressComment, Venue},
};

/// A request that may be answered.
pub(crate) struct Asked<'a> {
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

impl Asked<'_> {
    /// Returns what the answer of this run opens with.
    pub(crate) fn marker(&self) -> Marker {
        Marker::new(&self.occasion.run.id, self.trigger)
    }
}

/// Has the agent answer. Whatever breaks after the 👀 is told in the one comment, and the run fails with it.
pub(crate) async fn by_agent(
    asked: &Asked<'_>,
    seen: &mut Acknowledgement<'_>,
    agent: &mut Agent<'_>,
) -> Result<Ending, Fault> {
    let (hydrated, prepared) = Box::pin(begin(asked, seen, agent.prepare())).await?;
    let mut session = None;
    let said = match (hydrated, prepared) {
        (Ok(hydrated), Ok(())) => Box::pin(converse(asked, agent, hydrated, &mut session)).await,
        (Err(fault), _) => Said::unread(fault),
        (Ok(hydrated), Err(fault)) => {
            Said { earlier: hydrated.earlier, ..unprepared(&asked.process.agent.settings, fault) }
        }
    };
    conclude(asked, said, agent, session).await
}

/// Answers one of our own words without the engine.
pub(crate) async fn without_engine(
    asked: &Asked<'_>,
    reply: &CommandReply,
    seen: &mut Acknowledgement<'_>,
    agent: &mut Agent<'_>,
) -> Result<Ending, Fault> {
    let (hydrated, ()) = begin(asked, seen, builtin_commands::prepare(agent, reply)).await?;
    let said = match hydrated {
        Ok(hydrated) => {
            Said { earlier: hydrated.earlier, ..builtin_commands::answer(asked, agent, reply).await }
        }
        Err(fault) => Said::unread(fault),
    };
    conclude(asked, said, agent, None).await
}

/// Shows that the request was seen, and reads the conversation while something is prepared.
pub(crate) async fn begin<T>(
    asked: &Asked<'_>,
    seen: &mut Acknowledgement<'_>,
    prepare: impl Future<Output = T>,
) -> Result<(Result<Hydrated, Fault>, T), Fault> {
    seen.begin().await?;
    let marker = asked.marker();
    let hydrate = asked.venue.hydrate(asked.trigger, &marker);
    let ((), hydrated, prepared) = tokio::join!(seen.label(), hydrate, prepare);
    Ok((hydrated, prepared))
}

/// Gives the answer with what the agent hands over besides, and writes the turn down.
async fn conclude<'a>(
    asked: &Asked<'_>,
    said: Said,
    agent: &mut Agent<'a>,
    session: Option<Session<'a>>,
) -> Result<Ending, Fault> {
    let handover = agent.hand_over().await;
    let share = share::share(asked, agent, session.as_ref()).await;
    let turn = Turn { outcome: said.turn.outcome.noted(&handover.notes), ..said.turn };
    let said = Said { turn, ..said };
    let account = publish::account(asked, (agent, session.as_ref()), (&said.turn, handover, share));
    let receipt = said.give(asked, account, &asked.marker()).await?;
    (asked.tell)(Progress::Delivered { url: receipt.url.clone() });
    if let Outcome::Answered { .. } = said.turn.outcome {
        asked.venue.fold_outdated(asked.trigger).await;
    }
    if let Some(mut session) = session {
        session.record(&said.turn, vec![receipt.url.clone()]).await;
    }
    match (said.broke, &said.turn.outcome) {
        (Some(fault), _) => Err(fault),
        (None, Outcome::Answered { .. }) => Ok(Ending::Answered(receipt)),
        (None, Outcome::Failed { failure: Failure { trouble: Trouble::Auth, .. }, .. }) => {
            Err(say::trouble::wrong_key(asked.process.agent.settings.model().as_deref()))
        }
        (None, Outcome::Refused { .. } | Outcome::OutOfTime { .. } | Outcome::Failed { .. }) => {
            Ok(Ending::ToldFailure(receipt))
        }
    }
}

/// Tells why nothing could be prepared. What is wrong with the model is named, since whoever asked cannot see the log.
pub(crate) fn unprepared(settings: &fro_agent::Settings, fault: Fault) -> Said {
    let turn = match settings.models() {
        Ok(_) => Turn::failed(Trouble::NotStarted),
        Err(why) => {
            let Turn { outcome, usage } = Turn::failed(Trouble::NoModel);
            Turn { outcome: outcome.noted(&[say::trouble::no_model(&why)]), usage }
        }
    };
    Said { broke: Some(fault), ..Said::new(turn) }
}

/// Puts the request to the engine.
async fn converse<'a>(
    asked: &Asked<'_>,
    agent: &mut Agent<'a>,
    hydrated: Hydrated,
    session: &mut Option<Session<'a>>,
) -> Said {
    let Hydrated { context, earlier, files, warnings } = hydrated;
    let mut prompt = prompt::compose(asked.trigger, asked.permit, &context, &asked.process.wishes);
    let topic = Topic::from_context(&context, asked.trigger.words());
    let reminder = agent.remember(asked.permit, topic).await;
    if let Some(reminder) = &reminder {
        prompt = prompt.reminding(reminder);
    }
    agent.note(warnings);
    let prompt = with_deeds(asked, agent, prompt);
    let result =
        asked.process.output.as_ref().map(|schema| ResultTools::new(schema, asked.process.redactor()));
    let result = result.map(Arc::new);
    let prompt = if result.is_some() { prompt.with_result() } else { prompt };
    let judged = agent.judged();
    let opened = match agent.start(offer(asked)).await {
        Ok(running) => {
            let tools = result.iter().map(|tools| Arc::clone(tools) as Arc<dyn Tools>).collect();
            running.open_session(Plan { tools, ..plan(asked, &context, reminder) }).await
        }
        Err(fault) => Err(fault),
    };
    let session = match opened {
        Ok(opened) => session.insert(opened),
        Err(fault) => return Said::not_started(fault, earlier),
    };
    let question = Question { text: prompt.render(), files, began: asked.occasion.began };
    let mut progress = ProgressComment::new(asked, &earlier);
    let Turn { outcome, mut usage } = Box::pin(progress.beside(session.ask(question))).await;
    let earlier = progress.left(earlier);
    usage += judged;
    if let Some(result) = result {
        agent.note(report(asked, &result));
    }
    let (outcome, remarks) = match session.drafts().last() {
        Some(draft) => (outcome.with_draft(draft.body), draft.comments),
        None => (outcome, Vec::new()),
    };
    let people = context.people(asked.permit);
    let commit = context.change.map(|change| change.head_oid);
    Said { remarks, commit, people, earlier, ..Said::new(Turn { outcome, usage }) }
}

/// Returns what the engine is started with: the usual tools, and the one for the result if one is wanted. A reviewer
/// that is asked something only looks, as in its reviews.
fn offer(asked: &Asked<'_>) -> Offer {
    let usual = Offer::usual();
    let result = asked.process.output.as_ref().map(OutputSchema::offered);
    let role = match asked.process.policy.role {
        gate::Role::Agent => usual.role,
        gate::Role::Reviewer => {
            Role::Reader { name: REVIEWER, instructions: rubric::on_questions().to_owned() }
        }
    };
    Offer { tools: usual.tools.into_iter().chain(result).collect(), role, people: usual.people }
}

/// Adds how to hand in changes, and what the agent can reach. A reviewer does neither.
fn with_deeds(asked: &Asked<'_>, agent: &Agent<'_>, prompt: Prompt) -> Prompt {
    match asked.process.policy.role {
        gate::Role::Agent => {
            let settings = &asked.process.agent.settings;
            let reachable = fro_agent::reachable(settings, asked.permit);
            let prompt = prompt.with_work(&agent.workbench()).with_network(&reachable);
            prompt.with_deeds(asked.permit, settings.delegation.gh_deeds)
        }
        gate::Role::Reviewer => prompt,
    }
}

/// Hands the result on to the steps after the run; returns what a maintainer should know if there is none.
fn report(asked: &Asked<'_>, result: &ResultTools) -> Vec<String> {
    if let Some(json) = result.taken() {
        (asked.tell)(Progress::Result { json });
        return Vec::new();
    }
    let warning = "the agent handed in no result that fits `output-schema`".to_owned();
    (asked.tell)(Progress::Warning(warning.clone()));
    vec![warning]
}

/// Returns what the session of the run is opened for.
pub(crate) fn plan(asked: &Asked<'_>, context: &Context, reminder: Option<Reminder>) -> Plan {
    let about = fro_agent::subject(asked.permit);
    Plan {
        permit: asked.permit.clone(),
        origin: asked.job.origin.clone(),
        title: say::sessions::title(&about, context.title.value(), asked.trigger.words()),
        recalled: reminder.as_ref().map(Reminder::sessions).unwrap_or_default(),
        continuity: reminder.map(|reminder| reminder.continuity),
        onward: Onward::InIt,
        tools: Vec::new(),
    }
}
