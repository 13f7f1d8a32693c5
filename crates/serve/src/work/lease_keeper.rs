//! Renews the lease of a turn while it is worked on, and notices when people want it to end.

use std::time::Duration;

use jiff::Timestamp;
use tokio::{sync::watch, time::sleep};
use tokio_util::task::AbortOnDropHandle;

use crate::store::{
    Error, Store,
    queue::{Lease, Wish},
};

/// How a turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaseState {
    /// This worker has the lease, and the turn goes on.
    Ours,
    /// This worker has the lease, and somebody wants the turn to end.
    Stopped,
    /// Another worker may have the lease.
    Lost,
}

/// Beats until it is dropped.
pub(super) struct LeaseKeeper {
    standing: watch::Receiver<LeaseState>,
    _beating: AbortOnDropHandle<()>,
}

impl LeaseKeeper {
    /// Starts to beat.
    pub(super) fn start(store: &Store, lease: Lease, (time, pace): (Duration, Duration)) -> Self {
        let (sender, standing) = watch::channel(LeaseState::Ours);
        let beating = beat(store.clone(), lease, (time, pace), sender);
        Self { standing, _beating: AbortOnDropHandle::new(tokio::spawn(beating)) }
    }

    /// Ends when the turn is not to go on, and tells why.
    pub(super) async fn break_off(&mut self) -> LeaseState {
        match self.standing.wait_for(|standing| *standing != LeaseState::Ours).await {
            Ok(standing) => *standing,
            // Nobody renews the lease any more.
            Err(_) => LeaseState::Lost,
        }
    }

    /// Tells whether the turn is somebody else's by now.
    pub(super) fn is_lost(&self) -> bool {
        *self.standing.borrow() == LeaseState::Lost
    }
}

async fn beat(
    store: Store,
    lease: Lease,
    (time, pace): (Duration, Duration),
    standing: watch::Sender<LeaseState>,
) {
    let mut renewed = Timestamp::now();
    loop {
        sleep(pace).await;
        let now = Timestamp::now();
        match store.renew(lease, now, time).await {
            Ok(Wish::None) => renewed = now,
            Ok(Wish::Stop) => {
                renewed = now;
                standing.send_replace(LeaseState::Stopped);
            }
            Err(Error::Stale { .. }) => break,
            // Another worker may have it from the moment the lease ran out, whatever keeps us from asking.
            Err(_) if now.duration_since(renewed).unsigned_abs() >= time => break,
            Err(error) => tracing::warn!("cannot renew a lease: {}", error.fault().what()),
        }
    }
    standing.send_replace(LeaseState::Lost);
}
