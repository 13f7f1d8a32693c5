//! Whose call of a tool it is: the engine names no session when it calls, so a call is compared with those that it reports
//! as running.
//!
//! Whoever writes to the tools' socket without a session that really calls, such as a command of the agent's shell, finds
//! no call to claim. Of two sessions that call the same with the same arguments at the same moment each claims one.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::ancestry::{Ancestry, Parent};

/// The calls that run, and which session was opened below which.
#[derive(Debug, Default)]
pub struct RunningCalls {
    parents: BTreeMap<String, String>,
    calls: Vec<RunningCall>,
}

#[derive(Debug)]
struct RunningCall {
    session: String,
    id: String,
    tool: String,
    input: Value,
    is_claimed: bool,
}

impl RunningCalls {
    /// Takes down that a session was opened below another.
    pub fn born(&mut self, child: String, parent: String) {
        self.parents.insert(child, parent);
    }

    /// Takes down that a call runs; a call that is reported again stays one.
    pub fn began(&mut self, session: String, id: String, tool: String, input: Value) {
        if !self.calls.iter().any(|call| call.session == session && call.id == id) {
            self.calls.push(RunningCall { session, id, tool, input, is_claimed: false });
        }
    }

    /// Forgets a call that is over.
    pub fn ended(&mut self, session: &str, id: &str) {
        self.calls.retain(|call| call.session != session || call.id != id);
    }

    /// Claims the oldest running call of this tool with these arguments that nobody claimed yet, and returns the session
    /// that was opened for it in the end.
    pub fn claim(&mut self, tool: &str, arguments: &Map<String, Value>) -> Option<String> {
        let fits = |call: &&mut RunningCall| {
            !call.is_claimed && call.tool == tool && is_same(&call.input, arguments)
        };
        let call = self.calls.iter_mut().find(fits)?;
        call.is_claimed = true;
        let session = call.session.clone();
        Some(self.root(session))
    }

    fn root(&self, session: String) -> String {
        let parent = |id: &String| self.parents.get(id).cloned().map_or(Parent::None, Parent::Session);
        Ancestry::trace(session, parent).into_root()
    }
}

/// A tool without arguments is reported with an empty object or with none.
fn is_same(input: &Value, arguments: &Map<String, Value>) -> bool {
    match input {
        Value::Object(input) => input == arguments,
        Value::Null => arguments.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn calls() -> RunningCalls {
        let mut calls = RunningCalls::default();
        let mut began = |session: &str, id: &str, tool: &str, input| {
            calls.began(session.to_owned(), id.to_owned(), tool.to_owned(), input);
        };
        began("ses_a", "call_1", "answer_draft", json!({ "body": "from a" }));
        began("ses_b", "call_1", "answer_draft", json!({ "body": "from b" }));
        began("ses_c", "call_2", "session_list", json!({}));
        calls.born("ses_c".to_owned(), "ses_b".to_owned());
        calls
    }

    fn claim(calls: &mut RunningCalls, tool: &str, arguments: &Value) -> Option<String> {
        calls.claim(tool, arguments.as_object().unwrap())
    }

    #[test]
    fn a_call_belongs_to_the_session_that_makes_it() {
        let check = |tool, arguments: Value, expect: Option<&str>| {
            assert_eq!(claim(&mut calls(), tool, &arguments).as_deref(), expect, "{tool} {arguments}");
        };
        check("answer_draft", json!({ "body": "from a" }), Some("ses_a"));
        check("answer_draft", json!({ "body": "from b" }), Some("ses_b"));
        check("session_list", json!({}), Some("ses_b"));
        check("answer_draft", json!({ "body": "from nobody" }), None);
        check("answer_draft", json!({ "body": "from a", "comments": [] }), None);
        check("session_search", json!({ "body": "from a" }), None);
    }

    #[test]
    fn a_call_is_claimed_once_and_not_after_its_end() {
        let (mut calls, draft) = (calls(), json!({ "body": "from a" }));
        calls.began("ses_a".to_owned(), "call_1".to_owned(), "answer_draft".to_owned(), draft.clone());
        assert!(claim(&mut calls, "answer_draft", &draft).is_some());
        assert_eq!(claim(&mut calls, "answer_draft", &draft), None);
        calls.ended("ses_b", "call_1");
        assert_eq!(claim(&mut calls, "answer_draft", &json!({ "body": "from b" })), None);
    }

    #[test]
    fn the_same_call_of_two_sessions_is_claimed_by_each() {
        let mut calls = calls();
        calls.began("ses_a".to_owned(), "call_9".to_owned(), "session_list".to_owned(), json!({}));
        let both = [(); 3].map(|()| claim(&mut calls, "session_list", &json!({})));
        assert_eq!(both, [Some("ses_b".to_owned()), Some("ses_a".to_owned()), None]);
    }

    #[test]
    fn sessions_that_are_each_others_parents_hang_nobody() {
        let mut calls = calls();
        calls.born("ses_b".to_owned(), "ses_c".to_owned());
        assert_eq!(claim(&mut calls, "session_list", &json!({})).as_deref(), Some("ses_b"));
    }
}
