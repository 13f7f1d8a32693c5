//! What the routes of the simulated GitHub share: the state, the record of the traffic and their own address.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::{git::Store, state::State, traffic::Exchange};

/// Shared by all handlers of one world.
pub(crate) struct Hub {
    state: Mutex<State>,
    changes: watch::Sender<u64>,
    traffic: Mutex<Vec<Exchange>>,
    unknown: Mutex<Vec<String>>,
    /// The commits and files behind the state.
    pub(crate) git: Store,
    /// `http://127.0.0.1:PORT`, under which both the API and the pages are.
    pub(crate) address: String,
}

impl Hub {
    pub(crate) fn new(state: State, address: String) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(state),
            changes: watch::Sender::new(0),
            traffic: Mutex::default(),
            unknown: Mutex::default(),
            git: Store::default(),
            address,
        })
    }

    /// Looks at the state.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&locked(&self.state))
    }

    /// Changes the state and tells those who wait for a change.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut locked(&self.state));
        self.changes.send_modify(|count| *count += 1);
        result
    }

    /// Changes the state for somebody; what happens to issues by it is written down as their deed.
    pub(crate) fn change_by<T>(&self, login: &str, change: impl FnOnce(&mut State) -> T) -> T {
        self.change(|state| {
            let before = state.before();
            let result = change(state);
            state.note(&before, login);
            result
        })
    }

    /// Follows the number of changes so far.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(crate) fn traffic(&self) -> MutexGuard<'_, Vec<Exchange>> {
        locked(&self.traffic)
    }

    pub(crate) fn unknown(&self) -> MutexGuard<'_, Vec<String>> {
        locked(&self.unknown)
    }
}

/// Locks; what a panicking test closure left behind is still the state of the world.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
