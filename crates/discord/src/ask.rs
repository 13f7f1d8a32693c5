//! What the bot reads from Discord's REST API: messages, members, channels, and its own rights.

use fro_core::chat::{ChannelId, GuildId, MessageId, RoleId, UserId};
use jiff::{SignedDuration, Timestamp, fmt::rfc2822::DateTimeParser};
use serde::Deserialize;
use twilight_http_ratelimiting::Method;

use crate::{
    client::Discord,
    error::Error,
    heard::{Channel, Guild, Message},
    wire::{RawChannel, RawGuild, RawMember, RawMessage},
};

/// How many messages Discord tells at once.
const PAGE: usize = 100;

/// The flags that say that the words of messages may be read: for all servers, and for few.
const READS_CONTENT: u64 = 1 << 18 | 1 << 19;

/// What the bot is, as its developer set it up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Its account, which has the application's number.
    pub me: UserId,
    /// Its name.
    pub name: String,
    /// Whether the words of messages may be read that do not name it.
    pub reads_content: bool,
    /// How far this machine's clock is ahead of Discord's, if Discord told the time.
    pub ahead: Option<SignedDuration>,
}

impl About {
    /// What was said during an outage is looked for by the clock, with some minutes of slack.
    const SLACK: SignedDuration = SignedDuration::from_mins(1);

    /// Tells how far the clock is off, in seconds, if that is far enough to miss messages by it.
    pub fn clock_is_off(&self) -> Option<i64> {
        self.ahead.filter(|ahead| ahead.abs() > Self::SLACK).map(|ahead| ahead.as_secs())
    }
}

#[derive(Deserialize)]
struct RawApplication {
    id: UserId,
    name: String,
    #[serde(default)]
    flags: u64,
}

impl Discord {
    /// Tells what the bot is; also a way to try its token.
    pub async fn about_me(&self) -> Result<About, Error> {
        let deed = "ask who we are";
        let answer = self.call(deed, (Method::Get, "applications/@me"), |request| request).await?;
        let told = answer.header("date").and_then(|date| DateTimeParser::new().parse_timestamp(date).ok());
        let ahead = told.map(|told| Timestamp::now().duration_since(told));
        let raw: RawApplication = answer.json().map_err(|error| Error::http(deed, error))?;
        let reads_content = raw.flags & READS_CONTENT != 0;
        Ok(About { me: raw.id, name: raw.name, reads_content, ahead })
    }

    /// Reads what was said after a message, oldest first, and not more than so many.
    pub async fn messages_after(
        &self,
        channel: ChannelId,
        after: MessageId,
        most: usize,
    ) -> Result<Vec<Message>, Error> {
        let deed = format!("read channel {channel}");
        let (mut all, mut after) = (Vec::new(), after);
        while all.len() < most {
            let limit = PAGE.min(most - all.len());
            let path = format!("channels/{channel}/messages?after={after}&limit={limit}");
            let mut page: Vec<RawMessage> = self.read(&deed, &path).await?;
            // Discord tells the newest of them first.
            page.sort_by_key(|message| message.id);
            let Some(last) = page.last() else { break };
            after = last.id;
            let whole = page.len() == limit;
            all.extend(page.into_iter().map(RawMessage::into_message));
            if !whole {
                break;
            }
        }
        Ok(all)
    }

    /// Reads a message, if it is still there.
    pub async fn message(&self, channel: ChannelId, id: MessageId) -> Result<Option<Message>, Error> {
        let (deed, path) = (format!("read message {id}"), format!("channels/{channel}/messages/{id}"));
        Ok(self.find::<RawMessage>(&deed, &path).await?.map(RawMessage::into_message))
    }

    /// Reads what a channel or thread is, if it is still there.
    pub async fn channel(&self, id: ChannelId) -> Result<Option<Channel>, Error> {
        let (deed, path) = (format!("read channel {id}"), format!("channels/{id}"));
        Ok(self.find::<RawChannel>(&deed, &path).await?.map(RawChannel::into_channel))
    }

    /// Reads what a guild is, without its channels; nothing if we are not in it.
    pub async fn guild(&self, id: GuildId) -> Result<Option<Guild>, Error> {
        let (deed, path) = (format!("read guild {id}"), format!("guilds/{id}"));
        Ok(self.find::<RawGuild>(&deed, &path).await?.map(RawGuild::into_guild))
    }

    /// Reads somebody's roles at this moment; nothing if they are not in the guild.
    pub async fn member(&self, guild: GuildId, user: UserId) -> Result<Option<Vec<RoleId>>, Error> {
        let (deed, path) =
            (format!("read the roles of user {user}"), format!("guilds/{guild}/members/{user}"));
        Ok(self.find::<RawMember>(&deed, &path).await?.map(|member| member.roles))
    }
}
