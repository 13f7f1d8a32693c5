//! Commands and clicks around a thread: begin, go on, look, stop, and answer what the engine asked.

use fro_core::{
    chat::{
        self, AuditAction, ChannelId, ChannelLink, Click, Deed, Follow, MessageId, Thread, Wanted, Whose,
        Words,
        say::{self, command as told},
    },
    remembered::Audience,
};
use fro_discord::{Interaction, Post};
use jiff::Timestamp;

use super::{Caller, Trouble, apologise, caller_of, given, tell};
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
    session: Option<String>,
) -> Result<String, Trouble> {
    caller.may(desk, Wanted::Ask).await?;
    let Some(link) = link_here(desk, caller.channel, caller).await? else { return Ok(say::not_linked()) };
    let prompt = given(asked, "prompt").unwrap_or_default();
    let text = told::opened_with(caller.id, prompt);
    let message = desk.discord.edit_answer(asked, &desk.post(&text)).await?;
    let follows = opening(desk, asked, caller, &link, (message, session, prompt)).await;
    let taken = desk.store.take_in(message, &follows, Timestamp::now()).await?;
    if taken == Intake::New {
        desk.outbox.notify_one();
    }
    Ok(text)
}

async fn opening(
    desk: &Desk,
    asked: &Interaction,
    caller: &Caller,
    link: &ChannelLink,
    (message, session, prompt): (MessageId, Option<String>, &str),
) -> Vec<Follow> {
    let Some(id) = ChannelId::new(message.number()) else { return Vec::new() };
    let name = say::thread_name(prompt);
    let thread = Thread {
        id,
        channel: link.channel,
        guild: link.guild,
        repository: link.repository.clone(),
        session,
        named: Some(name.clone()),
        opened_at: Timestamp::now(),
    };
    let words = Words {
        name: asked.asker.name.clone(),
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

/// Opens a thread that goes on with a session. What was said among few is not gone on with before many.
pub(super) async fn resume(desk: &Desk, asked: &Interaction, caller: &Caller) -> Result<String, Trouble> {
    let session = given(asked, "session").unwrap_or_default();
    let letters = session.strip_prefix("ses_").unwrap_or_default();
    if !(1..=60).contains(&letters.len()) || !letters.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(told::bad_session());
    }
    let here = desk.places.audience(caller.channel).await.unwrap_or(Audience::Everyone);
    for thread in desk.store.threads_of(session).await? {
        let there = desk.places.audience(thread.channel).await.unwrap_or(Audience::Insiders);
        if thread.channel != caller.channel && !here.may_hear(there) {
            return Ok(told::bad_session());
        }
    }
    begin(desk, asked, caller, Some(session.to_owned())).await
}

pub(super) async fn sessions(desk: &Desk, caller: &Caller) -> Result<String, Trouble> {
    caller.may(desk, Wanted::Look).await?;
    let thread = desk.store.thread(caller.channel).await?;
    let channel = thread.map_or(caller.channel, |thread| thread.channel);
    let Some(link) = link_here(desk, channel, caller).await? else { return Ok(say::not_linked()) };
    let mut threads = desk.store.threads_about(&link.repository, SHOWN).await?;
    // Those of other channels may be among fewer people.
    threads.retain(|thread| thread.channel == channel);
    Ok(told::sessions(&threads))
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
        caller.may(desk, Wanted::Look).await?;
        return Ok(told::nothing_to_stop());
    };
    let whose = if owner == caller.id { Whose::Own } else { Whose::Others };
    caller.may(desk, Wanted::Stop(whose)).await?;
    let stopped = desk.store.stop(thread, &caller.entry(AuditAction::Abort, thread.to_string())).await?;
    Ok(if stopped { told::stopping() } else { told::nothing_to_stop() })
}

pub(super) async fn queue(desk: &Desk, caller: &Caller) -> Result<String, Trouble> {
    caller.may(desk, Wanted::Look).await?;
    if !is_thread(desk, caller, caller.channel).await? {
        return Ok(told::no_thread());
    }
    let busy = desk.store.answered_now(caller.channel).await?.is_some();
    let waiting = desk.store.waiting(caller.channel).await?;
    Ok(told::queue(busy, waiting.iter().map(|turn| (turn.asker, &turn.words))))
}

/// A number is only good in its own guild and its own thread, wherever it came from.
async fn is_thread(desk: &Desk, caller: &Caller, thread: ChannelId) -> Result<bool, Trouble> {
    let known = desk.store.thread(thread).await?;
    Ok(thread == caller.channel && known.is_some_and(|known| known.guild == caller.guild))
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
        Click::Rule { approval, answer } => rule(desk, &caller, approval, &answer, message).await,
    };
    let text = match done {
        Ok(text) => text,
        Err(trouble) => apologise(desk, &caller, action, &target, trouble).await,
    };
    tell(desk, asked, &text).await
}

/// Gives somebody's word on what the engine asked. The first one stands, and is shown in the question's own message.
async fn rule(
    desk: &Desk,
    caller: &Caller,
    approval: i64,
    answer: &str,
    message: MessageId,
) -> Result<String, Trouble> {
    if desk.store.asked_in(approval).await? != Some(caller.channel) {
        return Ok(told::stale());
    }
    caller.may(desk, Wanted::Approve).await?;
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
