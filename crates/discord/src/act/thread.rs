//! Threads: begun on a message or alone, renamed, taken out of the archive.

use std::time::Duration;

use fro_core::chat::{ChannelId, MessageId};
use serde_json::{Value, json};
use twilight_http_ratelimiting::Method;

use crate::{client::Discord, error::Error, wire::RawChannel};

/// Discord's number for a message that has a thread already.
const HAS_THREAD: u32 = 160_004;
/// How long a name can be.
const LONGEST_NAME: usize = 100;
/// The kind of a thread that everybody sees who sees the channel.
const PUBLIC: u8 = 11;
/// Minutes without a word until Discord puts a thread away: a week.
const ARCHIVED_AFTER: u32 = 10_080;

/// What came of a new name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renamed {
    /// The thread has the new name.
    Yes,
    /// Two new names in ten minutes are the most; this long until the next.
    TooOften(Duration),
}

impl Discord {
    /// Begins a thread on a message. The thread has the message's number, also if it was there before.
    pub async fn open_thread(
        &self,
        channel: ChannelId,
        message: MessageId,
        name: &str,
    ) -> Result<ChannelId, Error> {
        let path = format!("channels/{channel}/messages/{message}/threads");
        let deed = format!("begin a thread on message {message}");
        let form = json!({ "name": shortened(name), "auto_archive_duration": ARCHIVED_AFTER });
        let answer =
            self.call(&deed, (Method::Post, &path), |request| request.json(&form).idempotent()).await;
        match answer {
            Err(error) if error.code() != Some(HAS_THREAD) => Err(error),
            _ => ChannelId::new(message.number()).ok_or_else(|| Error::limit(&deed, "no id")),
        }
    }

    /// Begins a thread without a message. If the answer is lost, nobody knows whether there is one.
    pub async fn open_thread_alone(&self, channel: ChannelId, name: &str) -> Result<ChannelId, Error> {
        let path = format!("channels/{channel}/threads");
        let deed = format!("begin a thread in channel {channel}");
        let form =
            json!({ "name": shortened(name), "type": PUBLIC, "auto_archive_duration": ARCHIVED_AFTER });
        let answer = self.call(&deed, (Method::Post, &path), |request| request.json(&form)).await?;
        let thread: RawChannel = answer.json().map_err(|error| Error::http(&deed, error))?;
        Ok(thread.id)
    }

    /// Gives a thread another name, unless that was done too often: nothing waits for ten minutes here.
    pub async fn rename(&self, thread: ChannelId, name: &str) -> Result<Renamed, Error> {
        let renamed = self.change_thread(thread, "rename", &json!({ "name": shortened(name) })).await;
        match renamed {
            Err(error) => error.wait().map(Renamed::TooOften).ok_or(error),
            Ok(()) => Ok(Renamed::Yes),
        }
    }

    /// Takes a thread out of the archive.
    pub async fn unarchive(&self, thread: ChannelId) -> Result<(), Error> {
        self.change_thread(thread, "take out", &json!({ "archived": false })).await
    }

    async fn change_thread(&self, thread: ChannelId, verb: &str, form: &Value) -> Result<(), Error> {
        let path = format!("channels/{thread}");
        let deed = format!("{verb} thread {thread}");
        self.call(&deed, (Method::Patch, &path), |request| request.json(form).once()).await?;
        Ok(())
    }
}

/// A name that Discord takes: one line, not empty, not too long.
fn shortened(name: &str) -> String {
    let line = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(LONGEST_NAME).collect();
    if short.is_empty() { "…".to_owned() } else { short }
}
