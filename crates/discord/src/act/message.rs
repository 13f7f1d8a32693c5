//! Messages: said once, changed, taken back.

use fro_core::chat::{ChannelId, MessageId};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use twilight_http_ratelimiting::Method;

use crate::{
    client::Discord,
    error::Error,
    post::{Nonce, Post},
};

/// How many messages are looked through for one that may be there already.
const LOOKED_THROUGH: usize = 500;

/// By how much our clock and Discord's may differ.
const SLACK: SignedDuration = SignedDuration::from_mins(2);

/// Whether a message was tried before.
#[derive(Debug, Clone, Copy)]
pub enum Attempt<'a> {
    /// The message is sent for the first time.
    First,
    /// It was, and nobody knows what came of it.
    ///
    /// Discord knows a nonce for some minutes and never tells it again, so what we said since then is read first.
    Again {
        /// When it was tried first.
        since: Timestamp,
        /// Messages of ours that are known to be others.
        known: &'a [MessageId],
    },
}

#[derive(Deserialize)]
pub(super) struct Said {
    pub(super) id: MessageId,
}

impl Discord {
    /// Says something, once: a lost answer is asked for again with the same nonce.
    pub async fn send(
        &self,
        channel: ChannelId,
        post: &Post,
        nonce: &Nonce,
        attempt: Attempt<'_>,
    ) -> Result<MessageId, Error> {
        let deed = format!("say something in channel {channel}");
        post.check().map_err(|what| Error::limit(&deed, what))?;
        if let Attempt::Again { since, known } = attempt
            && let Some(id) = self.said_since(channel, post, since, known).await?
        {
            return Ok(id);
        }
        let path = format!("channels/{channel}/messages");
        let form = post.created(nonce);
        let answer =
            self.call(&deed, (Method::Post, &path), |request| post.load(request, &form).idempotent());
        let said: Said = answer.await?.json().map_err(|error| Error::http(&deed, error))?;
        Ok(said.id)
    }

    /// Changes a message of ours.
    pub async fn edit(&self, channel: ChannelId, message: MessageId, post: &Post) -> Result<(), Error> {
        let deed = format!("change message {message}");
        post.check().map_err(|what| Error::limit(&deed, what))?;
        let path = format!("channels/{channel}/messages/{message}");
        let form = post.changed();
        self.call(&deed, (Method::Patch, &path), |request| post.load(request, &form).idempotent()).await?;
        Ok(())
    }

    /// Takes a message away; it is no error if it is gone already.
    pub async fn delete(&self, channel: ChannelId, message: MessageId) -> Result<(), Error> {
        let path = format!("channels/{channel}/messages/{message}");
        let deed = format!("delete message {message}");
        match self.call(&deed, (Method::Delete, &path), |request| request).await {
            Err(error) if !error.gone() => Err(error),
            _ => Ok(()),
        }
    }

    /// Shows that an answer is being written, for some seconds.
    pub async fn typing(&self, channel: ChannelId) -> Result<(), Error> {
        let path = format!("channels/{channel}/typing");
        let deed = format!("show typing in channel {channel}");
        self.call(&deed, (Method::Post, &path), fro_http::Request::once).await?;
        Ok(())
    }

    /// Looks for a message of ours with the same words and files.
    async fn said_since(
        &self,
        channel: ChannelId,
        post: &Post,
        since: Timestamp,
        known: &[MessageId],
    ) -> Result<Option<MessageId>, Error> {
        let Some(after) = MessageId::before(since - SLACK) else { return Ok(None) };
        let me = self.about_me().await?.me;
        let said = self.messages_after(channel, after, LOOKED_THROUGH).await?;
        // Discord trims what it is sent.
        let text = post.text.as_str().trim();
        let same = said.into_iter().find(|message| {
            message.author.id == me
                && message.content.trim() == text
                && message.attachments.len() == post.files.len()
                && !known.contains(&message.id)
        });
        Ok(same.map(|message| message.id))
    }
}
