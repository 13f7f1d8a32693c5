//! What can go wrong between us and the engine, and who has to act on it.

use std::{io, path::PathBuf, process::ExitStatus};

use fro_core::{Fault, fault::Retry};

/// A failure to install, start or speak with the engine.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no version of it that we could vouch for.
    #[error("no {tool} is pinned for {os} on {arch}")]
    NoPin {
        /// What is missing.
        tool: &'static str,
        /// The operating system.
        os: &'static str,
        /// The processor.
        arch: &'static str,
    },
    /// Nothing says where packages come from.
    #[error("cannot download {package}: there is no `npm` and no registry is configured")]
    NoRegistry {
        /// The package with its version.
        package: String,
    },
    /// The npm client failed.
    #[error("`npm pack {package}` failed ({status}): {said}")]
    Npm {
        /// The package with its version.
        package: String,
        /// How the client ended.
        status: ExitStatus,
        /// The last thing it said.
        said: String,
    },
    /// The download made no progress.
    #[error("the download of {package} made no progress for {seconds} s")]
    Stalled {
        /// The package with its version.
        package: String,
        /// How long we waited.
        seconds: u64,
    },
    /// The registry did not give it.
    #[error("cannot download {package}")]
    Download {
        /// The package with its version.
        package: String,
        /// What the registry said.
        #[source]
        source: fro_http::Error,
    },
    /// What came is not what was published.
    #[error("the download of {package} is corrupt: its SHA-512 is {found}, not {expected}")]
    Corrupt {
        /// The package with its version.
        package: String,
        /// What the pin says.
        expected: &'static str,
        /// What came.
        found: String,
    },
    /// The right bytes without the right file in them.
    #[error("{package} has no file `{file}`")]
    Incomplete {
        /// The package with its version.
        package: String,
        /// What was looked for.
        file: &'static str,
    },
    /// The disk failed.
    #[error("cannot {deed} `{}`", path.display())]
    Disk {
        /// What was tried.
        deed: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The engine, or what wraps it, cannot be started.
    #[error("cannot start `{}`", program.display())]
    Start {
        /// What was started.
        program: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// Somebody else listens there.
    #[error("cannot start the engine: port {port} is taken")]
    PortTaken {
        /// The port.
        port: u16,
    },
    /// The engine ended before it was ready.
    #[error("the engine ended before it was ready ({status}): {said}")]
    Died {
        /// How it ended.
        status: ExitStatus,
        /// The last thing it said.
        said: String,
    },
    /// The engine takes too long.
    #[error("the engine was not ready after {seconds} s: {said}")]
    NotReady {
        /// How long we waited.
        seconds: u64,
        /// The last thing it said.
        said: String,
    },
    /// The engine runs without the guard that keeps a folder's own configuration out.
    #[error("the engine started without its guard")]
    Unguarded,
    /// The engine runs, but does not do what it was asked.
    #[error("the engine did not {deed}")]
    Engine {
        /// What it was asked.
        deed: &'static str,
        /// What it answered.
        #[source]
        source: fro_http::Error,
    },
    /// The HTTP client for the engine cannot be built.
    #[error("cannot set up the way to the engine")]
    Client(#[from] fro_http::SetupError),
}

impl Error {
    /// Sorts this by who has to act.
    pub fn fault(&self) -> Fault {
        let what = self.to_string();
        match self {
            Self::NoPin { .. } => Fault::yours(what, "run this on Linux with an x86-64 processor"),
            Self::NoRegistry { .. } => Fault::yours(
                what,
                "install Node.js, which brings `npm`, or set `npm_config_registry` to your registry",
            ),
            Self::Npm { said, .. } if is_of_the_network(said) => Fault::upstream(what, Retry::Later),
            Self::Npm { said, .. } if said.contains("ENOSPC") => {
                Fault::yours(what, "make room on the disk of the tool cache, then try again")
            }
            Self::Npm { package, .. } => {
                Fault::yours(what, format!("see that `npm view {package}` works here, then try again"))
            }
            Self::Download { source, .. } => source.fault_of(&what),
            Self::Stalled { .. } => Fault::upstream(what, Retry::Later),
            Self::Corrupt { .. } | Self::Incomplete { .. } => Fault::yours(
                what,
                "nothing was installed; try again, and if it stays so, see which proxy or registry changes packages",
            ),
            Self::Disk { source, .. } => {
                Fault::yours(format!("{what}: {source}"), "see that the folder can be written and has room")
            }
            Self::Start { source, .. } => Fault::yours(
                format!("{what}: {source}"),
                "see that the file is there and may run on this machine",
            ),
            Self::PortTaken { .. } => Fault::yours(what, "end what listens there, or leave the port to us"),
            Self::Died { .. }
            | Self::NotReady { .. }
            | Self::Unguarded
            | Self::Engine { .. }
            | Self::Client(_) => Fault::ours(what),
        }
    }
}

/// Tells whether npm's words are about the way to the registry: node's codes for it.
fn is_of_the_network(said: &str) -> bool {
    ["ECONNREFUSED", "ECONNRESET", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "ENETUNREACH", "EHOSTUNREACH"]
        .iter()
        .any(|code| said.contains(code))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn what_npm_could_not_do_says_who_has_to_act() {
        let check = |said: &str, expect: (&str, u8)| {
            let (package, status) = ("opencode@1".to_owned(), ExitStatus::from_raw(256));
            let fault = Error::Npm { package, status, said: said.to_owned() }.fault();
            assert_eq!((fault.hint().as_str(), fault.exit_code()), expect, "{said}");
        };
        check("code ECONNREFUSED", ("try again in a few minutes", 3));
        check("nospc ENOSPC: no space left", ("make room on the disk of the tool cache, then try again", 2));
        check("code E404", ("see that `npm view opencode@1` works here, then try again", 2));
    }
}
