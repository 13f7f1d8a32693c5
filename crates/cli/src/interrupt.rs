//! Ctrl-C and its kin, listened for from the very start so that no moment of a run is without an orderly end.

use fro_core::Fault;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The exit code of everything that was interrupted.
pub(crate) const EXIT_CODE: u8 = 130;

/// Hears that somebody wants this process to stop.
pub(crate) struct Interrupt {
    signals: [Signal; 3],
}

impl Interrupt {
    /// Starts to listen; from now on no such signal ends the process by itself.
    pub(crate) fn listen() -> Result<Self, Fault> {
        let open =
            |kind| signal(kind).map_err(|error| Fault::ours(format!("cannot listen for signals: {error}")));
        Ok(Self {
            signals: [
                open(SignalKind::interrupt())?,
                open(SignalKind::terminate())?,
                open(SignalKind::hangup())?,
            ],
        })
    }

    /// Ends when the process was asked to stop since it listens.
    pub(crate) async fn asked(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.signals;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}
