//! Where the engine may connect to: addresses with ports, and unix sockets by their paths.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    net::SocketAddr,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::PathBuf,
};

/// One place that a connection may lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A TCP port of one IP address.
    Tcp(SocketAddr),
    /// A unix socket; the path has to be given to `connect` as it stands here.
    Unix(PathBuf),
}

impl Address {
    /// Reads `127.0.0.1:4800`, `[::1]:4800` or `unix:/run/broker.sock`.
    pub(super) fn parse(text: &OsStr) -> Option<Self> {
        match text.as_bytes().strip_prefix(UNIX) {
            Some(path) => Some(Self::Unix(OsString::from_vec(path.to_vec()).into())),
            None => text.to_str()?.parse().ok().map(Self::Tcp),
        }
    }

    /// Writes what [`Address::parse`] reads.
    pub(super) fn argument(&self) -> OsString {
        match self {
            Self::Tcp(address) => address.to_string().into(),
            Self::Unix(path) => OsString::from_vec([UNIX, path.as_os_str().as_bytes()].concat()),
        }
    }

    /// Returns the TCP port, if it has one.
    pub(super) fn port(&self) -> Option<u16> {
        match self {
            Self::Tcp(address) => Some(address.port()),
            Self::Unix(_) => None,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.argument().display().fmt(f)
    }
}

const UNIX: &[u8] = b"unix:";
