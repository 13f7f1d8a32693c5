//! Tells a worker which roles somebody has in a guild now: a waiting turn may be older than the last change of roles.

use tokio::time;
use tracing::warn;

use super::daemon::Daemon;
use crate::store::standing::StandingAsked;

/// Answers workers for as long as this process lives.
pub(super) async fn forever(daemon: &Daemon) {
    loop {
        time::sleep(daemon.settings.pace.look).await;
        for asked in daemon.insist("look who is asked about", || daemon.store.standings_asked()).await {
            tell(daemon, &asked).await;
        }
    }
}

/// Answers one question. What Discord does not tell now is asked again at the next look.
async fn tell(daemon: &Daemon, asked: &StandingAsked) {
    match daemon.places.roles(asked.guild, asked.person).await {
        Ok(roles) => {
            daemon
                .insist("say what somebody is", || daemon.store.tell_standing(asked, roles.as_deref()))
                .await;
        }
        Err(error) => warn!("{error}"),
    }
}
