//! Drives one turn: performs what core's stepper says, and tells it what the engine says.

use std::{collections::HashSet, time::Duration};

use fro_core::{
    conversation::{
        Conversation, Do, Limits,
        heard::{Ask, FinalMessage, Heard, SessionActivity},
        outcome::{Outcome, Trouble, Turn},
    },
    prompt::follow_up,
};
use jiff::Timestamp;
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    time,
};
use tracing::{debug, warn};

use crate::{
    event::{About, Event},
    server::{Connection, Message, Session},
    wire::{self, Role},
};

/// Who is told what is heard, for showing progress.
pub type Listen<'a> = &'a mut (dyn FnMut(&Heard) + Send);

/// Says something to a session and follows it until the turn is over, however it ends.
///
/// An agent or a model that the engine does not have is never sent: the engine would not even rest after it.
pub async fn converse(
    connection: &Connection,
    session: &Session,
    message: &Message,
    limits: Limits,
    listen: Listen<'_>,
) -> Turn {
    let turn = match admit(connection, session, message).await {
        Ok(()) => TurnDriver::begin(connection, session).run(message, limits, listen).await,
        Err(trouble) => Turn::failed(trouble),
    };
    if let Outcome::Failed { failure, .. } = &turn.outcome {
        let said = failure.words.for_log();
        warn!(
            session.id = session.id,
            failure.said = said,
            "the turn in {} failed: {:?}",
            session.id,
            failure.trouble
        );
    }
    turn
}

async fn admit(connection: &Connection, session: &Session, message: &Message) -> Result<(), Trouble> {
    let (client, directory) = (connection.client(), &session.directory);
    if let Some(name) = &message.agent {
        let agents = client.agents(directory).await.map_err(|_| Trouble::Engine)?;
        if !agents.iter().any(|agent| agent.name == *name && agent.is_primary()) {
            return Err(Trouble::UnknownAgent);
        }
    }
    if let Some(name) = &message.model
        && !client.models(directory).await.map_err(|_| Trouble::Engine)?.contains(name)
    {
        return Err(Trouble::UnknownModel);
    }
    Ok(())
}

/// One turn under way.
struct TurnDriver<'a> {
    connection: &'a Connection,
    session: &'a Session,
    events: Receiver<Event>,
    children: HashSet<String>,
    /// What is older belongs to earlier turns.
    began: Timestamp,
}

impl<'a> TurnDriver<'a> {
    fn begin(connection: &'a Connection, session: &'a Session) -> Self {
        Self {
            connection,
            session,
            events: connection.events(),
            children: HashSet::new(),
            began: Timestamp::now(),
        }
    }

    async fn run(&mut self, message: &Message, limits: Limits, listen: Listen<'_>) -> Turn {
        let mut conversation = Conversation::new(limits, self.began);
        if let Err(error) = self.connection.client().prompt(self.session, message).await {
            warn!(session.id = self.session.id, "cannot speak to {}: {error}", self.session.id);
            return Turn::failed(Trouble::Engine);
        }
        let mut next = conversation.tick(Timestamp::now());
        loop {
            let heard = match next {
                Do::Finish(turn) => return turn,
                Do::Wait { until } => self.next_heard(until).await,
                Do::Poll => Some(self.poll().await),
                Do::Settle => Some(self.read().await),
                Do::Refuse(ask) => {
                    self.answer(&ask).await;
                    None
                }
                Do::Nudge => {
                    let nudge =
                        Message { text: follow_up::nudge().to_owned(), files: Vec::new(), ..message.clone() };
                    let nudged = self.connection.client().prompt(self.session, &nudge).await;
                    debug!(session.id = self.session.id, "nudged {}: {nudged:?}", self.session.id);
                    None
                }
                Do::Abort => {
                    let aborted = self.connection.client().abort(self.session).await;
                    debug!(session.id = self.session.id, "aborted {}: {aborted:?}", self.session.id);
                    None
                }
            };
            next = match heard {
                Some(heard) => {
                    listen(&heard);
                    conversation.hear(Timestamp::now(), heard)
                }
                None => conversation.tick(Timestamp::now()),
            };
        }
    }

    /// Puts what the engine asks to people, or refuses it where there are none.
    async fn answer(&self, ask: &Ask) {
        let (client, directory) = (self.connection.client(), &self.session.directory);
        let answered = match self.connection.people() {
            Some(people) => client.answer(directory, ask, people.ask(ask).await).await,
            None => client.refuse(directory, ask).await,
        };
        debug!(ask.id, "answered {:?} {}: {answered:?}", ask.kind, ask.id);
    }

    /// Waits for the next event of this session or its children, but not longer than until then.
    async fn next_heard(&mut self, until: Timestamp) -> Option<Heard> {
        let patience = Duration::try_from(until.duration_since(Timestamp::now())).unwrap_or_default();
        let heard = async {
            loop {
                match self.events.recv().await {
                    Ok(event) => {
                        if let Some(heard) = concerning(&self.session.id, &mut self.children, event) {
                            return heard;
                        }
                    }
                    Err(RecvError::Lagged(_)) => return Heard::Gap,
                    Err(RecvError::Closed) => return Heard::Gone,
                }
            }
        };
        time::timeout(patience, heard).await.ok()
    }

    async fn poll(&self) -> Heard {
        let (client, directory) = (self.connection.client(), &self.session.directory);
        let Ok(busy) = client.busy(directory).await else { return Heard::NoPulse };
        let asked = client.asked(directory).await;
        Heard::Pulse(SessionActivity {
            busy: busy.iter().any(|session| self.is_ours(&session.id)),
            asked: asked
                .into_iter()
                .filter(|(session, _)| self.is_ours(session))
                .map(|(_, ask)| ask)
                .collect(),
        })
    }

    fn is_ours(&self, id: &String) -> bool {
        *id == self.session.id || self.children.contains(id)
    }

    async fn read(&self) -> Heard {
        let client = self.connection.client();
        let messages = match client.messages(self.session).await {
            Ok(messages) => messages,
            Err(error) => {
                warn!(session.id = self.session.id, "cannot read {}: {error}", self.session.id);
                return Heard::Unreadable;
            }
        };
        let mut reading = understand(messages, self.began);
        for child in &self.children {
            let child = Session { id: child.clone(), directory: self.session.directory.clone() };
            if let Ok(messages) = client.messages(&child).await {
                reading.usage += understand(messages, self.began).usage;
            }
        }
        Heard::Read(reading)
    }
}

/// Returns what an event means for a turn, and remembers the children that are born below it.
fn concerning(session: &str, children: &mut HashSet<String>, event: Event) -> Option<Heard> {
    match event.about {
        About::All => Some(event.heard),
        About::Session(id) if id == session => Some(event.heard),
        About::Session(id) if children.contains(&id) => event.heard.in_child(),
        About::Session(_) => None,
        About::Child { id, parent } => {
            let ours = parent == session || children.contains(&parent);
            ours.then(|| {
                children.insert(id);
                event.heard
            })
        }
    }
}

/// Sums up the messages of a turn.
fn understand(messages: Vec<wire::WireMessage>, began: Timestamp) -> FinalMessage {
    let began = began.as_millisecond();
    let answers = messages.into_iter().filter(|message| message.info.role == Role::Assistant);
    let mut reading = FinalMessage::default();
    for message in answers.filter(|message| message.info.time.created >= began) {
        if !message.info.is_summary() {
            reading.text = message.text();
            reading.finish = message.info.finish();
            reading.breakage = message.info.error.map(Into::into);
        }
        reading.usage += message.info.taken.into();
    }
    reading
}

#[cfg(test)]
mod tests {
    use fro_core::conversation::{heard::FinishReason, outcome::Usage};

    use super::*;

    #[test]
    fn the_messages_of_a_turn_add_up_and_the_last_one_speaks() {
        let recorded = include_str!("../tests/transcripts/messages.json");
        let read = |began: &str| understand(serde_json::from_str(recorded).unwrap(), began.parse().unwrap());

        let whole = read("2026-11-15T18:24:00Z");
        assert_eq!((whole.text.as_deref(), whole.finish), (Some("All done now."), Some(FinishReason::Stop)));
        let usage =
            Usage { calls: 3, input: 2400, output: 120, reasoning: 30, cache_read: 600, ..Usage::default() };
        assert_eq!(Usage { cost: 0.0, ..whole.usage }, usage);
        assert_eq!(read("2026-11-15T18:25:00Z"), FinalMessage::default());
    }

    #[test]
    fn a_summary_of_the_engine_is_not_the_answer_but_costs() {
        let message = |text: &str, summary: bool| {
            let info = serde_json::json!({ "role": "assistant", "time": { "created": 1 }, "summary": summary, "cost": 1 });
            serde_json::json!({ "info": info, "parts": [{ "type": "text", "sessionID": "s", "text": text }] })
        };
        let messages =
            serde_json::json!([message("The answer.", false), message("What was said before", true)]);
        let reading = understand(serde_json::from_value(messages).unwrap(), Timestamp::UNIX_EPOCH);
        assert_eq!((reading.text.as_deref(), reading.usage.calls), (Some("The answer."), 2));
    }

    #[test]
    fn a_grandchild_belongs_to_the_turn_and_a_stranger_does_not() {
        let mut children = HashSet::new();
        let mut concerns = |about, heard| concerning("me", &mut children, Event { about, heard });
        let born = |id: &str, parent: &str| About::Child { id: id.to_owned(), parent: parent.to_owned() };
        let of = |id: &str| About::Session(id.to_owned());

        assert_eq!(concerns(born("child", "me"), Heard::ChildBorn), Some(Heard::ChildBorn));
        assert_eq!(concerns(born("grandchild", "child"), Heard::ChildBorn), Some(Heard::ChildBorn));
        assert_eq!(concerns(born("other", "stranger"), Heard::ChildBorn), None);
        assert_eq!(concerns(of("grandchild"), Heard::Writing), Some(Heard::Writing));
        assert_eq!(concerns(of("grandchild"), Heard::Idle), None);
        assert_eq!(concerns(of("me"), Heard::Idle), Some(Heard::Idle));
        assert_eq!(concerns(of("other"), Heard::Idle), None);
        assert_eq!(concerns(About::All, Heard::Gap), Some(Heard::Gap));
    }
}
