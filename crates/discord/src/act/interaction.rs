//! Answers to commands, clicks and forms.

use fro_core::chat::MessageId;
use serde_json::{Value, json};
use twilight_http_ratelimiting::Method;

use super::message::Said;
use crate::{client::Discord, error::Error, heard::Interaction, post::Post};

/// Discord's number for an interaction that has an answer.
const ANSWERED: u32 = 40060;
const MESSAGE: u8 = 4;
const PROMISE: u8 = 5;
const STAY: u8 = 6;
const CHANGE: u8 = 7;
const CHOICES: u8 = 8;
/// How many ways to go on can be offered.
const MOST_CHOICES: usize = 25;

/// Who sees an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerVisibility {
    /// Everybody in the channel.
    ByAll,
    /// Whoever asked.
    ByAsker,
}

impl Discord {
    /// Answers with a message.
    pub async fn answer(
        &self,
        asked: &Interaction,
        post: &Post,
        seen: AnswerVisibility,
    ) -> Result<(), Error> {
        self.callback(asked, MESSAGE, Some(post), &post.answered(seen == AnswerVisibility::ByAsker)).await
    }

    /// Promises an answer, which [`edit_answer`](Self::edit_answer) gives within fifteen minutes.
    pub async fn defer(&self, asked: &Interaction, seen: AnswerVisibility) -> Result<(), Error> {
        let flags = if seen == AnswerVisibility::ByAsker { 64 } else { 0 };
        self.callback(asked, PROMISE, None, &json!({ "flags": flags })).await
    }

    /// Takes note of a click; the message stays as it is for now.
    pub async fn defer_update(&self, asked: &Interaction) -> Result<(), Error> {
        self.callback(asked, STAY, None, &json!({})).await
    }

    /// Answers a click by changing the message it was on.
    pub async fn update(&self, asked: &Interaction, post: &Post) -> Result<(), Error> {
        self.callback(asked, CHANGE, Some(post), &post.form()).await
    }

    /// Offers ways to go on with what is being typed: labels and values, the first 25 of them.
    pub async fn complete(&self, asked: &Interaction, choices: &[(String, String)]) -> Result<(), Error> {
        let choices = choices.iter().take(MOST_CHOICES);
        let choices: Value = choices.map(|(name, value)| json!({ "name": name, "value": value })).collect();
        self.callback(asked, CHOICES, None, &json!({ "choices": choices })).await
    }

    /// Gives the answer that was promised, or changes one. Returns the message that it is.
    pub async fn edit_answer(&self, asked: &Interaction, post: &Post) -> Result<MessageId, Error> {
        let deed = "answer a command";
        post.check().map_err(|what| Error::limit(deed, what))?;
        let path = format!("webhooks/{}/{}/messages/@original", asked.application, asked.token.expose());
        let form = post.form();
        let sent = self.call(deed, (Method::Patch, &path), |request| post.load(request, &form).idempotent());
        let said: Said = sent.await?.json().map_err(|error| Error::http(deed, error))?;
        Ok(said.id)
    }

    /// Says something more. If the answer is lost, nobody knows whether it was said.
    pub async fn follow_up(
        &self,
        asked: &Interaction,
        post: &Post,
        seen: AnswerVisibility,
    ) -> Result<MessageId, Error> {
        let deed = "say more to a command";
        post.check().map_err(|what| Error::limit(deed, what))?;
        let path = format!("webhooks/{}/{}", asked.application, asked.token.expose());
        let form = post.answered(seen == AnswerVisibility::ByAsker);
        let answer = self.call(deed, (Method::Post, &path), |request| post.load(request, &form)).await?;
        let said: Said = answer.json().map_err(|error| Error::http(deed, error))?;
        Ok(said.id)
    }

    /// Gives the first answer. One that was lost is given again: Discord says if it has it.
    async fn callback(
        &self,
        asked: &Interaction,
        kind: u8,
        post: Option<&Post>,
        data: &Value,
    ) -> Result<(), Error> {
        let deed = "answer a command or click";
        if let Some(post) = post {
            post.check().map_err(|what| Error::limit(deed, what))?;
        }
        let path = format!("interactions/{}/{}/callback", asked.id.0, asked.token.expose());
        let form = json!({ "type": kind, "data": data });
        let send = || {
            self.call(deed, (Method::Post, &path), |request| match post {
                Some(post) => post.load(request, &form).once(),
                None => request.json(&form).once(),
            })
        };
        let Err(lost) = send().await else { return Ok(()) };
        if !lost.lost() {
            return Err(lost);
        }
        match send().await {
            Err(error) if error.code() != Some(ANSWERED) => Err(error),
            _ => Ok(()),
        }
    }
}
