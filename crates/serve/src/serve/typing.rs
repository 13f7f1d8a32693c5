//! Shows that an answer is being written, where a turn is under way.

use jiff::Timestamp;
use tokio::time;
use tracing::debug;

use super::daemon::Daemon;

/// Shows it for as long as this process lives.
pub(super) async fn forever(daemon: &Daemon) {
    loop {
        time::sleep(daemon.settings.pace.typing).await;
        let answering =
            daemon.insist("look who is answered", || daemon.store.answering(Timestamp::now())).await;
        for thread in answering {
            // It is a courtesy: where it cannot be shown, the answer comes all the same.
            if let Err(error) = daemon.discord.typing(thread).await {
                debug!("{error}");
            }
        }
    }
}
