//! Says what somebody is in a guild when a worker asks: words wait, and roles may be gone since they were said.

use tokio::time;
use tracing::warn;

use super::desk::Desk;
use crate::store::standing::StandingAsked;

/// Answers workers for as long as this process lives.
pub(super) async fn forever(desk: &Desk) {
    loop {
        time::sleep(desk.settings.pace.look).await;
        for asked in desk.insist("look who is asked about", || desk.store.standings_asked()).await {
            tell(desk, &asked).await;
        }
    }
}

/// Answers one question. What Discord does not tell now is asked again at the next look.
async fn tell(desk: &Desk, asked: &StandingAsked) {
    match desk.places.roles(asked.guild, asked.person).await {
        Ok(roles) => {
            desk.insist("say what somebody is", || desk.store.tell_standing(asked, roles.as_deref())).await;
        }
        Err(error) => warn!("{error}"),
    }
}
