//! Commands and clicks around a thread: begin, go on, look, stop, and answer what the engine asked.

use std::time::Duration;

use fro_core::{
    chat::{
        AuditAction, ChannelId, ChannelLink, Click, Deed, MessageId, Pick, Thread, ThreadOpening, TurnOwner,
        WantedHere, Words,
        say::{self, command as told},
    },
    remembered::Audience,
};
use fro_discord::{Interaction, Post};
use jiff::Timestamp;
use tokio::time;

use super::{Caller, Reply, Trouble, apologise, give, given, pick, promise, sessions};
use crate::{
    serve::daemon::Daemon,
    store::{self, approvals::Verdict, outbox::Delivery},
};

/// How long somebody who gave a command waits to be told of its thread.
const WAITS: Duration = Duration::from_secs(10);

/// What a new thread goes on with.
enum NewThreadSession {
    /// Nothing.
    Afresh,
    /// A session.
    In(String),
    /// A copy of a session.
    InCopyOf(String),
}

/// Opens a thread that begins afresh.
pub(super) async fn new(daemon: &Daemon, asked: &Interaction, caller: &Caller) -> Result<String, Trouble> {
    let prompt = given(asked, "prompt").unwrap_or_default();
    begin(daemon, caller, caller.channel, (NewThreadSession::Afresh, prompt)).await
}

/// Opens a thread that goes on with a session; without one, those of the channel are offered.
pub(super) async fn resume(daemon: &Daemon, asked: &Interaction, caller: &Caller) -> Result<Reply, Trouble> {
    caller.may(daemon, WantedHere::Ask).await?;
    let Some(session) = given(asked, "session") else { return offer(daemon, asked, caller).await };
    if !may_go_on(daemon, caller.channel, session).await? {
        return Ok(told::bad_session().into());
    }
    let prompt = given(asked, "prompt").unwrap_or_default();
    let onward = NewThreadSession::In(session.to_owned());
    begin(daemon, caller, caller.channel, (onward, prompt)).await.map(Reply::from)
}

/// Offers the sessions of the channel; the prompt is kept until one is chosen.
async fn offer(daemon: &Daemon, asked: &Interaction, caller: &Caller) -> Result<Reply, Trouble> {
    let Some((sessions, memory)) = sessions::here(daemon, caller, "").await? else {
        return Ok(say::not_linked().into());
    };
    let options = sessions.iter().map(|it| (it.name.clone(), it.session.clone()));
    let Some(menu) = pick::menu(Pick::Session, options) else {
        return Ok(told::sessions(&[], memory).into());
    };
    let prompt = given(asked, "prompt").unwrap_or_default();
    daemon.prompts.keep((caller.channel, caller.id), prompt);
    Ok(Reply { menu: Some(menu), ..Reply::from(told::choose_session(memory)) })
}

/// Opens a thread on a message of ours in the channel that goes on with the session that was chosen.
pub(super) async fn go_on(daemon: &Daemon, caller: &Caller, session: &str) -> Result<String, Trouble> {
    let Some(prompt) = daemon.prompts.take((caller.channel, caller.id)) else { return Ok(told::stale()) };
    if !may_go_on(daemon, caller.channel, session).await? {
        return Ok(told::bad_session());
    }
    begin(daemon, caller, caller.channel, (NewThreadSession::In(session.to_owned()), &prompt)).await
}

/// Opens a thread that goes on with a copy of a session: of this thread's, if nobody says which.
pub(super) async fn fork(daemon: &Daemon, asked: &Interaction, caller: &Caller) -> Result<String, Trouble> {
    caller.may(daemon, WantedHere::Ask).await?;
    let thread = thread_here(daemon, caller).await?;
    let channel = thread.as_ref().map_or(caller.channel, |thread| thread.channel);
    let own = thread.and_then(|thread| thread.session);
    let Some(session) = given(asked, "session").map(str::to_owned).or(own) else {
        return Ok(told::no_session());
    };
    if !may_go_on(daemon, channel, &session).await? {
        return Ok(told::bad_session());
    }
    let prompt = given(asked, "prompt").unwrap_or_default();
    begin(daemon, caller, channel, (NewThreadSession::InCopyOf(session), prompt)).await
}

/// Writes down that somebody's words are to be said in a channel and a thread opened on them, and waits until it is.
///
/// The thread has the number of the message that the words become. So nothing is said before the intention is in the
/// store: whatever ends in between, the outbox goes on with it.
async fn begin(
    daemon: &Daemon,
    caller: &Caller,
    channel: ChannelId,
    (onward, prompt): (NewThreadSession, &str),
) -> Result<String, Trouble> {
    caller.may(daemon, WantedHere::Ask).await?;
    let Some(link) = link_here(daemon, channel, caller).await? else { return Ok(say::not_linked()) };
    let beginning = Box::new(beginning(daemon, caller, link, (onward, prompt)).await);
    let deed = Deed::Begin { channel, text: told::opened_with(caller.id, prompt), beginning };
    let event = format!("asked {}", caller.asked.0);
    let Some(id) = daemon.store.intend(event, (channel, &deed), Timestamp::now()).await? else {
        return Ok(told::opens_later());
    };
    daemon.outbox.notify_one();
    let delivery = time::timeout(WAITS, delivered(daemon, id)).await.unwrap_or(Ok(Delivery::Waiting))?;
    Ok(match delivery {
        Delivery::Done(Some(message)) => told::opened_in(message),
        Delivery::Done(None) | Delivery::Waiting => told::opens_later(),
        Delivery::Failed => told::opens_never(),
    })
}

async fn beginning(
    daemon: &Daemon,
    caller: &Caller,
    link: ChannelLink,
    (onward, prompt): (NewThreadSession, &str),
) -> ThreadOpening {
    let (session, forked_from) = match onward {
        NewThreadSession::Afresh => (None, None),
        NewThreadSession::In(session) => (Some(session), None),
        NewThreadSession::InCopyOf(session) => (None, Some(session)),
    };
    let words = Words {
        name: caller.name.clone(),
        roles: caller.roles.clone(),
        text: prompt.to_owned(),
        seen_by: daemon.places.audience(link.channel).await,
        files: Vec::new(),
        quoted: None,
    };
    let (guild, repository, name) = (link.guild, link.repository, say::thread_name(prompt));
    ThreadOpening { guild, repository, session, forked_from, name, asker: caller.id, words }
}

/// Waits until a deed is done or will never be.
async fn delivered(daemon: &Daemon, id: i64) -> Result<Delivery, store::Error> {
    loop {
        match daemon.store.delivery(id).await? {
            Delivery::Waiting => time::sleep(daemon.settings.pace.look).await,
            delivery => return Ok(delivery),
        }
    }
}

/// Tells whether a session can be gone on with here. What was said among few is not gone on with before many.
async fn may_go_on(daemon: &Daemon, channel: ChannelId, session: &str) -> Result<bool, Trouble> {
    let letters = session.strip_prefix("ses_").unwrap_or_default();
    if !(1..=60).contains(&letters.len()) || !letters.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(false);
    }
    let here = daemon.places.audience(channel).await.unwrap_or(Audience::Everyone);
    for thread in daemon.store.threads_of(session).await? {
        let there = daemon.places.audience(thread.channel).await.unwrap_or(Audience::Insiders);
        if thread.channel != channel && !here.may_hear(there) {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) async fn link_here(
    daemon: &Daemon,
    channel: ChannelId,
    caller: &Caller,
) -> Result<Option<ChannelLink>, Trouble> {
    Ok(daemon.store.link_of(channel).await?.filter(|link| link.guild == caller.guild))
}

pub(super) async fn abort(daemon: &Daemon, caller: &Caller) -> Result<String, Trouble> {
    stop(daemon, caller, caller.channel).await
}

async fn stop(daemon: &Daemon, caller: &Caller, thread: ChannelId) -> Result<String, Trouble> {
    if !is_thread(daemon, caller, thread).await? {
        return Ok(told::no_thread());
    }
    let Some(owner) = daemon.store.answered_now(thread).await? else {
        caller.may(daemon, WantedHere::Look).await?;
        return Ok(told::nothing_to_stop());
    };
    let whose = if owner == caller.id { TurnOwner::Own } else { TurnOwner::Others };
    caller.may(daemon, WantedHere::Stop(whose)).await?;
    let stopped = daemon.store.stop(thread, &caller.entry(AuditAction::Abort, thread.to_string())).await?;
    Ok(if stopped { told::stopping() } else { told::nothing_to_stop() })
}

pub(super) async fn queue(daemon: &Daemon, caller: &Caller) -> Result<String, Trouble> {
    caller.may(daemon, WantedHere::Look).await?;
    if !is_thread(daemon, caller, caller.channel).await? {
        return Ok(told::no_thread());
    }
    let busy = daemon.store.answered_now(caller.channel).await?.is_some();
    let waiting = daemon.store.waiting(caller.channel).await?;
    Ok(told::queue(busy, waiting.iter().map(|turn| (turn.asker, &turn.words))))
}

/// A number is only good in its own guild and its own thread, wherever it came from.
async fn is_thread(daemon: &Daemon, caller: &Caller, thread: ChannelId) -> Result<bool, Trouble> {
    Ok(thread == caller.channel && thread_here(daemon, caller).await?.is_some())
}

/// Returns the thread in which somebody asks, if it is one of ours.
pub(super) async fn thread_here(daemon: &Daemon, caller: &Caller) -> Result<Option<Thread>, Trouble> {
    Ok(daemon.store.thread(caller.channel).await?.filter(|thread| thread.guild == caller.guild))
}

/// Does what a button means, and says so to whoever clicked.
pub(super) async fn click(
    daemon: &Daemon,
    asked: &Interaction,
    click: Click,
    message: MessageId,
) -> Result<(), fro_discord::Error> {
    let caller = match promise(daemon, asked).await? {
        Ok(caller) => caller,
        Err(why) => return give(daemon, asked, why).await,
    };
    let (action, target) = match &click {
        Click::Stop(thread) => (AuditAction::Abort, thread.to_string()),
        Click::Rule { approval, .. } => (AuditAction::Approve, approval.to_string()),
    };
    let done = match click {
        Click::Stop(thread) => stop(daemon, &caller, thread).await,
        Click::Rule { approval, answer } => rule(daemon, &caller, (approval, &answer), message).await,
    };
    let text = match done {
        Ok(text) => text,
        Err(trouble) => apologise(daemon, &caller, action, &target, trouble).await,
    };
    give(daemon, asked, text.into()).await
}

/// Gives somebody's word on what the engine asked. The first one stands, and is shown in the question's own message.
pub(super) async fn rule(
    daemon: &Daemon,
    caller: &Caller,
    (approval, answer): (i64, &str),
    message: MessageId,
) -> Result<String, Trouble> {
    let asked_here = match daemon.store.asked_in(approval).await? {
        Some(thread) => is_thread(daemon, caller, thread).await?,
        None => false,
    };
    if !asked_here {
        return Ok(told::stale());
    }
    caller.may(daemon, WantedHere::Approve).await?;
    let entry = caller.entry(AuditAction::Approve, format!("{approval}: {answer}"));
    let verdict = daemon.store.rule(approval, (caller.id, answer), entry).await?;
    let text = match &verdict {
        Verdict::Decided { by, answer } => {
            told::ruled(&question(daemon, caller.channel, message).await, answer, *by)
        }
        Verdict::Open | Verdict::Expired => told::too_late(),
    };
    let post = Post { rows: Vec::new(), ..daemon.post(&text) };
    daemon.discord.edit(caller.channel, message, &post).await?;
    Ok(text)
}

async fn question(daemon: &Daemon, channel: ChannelId, message: MessageId) -> String {
    let asked = daemon.discord.message(channel, message).await.ok().flatten();
    let text = asked.map(|message| message.content).unwrap_or_default();
    // A second click finds what the first one made of it.
    text.split("\n-# ").next().unwrap_or_default().to_owned()
}
