//! What waits in the outbox is done: in order within a lane, and the lanes beside each other.

use std::{sync::Arc, time::Duration};

use fro_core::{
    Fault,
    chat::{self, ChannelId, Deed, HandedFile, MessageId, Notify, Style, begun},
};
use fro_discord::{Attempt, Button, ButtonStyle, Error, Nonce, Post, Row, Upload};
use jiff::{SignedDuration, Timestamp};
use tokio::{task::JoinSet, time};
use tracing::warn;

use super::daemon::Daemon;
use crate::{store::outbox::Due, watch::Attempted};

/// So many lanes are looked at at once.
const LANES: i64 = 50;
/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// What could not be said for so long is not news any more.
const TOO_OLD: SignedDuration = SignedDuration::from_hours(24);

/// What came of a deed.
enum DeedResult {
    /// The deed is done; a message may have come of it.
    Done(Option<MessageId>),
    /// The deed is to be tried again after this time.
    Later(String, Duration),
    /// The deed can never be done.
    Never(String),
}

impl DeedResult {
    fn attempted(&self) -> Attempted {
        match self {
            Self::Done(_) => Attempted::Done,
            Self::Later(..) => Attempted::Later,
            Self::Never(_) => Attempted::Never,
        }
    }
}

/// Does what waits for as long as this process lives.
///
/// Each deed is a task of its own: one that is in the middle of a transaction goes on while the next are looked for.
pub(super) async fn forever(daemon: &Arc<Daemon>) {
    let mut under_way = JoinSet::new();
    loop {
        let due = daemon.insist("read the outbox", || daemon.store.due(Timestamp::now(), LANES)).await;
        for due in due {
            under_way.spawn(deliver(Arc::clone(daemon), due));
        }
        let looks_again = async {
            drop(time::timeout(daemon.settings.pace.look, daemon.outbox.notified()).await);
        };
        // Whatever is done may free the next of its lane.
        tokio::select! {
            Some(_) = under_way.join_next() => {}
            () = looks_again => {}
        }
    }
}

/// Does what waits until nothing can be done at this moment.
pub(super) async fn rest(daemon: &Arc<Daemon>) {
    loop {
        let due = daemon.insist("read the outbox", || daemon.store.due(Timestamp::now(), LANES)).await;
        if due.is_empty() {
            return;
        }
        let deeds: JoinSet<()> = due.into_iter().map(|due| deliver(Arc::clone(daemon), due)).collect();
        deeds.join_all().await;
    }
}

async fn deliver(daemon: Arc<Daemon>, due: Due) {
    let daemon = &*daemon;
    let came = match attempt(daemon, &due).await {
        Ok(came) => came,
        Err(error) if error.archived() && unarchived(daemon, due.lane).await => {
            DeedResult::Later(error.to_string(), Duration::ZERO)
        }
        Err(error) => judge(daemon, &due, &error),
    };
    daemon.settings.watch.counts.deed(came.attempted());
    match came {
        DeedResult::Done(message) => note(daemon, &due, message).await,
        DeedResult::Later(why, wait) => {
            let now = Timestamp::now();
            daemon.insist("note what failed", || daemon.store.retry(due.id, &why, now, wait)).await;
        }
        DeedResult::Never(why) => {
            warn!("{why}; it is not tried again");
            daemon.insist("note what failed", || daemon.store.give_up(due.id, &why)).await;
        }
    }
}

/// Notes that a deed is done, and what follows from it.
async fn note(daemon: &Daemon, due: &Due, message: Option<MessageId>) {
    let what = "note what was done";
    let (Deed::Begin { channel, beginning, .. }, Some(message)) = (&due.deed, message) else {
        return daemon.insist(what, || daemon.store.done(due.id, message)).await;
    };
    let now = Timestamp::now();
    let follows = begun(*channel, message, beginning, now);
    daemon.insist(what, || daemon.store.done_with(due.id, message, &follows, now)).await;
    daemon.outbox.notify_one();
}

async fn attempt(daemon: &Daemon, due: &Due) -> Result<DeedResult, Error> {
    let discord = &daemon.discord;
    match &due.deed {
        Deed::OpenThread { channel, message, name } => {
            discord.open_thread(*channel, *message, name).await?;
            Ok(DeedResult::Done(None))
        }
        Deed::Say { channel, .. } | Deed::Begin { channel, .. } => say(daemon, due, *channel).await,
        Deed::Change { channel, .. } => {
            if let (Some(message), Some(post)) = (due.message, post(daemon, &due.deed)) {
                discord.edit(*channel, message, &post).await?;
            }
            Ok(DeedResult::Done(None))
        }
        Deed::TakeBack { channel } => {
            if let Some(message) = due.message {
                discord.delete(*channel, message).await?;
            }
            Ok(DeedResult::Done(None))
        }
    }
}

/// Says something. What was tried before may stand there already: it is looked for first.
async fn say(daemon: &Daemon, due: &Due, channel: ChannelId) -> Result<DeedResult, Error> {
    let Some(post) = post(daemon, &due.deed) else { return Ok(DeedResult::Done(None)) };
    let known = match due.first_try {
        Some(since) => daemon.insist("read what was said", || daemon.store.said_in(due.lane, since)).await,
        None => Vec::new(),
    };
    let attempt = match due.first_try {
        Some(since) => Attempt::Again { since, known: &known },
        None => Attempt::First,
    };
    let Some(nonce) = Nonce::new(format!("fro-{}", due.id)) else { return Ok(DeedResult::Done(None)) };
    Ok(DeedResult::Done(Some(daemon.discord.send(channel, &post, &nonce, attempt).await?)))
}

/// Makes a message of a deed that shows one.
fn post(daemon: &Daemon, deed: &Deed) -> Option<Post> {
    let (text, buttons, menu, file, handed) = match deed {
        Deed::Say { text, buttons, menu, file, handed, .. }
        | Deed::Change { text, buttons, menu, file, handed, .. } => (text, buttons, menu, file, handed),
        Deed::Begin { text, .. } => return Some(daemon.post(text)),
        Deed::OpenThread { .. } | Deed::TakeBack { .. } => return None,
    };
    let (reply_to, silent) = match deed {
        Deed::Say { reply_to, notify, .. } => (*reply_to, *notify == Notify::No),
        _ => (None, false),
    };
    let upload = |file: &chat::TextFile| {
        let bytes = daemon.clean(&file.text).as_str().as_bytes().to_vec();
        Upload { name: file.name.clone(), bytes }
    };
    Some(Post {
        rows: menu.iter().map(menu_row).chain(buttons.chunks(5).map(button_row)).collect(),
        files: file.iter().map(upload).chain(handed.iter().map(hand)).collect(),
        silent,
        reply_to,
        ..daemon.post(text)
    })
}

/// The worker has cleaned it, who alone can tell text from other bytes.
fn hand(file: &HandedFile) -> Upload {
    Upload { name: file.name.clone(), bytes: file.bytes.clone() }
}

fn menu_row(menu: &chat::Menu) -> Row {
    let options = menu.choices.iter().map(|choice| (choice.clone(), choice.clone())).collect();
    Row::Menu { custom_id: menu.id.clone(), placeholder: "Choose".to_owned(), options, most: 1 }
}

fn button_row(row: &[chat::Button]) -> Row {
    Row::Buttons(row.iter().map(button).collect())
}

fn button(button: &chat::Button) -> Button {
    let style = match button.style {
        Style::Usual => ButtonStyle::Primary,
        Style::Other => ButtonStyle::Secondary,
        Style::Danger => ButtonStyle::Danger,
    };
    Button { label: button.label.clone(), custom_id: button.id.clone(), style, enabled: true }
}

async fn unarchived(daemon: &Daemon, thread: ChannelId) -> bool {
    daemon.discord.unarchive(thread).await.is_ok()
}

/// Decides whether something that failed is tried again.
fn judge(daemon: &Daemon, due: &Due, error: &Error) -> DeedResult {
    let age = due.first_try.map(|first| Timestamp::now().duration_since(first));
    let mends = matches!(error.fault(), Fault::Upstream { .. }) || error.stranger();
    if !mends || error.gone() || age.is_some_and(|age| age > TOO_OLD) {
        return DeedResult::Never(error.to_string());
    }
    let doubled = u32::try_from(due.attempts).unwrap_or(u32::MAX).min(10);
    DeedResult::Later(error.to_string(), (daemon.settings.pace.again * 2_u32.pow(doubled)).min(LONGEST_PAUSE))
}
