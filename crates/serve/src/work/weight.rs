//! Watches how much memory an engine takes: one that grows without end would take the machine with it.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use fro_agent::WallProcess;
use tokio::{task::spawn_blocking, time::sleep};

const LOOK: Duration = Duration::from_secs(1);

/// The engine of a turn, once it is up.
pub(super) type Engine = Arc<OnceLock<WallProcess>>;

/// Ends when the engine, with all that it started, takes more bytes than it may.
pub(super) async fn too_heavy(engine: &Engine, most: Option<u64>) {
    let Some(most) = most else { return std::future::pending().await };
    loop {
        sleep(LOOK).await;
        let engine = Arc::clone(engine);
        let weighed = spawn_blocking(move || engine.get().map_or(0, WallProcess::memory));
        if weighed.await.unwrap_or_default() > most {
            return;
        }
    }
}
