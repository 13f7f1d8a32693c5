//! What an operator sees of a process: whether it is sound, and what it counted.

mod counts;

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use fro_http::Client;
use jiff::Timestamp;
use serde::Serialize;
use tokio::time::timeout;

use crate::store::{Store, status::Status};
pub(crate) use counts::{Attempted, Counts, LineEvent};

/// How long the database may take to say how things stand.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the line to Discord may be down before somebody should look.
const MENDS: Duration = Duration::from_mins(1);

/// What watches a process, for as long as it lives.
#[derive(Debug)]
pub struct Watch {
    store: Store,
    pub(crate) counts: Counts,
    /// What asks Discord; a worker has none.
    discord: Option<Client>,
    /// How the line to Discord is, and since when; a worker has none.
    line: Mutex<Option<(Line, Instant)>>,
}

/// How the line to Discord is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// There was no connection yet.
    Opening,
    /// Discord tells what happens.
    Connected,
    /// The connection was lost, and is being resumed.
    Resuming,
    /// Another process has it.
    StandingBy,
    /// Discord will not have us until a person changes something.
    Refused,
}

/// Whether a process is sound, as `/healthz` says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Health {
    /// Whether it is.
    pub healthy: bool,
    /// `reachable`, or what is wrong with it.
    pub store: String,
    /// How the line to Discord is; a worker has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<Line>,
    /// How many seconds the oldest turn has waited that nobody works on.
    pub oldest_waiting_seconds: Option<u64>,
    /// Workers that gave a sign of life lately.
    pub workers: Option<i64>,
}

impl Watch {
    /// Watches the process that speaks to Discord, by this client.
    pub fn of_serve(store: Store, discord: Client) -> Self {
        let line = Mutex::new(Some((Line::Opening, Instant::now())));
        Self { store, counts: Counts::of_serve(), discord: Some(discord), line }
    }

    /// Watches a worker.
    pub fn of_work(store: Store) -> Self {
        Self { store, counts: Counts::of_work(), discord: None, line: Mutex::new(None) }
    }

    /// Notes how the line to Discord is.
    pub(crate) fn line_is(&self, line: Line) {
        let Ok(mut known) = self.line.lock() else { return };
        // A line that fails again and again is down since it first failed.
        let is_down = |line: Line| matches!(line, Line::Opening | Line::Resuming | Line::Refused);
        let since = known.filter(|(before, _)| is_down(*before) && is_down(line)).map(|(_, since)| since);
        *known = Some((line, since.unwrap_or_else(Instant::now)));
    }

    /// Tells whether this process is sound.
    pub async fn health(&self) -> Health {
        let line = self.line.lock().ok().and_then(|line| *line);
        let line_is_sound = line.is_none_or(|(line, since)| line.is_sound(since.elapsed()));
        let (store, status) = match self.status().await {
            Ok(status) => ("reachable".to_owned(), Some(status)),
            Err(why) => (why, None),
        };
        Health {
            healthy: line_is_sound && status.is_some(),
            store,
            gateway: line.map(|(line, _)| line),
            oldest_waiting_seconds: status.and_then(|it| it.oldest_waiting).map(|age| age.as_secs()),
            workers: status.map(|status| status.workers),
        }
    }

    /// Prints what was counted, and how the daemon stands, for a Prometheus to read.
    pub async fn metrics(&self) -> String {
        let line = self.line.lock().ok().and_then(|line| *line).map(|(line, _)| line);
        let status = self.status().await.ok();
        if let Some(client) = &self.discord {
            self.counts.slowed(client.slowed());
        }
        counts::printed(&self.counts, line, status.as_ref())
    }

    async fn status(&self) -> Result<Status, String> {
        match timeout(PATIENCE, self.store.status(Timestamp::now())).await {
            Ok(Ok(status)) => Ok(status),
            // What a database says may name its host or its file; the log has it.
            Ok(Err(error)) => {
                tracing::warn!("cannot see how things stand: {}", error.fault().what());
                Err("cannot be asked".to_owned())
            }
            Err(_) => Err("does not answer".to_owned()),
        }
    }
}

impl Line {
    /// Tells whether nobody needs to look.
    fn is_sound(self, since: Duration) -> bool {
        match self {
            Self::Connected | Self::StandingBy => true,
            Self::Opening | Self::Resuming => since < MENDS,
            Self::Refused => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_being_mended_is_sound_for_a_minute_and_a_refused_one_never() {
        let check = |line: Line, seconds: u64, expect: bool| {
            assert_eq!(line.is_sound(Duration::from_secs(seconds)), expect, "{line:?} after {seconds} s");
        };
        check(Line::Connected, 100_000, true);
        check(Line::StandingBy, 100_000, true);
        check(Line::Opening, 59, true);
        check(Line::Opening, 60, false);
        check(Line::Resuming, 59, true);
        check(Line::Resuming, 60, false);
        check(Line::Refused, 0, false);
    }
}
