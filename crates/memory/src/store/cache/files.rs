//! Files in the Actions cache that are no part of a memory: each under a key of its own, and never changed.

use std::{io::Write as _, path::Path, sync::Arc};

use super::{
    CacheMode, CacheSettings,
    service::{Entry, Reservation, Service},
};
use crate::{
    error::Error,
    store::wire::{RANGE, Wire},
};

/// The files of one run. Everything blocks.
#[derive(Debug, Clone)]
pub struct CacheFiles {
    wire: Arc<Wire>,
    service: Service,
    mode: CacheMode,
}

impl CacheFiles {
    /// Prepares the cache; nothing is asked of it yet.
    pub fn open(settings: &CacheSettings) -> Result<Self, Error> {
        let CacheSettings { client, url, token, mode, patience, .. } = settings;
        let service = Service::open(client, url, token, patience)?;
        Ok(Self { wire: Wire::new()?, service, mode: *mode })
    }

    /// Fetches a file that is at most so large; false if there is none. It can come from anybody who may write.
    pub fn fetch(&self, key: &str, to: &Path, most: u64) -> Result<bool, Error> {
        if matches!(self.mode, CacheMode::Write | CacheMode::None) {
            return Ok(false);
        }
        let mut file = fs_err::File::create(to)?;
        self.wire.wait(async {
            let found = self.service.find(&[key]).await?;
            let Some(Entry { address, .. }) = found.filter(|entry| entry.key == key) else {
                return Ok(false);
            };
            for from in (0..most).step_by(usize::try_from(RANGE).unwrap_or(usize::MAX)) {
                let piece = self.service.download(&address, from..most.min(from + RANGE)).await?;
                file.write_all(&piece)?;
                if (piece.len() as u64) < RANGE {
                    break;
                }
            }
            Ok(true)
        })
    }

    /// Stores a file; false if this run may not, or if there is one under this key already.
    pub fn store(&self, key: &str, from: &Path) -> Result<bool, Error> {
        if matches!(self.mode, CacheMode::Read | CacheMode::None) {
            return Ok(false);
        }
        self.wire.wait(async {
            let Reservation::Ours(address) = self.service.reserve(key).await? else { return Ok(false) };
            let bytes = self.service.upload(&address, from).await?;
            self.service.finish(key, bytes).await?;
            Ok(true)
        })
    }
}
