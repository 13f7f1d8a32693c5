//! Under which name this process asks for the gateway.
//!
//! Whoever has the name of the last holder goes on at once, and anybody else waits until the holder's lease has run out. A
//! store that is a file has a lock beside it that the kernel frees when its holder ends, however it ends: so the next
//! process knows that the last one is gone, and takes its name.

use std::{
    fs::{File, TryLockError},
    path::PathBuf,
};

use fro_core::Fault;
use fro_serve::Address;

/// What every process is called that has the lock.
const SOLE: &str = "serve";

/// A name, and the lock that is held for as long as it is used.
pub(super) struct Claim {
    name: String,
    _lock: Option<File>,
}

impl Claim {
    /// Takes the lock of a store, if it has one that is free.
    pub(super) fn on(address: &Address, own_name: &str) -> Result<Self, Fault> {
        let own = || Self { name: own_name.to_owned(), _lock: None };
        let Address::File(store) = address else { return Ok(own()) };
        let mut path = store.clone().into_os_string();
        path.push(".lock");
        let path = PathBuf::from(path);
        let failed = |error: std::io::Error| {
            let what = format!("cannot lock {}: {error}", path.display());
            Fault::yours(what, "keep the store in a folder that this user can write to")
        };
        let lock = File::options().create(true).append(true).open(&path).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { name: SOLE.to_owned(), _lock: Some(lock) }),
            Err(TryLockError::WouldBlock) => Ok(own()),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// Returns the name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}
