//! Which channel is which repository's, and which thread is which session.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{ChannelId, GuildId, UserId, say::Verbosity};
use crate::names::RepoName;

/// A channel that is a repository's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelLink {
    /// The channel.
    pub channel: ChannelId,
    /// The guild it is in.
    pub guild: GuildId,
    /// The repository.
    pub repository: RepoName,
    /// How people talk there.
    pub settings: ChannelSettings,
    /// Who linked it.
    pub linked_by: UserId,
    /// When.
    pub linked_at: Timestamp,
}

/// How people talk in a linked channel.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelSettings {
    /// Which messages open a thread.
    pub listen: Listen,
    /// The agent to ask, if not the usual one.
    pub agent: Option<String>,
    /// The model to ask, if not the usual one.
    pub model: Option<String>,
    /// How much of the agent's work is shown.
    #[serde(default)]
    pub verbosity: Verbosity,
    /// What the agent asks leave for.
    #[serde(default)]
    pub approvals: Approvals,
}

/// Which messages open a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Listen {
    /// Those that mention the bot.
    #[default]
    Mentions,
    /// All.
    Everything,
}

/// What the agent asks people's leave for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Approvals {
    /// Nothing: what would need leave is refused.
    #[default]
    Nothing,
    /// What the engine's configuration says is to be asked for, and questions to people.
    Rules,
    /// The same, and every change of a file and every command.
    Changes,
}

/// A thread in which the agent is spoken to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// The thread.
    pub id: ChannelId,
    /// The channel that it is in.
    pub channel: ChannelId,
    /// The guild that it is in.
    pub guild: GuildId,
    /// The repository it is about: that of the channel when the thread was opened.
    pub repository: RepoName,
    /// The engine's session, once there is one.
    pub session: Option<String>,
    /// The session that the first turn goes on with in a copy, as long as there is no session.
    pub forked_from: Option<String>,
    /// The name we gave it; another name on Discord is somebody else's choice, and stays.
    pub named: Option<String>,
    /// When it was opened.
    pub opened_at: Timestamp,
}
