//! How the client is built, as values: nothing here reads the environment.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use crate::retry::Retry;

/// What a [`Client`](crate::Client) is built from.
#[derive(Debug, Clone)]
pub struct ClientSettings {
    /// The name we go by.
    pub user_agent: String,
    /// How long a connection may take to stand.
    pub connect_timeout: Duration,
    /// How long one attempt may take, from its first byte to the last byte of the answer.
    pub timeout: Duration,
    /// How many bytes of an answer are read at most.
    pub max_body: usize,
    /// When a request is sent again.
    pub retry: Retry,
    /// What stands between us and the world.
    pub proxy: Proxy,
    /// Who vouches for the servers we meet.
    pub roots: Roots,
    /// Files with further certificate authorities (PEM), as companies with their own have them.
    pub extra_ca: Vec<PathBuf>,
    /// Where a host is, if that was found out before: its name is not looked up again.
    pub pinned: Option<(String, Vec<SocketAddr>)>,
}

/// A proxy for outgoing requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proxy {
    /// Connects directly.
    None,
    /// Goes through this proxy.
    Url {
        /// Where it listens.
        url: String,
        /// The hosts that are met directly, written as in `NO_PROXY`.
        except: String,
    },
    /// Goes the way that the proxy variables and the system's settings say.
    System,
}

/// The certificate authorities trusted besides [`ClientSettings::extra_ca`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Roots {
    /// Those of the operating system.
    System,
    /// No certificate authority besides `extra_ca` is trusted.
    None,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            user_agent: concat!("fro-bot/", env!("CARGO_PKG_VERSION")).to_owned(),
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(30),
            max_body: 16 << 20,
            retry: Retry::default(),
            proxy: Proxy::None,
            roots: Roots::System,
            extra_ca: Vec::new(),
            pinned: None,
        }
    }
}

impl ClientSettings {
    /// Returns the settings for servers of our own on this machine.
    ///
    /// They need neither proxy nor certificates (reading the system's costs milliseconds and fails where
    /// there are none), and a local server that does not answer is a fact, not a hiccup.
    pub fn loopback() -> Self {
        Self { retry: Retry::never(), roots: Roots::None, ..Self::default() }
    }
}
