//! The gateway: sessions over web sockets that are told what happens, can be lost and taken up again.

mod socket;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{chat::Chat, event::PRIVILEGED, flaw::Flaw, shape, switchboard::Inside};

pub(crate) use socket::{connect, gateway_url};

/// What a session was told, and over which connection if there is one.
pub(crate) struct GatewaySession {
    pub(crate) id: String,
    pub(crate) intents: u64,
    pub(crate) line: Option<mpsc::UnboundedSender<Frame>>,
    /// Everything told so far; the first has the number 1.
    told: Vec<Value>,
}

/// What is done to a connection.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Frame {
    /// This is sent.
    Say(Value),
    /// It is closed with this code.
    Close(u16),
    /// It is cut without a word.
    Cut,
}

/// How the gateway behaves.
#[derive(Debug, Clone)]
pub(crate) struct Mood {
    /// How often clients have to show that they live.
    pub(crate) heartbeat: Duration,
    /// Signs of life are not answered.
    pub(crate) mute: bool,
    /// The next ones that say who they are, are closed with these codes.
    pub(crate) closing: Vec<u16>,
}

impl Default for Mood {
    fn default() -> Self {
        Self { heartbeat: Duration::from_millis(41_250), mute: false, closing: Vec::new() }
    }
}

impl GatewaySession {
    /// Everything told so far.
    pub(crate) fn frames(&self) -> &[Value] {
        &self.told
    }

    /// The names of everything told so far.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.told.iter().filter_map(|frame| frame["t"].as_str())
    }

    /// Tells something, or keeps it for when the session is taken up again.
    pub(crate) fn tell(&mut self, name: &str, data: &Value) {
        let frame = json!({ "op": 0, "s": self.told.len() + 1, "t": name, "d": data });
        self.told.push(frame.clone());
        if let Some(line) = &self.line
            && line.send(Frame::Say(frame)).is_err()
        {
            self.line = None;
        }
    }
}

/// What comes of an attempt to begin a session or to take one up.
pub(crate) enum Begun {
    /// The session is on; its id.
    Session(String),
    /// Nothing of it is left: the client has to begin a new one.
    Invalid,
    /// The connection is closed with this code.
    Closed(u16),
}

impl Inside {
    /// Begins a session: the client says who it is and what it wants to hear.
    pub(crate) fn identify(
        &mut self,
        data: &Value,
        line: mpsc::UnboundedSender<Frame>,
        address: &str,
    ) -> Begun {
        if !self.mood.closing.is_empty() {
            return Begun::Closed(self.mood.closing.remove(0));
        }
        if !self.chat.knows(&data["token"]) {
            return Begun::Closed(4004);
        }
        let Some(intents) = data["intents"].as_u64().filter(|bits| *bits < 1 << 27) else {
            return Begun::Closed(4013);
        };
        if intents & PRIVILEGED & !self.chat.application.privileged != 0 {
            return Begun::Closed(4014);
        }
        if data.get("shard").is_some_and(|shard| *shard != json!([0, 1])) {
            return Begun::Closed(4010);
        }
        let id = format!("{:032x}", self.chat.next_id());
        let mut session = GatewaySession { id: id.clone(), intents, line: Some(line), told: Vec::new() };
        session.tell("READY", &ready(&self.chat, &id, address));
        if intents & super::event::GUILDS != 0 {
            let bot = self.chat.application.id;
            let ours = self.chat.guilds.iter().filter(|guild| guild.members.iter().any(|it| it.user == bot));
            let told: Vec<_> = ours.map(|guild| shape::whole_guild(&self.chat, guild, bot)).collect();
            for guild in &told {
                session.tell("GUILD_CREATE", guild);
            }
        }
        self.sessions.push(session);
        Begun::Session(id)
    }

    /// Takes a session up again and tells everything that was missed.
    pub(crate) fn resume(&mut self, data: &Value, line: mpsc::UnboundedSender<Frame>) -> Begun {
        if !self.mood.closing.is_empty() {
            return Begun::Closed(self.mood.closing.remove(0));
        }
        if !self.chat.knows(&data["token"]) {
            return Begun::Closed(4004);
        }
        let flaw = self.chat.flaw;
        let Some(session) = self.session(&data["session_id"]) else { return Begun::Invalid };
        let known = data["seq"].as_u64().and_then(|number| usize::try_from(number).ok());
        let Some(missed) = known.and_then(|number| session.told.get(number..)) else {
            return Begun::Closed(4007);
        };
        let missed = if flaw == Some(Flaw::ResumeDrops) { &[][..] } else { missed };
        for frame in missed {
            // A line that is gone is noticed when the connection's own task ends.
            drop(line.send(Frame::Say(frame.clone())));
        }
        session.line = Some(line);
        session.tell("RESUMED", &json!({}));
        Begun::Session(session.id.clone())
    }
}

impl Chat {
    /// Tells whether a token is the bot's own; one in a header says so in front.
    pub(crate) fn knows(&self, token: &Value) -> bool {
        let token = token.as_str().unwrap_or_default();
        token.strip_prefix("Bot ").unwrap_or(token) == self.application.token
    }
}

fn ready(chat: &Chat, session: &str, address: &str) -> Value {
    let bot = chat.application.id;
    let ours = chat.guilds.iter().filter(|guild| guild.members.iter().any(|member| member.user == bot));
    let guilds: Value =
        ours.map(|guild| json!({ "id": guild.id.to_string(), "unavailable": true })).collect();
    let mut user = chat.account(bot).map_or(Value::Null, shape::user);
    user["verified"] = json!(true);
    user["mfa_enabled"] = json!(true);
    user["email"] = Value::Null;
    json!({
        "v": 10,
        "user": user,
        "guilds": guilds,
        "session_id": session,
        "session_type": "normal",
        "resume_gateway_url": address,
        "shard": [0, 1],
        "application": { "id": bot.to_string(), "flags": chat.application.flags() },
        "private_channels": [],
        "relationships": [],
        "presences": [],
        "user_settings": {},
    })
}
