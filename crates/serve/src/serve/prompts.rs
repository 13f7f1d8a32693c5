//! What people want to say once they have chosen a session in a menu. A restart forgets it, and the menu says so.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use fro_core::chat::{ChannelId, UserId};

/// So many are kept; whoever asks again replaces their own.
const MOST: usize = 1_000;

/// Prompts by where they were given and by whom.
#[derive(Default)]
pub(super) struct Prompts(Mutex<HashMap<(ChannelId, UserId), String>>);

impl Prompts {
    pub(super) fn keep(&self, whose: (ChannelId, UserId), prompt: &str) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST {
            kept.clear();
        }
        kept.insert(whose, prompt.to_owned());
    }

    pub(super) fn take(&self, whose: (ChannelId, UserId)) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&whose)
    }
}
