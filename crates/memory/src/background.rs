//! Work that goes on on another core until somebody needs what it makes.

use std::{
    cell::{Cell, OnceCell},
    io,
    thread::{Scope, ScopedJoinHandle},
};

use crate::error::Error;

/// Something that is being made.
pub(crate) struct Background<'scope, T> {
    thread: Cell<Option<ScopedJoinHandle<'scope, Result<T, Error>>>>,
    made: OnceCell<T>,
}

impl<'scope, T: Send + 'scope> Background<'scope, T> {
    /// Begins to make it.
    pub(crate) fn begin(
        scope: &'scope Scope<'scope, '_>,
        make: impl FnOnce() -> Result<T, Error> + Send + 'scope,
    ) -> Self {
        Self { thread: Cell::new(Some(scope.spawn(make))), made: OnceCell::new() }
    }

    /// Waits until it is made; a failure is told once.
    pub(crate) fn get(&self) -> Result<&T, Error> {
        let cut_short = || io::Error::other("a part of the save was cut short");
        if let Some(thread) = self.thread.take() {
            let made = thread.join().map_err(|_| cut_short())??;
            return Ok(self.made.get_or_init(|| made));
        }
        Ok(self.made.get().ok_or_else(cut_short)?)
    }
}
