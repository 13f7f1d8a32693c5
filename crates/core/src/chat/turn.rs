//! What somebody asks in a thread, as it waits for its turn.

use serde::{Deserialize, Serialize};

use super::{ChannelId, MessageId, RoleId, UserId};
use crate::remembered::Audience;

/// Words that wait for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadRequest {
    /// In which thread.
    pub thread: ChannelId,
    /// The message that they are, or the command's own id.
    pub source: MessageId,
    /// Whose they are.
    pub asker: UserId,
    /// What they say.
    pub words: Words,
}

/// What somebody says, and what they were when they said it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// What they are called. Anybody can be called anything: data, never instruction.
    pub name: String,
    /// The roles that they had.
    pub roles: Vec<RoleId>,
    /// What they say.
    pub text: String,
    /// Who could read the channel when they said it, if anybody could tell.
    #[serde(default)]
    pub seen_by: Option<Audience>,
    /// The files that came with it.
    #[serde(default)]
    pub files: Vec<SaidFile>,
    /// The message that it is about, if it answers one or passes one on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quoted: Option<QuotedMessage>,
}

/// A message that somebody's words are about. Whoever wrote it, it is data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuotedMessage {
    /// Why it comes along.
    pub reason: QuoteReason,
    /// What its author is called, as far as Discord tells.
    pub name: String,
    /// What it says.
    pub text: String,
}

/// Why a message comes along with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuoteReason {
    /// It is answered.
    Answered,
    /// It is passed on from elsewhere.
    PassedOn,
}

/// A file that somebody sent with their words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaidFile {
    /// What it is called, which may be anything.
    pub name: String,
    /// Where it is, for some hours.
    pub url: String,
    /// How many bytes it has, as Discord says.
    pub size: u64,
}
