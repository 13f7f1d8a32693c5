//! The operators' page, where it is shown, and to whom: `fro-bot serve --page`, `fro-bot view`.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use clap::Args;
use fro_boundary::{SocketListener, SocketStream};
use fro_core::{Fault, Redactor, RepoName, Secret};
use fro_memory::Stores;
use fro_page::{Bring, Hosts, Memories, OpenMemory, Page, PageSettings};
use fro_serve::{Address, Store};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use crate::{
    env::{self, Env},
    memory::opened::Opened,
    settings, window, work,
};

/// How often it is looked whether something has changed that a page shows.
const PACE: Duration = Duration::from_secs(2);
/// The shortest token that nobody guesses.
const SHORTEST: usize = 16;

/// By which names the page may be asked for.
#[derive(Debug, Args)]
pub(crate) struct HostOption {
    /// A name by which a proxy asks for the page, as its `Host` header has it; can be given several times
    #[arg(long = "page-host", value_name = "NAME")]
    names: Vec<String>,
}

/// A port that is ours, and that nobody answers at yet.
pub(crate) struct PagePort {
    listener: TcpListener,
    address: SocketAddr,
    hosts: Hosts,
}

/// A page that is shown, until it is dropped.
pub(crate) struct ShownPage {
    _shown: AbortOnDropHandle<()>,
}

/// What a page shows.
pub(crate) struct Content {
    pub(crate) token: Secret,
    pub(crate) memories: Memories,
    pub(crate) store: Option<Store>,
    pub(crate) redactor: Redactor,
}

impl HostOption {
    /// Takes the port.
    pub(crate) async fn listen(&self, said: &str) -> Result<PagePort, Fault> {
        let address = window::read(said).ok_or_else(|| {
            let hint = "give a port such as `8370`, or an address such as `0.0.0.0:8370`";
            Fault::yours(format!("`{said}` is no place to show a page at"), hint)
        })?;
        let taken = TcpListener::bind(address).await;
        let taken = taken.and_then(|listener| Ok((listener.local_addr()?, listener)));
        let (address, listener) = taken.map_err(|error| {
            Fault::yours(format!("cannot show the page at {address}: {error}"), "name another port")
        })?;
        if !address.ip().is_loopback() {
            tracing::warn!("the page is shown to the network, without TLS: put a proxy before it");
        }
        Ok(PagePort { listener, address, hosts: Hosts::at(address, self.names.iter().cloned()) })
    }
}

impl PagePort {
    /// Shows the page.
    pub(crate) fn show(self, content: Content) -> ShownPage {
        let Content { token, memories, store, redactor } = content;
        let page =
            Page::new(PageSettings { token, hosts: self.hosts, memories, store, redactor, pace: PACE });
        anstream::println!("the operators' page is at http://{}", self.address);
        let listener = SocketListener::Tcp(self.listener);
        let shown = tokio::spawn(async move {
            let converse = move |stream: SocketStream| {
                let page = page.clone();
                async move { page.converse(stream).await }
            };
            listener.serve(converse).await;
        });
        ShownPage { _shown: AbortOnDropHandle::new(shown) }
    }
}

/// Returns the token that `FRO_PAGE_TOKEN` has, if it is one.
pub(crate) fn token(env: &Env) -> Result<Option<Secret>, Fault> {
    match env.text(env::FRO_PAGE_TOKEN) {
        Some(token) if token.len() < SHORTEST => Err(Fault::yours(
            format!("`FRO_PAGE_TOKEN` has {} characters", token.len()),
            format!(
                "give at least {SHORTEST} that nobody guesses, such as what `openssl rand -hex 24` prints"
            ),
        )),
        token => Ok(token.map(Secret::new)),
    }
}

/// The memories of repositories, kept where a worker with this environment keeps them.
pub(crate) fn of_repositories(env: &Env, store: &Address) -> Bring {
    let (folder, env) = (work::memory(env, store), Arc::new(env.with([(env::FRO_QUIET, "true")])));
    Box::new(move |repo: Option<&RepoName>| {
        let Some(repo) = repo else { return Err(Fault::ours("no repository was named")) };
        open(Opened::look(stores_of(&env, repo, folder.clone())?, &env)?)
    })
}

fn stores_of(env: &Env, repo: &RepoName, folder: Option<std::path::PathBuf>) -> Result<Stores, Fault> {
    let folder = folder.map(|folder| folder.join(repo.owner()).join(repo.name()));
    let env = env.with(folder.map(|folder| (env::FRO_MEMORY, folder)));
    let env = env.with([(env::GITHUB_REPOSITORY, repo.to_string())]);
    Ok(Stores::open(&settings::of_memory(&env)?))
}

/// Opens what was brought.
pub(crate) fn open(opened: Opened) -> Result<OpenMemory, Fault> {
    let (sessions, ledger) = (opened.sessions()?, opened.ledger()?);
    let index = opened.index(&sessions, &ledger)?;
    Ok(OpenMemory { sessions, ledger, index, folder: opened.into_folder() })
}
