//! Shows that an answer is being written, where a turn is under way.

use jiff::Timestamp;
use tokio::time;
use tracing::debug;

use super::desk::Desk;

/// Shows it for as long as this process lives.
pub(super) async fn forever(desk: &Desk) {
    loop {
        time::sleep(desk.settings.pace.typing).await;
        let answering = desk.insist("look who is answered", || desk.store.answering(Timestamp::now())).await;
        for thread in answering {
            // It is a courtesy: where it cannot be shown, the answer comes all the same.
            if let Err(error) = desk.discord.typing(thread).await {
                debug!("{error}");
            }
        }
    }
}
