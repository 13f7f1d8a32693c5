//! The `pre-receive` hook of the store: asks the harness whether a push may pass.
//!
//! git starts it while the new objects are in quarantine. It holds nothing and decides nothing: it tells the harness by
//! a socket, which the agent cannot reach, what would be updated, and waits for a yes or a no.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// The most updates that a hook tells of. More are refused, whatever they are, so that the rest need not be told.
pub(super) const MOST_UPDATES: usize = 100;

/// What the hook asks.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct HookQuestion {
    /// Lines as git gives them: `old new ref`.
    pub(super) updates: Vec<String>,
    /// Where the new objects are.
    pub(super) quarantine: Option<PathBuf>,
}

/// What the harness answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Passed,
    Refused(String),
}

/// Does the work of the hook: reads updates from standard input and returns the exit code.
///
/// `complain` gets what the agent's git shows.
pub fn receive(socket: &Path, quarantine: Option<PathBuf>, complain: &mut dyn io::Write) -> io::Result<u8> {
    let mut lines = io::stdin().lock().lines();
    let updates = lines.by_ref().take(MOST_UPDATES + 1).collect::<io::Result<Vec<_>>>()?;
    // git takes a hook that does not hear it out for one that broke.
    lines.try_for_each(|line| line.map(drop))?;
    let mut stream = UnixStream::connect(socket)?;
    let asked = serde_json::to_string(&HookQuestion { updates, quarantine }).map_err(io::Error::other)?;
    writeln!(stream, "{asked}")?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    match serde_json::from_str(&line).map_err(io::Error::other)? {
        Answer::Passed => Ok(0),
        Answer::Refused(why) => {
            writeln!(complain, "fro-bot: {why}")?;
            Ok(1)
        }
    }
}
