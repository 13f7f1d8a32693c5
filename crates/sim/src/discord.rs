//! A little Discord: a gateway and the REST API over plain state, with people who talk, click and give commands.

mod chat;
mod denial;
mod event;
mod flaw;
mod form;
mod gateway;
mod limits;
mod page;
mod people;
mod permission;
mod planted;
mod rest;
mod script;
mod shape;
mod switchboard;
mod things;

use std::{io, sync::Arc, time::Duration};

use axum::{Router, extract::DefaultBodyLimit, middleware::from_fn_with_state};
use serde_json::{Value, json};

use crate::{
    faults::{self, Faults, Switch},
    route::Route,
    server::{Port, Server},
    traffic::Exchange,
};
use gateway::Frame;
use switchboard::Switchboard;

pub use chat::Chat;
pub use flaw::Flaw;
pub use limits::LimitScope;
pub use things::{
    Account, Answered, Application, Channel, ChatMessage, Guild, GuildRole, Interaction, Member, Overwrite,
    Pings, ThreadState, Upload,
};

/// How long [`Discord::wait_until`] waits: longer than any step of a working run.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running Discord. Its port closes when it is dropped, and its connections with it.
pub struct Discord {
    board: Arc<Switchboard>,
    faults: Faults,
    server: Server,
}

impl Discord {
    /// Starts it with the guild Garden on a free port.
    pub async fn start() -> io::Result<Self> {
        Self::start_on(0).await
    }

    /// Starts it on a given port; 0 takes any free one.
    pub async fn start_on(port: u16) -> io::Result<Self> {
        let port = Port::open(port).await?;
        let address = format!("http://127.0.0.1:{}", port.number());
        let board = Switchboard::new(planted::planted(&address), address);
        let faults = Faults::default();
        let server = port.serve(router(&board, &faults));
        Ok(Self { board, faults, server })
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// Where the REST API is, without its version: `http://127.0.0.1:PORT/api`.
    pub fn api_url(&self) -> String {
        format!("{}/api", self.board.address)
    }

    /// Where the gateway is.
    pub fn gateway_url(&self) -> String {
        gateway::gateway_url(&self.board.address)
    }

    /// The web page of a channel or thread.
    pub fn page_url(&self, channel: u64) -> String {
        format!("{}/channels/{channel}", self.board.address)
    }

    /// The bot's token.
    pub fn token(&self) -> String {
        self.board.read(|chat| chat.application.token.clone())
    }

    /// Looks at the state.
    pub fn state<T>(&self, look: impl FnOnce(&Chat) -> T) -> T {
        self.board.read(look)
    }

    /// Changes the state without telling anybody.
    pub fn change<T>(&self, change: impl FnOnce(&mut Chat) -> T) -> T {
        self.board.change(change)
    }

    /// Returns once the state is as told. Panics after a minute, so that a test which waits for nothing ends.
    pub async fn wait_until(&self, mut fact: impl FnMut(&Chat) -> bool) {
        self.wait(|board| board.read(&mut fact)).await;
    }

    /// Returns once so many sessions of the gateway have a connection.
    pub async fn wait_until_connected(&self, sessions: usize) {
        let open =
            |board: &Switchboard| board.inside().sessions.iter().filter(|it| it.line.is_some()).count();
        self.wait(|board| open(board) == sessions).await;
    }

    async fn wait(&self, mut fact: impl FnMut(&Switchboard) -> bool) {
        let mut changes = self.board.changes();
        let waiting = changes.wait_for(|_| fact(&self.board));
        assert!(
            tokio::time::timeout(PATIENCE, waiting).await.is_ok(),
            "Discord did not become as expected: {:#?}",
            self.traffic(),
        );
    }

    /// Every request to the API so far, with its answer.
    pub fn traffic(&self) -> Vec<Exchange> {
        self.board.traffic().clone()
    }

    /// The fault switches of the routes.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Lets a route say "slow down" the next time.
    pub fn slow_down(&self, route: &str, scope: LimitScope, wait: Duration) -> Switch {
        self.faults.on(route, scope.refusal(wait))
    }

    /// Lets everybody ask as often as they like.
    pub fn lift_limits(&self) {
        self.board.limits().enforced = false;
    }

    /// Makes a mistake from now on.
    pub fn makes(&self, flaw: Flaw) {
        self.change(|chat| chat.flaw = Some(flaw));
    }

    /// Every route, as `METHOD /path`.
    pub fn routes(&self) -> Vec<String> {
        rest::routes().list()
    }

    /// The routes that have answered somebody as they wished, at least once.
    pub fn served_routes(&self) -> Vec<String> {
        let traffic = self.traffic();
        let served = |route: &Route| {
            let reached = |exchange: &&Exchange| route.matches(&exchange.method, &exchange.path);
            traffic.iter().filter(reached).any(|exchange| exchange.status.is_some_and(|status| status < 400))
        };
        self.routes().into_iter().filter(|route| served(&Route::parse(route))).collect()
    }

    /// Requests that no route was there for; each was answered 404.
    pub fn unknown_routes(&self) -> Vec<String> {
        self.board.unknown().clone()
    }

    /// Cuts every connection to the gateway without a word. Returns how many there were.
    pub fn cut_connections(&self) -> usize {
        self.board.to_connections(&Frame::Cut)
    }

    /// Closes every connection to the gateway with a code. Returns how many there were.
    pub fn close_connections(&self, code: u16) -> usize {
        self.board.to_connections(&Frame::Close(code))
    }

    /// Asks every client to connect anew (op 7).
    pub fn ask_to_reconnect(&self) -> usize {
        self.board.to_connections(&Frame::Say(json!({ "op": 7, "s": null, "t": null, "d": null })))
    }

    /// Tells every client that its session is no more (op 9), and forgets it.
    pub fn invalidate_sessions(&self) -> usize {
        let said =
            self.board.to_connections(&Frame::Say(json!({ "op": 9, "s": null, "t": null, "d": false })));
        self.forget_sessions();
        said
    }

    /// Forgets all sessions, as Discord does some minutes after their connections are gone.
    pub fn forget_sessions(&self) {
        self.board.inside().sessions.clear();
    }

    /// Answers no sign of life any more, or does so again.
    pub fn mute_acknowledgements(&self, mute: bool) {
        self.board.inside().mood.mute = mute;
    }

    /// How often clients that connect from now on have to show that they live.
    pub fn set_heartbeat(&self, interval: Duration) {
        self.board.inside().mood.heartbeat = interval;
    }

    /// Closes the next ones that say who they are with these codes, one each.
    pub fn close_next(&self, codes: &[u16]) {
        self.board.inside().mood.closing.extend(codes);
    }

    /// Everything that sessions were told so far, as their names.
    pub fn dispatched_names(&self) -> Vec<String> {
        let inside = self.board.inside();
        let names = inside.sessions.iter().flat_map(gateway::GatewaySession::names);
        names.map(str::to_owned).collect()
    }

    /// Everything that sessions were told so far, as it was sent.
    pub fn told_frames(&self) -> Vec<Value> {
        self.board.inside().sessions.iter().flat_map(|session| session.frames().iter().cloned()).collect()
    }
}

impl Drop for Discord {
    fn drop(&mut self) {
        // Connections that became sockets outlive the server's own tasks.
        self.cut_connections();
    }
}

fn router(board: &Arc<Switchboard>, faults: &Faults) -> Router {
    let api = rest::routes()
        .into_router()
        .fallback(rest::unknown)
        .method_not_allowed_fallback(rest::unknown)
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(Arc::clone(board), limits::limit))
        .layer(from_fn_with_state(faults.clone(), faults::inject))
        .layer(from_fn_with_state(Arc::clone(board), rest::record));
    api.merge(page::routes()).with_state(Arc::clone(board))
}
