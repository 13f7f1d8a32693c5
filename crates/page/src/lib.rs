//! The operators' page: sessions, runs, threads, what waits, and who decided what. It shows, and changes nothing.
//!
//! Pages are made here, whole, and read without a script; a script asks for a page again when the stream of `live` says
//! that something has changed. `fro-bot view` and `fro-bot serve` show the same pages, each with what it has: a memory,
//! the daemon's store, or both.

mod audit;
mod frame;
mod guard;
mod home;
mod live;
mod memories;
mod runs;
mod sessions;
mod standing;
mod threads;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header::CONTENT_TYPE},
    middleware,
    response::IntoResponse as _,
    routing::{MethodRouter, get},
};
use fro_core::{Redactor, Secret};
use fro_serve::Store;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::io::{AsyncRead, AsyncWrite};

pub use guard::Hosts;
pub use memories::{Bring, Memories, OpenMemory};

use frame::Trouble;

/// How long somebody may take to ask.
const IDLE: Duration = Duration::from_secs(30);

/// What the pages show, and to whom.
pub struct PageSettings {
    /// What an operator proves themselves with.
    pub token: Secret,
    /// The names by which this server may be asked.
    pub hosts: Hosts,
    /// The memories that can be looked into.
    pub memories: Memories,
    /// The daemon's store, if there is a daemon.
    pub store: Option<Store>,
    /// What takes secrets out of everything that is shown.
    pub redactor: Redactor,
    /// How often it is looked whether something has changed.
    pub pace: Duration,
}

/// The pages, ready to be asked for.
#[derive(Clone)]
pub struct Page {
    router: Router,
}

impl Page {
    /// Makes them.
    pub fn new(settings: PageSettings) -> Self {
        let settings = Arc::new(settings);
        let guard = middleware::from_fn_with_state(Arc::clone(&settings), guard::admit);
        let router = Router::new()
            .route("/", get(home::show))
            .route("/sessions", get(sessions::list))
            .route("/sessions/{id}", get(sessions::one))
            .route("/runs", get(runs::list))
            .route("/threads", get(threads::list))
            .route("/threads/{id}", get(threads::one))
            .route("/links", get(threads::links))
            .route("/queue", get(standing::queue))
            .route("/audit", get(audit::show))
            .route("/events", get(live::events))
            .route("/assets/page.css", file("text/css", include_str!("page.css")))
            .route("/assets/page.js", file("text/javascript", include_str!("page.js")))
            .fallback(async |State(page): State<Arc<PageSettings>>| Trouble::missing().shown(&page))
            .method_not_allowed_fallback(async || {
                (StatusCode::METHOD_NOT_ALLOWED, "this page shows, and changes nothing\n")
            })
            .layer(guard)
            .with_state(settings);
        Self { router }
    }

    /// Answers whoever is at the other end, until they go away.
    pub async fn converse(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let service = TowerToHyperService::new(self.router.clone());
        let mut speech = http1::Builder::new();
        let speech = speech.timer(TokioTimer::new()).header_read_timeout(IDLE);
        if let Err(error) = speech.serve_connection(TokioIo::new(stream), service).await {
            tracing::debug!("somebody who looked at the page went away: {error}");
        }
    }
}

fn file(kind: &'static str, text: &'static str) -> MethodRouter<Arc<PageSettings>> {
    get(async move || ([(CONTENT_TYPE, kind)], text).into_response())
}
