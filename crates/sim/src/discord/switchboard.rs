//! What the routes and the gateway share: the state, the sessions that hear of its changes, and the record of requests.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tokio::sync::{mpsc, watch};

use super::{
    chat::Chat,
    gateway::{Frame, GatewaySession, Mood},
    limits::Limits,
};
use crate::traffic::Exchange;

/// Shared by all handlers of one simulated Discord.
pub(crate) struct Switchboard {
    inside: Mutex<Inside>,
    changes: watch::Sender<u64>,
    traffic: Mutex<Vec<Exchange>>,
    unknown: Mutex<Vec<String>>,
    limits: Mutex<Limits>,
    /// `http://127.0.0.1:PORT`.
    pub(crate) address: String,
}

/// The state and who hears of its changes, behind one lock: events come in the order of what happened.
pub(crate) struct Inside {
    pub(crate) chat: Chat,
    pub(crate) sessions: Vec<GatewaySession>,
    pub(crate) mood: Mood,
}

impl Switchboard {
    pub(crate) fn new(chat: Chat, address: String) -> Arc<Self> {
        Arc::new(Self {
            inside: Mutex::new(Inside { chat, sessions: Vec::new(), mood: Mood::default() }),
            changes: watch::Sender::new(0),
            traffic: Mutex::default(),
            unknown: Mutex::default(),
            limits: Mutex::new(Limits::usual()),
            address,
        })
    }

    /// Looks at the state.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&Chat) -> T) -> T {
        look(&self.inside().chat)
    }

    /// Changes the state, tells the sessions what they may hear of it, and wakes those who wait.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Chat) -> T) -> T {
        let result = {
            let mut inside = self.inside();
            let result = change(&mut inside.chat);
            inside.spread();
            result
        };
        self.nudge();
        result
    }

    /// The state together with its sessions; whoever changes what is waited for must [`nudge`](Self::nudge).
    pub(crate) fn inside(&self) -> MutexGuard<'_, Inside> {
        locked(&self.inside)
    }

    /// Wakes those who wait for a change.
    pub(crate) fn nudge(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(crate) fn traffic(&self) -> MutexGuard<'_, Vec<Exchange>> {
        locked(&self.traffic)
    }

    pub(crate) fn unknown(&self) -> MutexGuard<'_, Vec<String>> {
        locked(&self.unknown)
    }

    pub(crate) fn limits(&self) -> MutexGuard<'_, Limits> {
        locked(&self.limits)
    }

    /// How often clients have to show that they live.
    pub(crate) fn heartbeat(&self) -> Duration {
        self.inside().mood.heartbeat
    }

    /// Does something to every open connection of the gateway.
    pub(crate) fn to_connections(&self, frame: &Frame) -> usize {
        let mut inside = self.inside();
        let open: Vec<mpsc::UnboundedSender<Frame>> =
            inside.sessions.iter_mut().filter_map(|session| session.line.clone()).collect();
        open.iter().filter(|line| line.send(frame.clone()).is_ok()).count()
    }
}

impl Inside {
    /// Hands every event to the sessions that may hear it.
    fn spread(&mut self) {
        for event in std::mem::take(&mut self.chat.outgoing) {
            for session in &mut self.sessions {
                if let Some(data) = event.payload_for(&self.chat, session.intents) {
                    session.tell(event.heard.name(), &data);
                }
            }
        }
    }

    /// Finds a session by its id.
    pub(crate) fn session(&mut self, id: &Value) -> Option<&mut GatewaySession> {
        self.sessions.iter_mut().find(|session| Some(session.id.as_str()) == id.as_str())
    }
}

/// Locks; what a panicking test closure left behind is still the state of the world.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
