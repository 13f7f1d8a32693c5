//! Finds out which session of an engine makes a tool call.
//!
//! The engine tells the servers of tools neither the session nor the call. So each call is compared with those that the
//! engine itself reports as running ([`RunningCalls`]): it has to be one of them, and is done in the name of the session
//! that makes it, once. Every session's shell can open the tools' socket too; what it writes there is no running call of
//! anybody. As long as an engine has only ever had one session, a call can be nobody else's, and is not compared.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use fro_core::{conversation::heard::Heard, tool_call::running::RunningCalls};
use fro_opencode::{About, CallState, Connection, Event, ToolCall};
use tokio::{
    sync::{
        Notify,
        broadcast::{Receiver, error::RecvError},
    },
    time::{Instant, timeout_at},
};
use tokio_util::task::AbortOnDropHandle;

use crate::tools::{Arguments, Tools};

/// How long the engine's report of a call may take: it comes on another way than the call itself.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why a call is refused that no session makes.
const NO_CALLER: &str = "no session of this engine makes this call";

/// The sessions of an engine, and the calls that they make.
#[derive(Debug, Default)]
pub(crate) struct Callers {
    known: Mutex<OpenCalls>,
    changed: Notify,
}

#[derive(Default)]
struct OpenCalls {
    calls: RunningCalls,
    callers: Vec<Caller>,
    /// How many sessions there ever were.
    n_opened: u64,
}

/// One session with all ids that it ever had: a full one is replaced by a new one.
struct Caller {
    number: u64,
    ids: Vec<String>,
    tools: Vec<Arc<dyn Tools>>,
}

/// The place of a session among the callers; dropping it takes the session's tools away.
#[derive(Debug)]
pub(crate) struct ToolRegistration {
    callers: Arc<Callers>,
    number: u64,
}

impl Callers {
    /// Lets a session call these tools.
    pub(crate) fn register(self: &Arc<Self>, id: &str, tools: Vec<Arc<dyn Tools>>) -> ToolRegistration {
        let mut known = self.known();
        known.n_opened += 1;
        let number = known.n_opened;
        known.callers.push(Caller { number, ids: vec![id.to_owned()], tools });
        ToolRegistration { callers: Arc::clone(self), number }
    }

    /// Tells whether there was never more than one session.
    pub(crate) fn is_single(&self) -> bool {
        self.known().n_opened <= 1
    }

    /// Listens to what the engine reports, for as long as what is returned lives.
    pub(crate) fn listen(self: &Arc<Self>, connection: &Connection) -> AbortOnDropHandle<()> {
        let (events, calls) = (connection.events(), connection.tool_calls());
        AbortOnDropHandle::new(tokio::spawn(Arc::clone(self).follow(events, calls)))
    }

    async fn follow(self: Arc<Self>, mut events: Receiver<Event>, mut calls: Receiver<ToolCall>) {
        loop {
            let heard = tokio::select! {
                call = calls.recv() => call.map(|call| self.note_call(call)),
                event = events.recv() => event.map(|event| self.note_event(event)),
            };
            match heard {
                // What was missed is refused: better a call too little than one in a wrong name.
                Ok(()) | Err(RecvError::Lagged(_)) => self.changed.notify_waiters(),
                Err(RecvError::Closed) => return,
            }
        }
    }

    fn note_call(&self, call: ToolCall) {
        let ToolCall { session, id, tool, input, state } = call;
        match state {
            CallState::Running => self.known().calls.began(session, id, tool, input),
            CallState::Over => self.known().calls.ended(&session, &id),
        }
    }

    fn note_event(&self, event: Event) {
        if let (About::Child { id, parent }, Heard::ChildBorn) = (event.about, event.heard) {
            self.known().calls.born(id, parent);
        }
    }

    /// Returns the tools that serve a call: those of the session that makes it.
    pub(crate) async fn tools_of(
        &self,
        set: &str,
        tool: &str,
        arguments: &Arguments,
    ) -> Result<Arc<dyn Tools>, String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let changed = self.changed.notified();
            if let Some(found) = self.known().claim(set, tool, arguments) {
                return found;
            }
            if timeout_at(deadline, changed).await.is_err() {
                return Err(NO_CALLER.to_owned());
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, OpenCalls> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenCalls {
    /// Finds whose call it is; nothing if the engine has not reported it yet.
    fn claim(
        &mut self,
        set: &str,
        tool: &str,
        arguments: &Arguments,
    ) -> Option<Result<Arc<dyn Tools>, String>> {
        let caller = if self.n_opened <= 1 {
            self.callers.first()
        } else {
            let session = self.calls.claim(tool, arguments)?;
            self.callers.iter().find(|caller| caller.ids.contains(&session))
        };
        let Some(caller) = caller else { return Some(Err(NO_CALLER.to_owned())) };
        let tools = caller.tools.iter().find(|tools| tools.name() == set);
        Some(tools.cloned().ok_or_else(|| format!("this session has no tools called `{set}`")))
    }
}

impl ToolRegistration {
    /// Says under which further id the session goes on.
    pub(crate) fn add_id(&self, id: &str) {
        let mut known = self.callers.known();
        if let Some(caller) = known.callers.iter_mut().find(|caller| caller.number == self.number) {
            caller.ids.push(id.to_owned());
        }
    }
}

impl Drop for ToolRegistration {
    fn drop(&mut self) {
        self.callers.known().callers.retain(|caller| caller.number != self.number);
    }
}

impl fmt::Debug for OpenCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenCalls").field("calls", &self.calls).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures::future::{BoxFuture, ready};
    use serde_json::json;

    use super::*;

    /// A set of tools that says whose it is.
    struct Owned(&'static str);

    impl Tools for Owned {
        fn name(&self) -> &'static str {
            "answer"
        }

        fn call(&self, _tool: &str, _arguments: Arguments) -> BoxFuture<'_, Result<String, String>> {
            Box::pin(ready(Ok(self.0.to_owned())))
        }
    }

    fn arguments(body: &str) -> Arguments {
        json!({ "body": body }).as_object().cloned().unwrap()
    }

    fn running(session: &str, body: &str) -> ToolCall {
        ToolCall {
            session: session.to_owned(),
            id: format!("call-{session}"),
            tool: "answer_draft".to_owned(),
            input: json!(arguments(body)),
            state: CallState::Running,
        }
    }

    async fn served(callers: &Callers, body: &str) -> Result<String, String> {
        let tools = callers.tools_of("answer", "answer_draft", &arguments(body)).await?;
        tools.call("draft", arguments(body)).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_serves_the_session_that_the_engine_says_makes_it() {
        let callers = Arc::<Callers>::default();
        let _first = callers.register("ses_1", vec![Arc::new(Owned("first"))]);
        assert_eq!(served(&callers, "alone").await, Ok("first".to_owned()), "nobody else is there");
        let second = callers.register("ses_2", vec![Arc::new(Owned("second"))]);
        assert!(!callers.is_single());
        callers.note_call(running("ses_2", "mine"));
        assert_eq!(served(&callers, "mine").await, Ok("second".to_owned()));
        assert_eq!(served(&callers, "mine").await, Err(NO_CALLER.to_owned()), "each call counts once");
        assert_eq!(served(&callers, "forged").await, Err(NO_CALLER.to_owned()));

        second.add_id("ses_3");
        callers.note_call(running("ses_3", "anew"));
        assert_eq!(served(&callers, "anew").await, Ok("second".to_owned()), "a full session is begun anew");
        drop(second);
        callers.note_call(running("ses_2", "late"));
        assert_eq!(served(&callers, "late").await, Err(NO_CALLER.to_owned()), "its tools went with it");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_the_engine_reports_late_is_waited_for() {
        let callers = Arc::<Callers>::default();
        let _registrations = ["ses_1", "ses_2"].map(|id| callers.register(id, vec![Arc::new(Owned("it"))]));
        let reports = async {
            tokio::task::yield_now().await;
            callers.note_call(running("ses_1", "late"));
            callers.changed.notify_waiters();
        };
        let (served, ()) = tokio::join!(served(&callers, "late"), reports);
        assert_eq!(served, Ok("it".to_owned()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_has_no_tools_but_its_own() {
        let callers = Arc::<Callers>::default();
        let _seat = callers.register("ses_1", vec![Arc::new(Owned("first"))]);
        let found = callers.tools_of("submit", "submit_finding", &arguments("x")).await;
        assert_eq!(found.err(), Some("this session has no tools called `submit`".to_owned()));
    }
}
