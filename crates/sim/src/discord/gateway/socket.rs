//! One connection to the gateway: frames in JSON, plain or in one stream of zstd.

use std::{io::Write as _, sync::Arc, time::Duration};

use axum::{
    extract::{
        Query, State,
        ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade},
    },
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::Instant};
use zstd::stream::write::Encoder;

use super::{Begun, Frame};
use crate::discord::switchboard::Switchboard;

/// The longest frame that a client may send.
const LONGEST: usize = 4096;
/// How many frames a client may send in a minute.
const MOST: usize = 120;

/// What a client asks for in the address.
#[derive(Deserialize)]
pub(crate) struct Manner {
    v: Option<String>,
    encoding: Option<String>,
    compress: Option<String>,
}

/// Takes a connection to the gateway.
pub(crate) async fn connect(
    State(board): State<Arc<Switchboard>>,
    Query(manner): Query<Manner>,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Response {
    let Ok(upgrade) = upgrade else { return StatusCode::UPGRADE_REQUIRED.into_response() };
    upgrade.on_upgrade(async move |socket| Wire::new(socket, board, &manner).serve(&manner).await)
}

/// A connection and what was agreed on it.
struct Wire {
    socket: WebSocket,
    board: Arc<Switchboard>,
    zstd: Option<Encoder<'static, Vec<u8>>>,
    session: Option<String>,
    line: mpsc::UnboundedSender<Frame>,
    frames: mpsc::UnboundedReceiver<Frame>,
    heard: Vec<Instant>,
}

/// Why a connection ends.
enum End {
    /// We close it with this code.
    Close(u16),
    /// It is cut, or the client is gone.
    Gone,
}

type Step = Result<(), End>;

impl Wire {
    fn new(socket: WebSocket, board: Arc<Switchboard>, manner: &Manner) -> Self {
        let (line, frames) = mpsc::unbounded_channel();
        let wanted = manner.compress.as_deref() == Some("zstd-stream");
        let zstd = wanted.then(|| Encoder::new(Vec::new(), 0).ok()).flatten();
        Self { socket, board, zstd, session: None, line, frames, heard: Vec::new() }
    }

    async fn serve(mut self, manner: &Manner) {
        let Err(end) = self.converse(manner).await;
        self.hang_up();
        if let End::Close(code) = end {
            let frame = CloseFrame { code, reason: "".into() };
            // The client may be gone already, which is as good.
            drop(self.socket.send(Message::Close(Some(frame))).await);
        }
    }

    /// Talks until something ends it.
    async fn converse(&mut self, manner: &Manner) -> Result<std::convert::Infallible, End> {
        if manner.v.as_deref() != Some("10") {
            return Err(End::Close(4012));
        }
        if manner.encoding.as_deref() != Some("json") {
            return Err(End::Close(4002));
        }
        let beat = self.board.heartbeat();
        let interval = u64::try_from(beat.as_millis()).unwrap_or(u64::MAX);
        self.say(&json!({ "op": 10, "s": null, "t": null, "d": { "heartbeat_interval": interval } })).await?;
        let mut alive = Instant::now();
        loop {
            let patience = alive + beat * 2 + Duration::from_secs(1);
            tokio::select! {
                frame = self.frames.recv() => match frame {
                    Some(Frame::Say(frame)) => self.say(&frame).await?,
                    Some(Frame::Close(code)) => return Err(End::Close(code)),
                    Some(Frame::Cut) | None => return Err(End::Gone),
                },
                message = self.socket.recv() => match message {
                    Some(Ok(Message::Text(text))) => {
                        alive = Instant::now();
                        self.hear(&text).await?;
                    }
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    Some(Ok(Message::Binary(_))) => return Err(End::Close(4002)),
                    Some(Ok(Message::Close(frame))) => {
                        // The farewell is answered when the socket is asked for more.
                        drop(self.socket.recv().await);
                        return Err(self.left(frame.as_ref()));
                    }
                    Some(Err(_)) | None => return Err(End::Gone),
                },
                () = tokio::time::sleep_until(patience) => return Err(End::Close(4009)),
            }
        }
    }

    async fn hear(&mut self, text: &str) -> Step {
        self.heard.retain(|at| at.elapsed() < Duration::from_mins(1));
        self.heard.push(Instant::now());
        if self.heard.len() > MOST {
            return Err(End::Close(4008));
        }
        let frame = serde_json::from_str::<Value>(text).ok().filter(|_| text.len() <= LONGEST);
        let Some(frame) = frame else { return Err(End::Close(4002)) };
        match (frame["op"].as_u64(), self.session.is_some()) {
            (Some(1), _) => self.acknowledge().await,
            (Some(2 | 6), true) => Err(End::Close(4005)),
            (Some(2), false) => {
                let address = gateway_url(&self.board.address);
                let begun = self.board.inside().identify(&frame["d"], self.line.clone(), &address);
                self.begin(begun).await
            }
            (Some(6), false) => {
                let begun = self.board.inside().resume(&frame["d"], self.line.clone());
                self.begin(begun).await
            }
            (Some(3 | 4 | 8), true) => Ok(()),
            (Some(3 | 4 | 8), false) => Err(End::Close(4003)),
            _ => Err(End::Close(4001)),
        }
    }

    async fn acknowledge(&mut self) -> Step {
        if self.board.inside().mood.mute {
            return Ok(());
        }
        self.say(&json!({ "op": 11, "s": null, "t": null, "d": null })).await
    }

    async fn begin(&mut self, begun: Begun) -> Step {
        self.board.nudge();
        match begun {
            Begun::Session(id) => {
                self.session = Some(id);
                Ok(())
            }
            Begun::Invalid => self.say(&json!({ "op": 9, "s": null, "t": null, "d": false })).await,
            Begun::Closed(code) => Err(End::Close(code)),
        }
    }

    async fn say(&mut self, frame: &Value) -> Step {
        let invalidated = frame["op"] == json!(9);
        let text = frame.to_string();
        let message = match &mut self.zstd {
            None => Message::text(text),
            Some(encoder) => {
                let packed = encoder.write_all(text.as_bytes()).and_then(|()| encoder.flush());
                packed.map_err(|_| End::Gone)?;
                Message::binary(std::mem::take(encoder.get_mut()))
            }
        };
        self.socket.send(message).await.map_err(|_| End::Gone)?;
        if invalidated {
            self.hang_up();
            self.session = None;
        }
        Ok(())
    }

    /// A client that leaves with 1000 or 1001 gives its session up.
    fn left(&mut self, frame: Option<&CloseFrame>) -> End {
        let given_up = frame.is_some_and(|frame| matches!(frame.code, 1000 | 1001));
        if given_up && let Some(id) = self.session.take() {
            self.board.inside().sessions.retain(|session| session.id != id);
        }
        End::Gone
    }

    /// Nothing is told over this connection any more; the session itself goes on.
    fn hang_up(&mut self) {
        let mut inside = self.board.inside();
        let ours = |line: &mpsc::UnboundedSender<Frame>| line.same_channel(&self.line);
        for session in &mut inside.sessions {
            if session.line.as_ref().is_some_and(ours) {
                session.line = None;
            }
        }
        drop(inside);
        self.board.nudge();
    }
}

/// Where the gateway is.
pub(crate) fn gateway_url(address: &str) -> String {
    format!("{}/gateway", address.replacen("http", "ws", 1))
}
