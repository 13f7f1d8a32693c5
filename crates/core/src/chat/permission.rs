//! Who may do what: roles of the guild on one side, the speaker's own GitHub account on the other.
//!
//! Roles give at most an answer. What reaches GitHub needs the speaker's own account with write permission, as it is at
//! that moment. Whatever is not granted here is refused, and the refusal is written down.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

use super::{RoleId, UserId};
use crate::{gate::Reach, names::Permission};

/// Which roles of a guild may do what, by id: a name can be given to any role.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Roles {
    /// May link channels, set roles and read the audit.
    pub linkers: BTreeSet<RoleId>,
    /// May talk to the agent.
    pub askers: BTreeSet<RoleId>,
    /// May say yes or no when the engine asks.
    pub approvers: BTreeSet<RoleId>,
    /// May nothing, whatever else they are.
    pub barred: BTreeSet<RoleId>,
}

/// Somebody who wants something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Speaker {
    /// Who.
    pub id: UserId,
    /// What they are in the guild.
    pub membership: Membership,
    /// The roles that they have there now.
    pub roles: BTreeSet<RoleId>,
    /// What their GitHub account may do in the repository now.
    pub account: AccountAccess,
}

/// What somebody is in a guild.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Membership {
    /// The guild is theirs.
    Owner,
    /// A member.
    Member,
    /// A program, or a message that a webhook posted.
    Automaton,
    /// They are no member of the guild.
    Outsider,
}

/// What somebody's GitHub account may do in the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountAccess {
    /// The person has linked no GitHub account.
    NoAccount,
    /// They have shown one, and this is what it may do.
    Has(Permission),
}

/// What somebody wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedHere {
    /// To make a channel a repository's.
    Link(App),
    /// To make it nobody's.
    Unlink,
    /// To set who may what.
    SetPolicy,
    /// To read the audit.
    ReadAudit,
    /// To see links, sessions and what is under way.
    Look,
    /// To talk to the agent.
    Ask,
    /// To stop a turn, or to change one that waits.
    Stop(TurnOwner),
    /// To choose the model or the agent of a thread.
    Choose,
    /// To answer when the engine asks for leave.
    Approve,
}

/// Whether our GitHub App is on the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum App {
    /// The App is installed on the repository.
    Installed,
    /// The App is not installed there.
    Missing,
}

/// Whose turn it is that somebody wants to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnOwner {
    /// Their own.
    Own,
    /// Somebody else's.
    Others,
}

/// What is granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// The wish is granted.
    Yes,
    /// They are answered, and this far their words reach.
    Talk(Reach),
}

/// Why something is not granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denial {
    /// Programs are not listened to.
    Automaton,
    /// Not a member of this guild.
    Outsider,
    /// A role of theirs is barred.
    Barred,
    /// None of the person's roles allows the wish.
    NoRole(RoleKind),
    /// The person has linked no GitHub account.
    NoAccount,
    /// Their GitHub account may not push.
    NoWrite(Permission),
    /// The App is not on the repository.
    NoApp,
}

/// A kind of role that something needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleKind {
    /// One that may link.
    Linker,
    /// One that may talk, or link.
    Asker,
    /// One that may approve.
    Approver,
}

/// Decides.
pub fn decide(wanted: WantedHere, speaker: &Speaker, roles: &Roles) -> Result<Grant, Denial> {
    match speaker.membership {
        Membership::Automaton => return Err(Denial::Automaton),
        Membership::Outsider => return Err(Denial::Outsider),
        // The owner cannot be locked out of the roles, or nobody could mend them.
        Membership::Owner if wanted == WantedHere::SetPolicy => return Ok(Grant::Yes),
        Membership::Owner | Membership::Member => {}
    }
    if holds(speaker, &roles.barred) {
        return Err(Denial::Barred);
    }
    match wanted {
        WantedHere::Link(app) => {
            need(RoleKind::Linker, speaker, roles)?;
            need_write(speaker)?;
            match app {
                App::Installed => Ok(Grant::Yes),
                App::Missing => Err(Denial::NoApp),
            }
        }
        WantedHere::Unlink | WantedHere::SetPolicy | WantedHere::ReadAudit => {
            need(RoleKind::Linker, speaker, roles)
        }
        WantedHere::Look | WantedHere::Choose | WantedHere::Stop(TurnOwner::Own) => {
            need(RoleKind::Asker, speaker, roles)
        }
        WantedHere::Ask => {
            need(RoleKind::Asker, speaker, roles)?;
            Ok(Grant::Talk(need_write(speaker).map_or(Reach::Answer, |_| Reach::Work)))
        }
        WantedHere::Stop(TurnOwner::Others) => {
            need(RoleKind::Approver, speaker, roles).or_else(|_| need(RoleKind::Linker, speaker, roles))
        }
        WantedHere::Approve => need(RoleKind::Approver, speaker, roles),
    }
}

fn holds(speaker: &Speaker, roles: &BTreeSet<RoleId>) -> bool {
    !speaker.roles.is_disjoint(roles)
}

fn need(kind: RoleKind, speaker: &Speaker, roles: &Roles) -> Result<Grant, Denial> {
    let held = match kind {
        RoleKind::Linker => holds(speaker, &roles.linkers),
        RoleKind::Asker => holds(speaker, &roles.askers) || holds(speaker, &roles.linkers),
        RoleKind::Approver => holds(speaker, &roles.approvers),
    };
    if held { Ok(Grant::Yes) } else { Err(Denial::NoRole(kind)) }
}

fn need_write(speaker: &Speaker) -> Result<Grant, Denial> {
    match speaker.account {
        AccountAccess::NoAccount => Err(Denial::NoAccount),
        AccountAccess::Has(permission) if permission < Permission::Write => Err(Denial::NoWrite(permission)),
        AccountAccess::Has(_) => Ok(Grant::Yes),
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Automaton => f.write_str("bots and webhooks are not listened to"),
            Self::Outsider => f.write_str("you are not a member of this server"),
            Self::Barred => f.write_str("a role of yours is barred from using me"),
            Self::NoRole(RoleKind::Linker) => f.write_str("this needs a role that may link channels"),
            Self::NoRole(RoleKind::Asker) => f.write_str("this needs a role that may talk to me"),
            Self::NoRole(RoleKind::Approver) => f.write_str("this needs a role that may approve"),
            Self::NoAccount => f.write_str("this needs your GitHub account; show it to me with `/account`"),
            Self::NoWrite(permission) => {
                write!(
                    f,
                    "this needs write permission on the repository, your GitHub account has `{permission}`"
                )
            }
            Self::NoApp => f.write_str(
                "my GitHub App is not installed on that repository; ask somebody who can install it",
            ),
        }
    }
}

#[cfg(test)]
mod tests;
