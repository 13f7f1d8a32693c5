//! Keeps the database from growing for ever.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time;
use tracing::info;

use super::daemon::Daemon;

const PAUSE: Duration = Duration::from_hours(1);

/// Removes what is old, now and then, for as long as this process lives.
pub(super) async fn forever(daemon: &Daemon) {
    loop {
        let turns = daemon.insist("remove what is old", || daemon.store.sweep(Timestamp::now())).await;
        if turns > 0 {
            info!(turns, "old turns were removed");
        }
        time::sleep(PAUSE).await;
    }
}
