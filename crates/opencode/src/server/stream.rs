//! The one stream of events of a server, for everybody who listens.
//!
//! The engine repeats nothing, so after every break the listeners are told that they may have missed something.

use std::time::Duration;

use eventsource_stream::EventStreamError;
use fro_core::conversation::heard::Heard;
use fro_http::Incoming;
use futures::{StreamExt as _, pin_mut};
use tokio::{
    sync::{broadcast, watch},
    task::JoinHandle,
    time,
};
use tracing::{debug, warn};

use crate::{
    error::Error,
    event::{About, Event, EventReader, ToolCall},
    server::client::EngineClient,
    sse::{self, StreamError},
};

/// How many events a slow listener may lag behind before it misses some.
const BACKLOG: usize = 4096;

/// The engine's heart beats every ten seconds; without three beats the connection is dead.
const SILENCE: Duration = Duration::from_secs(35);

/// How long to wait before the stream is opened again.
const PAUSE: Duration = Duration::from_millis(200);

/// How often opening the stream may fail in a row.
const FAILURES: u32 = 10;

/// How often an event may be too long to be heard: what came before can be asked for, what always comes cannot.
const FLOODS: u32 = 3;

/// Where what is heard goes.
#[derive(Debug, Clone)]
struct Subscribers {
    events: broadcast::Sender<Event>,
    tool_calls: broadcast::Sender<ToolCall>,
}

/// A task that listens.
#[derive(Debug)]
pub(crate) struct Stream {
    said: Subscribers,
    task: JoinHandle<()>,
}

impl Stream {
    /// Opens the stream; whoever subscribes after this misses nothing.
    pub(crate) async fn open(client: EngineClient, life: watch::Receiver<bool>) -> Result<Self, Error> {
        let incoming = client.listen().await?;
        let said =
            Subscribers { events: broadcast::channel(BACKLOG).0, tool_calls: broadcast::channel(BACKLOG).0 };
        let task = tokio::spawn(listen(client, incoming, said.clone(), life));
        Ok(Self { said, task })
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.said.events.subscribe()
    }

    pub(crate) fn tool_calls(&self) -> broadcast::Receiver<ToolCall> {
        self.said.tool_calls.subscribe()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen(client: EngineClient, first: Incoming, said: Subscribers, mut life: watch::Receiver<bool>) {
    let tell = |heard| drop(said.events.send(Event { about: About::All, heard }));
    let mut incoming = Some(first);
    let (mut failures, mut floods) = (0, 0);
    while failures < FAILURES && floods < FLOODS && *life.borrow_and_update() {
        if let Some(incoming) = incoming.take()
            && let Some(StreamError::TooLong) = pass_on(incoming, &said).await
        {
            floods += 1;
            warn!("an event of the engine has more than {} MiB and is not heard", sse::LONGEST >> 20);
        }
        time::sleep(PAUSE).await;
        match client.listen().await {
            Ok(again) => {
                debug!("the engine's stream of events is open again");
                failures = 0;
                incoming = Some(again);
                tell(Heard::Gap);
            }
            Err(error) => {
                failures += 1;
                debug!("cannot open the engine's stream of events: {error}");
            }
        }
    }
    warn!("the engine's stream of events broke, and does not open again");
    tell(Heard::Gone);
}

/// Passes on what is heard until the stream breaks, and returns why if it says so.
async fn pass_on(incoming: Incoming, said: &Subscribers) -> Option<StreamError<fro_http::Error>> {
    let lines = sse::lines(incoming.into_stream());
    pin_mut!(lines);
    let mut ear = EventReader::default();
    while let Ok(Some(line)) = time::timeout(SILENCE, lines.next()).await {
        let line = match line {
            Ok(line) => line,
            Err(EventStreamError::Transport(why)) => return Some(why),
            Err(EventStreamError::Utf8(_) | EventStreamError::Parser(_)) => return None,
        };
        // Nobody may be listening just now.
        if let Some(event) = ear.hear(&line) {
            drop(said.events.send(event));
        }
        if let Some(call) = ear.tool_call() {
            drop(said.tool_calls.send(call));
        }
    }
    None
}
