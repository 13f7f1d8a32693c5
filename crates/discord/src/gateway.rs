//! The gateway: one connection that is lost and taken up again, and a stream of what is heard that never ends.

use std::time::Duration;

use fro_core::{
    Secret,
    chat::{ChannelId, GuildId, MessageId, RoleId, UserId},
};
use futures::StreamExt as _;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};
use tokio::time::Instant;
use tracing::{info, warn};
use twilight_gateway::{CloseFrame, ConfigBuilder, Intents, Message as Frame, Shard, ShardId};

use crate::{
    error::Fatal,
    heard::Heard,
    session::Session,
    settings::Settings,
    wire::{RawChannel, RawGuild, RawInteraction, RawMessage, RawRole},
};

/// How long we wait for Discord's own farewell.
const FAREWELL: Duration = Duration::from_secs(2);

/// What is heard, for ever.
pub struct Gateway {
    settings: Settings,
    shard: Shard,
    /// The session as of the last event handed out.
    heard: Option<Session>,
    /// The code that the connection was closed with last.
    closed: Option<u16>,
    /// How often in a row we were refused.
    refusals: usize,
    /// When the next attempt is due, after we were refused.
    again_at: Option<Instant>,
}

impl Gateway {
    /// Opens the gateway, with the session that was kept if there is one.
    pub fn open(settings: &Settings, kept: Option<Session>) -> Self {
        fro_http::provide_tls();
        let shard = shard(settings, kept.as_ref());
        Self { settings: settings.clone(), shard, heard: kept, closed: None, refusals: 0, again_at: None }
    }

    /// Returns where to take up what follows the last event of [`next`](Self::next).
    pub fn session(&self) -> Option<&Session> {
        self.heard.as_ref()
    }

    /// Waits for the next thing. Whatever happens to the connection, there is one; it may be called in a `select!`.
    pub async fn next(&mut self) -> Heard {
        loop {
            // A moment and not a span: whoever calls this in a `select!` would begin the pause anew each time.
            if let Some(again) = self.again_at {
                tokio::time::sleep_until(again).await;
                self.again_at = None;
                self.shard = shard(&self.settings, self.heard.as_ref());
            }
            let heard = match self.shard.next().await {
                Some(Ok(Frame::Text(text))) => self.hear(&text),
                Some(Ok(Frame::Close(frame))) => self.lose(frame.map(|frame| frame.code)),
                Some(Err(error)) => Some(Heard::Lost { why: reason(&error) }),
                None => Some(self.refused()),
            };
            if let Some(heard) = heard {
                return heard;
            }
        }
    }

    /// Leaves in a way that Discord keeps the session, and returns where to take it up.
    pub async fn close(mut self) -> Option<Session> {
        self.shard.close(CloseFrame::RESUME);
        let farewell = async { while let Some(Ok(Frame::Text(_))) = self.shard.next().await {} };
        // A server that is gone answers no farewell, and the session is kept all the same.
        drop(tokio::time::timeout(FAREWELL, farewell).await);
        self.heard
    }

    fn hear(&mut self, text: &str) -> Option<Heard> {
        let heard = read(text);
        let session = self.shard.session().zip(self.shard.resume_url());
        self.heard = session.map(|(session, url)| Session {
            id: session.id().to_owned(),
            sequence: session.sequence(),
            resume_url: url.to_owned(),
        });
        if matches!(heard, Some(Heard::Ready { .. } | Heard::Resumed)) {
            (self.refusals, self.closed) = (0, None);
        }
        heard
    }

    fn lose(&mut self, code: Option<u16>) -> Option<Heard> {
        self.closed = code;
        if self.shard.state() == twilight_gateway::ShardState::FatallyClosed {
            return None;
        }
        let why =
            code.map_or_else(|| "closed without a code".to_owned(), |code| format!("closed with {code}"));
        info!("the gateway was {why}; connecting again");
        Some(Heard::Lost { why })
    }

    /// The stream of the shard has ended for good: begins a new one later.
    fn refused(&mut self) -> Heard {
        let fatal = Fatal::from_close_code(self.closed.take());
        let pauses = &self.settings.refused;
        let pause = pauses.get(self.refusals).or(pauses.last()).copied().unwrap_or(Duration::from_mins(10));
        self.refusals += 1;
        self.again_at = Some(Instant::now() + pause);
        warn!("{}; trying again in {} s", fatal.fault().what(), pause.as_secs());
        Heard::Refused(fatal)
    }
}

fn shard(settings: &Settings, kept: Option<&Session>) -> Shard {
    let mut intents = Intents::GUILDS | Intents::GUILD_MESSAGES;
    if settings.reads_content {
        intents |= Intents::MESSAGE_CONTENT;
    }
    let mut config = ConfigBuilder::new(exposed(&settings.token), intents);
    if let Some(url) = &settings.gateway {
        config = config.proxy_url(url.clone());
    }
    if let Some(kept) = kept {
        let session = twilight_gateway::Session::new(kept.sequence, kept.id.clone());
        config = config.session(session).resume_url(kept.resume_url.clone());
    }
    Shard::with_config(ShardId::ONE, config.build())
}

fn exposed(token: &Secret) -> String {
    token.expose().to_owned()
}

fn reason(error: &dyn std::error::Error) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    // What a server sent may stand in the words of the others, so only the outermost and the last are told.
    if deepest.to_string() == error.to_string() { error.to_string() } else { format!("{error}: {deepest}") }
}

/// One frame of the gateway.
#[derive(Deserialize)]
struct GatewayFrame<'a> {
    op: u8,
    #[serde(borrow)]
    t: Option<&'a str>,
    #[serde(borrow)]
    d: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawReady {
    user: Id<UserId>,
}

#[derive(Deserialize)]
struct Id<T> {
    id: T,
}

#[derive(Deserialize)]
struct OfRole {
    guild_id: GuildId,
    role: RawRole,
}

#[derive(Deserialize)]
struct OfRoleId {
    guild_id: GuildId,
    role_id: RoleId,
}

#[derive(Deserialize)]
struct OfMessage {
    id: MessageId,
    channel_id: ChannelId,
}

/// Reads a frame; what is of no use to us, or cannot be read, is nothing.
fn read(text: &str) -> Option<Heard> {
    let frame: GatewayFrame<'_> = serde_json::from_str(text).ok()?;
    if frame.op != 0 {
        return None;
    }
    let (name, data) = (frame.t?, frame.d.map_or("null", RawValue::get));
    match event(name, data) {
        Ok(heard) => heard,
        Err(error) => {
            // The words of the event stay out of the log.
            warn!("an event {name} of Discord cannot be read, at column {}", error.column());
            None
        }
    }
}

fn event(name: &str, data: &str) -> Result<Option<Heard>, serde_json::Error> {
    fn parse<T: DeserializeOwned>(data: &str) -> Result<T, serde_json::Error> {
        serde_json::from_str(data)
    }
    Ok(Some(match name {
        "READY" => Heard::Ready { me: parse::<RawReady>(data)?.user.id },
        "RESUMED" => Heard::Resumed,
        // An outage also says that a guild is there or gone; only joining or being put out is that.
        "GUILD_CREATE" | "GUILD_DELETE" if unavailable(data) => return Ok(None),
        "GUILD_CREATE" => Heard::Guild(parse::<RawGuild>(data)?.into_guild()),
        "GUILD_DELETE" => Heard::GuildGone(parse::<Id<GuildId>>(data)?.id),
        "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE" => {
            let told: OfRole = parse(data)?;
            Heard::Role(told.guild_id, told.role.into_role())
        }
        "GUILD_ROLE_DELETE" => {
            let told: OfRoleId = parse(data)?;
            Heard::RoleGone(told.guild_id, told.role_id)
        }
        "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE" => {
            Heard::Channel(parse::<RawChannel>(data)?.into_channel())
        }
        "CHANNEL_DELETE" | "THREAD_DELETE" => Heard::ChannelGone(parse::<Id<ChannelId>>(data)?.id),
        "MESSAGE_CREATE" => Heard::Message(parse::<RawMessage>(data)?.into_message()),
        "MESSAGE_UPDATE" => Heard::Edited(parse::<RawMessage>(data)?.into_message()),
        "MESSAGE_DELETE" => {
            let told: OfMessage = parse(data)?;
            Heard::Deleted { channel: told.channel_id, message: told.id }
        }
        "INTERACTION_CREATE" => {
            return Ok(parse::<RawInteraction>(data)?.into_interaction().map(Heard::Interaction));
        }
        _ => return Ok(None),
    }))
}

fn unavailable(data: &str) -> bool {
    serde_json::from_str::<Value>(data).is_ok_and(|guild| guild["unavailable"] == true)
}
