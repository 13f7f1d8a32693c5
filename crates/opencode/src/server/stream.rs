//! The one stream of events of a server, for everybody who listens.
//!
//! The engine repeats nothing, so after every break the listeners are told that they may have missed something.

use std::time::Duration;

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
    event::{About, Ear, Event},
    server::client::EngineClient,
    sse,
};

/// How many events a slow listener may lag behind before it misses some.
const BACKLOG: usize = 4096;

/// The engine's heart beats every ten seconds; without three beats the connection is dead.
const SILENCE: Duration = Duration::from_secs(35);

/// How long to wait before the stream is opened again.
const PAUSE: Duration = Duration::from_millis(200);

/// How often opening the stream may fail in a row.
const FAILURES: u32 = 10;

/// A task that listens.
#[derive(Debug)]
pub(crate) struct Stream {
    events: broadcast::Sender<Event>,
    task: JoinHandle<()>,
}

impl Stream {
    /// Opens the stream; whoever subscribes after this misses nothing.
    pub(crate) async fn open(client: EngineClient, life: watch::Receiver<bool>) -> Result<Self, Error> {
        let incoming = client.listen().await?;
        let (events, _) = broadcast::channel(BACKLOG);
        let task = tokio::spawn(listen(client, incoming, events.clone(), life));
        Ok(Self { events, task })
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen(
    client: EngineClient,
    first: Incoming,
    events: broadcast::Sender<Event>,
    mut life: watch::Receiver<bool>,
) {
    let tell = |heard| drop(events.send(Event { about: About::All, heard }));
    let mut incoming = Some(first);
    let mut failures = 0;
    while failures < FAILURES && *life.borrow_and_update() {
        if let Some(incoming) = incoming.take() {
            pass_on(incoming, &events).await;
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
    warn!("the engine does not speak any more");
    tell(Heard::Gone);
}

async fn pass_on(incoming: Incoming, events: &broadcast::Sender<Event>) {
    let lines = sse::lines(incoming.into_stream());
    pin_mut!(lines);
    let mut ear = Ear::default();
    while let Ok(Some(Ok(line))) = time::timeout(SILENCE, lines.next()).await {
        if let Some(event) = ear.hear(&line) {
            // Nobody may be listening just now.
            drop(events.send(event));
        }
    }
}
