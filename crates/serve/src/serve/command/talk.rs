//! Commands and clicks around a thread: begin, go on, look, stop, and answer what the engine asked.

use fro_core::{
    chat::{
        self, AuditAction, ChannelId, ChannelLink, Click, Deed, Follow, MessageId, Pick, Thread, WantedHere,
        Whose, Words,
        say::{self, command as told},
    },
    remembered::Audience,
};
use fro_discord::{Attempt, Interaction, Nonce, Post};
use jiff::Timestamp;

use super::{Caller, Reply, Trouble, apologise, caller_of, given, pick, tell};
use crate::{
    serve::desk::Desk,
    store::{approvals::Verdict, intake::Intake},
};

/// So many sessions are shown.
const SHOWN: i64 = 15;

/// Opens a thread on the answer to the command, whose number is known only once it was given.
pub(super) async fn begin(
    desk: &Desk,
    asked: &Interaction,
    caller: &Caller,
    beginning: Beginning,
) -> Result<String, Trouble> {
    caller.may(desk, WantedHere::Ask).await?;
    let Some(link) = link_here(desk, caller.channel, caller).await? else { return Ok(say::not_linked()) };
    let prompt = given(asked, "prompt").unwrap_or_default();
    let text = told::opened_with(caller.id, prompt);
    let message = desk.discord.edit_answer(asked, &desk.post(&text)).await?;
    open(desk, caller, &link, (message, beginning, prompt)).await?;
    Ok(text)
}

/// What a new thread begins with.
pub(super) enum Beginning {
    /// Nothing.
    Afresh,
    /// A session, which it goes on with.
    In(String),
    /// A copy of a session.
    CopyOf(String),
}

async fn open(
    desk: &Desk,
    caller: &Caller,
    link: &ChannelLink,
    (message, beginning, prompt): (MessageId, Beginning, &str),
) -> Result<(), Trouble> {
    let follows = opening(desk, caller, link, (message, beginning, prompt)).await;
    if desk.store.take_in(message, &follows, Timestamp::now()).await? == Intake::New {
        desk.outbox.notify_one();
    }
    Ok(())
}

async fn opening(
    desk: &Desk,
    caller: &Caller,
    link: &ChannelLink,
    (message, beginning, prompt): (MessageId, Beginning, &str),
) -> Vec<Follow> {
    let (session, forked_from) = match beginning {
        Beginning::Afresh => (None, None),
        Beginning::In(session) => (Some(session), None),
        Beginning::CopyOf(session) => (None, Some(session)),
    };
    let Some(id) = ChannelId::new(message.number()) else { return Vec::new() };
    let name = say::thread_name(prompt);
    let thread = Thread {
        id,
        channel: link.channel,
        guild: link.guild,
        repository: link.repository.clone(),
        session,
        forked_from,
        named: Some(name.clone()),
        opened_at: Timestamp::now(),
    };
    let words = Words {
        name: caller.name.clone(),
        roles: caller.roles.clone(),
        text: prompt.to_owned(),
        seen_by: desk.places.audience(link.channel).await,
        files: Vec::new(),
    };
    let open = Deed::OpenThread { channel: link.channel, message, name };
    vec![
        Follow::OpenThread(thread),
        Follow::Do { lane: id, deed: open },
        Follow::Queue(chat::Asked { thread: id, source: message, asker: caller.id, words }),
    ]
}

/// Opens a thread that goes on with a session; without one, those of the channel are offered.
pub(super) async fn resume(desk: &Desk, asked: &Interaction, caller: &Caller) -> Result<Reply, Trouble> {
    let Some(session) = given(asked, "session") else { return offer(desk, asked, caller).await };
    if !may_go_on(desk, caller.channel, session).await? {
        return Ok(told::bad_session().into());
    }
    begin(desk, asked, caller, Beginning::In(session.to_owned())).await.map(Reply::from)
}

/// Offers the sessions of the channel; the prompt is kept until one is chosen.
async fn offer(desk: &Desk, asked: &Interaction, caller: &Caller) -> Result<Reply, Trouble> {
    caller.may(desk, WantedHere::Ask).await?;
    let Some((_, threads)) = threads_here(desk, caller, "").await? else {
        return Ok(say::not_linked().into());
    };
    let option = |thread: &Thread| {
        let name = thread.named.clone().or_else(|| thread.session.clone()).unwrap_or_default();
        (name, thread.session.clone().unwrap_or_default())
    };
    let Some(menu) = pick::menu(Pick::Session, threads.iter().map(option)) else {
        return Ok(told::sessions(&[]).into());
    };
    let prompt = given(asked, "prompt").unwrap_or_default();
    desk.prompts.keep((caller.channel, caller.id), prompt);
    Ok(Reply { menu: Some(menu), ..Reply::from(told::choose("the session to go on with")) })
}

/// Opens a thread on a message of ours in the channel that goes on with the session that was chosen.
pub(super) async fn go_on(desk: &Desk, caller: &Caller, session: &str) -> Result<String, Trouble> {
    let Some(prompt) = desk.prompts.take((caller.channel, caller.id)) else { return Ok(told::stale()) };
    if !may_go_on(desk, caller.channel, session).await? {
        return Ok(told::bad_session());
    }
    in_channel(desk, caller, caller.channel, (Beginning::In(session.to_owned()), &prompt)).await
}

/// Opens a thread that goes on with a copy of a session: of this thread's, if nobody says which.
pub(super) async fn fork(desk: &Desk, asked: &Interaction, caller: &Caller) -> Result<String, Trouble> {
    let thread = thread_here(desk, caller).await?;
    let channel = thread.as_ref().map_or(caller.channel, |thread| thread.channel);
    let own = thread.and_then(|thread| thread.session);
    let Some(session) = given(asked, "session").map(str::to_owned).or(own) else {
        return Ok(told::no_session());
    };
    if !may_go_on(desk, channel, &session).await? {
        return Ok(told::bad_session());
    }
    let prompt = given(asked, "prompt").unwrap_or_default();
    in_channel(desk, caller, channel, (Beginning::CopyOf(session), prompt)).await
}

/// Says in a channel what somebody asks, and opens a thread on that.
async fn in_channel(
    desk: &Desk,
    caller: &Caller,
    channel: ChannelId,
    (beginning, prompt): (Beginning, &str),
) -> Result<String, Trouble> {
    caller.may(desk, WantedHere::Ask).await?;
    let Some(link) = link_here(desk, channel, caller).await? else { return Ok(say::not_linked()) };
    let post = desk.post(&told::opened_with(caller.id, prompt));
    let Some(nonce) = Nonce::new(format!("ask-{:x}", caller.asked.0)) else {
        return Ok(told::stale());
    };
    let message = desk.discord.send(channel, &post, &nonce, Attempt::First).await?;
    open(desk, caller, &link, (message, beginning, prompt)).await?;
    Ok(told::opened_in(message))
}

/// Tells whether a session can be gone on with here. What was said among few is not gone on with before many.
async fn may_go_on(desk: &Desk, channel: ChannelId, session: &str) -> Result<bool, Trouble> {
    let letters = session.strip_prefix("ses_").unwrap_or_default();
    if !(1..=60).contains(&letters.len()) || !letters.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(false);
    }
    let here = desk.places.audience(channel).await.unwrap_or(Audience::Everyone);
    for thread in desk.store.threads_of(session).await? {
        let there = desk.places.audience(thread.channel).await.unwrap_or(Audience::Insiders);
        if thread.channel != channel && !here.may_hear(there) {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) async fn sessions(desk: &Desk, asked: &Interaction, caller: &Caller) -> Result<String, Trouble> {
    caller.may(desk, WantedHere::Look).await?;
    let words = given(asked, "search").unwrap_or_default();
    let Some((_, threads)) = threads_here(desk, caller, words).await? else { return Ok(say::not_linked()) };
    Ok(told::sessions(&threads))
}

/// Returns the channel, and its threads that have a session and in which these words were said.
async fn threads_here(
    desk: &Desk,
    caller: &Caller,
    words: &str,
) -> Result<Option<(ChannelLink, Vec<Thread>)>, Trouble> {
    let thread = desk.store.thread(caller.channel).await?;
    let channel = thread.map_or(caller.channel, |thread| thread.channel);
    let Some(link) = link_here(desk, channel, caller).await? else { return Ok(None) };
    let mut threads = desk.store.threads_about(&link.repository, words, SHOWN).await?;
    // Those of other channels may be among fewer people.
    threads.retain(|thread| thread.channel == channel);
    Ok(Some((link, threads)))
}

async fn link_here(desk: &Desk, channel: ChannelId, caller: &Caller) -> Result<Option<ChannelLink>, Trouble> {
    Ok(desk.store.link_of(channel).await?.filter(|link| link.guild == caller.guild))
}

pub(super) async fn abort(desk: &Desk, caller: &Caller) -> Result<String, Trouble> {
    stop(desk, caller, caller.channel).await
}

async fn stop(desk: &Desk, caller: &Caller, thread: ChannelId) -> Result<String, Trouble> {
    if !is_thread(desk, caller, thread).await? {
        return Ok(told::no_thread());
    }
    let Some(owner) = desk.store.answered_now(thread).await? else {
        caller.may(desk, WantedHere::Look).await?;
        return Ok(told::nothing_to_stop());
    };
    let whose = if owner == caller.id { Whose::Own } else { Whose::Others };
    caller.may(desk, WantedHere::Stop(whose)).await?;
    let stopped = desk.store.stop(thread, &caller.entry(AuditAction::Abort, thread.to_string())).await?;
    Ok(if stopped { told::stopping() } else { told::nothing_to_stop() })
}

pub(super) async fn queue(desk: &Desk, caller: &Caller) -> Result<String, Trouble> {
    caller.may(desk, WantedHere::Look).await?;
    if !is_thread(desk, caller, caller.channel).await? {
        return Ok(told::no_thread());
    }
    let busy = desk.store.answered_now(caller.channel).await?.is_some();
    let waiting = desk.store.waiting(caller.channel).await?;
    Ok(told::queue(busy, waiting.iter().map(|turn| (turn.asker, &turn.words))))
}

/// A number is only good in its own guild and its own thread, wherever it came from.
async fn is_thread(desk: &Desk, caller: &Caller, thread: ChannelId) -> Result<bool, Trouble> {
    Ok(thread == caller.channel && thread_here(desk, caller).await?.is_some())
}

/// Returns the thread in which somebody asks, if it is one of ours.
pub(super) async fn thread_here(desk: &Desk, caller: &Caller) -> Result<Option<Thread>, Trouble> {
    Ok(desk.store.thread(caller.channel).await?.filter(|thread| thread.guild == caller.guild))
}

/// Does what a button means, and says so to whoever clicked.
pub(super) async fn click(
    desk: &Desk,
    asked: &Interaction,
    click: Click,
    message: MessageId,
) -> Result<(), fro_discord::Error> {
    let Some(caller) = caller_of(desk, asked).await? else {
        return tell(desk, asked, &told::no_guild()).await;
    };
    let (action, target) = match &click {
        Click::Stop(thread) => (AuditAction::Abort, thread.to_string()),
        Click::Rule { approval, .. } => (AuditAction::Approve, approval.to_string()),
    };
    let done = match click {
        Click::Stop(thread) => stop(desk, &caller, thread).await,
        Click::Rule { approval, answer } => rule(desk, &caller, (approval, &answer), message).await,
    };
    let text = match done {
        Ok(text) => text,
        Err(trouble) => apologise(desk, &caller, action, &target, trouble).await,
    };
    tell(desk, asked, &text).await
}

/// Gives somebody's word on what the engine asked. The first one stands, and is shown in the question's own message.
pub(super) async fn rule(
    desk: &Desk,
    caller: &Caller,
    (approval, answer): (i64, &str),
    message: MessageId,
) -> Result<String, Trouble> {
    let asked_here = match desk.store.asked_in(approval).await? {
        Some(thread) => is_thread(desk, caller, thread).await?,
        None => false,
    };
    if !asked_here {
        return Ok(told::stale());
    }
    caller.may(desk, WantedHere::Approve).await?;
    let entry = caller.entry(AuditAction::Approve, format!("{approval}: {answer}"));
    let verdict = desk.store.rule(approval, (caller.id, answer), entry).await?;
    let text = match &verdict {
        Verdict::Decided { by, answer } => {
            told::ruled(&question(desk, caller.channel, message).await, answer, *by)
        }
        Verdict::Open | Verdict::Expired => told::too_late(),
    };
    let post = Post { rows: Vec::new(), ..desk.post(&text) };
    desk.discord.edit(caller.channel, message, &post).await?;
    Ok(text)
}

async fn question(desk: &Desk, channel: ChannelId, message: MessageId) -> String {
    let asked = desk.discord.message(channel, message).await.ok().flatten();
    let text = asked.map(|message| message.content).unwrap_or_default();
    // A second click finds what the first one made of it.
    text.split("\n-# ").next().unwrap_or_default().to_owned()
}
