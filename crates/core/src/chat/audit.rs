//! A decision as it is written down, granted or not.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{GuildId, RoleId, UserId};

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When.
    pub at: Timestamp,
    /// In which guild.
    pub guild: GuildId,
    /// Who wanted it; nobody for what the operator's file says.
    pub actor: Option<UserId>,
    /// The roles that they had then.
    pub roles: Vec<RoleId>,
    /// What was wanted.
    pub action: AuditAction,
    /// On what: a channel, a repository, a turn.
    pub target: String,
    /// What it was before.
    pub before: Option<Json>,
    /// What it is now.
    pub after: Option<Json>,
    /// What became of it.
    pub ruling: Ruling,
}

/// What can be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditAction {
    /// A channel becomes a repository's.
    Link,
    /// A channel is nobody's again.
    Unlink,
    /// Roles get rights.
    SetPolicy,
    /// A GitHub account is shown to be somebody's.
    ProveAccount,
    /// A GitHub account is nobody's again.
    ForgetAccount,
    /// The engine may do, or may not do, what it asked for.
    Approve,
    /// A turn is ended from outside.
    Abort,
    /// How people talk in a channel is changed: the model, the agent, what is listened to.
    Choose,
    /// Words are put to the agent.
    Ask,
    /// The audit itself is read.
    ReadAudit,
}

/// What became of a wish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ruling {
    /// The wish was granted.
    Granted,
    /// The wish was denied, for this reason.
    Denied(String),
}

impl AuditEntry {
    /// Returns the same wish, not granted.
    #[must_use]
    pub fn denied(self, why: impl Into<String>) -> Self {
        Self { ruling: Ruling::Denied(why.into()), after: None, ..self }
    }

    /// Returns the same wish with what was there before.
    #[must_use]
    pub fn before(self, before: &impl Serialize) -> Self {
        Self { before: serde_json::to_value(before).ok(), ..self }
    }
}
