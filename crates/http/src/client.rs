//! The HTTP client: one pool of connections, and a verb for each kind of request.

use std::{
    fs, io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use fro_core::Fault;
use reqwest::{Certificate, ClientBuilder, Method, NoProxy, redirect};

use crate::{
    request::Request,
    settings::{ClientSettings, Proxy, Roots},
};

/// The way out for every request. Clones share connections and settings.
#[derive(Debug, Clone)]
pub struct Client {
    inner: reqwest::Client,
    settings: Arc<ClientSettings>,
    slowed: Arc<AtomicU64>,
    /// Whether the log says already that there is no connection.
    cut_off: Arc<AtomicBool>,
}

/// A setting that no client can be built from.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// A certificate authority cannot be used.
    #[error("cannot read the certificate authority `{}`", path.display())]
    Authority {
        /// The file that was named.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
    /// The proxy's address is not one.
    #[error("cannot use the proxy that the settings name")]
    Proxy(#[source] reqwest::Error),
    /// The client cannot be built, as when the system has no certificates.
    #[error("cannot set up HTTPS")]
    Client(#[source] reqwest::Error),
}

impl SetupError {
    /// Sorts this by who has to act.
    pub fn fault(&self) -> Fault {
        let hint = match self {
            Self::Authority { .. } => "name a readable file with certificates in PEM form",
            Self::Proxy(_) => "write the proxy like `http://proxy.example:3128`",
            Self::Client(_) => "install the system's certificates (package `ca-certificates`)",
        };
        Fault::yours(self.to_string(), hint)
    }
}

impl Client {
    /// Builds a client.
    pub fn new(settings: ClientSettings) -> Result<Self, SetupError> {
        provide_tls();
        // Redirects are followed by us: reqwest turns a redirected POST into a GET and calls it a success.
        let builder = reqwest::Client::builder()
            .user_agent(&settings.user_agent)
            .connect_timeout(settings.connect_timeout)
            .redirect(redirect::Policy::none());
        let builder = with_proxy(builder, &settings.proxy)?;
        let builder = match &settings.pinned {
            Some((host, addresses)) => builder.resolve_to_addrs(host, addresses),
            None => builder,
        };
        let authorities = authorities(&settings.extra_ca)?;
        let builder = match settings.roots {
            Roots::System => builder.tls_certs_merge(authorities),
            Roots::None => builder.tls_certs_only(authorities),
        };
        let inner = builder.build().map_err(SetupError::Client)?;
        Ok(Self { inner, settings: Arc::new(settings), slowed: Arc::default(), cut_off: Arc::default() })
    }

    /// Begins a request that reads.
    pub fn get(&self, url: impl AsRef<str>) -> Request {
        self.request(Method::GET, url.as_ref())
    }

    /// Begins a request that makes something, each time it is sent.
    pub fn post(&self, url: impl AsRef<str>) -> Request {
        self.request(Method::POST, url.as_ref())
    }

    /// Begins a request that changes something.
    pub fn patch(&self, url: impl AsRef<str>) -> Request {
        self.request(Method::PATCH, url.as_ref())
    }

    /// Begins a request that puts something in its place.
    pub fn put(&self, url: impl AsRef<str>) -> Request {
        self.request(Method::PUT, url.as_ref())
    }

    /// Begins a request that removes something.
    pub fn delete(&self, url: impl AsRef<str>) -> Request {
        self.request(Method::DELETE, url.as_ref())
    }

    /// Returns how often a server has asked this client and its clones to slow down.
    pub fn slowed(&self) -> u64 {
        self.slowed.load(Ordering::Relaxed)
    }

    /// Notes that there is no connection; returns whether that is new.
    pub(crate) fn note_cut_off(&self) -> bool {
        !self.cut_off.swap(true, Ordering::Relaxed)
    }

    /// Notes that there is a connection.
    pub(crate) fn note_connected(&self) {
        self.cut_off.store(false, Ordering::Relaxed);
    }

    pub(crate) fn note_slowed(&self) {
        self.slowed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn inner(&self) -> &reqwest::Client {
        &self.inner
    }

    /// Returns the pauses after which something is tried again that failed.
    pub fn pauses(&self) -> &[Duration] {
        &self.settings.retry.failing
    }

    pub(crate) fn settings(&self) -> &ClientSettings {
        &self.settings
    }

    fn request(&self, method: Method, url: &str) -> Request {
        Request::new(self.clone(), method, url)
    }
}

/// Makes sure that this process has cryptography for HTTPS, also for clients other than this one.
pub fn provide_tls() {
    // Whoever installs a provider first wins; that one is as good as ours.
    drop(rustls::crypto::ring::default_provider().install_default());
}

fn with_proxy(builder: ClientBuilder, proxy: &Proxy) -> Result<ClientBuilder, SetupError> {
    Ok(match proxy {
        Proxy::None => builder.no_proxy(),
        Proxy::System => builder,
        Proxy::Url { url, except } => {
            let proxy = reqwest::Proxy::all(url).map_err(|error| SetupError::Proxy(error.without_url()))?;
            builder.proxy(proxy.no_proxy(NoProxy::from_string(except)))
        }
    })
}

fn authorities(paths: &[PathBuf]) -> Result<Vec<Certificate>, SetupError> {
    let mut authorities = Vec::new();
    for path in paths {
        let unusable = |source| SetupError::Authority { path: path.clone(), source };
        let pem = fs::read(path).map_err(unusable)?;
        let found = Certificate::from_pem_bundle(&pem)
            .map_err(|error| unusable(io::Error::new(io::ErrorKind::InvalidData, error)))?;
        if found.is_empty() {
            return Err(unusable(io::Error::new(io::ErrorKind::InvalidData, "no certificate in it")));
        }
        authorities.extend(found);
    }
    Ok(authorities)
}
