//! The bodies of requests, taken in one after another where there are too many: a flood fills the agent's own time, and
//! not the harness's memory.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body as _, Incoming};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// How long a body may take once there is room for it; it comes from the same machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// What is counted: a smaller body counts as one of these.
const UNIT: usize = 1 << 10;

/// Room for the bodies of all connections of a broker.
#[derive(Debug)]
pub(crate) struct Intake {
    room: Arc<Semaphore>,
    largest: usize,
}

/// Room that a body has; it is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct IntakeSlot(#[expect(dead_code, reason = "it is held")] Option<OwnedSemaphorePermit>);

/// Why a body is not taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IntakeRefusal {
    /// The body is larger than allowed, or broke off.
    TooLarge,
    /// The body did not come in time.
    TooSlow,
}

impl Intake {
    /// Makes room for bodies of this size, and for so many bytes at once.
    pub(crate) fn new(largest: usize, at_once: usize) -> Self {
        Self { room: Arc::new(Semaphore::new(at_once.max(largest) / UNIT)), largest }
    }

    /// Takes a body in as soon as there is room. One that does not say how large it is may be as large as any.
    pub(crate) async fn take(&self, body: Incoming) -> Result<(Bytes, IntakeSlot), IntakeRefusal> {
        let size =
            body.size_hint().exact().and_then(|size| usize::try_from(size).ok()).unwrap_or(self.largest);
        if size > self.largest {
            return Err(IntakeRefusal::TooLarge);
        }
        let units = u32::try_from(size.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(units).await;
        let body = timeout(PATIENCE, Limited::new(body, self.largest).collect()).await;
        let body = body.map_err(|_| IntakeRefusal::TooSlow)?.map_err(|_| IntakeRefusal::TooLarge)?;
        Ok((body.to_bytes(), IntakeSlot(room.ok())))
    }
}
