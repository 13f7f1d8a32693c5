//! What has to be asked of GitHub before the gate can decide.

use fro_core::{Fault, Trigger, gate::Facts};
use fro_github::GitHub;
use fro_http::Road;

use crate::settings::Settings;

/// Opens the road to GitHub.
pub(crate) fn github(settings: &Settings, trigger: &Trigger) -> Result<GitHub, Fault> {
    let road = Road::new(settings.road.clone()).map_err(|error| error.fault())?;
    Ok(GitHub::new(settings.github.clone(), settings.token.clone(), trigger.repo().clone(), road))
}

/// Asks who we are and what the asker may do, both at once.
pub(crate) async fn gather(github: &GitHub, trigger: &Trigger) -> Result<Facts, Fault> {
    let (own, permission) = tokio::join!(github.viewer(), github.permission(trigger.asker()));
    let own = own.map_err(|error| error.fault())?;
    let permission = permission.map_err(|error| error.fault())?;
    Ok(Facts { own, permission })
}
