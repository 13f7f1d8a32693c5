//! Decides what follows from a message, an edit or a deletion in a channel: threads, turns and entries of the audit.
//!
//! A message in a linked channel opens a thread on itself, whose number is the message's own: so everything that is to
//! be done is known before Discord was asked for anything, and a restart in between changes nothing.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{
    AccountAccess, AuditAction, AuditEntry, ChannelId, ChannelLink, Deed, Denial, Follow, GuildId, Listen,
    Membership, MessageId, Notify, QuoteReason, QuotedMessage, RoleId, Roles, Ruling, SaidFile, Speaker,
    Thread, ThreadRequest, UserId, WantedHere, Words, decide, say,
};
use crate::remembered::Audience;

/// A message that somebody wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// Which.
    pub id: MessageId,
    /// In which channel or thread.
    pub channel: ChannelId,
    /// In which guild.
    pub guild: GuildId,
    /// By whom.
    pub author: UserId,
    /// What they are called.
    pub name: String,
    /// What they are in the guild.
    pub membership: Membership,
    /// The roles that they have.
    pub roles: BTreeSet<RoleId>,
    /// What it says.
    pub text: String,
    /// Whether it rings us, as Discord tells: by our name in it, or as an answer to a message of ours.
    pub rings_us: bool,
    /// The message that it answers or passes on.
    pub quoted: Option<QuotedMessage>,
    /// Who can read the channel, if anybody can tell; of a thread, its channel counts.
    pub seen_by: Option<Audience>,
    /// The files that came with it.
    pub files: Vec<SaidFile>,
}

/// Where a message was written, as far as we know the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessagePlace {
    /// Neither a linked channel nor a thread of ours.
    Elsewhere,
    /// A linked channel.
    Linked(ChannelLink),
    /// A thread that people began in a linked channel.
    Theirs {
        /// The channel that it is in.
        link: ChannelLink,
    },
    /// A thread of ours.
    Thread {
        /// The thread.
        thread: Thread,
        /// What its channel is linked to now.
        link: Option<ChannelLink>,
        /// How many turns are unfinished there.
        ahead: usize,
    },
}

/// What is known when a message arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Situation {
    /// Who we are.
    pub me: UserId,
    /// The role that the guild made for us when we came, which people take for our name.
    pub own_role: Option<RoleId>,
    /// Where it was written.
    pub place: MessagePlace,
    /// Which roles may do what in the guild.
    pub roles: Roles,
    /// The time.
    pub now: Timestamp,
}

/// What a message is without its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithoutWords {
    /// Nothing is left.
    Nothing,
    /// Files, or a message that is passed on.
    Something,
}

/// Returns what follows from a new message.
pub fn posted(message: &Posted, situation: &Situation) -> Vec<Follow> {
    if message.membership == Membership::Automaton || message.author == situation.me {
        return Vec::new();
    }
    let (text, named) = words(&message.text, (situation.me, situation.own_role));
    let called = named || message.rings_us;
    let heard = match &situation.place {
        MessagePlace::Elsewhere if called => return reply(message, say::not_linked()),
        MessagePlace::Elsewhere => false,
        // In a thread of their own people talk to each other until they call.
        MessagePlace::Theirs { .. } => called,
        MessagePlace::Linked(link) => called || link.settings.listen == Listen::Everything,
        MessagePlace::Thread { .. } => true,
    };
    if !heard {
        return Vec::new();
    }
    let is_empty = text.is_empty() && message.files.is_empty() && !passes_on(message);
    match granted(message, situation) {
        Ok(()) if is_empty && called => reply(message, say::no_words()),
        // A sticker or a poll, or content that Discord did not let us see.
        Ok(()) if is_empty => Vec::new(),
        Ok(()) => follow(message, &text, situation),
        // Whoever talks to others is left alone: a stranger's words in a thread are not meant for us.
        Err(_) if !called => Vec::new(),
        Err(denial) => {
            let mut follows = vec![Follow::Record(refusal(message, denial, situation.now))];
            follows.extend(reply(message, say::refused(denial)));
            follows
        }
    }
}

/// Tells whether a message is somebody else's words, which are all that it says.
fn passes_on(message: &Posted) -> bool {
    message.quoted.as_ref().is_some_and(|it| it.reason == QuoteReason::PassedOn && !it.text.trim().is_empty())
}

/// Returns what follows from a message that says something else now. Discord also calls it changed when a thread was opened
/// on it, so one that never had words is not taken back for having none.
pub fn edited(source: MessageId, text: &str, rest: WithoutWords, us: (UserId, Option<RoleId>)) -> Follow {
    match words(text, us).0 {
        text if text.is_empty() && rest == WithoutWords::Nothing => Follow::Withdraw(source),
        text => Follow::Reword { source, text },
    }
}

/// Returns what is said, without our name, and whether it was called.
fn words(text: &str, (me, own_role): (UserId, Option<RoleId>)) -> (String, bool) {
    let role = own_role.map(|role| format!("<@&{role}>"));
    let names: Vec<_> = [format!("<@{me}>"), format!("<@!{me}>")].into_iter().chain(role).collect();
    let called = names.iter().any(|name| text.contains(name));
    let mut text = text.to_owned();
    for name in &names {
        text = text.replace(name, "");
    }
    (text.trim().to_owned(), called)
}

/// Decides by roles alone: how far the words reach is decided when their turn has come, by the account as it is then.
fn granted(message: &Posted, situation: &Situation) -> Result<(), Denial> {
    let speaker = Speaker {
        id: message.author,
        membership: message.membership,
        roles: message.roles.clone(),
        account: AccountAccess::NoAccount,
    };
    decide(WantedHere::Ask, &speaker, &situation.roles).map(drop)
}

fn follow(message: &Posted, text: &str, situation: &Situation) -> Vec<Follow> {
    match &situation.place {
        MessagePlace::Elsewhere => Vec::new(),
        MessagePlace::Linked(link) => open(message, text, link, situation),
        MessagePlace::Theirs { link } => take_over(message, text, link, situation),
        MessagePlace::Thread { thread, link: Some(link), .. } if link.repository != thread.repository => {
            reply(message, say::other_repository(&thread.repository, &link.repository))
        }
        MessagePlace::Thread { thread, link: None, .. } => reply(message, say::unlinked(&thread.repository)),
        MessagePlace::Thread { ahead, .. } => {
            let mut follows = vec![queue(message, message.channel, text)];
            if *ahead > 0 {
                follows.push(waits(message, *ahead));
            }
            follows
        }
    }
}

/// Opens a thread on a message.
fn open(message: &Posted, text: &str, link: &ChannelLink, situation: &Situation) -> Vec<Follow> {
    let Some(id) = ChannelId::new(message.id.number()) else { return Vec::new() };
    let name = say::thread_name(text);
    let thread = Thread { named: Some(name.clone()), ..thread(id, link, situation) };
    let deed = Deed::OpenThread { channel: message.channel, message: message.id, name };
    vec![Follow::OpenThread(thread), Follow::Do { lane: id, deed }, queue(message, id, text)]
}

/// Goes on in a thread that people began. Its name is theirs.
fn take_over(message: &Posted, text: &str, link: &ChannelLink, situation: &Situation) -> Vec<Follow> {
    let thread = thread(message.channel, link, situation);
    vec![Follow::OpenThread(thread), queue(message, message.channel, text)]
}

fn thread(id: ChannelId, link: &ChannelLink, situation: &Situation) -> Thread {
    Thread {
        id,
        channel: link.channel,
        guild: link.guild,
        repository: link.repository.clone(),
        session: None,
        forked_from: None,
        named: None,
        opened_at: situation.now,
    }
}

fn queue(message: &Posted, thread: ChannelId, text: &str) -> Follow {
    let words = Words {
        name: message.name.clone(),
        roles: message.roles.iter().copied().collect(),
        text: text.to_owned(),
        seen_by: message.seen_by,
        files: message.files.clone(),
        quoted: message.quoted.clone(),
    };
    Follow::Queue(ThreadRequest { thread, source: message.id, asker: message.author, words })
}

/// Tells that something comes first, with a button that ends it.
fn waits(message: &Posted, ahead: usize) -> Follow {
    let deed = Deed::Say {
        channel: message.channel,
        text: say::queued(ahead),
        reply_to: Some(message.id),
        buttons: vec![say::interrupt(message.channel)],
        menu: None,
        file: None,
        handed: Vec::new(),
        notify: Notify::No,
    };
    Follow::Do { lane: message.channel, deed }
}

fn reply(message: &Posted, text: String) -> Vec<Follow> {
    let deed = Deed::Say {
        channel: message.channel,
        text,
        reply_to: Some(message.id),
        buttons: Vec::new(),
        menu: None,
        file: None,
        handed: Vec::new(),
        notify: Notify::No,
    };
    vec![Follow::Do { lane: message.channel, deed }]
}

fn refusal(message: &Posted, denial: Denial, at: Timestamp) -> AuditEntry {
    AuditEntry {
        at,
        guild: message.guild,
        actor: Some(message.author),
        roles: message.roles.iter().copied().collect(),
        action: AuditAction::Ask,
        target: message.channel.to_string(),
        before: None,
        after: None,
        ruling: Ruling::Denied(denial.to_string()),
    }
}

#[cfg(test)]
mod tests;
