//! Turns the engine's events into those that core's stepper understands.

use std::collections::HashSet;

use fro_core::conversation::{
    heard::{AskKind, FinishReason, Heard, Tool},
    todo::{Todo, TodoList, TodoState},
};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::wire::{
    self, Content, Envelope, ErrorEvent, Part, PartEvent, Payload, Request, SessionEvent, SessionRef, Status,
    StatusEvent, TodoEvent, ToolState, ToolStatus,
};

/// The longest description of a tool call.
const LONGEST_ABOUT: usize = 100;

/// Something the server said, and about whom.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Whom it concerns.
    pub about: About,
    /// What it says.
    pub heard: Heard,
}

/// Whom an event concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// Every session.
    All,
    /// One session.
    Session(String),
    /// A session that was just born below another.
    Child {
        /// The new one.
        id: String,
        /// The one that started it.
        parent: String,
    },
}

/// A call of a tool, as the engine reports it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The session that calls.
    pub session: String,
    /// The engine's id of the call.
    pub id: String,
    /// The tool, as the model knows it.
    pub tool: String,
    /// What the model gave it.
    pub input: Value,
    /// Whether it runs.
    pub state: CallState,
}

/// How far a call of a tool is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallState {
    /// The call runs.
    Running,
    /// The call is over, whether it went well or not.
    Over,
}

/// Understands one stream of events. A tool that runs is reported again and again, so it has to remember which ones do.
#[derive(Debug, Default)]
pub struct EventReader {
    running: HashSet<String>,
    call: Option<ToolCall>,
}

impl EventReader {
    /// Understands one line of the stream; most lines mean nothing to us.
    pub fn hear(&mut self, line: &str) -> Option<Event> {
        let Envelope { payload: Payload { kind, properties } } = serde_json::from_str(line).ok()?;
        match kind.as_str() {
            "server.heartbeat" => Some(Event { about: About::All, heard: Heard::Quiet }),
            "session.status" => status(read(properties)?),
            "session.idle" => Some(whose(&read(properties)?, Heard::Idle)),
            "session.compacted" => Some(whose(&read(properties)?, Heard::Compacted)),
            "message.part.delta" => Some(whose(&read(properties)?, Heard::Writing)),
            "session.error" => error(read(properties)?),
            "session.created" => birth(read(properties)?),
            "message.part.updated" => self.part(read::<PartEvent>(properties)?.part),
            "permission.asked" => Some(ask(AskKind::Permission, read(properties)?)),
            "question.asked" => Some(ask(AskKind::Question, read(properties)?)),
            "todo.updated" => Some(todo(read(properties)?)),
            _ => None,
        }
    }

    /// Takes the call of a tool that the last line reported, if it did.
    pub fn tool_call(&mut self) -> Option<ToolCall> {
        self.call.take()
    }

    fn part(&mut self, part: Part) -> Option<Event> {
        let heard = match part.content {
            Content::Text { text, synthetic: false, time }
                if time.end.is_some() && !text.trim().is_empty() =>
            {
                Heard::Said(text)
            }
            Content::Tool { call, tool, state } => {
                self.call = call_of(&part.session, &call, &tool, &state);
                let about = about(state.title.as_deref(), &state.input);
                let tool = Tool { name: tool, about };
                match state.status {
                    ToolStatus::Pending => return None,
                    ToolStatus::Running => self.running.insert(call).then_some(Heard::ToolBegan(tool))?,
                    ToolStatus::Completed | ToolStatus::Error => {
                        self.running.remove(&call);
                        Heard::ToolEnded { tool, ok: state.status == ToolStatus::Completed }
                    }
                }
            }
            Content::StepFinish { reason, taken } => {
                Heard::StepDone { finish: FinishReason::parse(&reason), usage: taken.into() }
            }
            Content::Text { .. } | Content::Other => return None,
        };
        Some(about_session(part.session, heard))
    }
}

fn call_of(session: &str, id: &str, tool: &str, state: &ToolState) -> Option<ToolCall> {
    let reached = match state.status {
        ToolStatus::Pending => return None,
        ToolStatus::Running => CallState::Running,
        ToolStatus::Completed | ToolStatus::Error => CallState::Over,
    };
    Some(ToolCall {
        session: session.to_owned(),
        id: id.to_owned(),
        tool: tool.to_owned(),
        input: state.input.clone(),
        state: reached,
    })
}

fn read<T: DeserializeOwned>(properties: Value) -> Option<T> {
    serde_json::from_value(properties).ok()
}

fn about_session(session: String, heard: Heard) -> Event {
    Event { about: About::Session(session), heard }
}

fn whose(event: &SessionRef, heard: Heard) -> Event {
    about_session(event.session.clone(), heard)
}

/// A rest is told twice, as a status and as an event of its own; one of them is enough.
fn status(event: StatusEvent) -> Option<Event> {
    let heard = match event.status {
        Status::Busy => Heard::Busy,
        Status::Idle => return None,
        Status::Retry { attempt, next, action } => {
            let next = Timestamp::from_millisecond(next).unwrap_or(Timestamp::MAX);
            Heard::Retrying { attempt, next, spent: action.is_some() }
        }
    };
    Some(about_session(event.session, heard))
}

fn error(event: ErrorEvent) -> Option<Event> {
    Some(about_session(event.session?, Heard::Broke(event.error?.into())))
}

fn birth(event: SessionEvent) -> Option<Event> {
    let about = About::Child { id: event.info.id, parent: event.info.parent? };
    Some(Event { about, heard: Heard::ChildBorn })
}

fn ask(kind: AskKind, request: Request) -> Event {
    about_session(request.session.clone(), Heard::Asked(request.ask(kind)))
}

fn todo(event: TodoEvent) -> Event {
    let todo = |todo: wire::Todo| Todo { what: todo.content, state: TodoState::parse(&todo.status) };
    about_session(event.session, Heard::TodoChanged(TodoList(event.todos.into_iter().map(todo).collect())))
}

/// Returns what a tool call is about in one short line: its title, or the argument that tells most.
fn about(title: Option<&str>, input: &Value) -> String {
    let telling = ["command", "filePath", "pattern", "url", "query", "description", "path", "name"];
    let argument = telling.iter().find_map(|name| input.get(name)?.as_str());
    let line = title.filter(|title| !title.is_empty()).or(argument).unwrap_or_default();
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST_ABOUT {
        return line;
    }
    let cut: String = line.chars().take(LONGEST_ABOUT - 1).collect();
    // The beginning of a secret is one that nobody recognises any more, so a word goes with its end; a path stays as far as it can.
    let end = cut.rfind(' ').or_else(|| cut.rfind('/')).map_or(0, |at| at + 1);
    format!("{}…", &cut[..end])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The beginning of a secret is nothing that a redactor knows.
    #[test]
    fn no_word_is_cut_in_what_a_tool_call_is_about() {
        let check = |title: &str, expect: &str| assert_eq!(about(Some(title), &json!({})), expect);
        check("cargo test", "cargo test");
        let before = "x ".repeat(45);
        check(&format!("{before}planted-secret-value"), &format!("{before}…"));
        let folders = "folder/".repeat(20);
        check(&format!("{folders}tap.rs"), &format!("{}…", &folders[..98]));
        check(&"y".repeat(101), "…");
        check(&"y".repeat(100), &"y".repeat(100));
    }
}
