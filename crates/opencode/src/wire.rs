//! The engine's JSON: only the fields that are read, and tolerant where the engine itself is loose.

use std::collections::BTreeMap;

use fro_core::conversation::{
    heard::{Ask, AskKind, FinishReason},
    outcome::{Breakage, ForLog, Usage},
};
use serde::Deserialize;
use serde_json::Value;

use crate::server::ModelName;

/// A line of `/global/event`.
#[derive(Deserialize)]
pub(crate) struct Envelope {
    pub(crate) payload: Payload,
}

/// An event, whose properties depend on its type.
#[derive(Deserialize)]
pub(crate) struct Payload {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) properties: Value,
}

/// Properties that say no more than whose they are.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionRef {
    #[serde(rename = "sessionID")]
    pub(crate) session: String,
}

#[derive(Deserialize)]
pub(crate) struct StatusEvent {
    #[serde(rename = "sessionID")]
    pub(crate) session: String,
    pub(crate) status: Status,
}

/// What a session does.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Status {
    Busy,
    Idle,
    Retry {
        attempt: u32,
        /// Milliseconds since 1970.
        next: i64,
        /// What a person could do about it. It comes only when an allowance is used up.
        action: Option<Value>,
    },
}

#[derive(Deserialize)]
pub(crate) struct ErrorEvent {
    #[serde(rename = "sessionID")]
    pub(crate) session: Option<String>,
    pub(crate) error: Option<EngineError>,
}

/// An error as it stands in events and in messages.
#[derive(Deserialize)]
pub(crate) struct EngineError {
    name: String,
    #[serde(default)]
    data: ErrorData,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ErrorData {
    message: Option<String>,
    status_code: Option<u16>,
    response_body: Option<String>,
}

impl From<EngineError> for Breakage {
    fn from(error: EngineError) -> Self {
        let EngineError { name, data } = error;
        let code = data.response_body.as_deref().and_then(code);
        Self { name, status: data.status_code, code, words: ForLog::new(&data.message.unwrap_or_default()) }
    }
}

/// Finds the provider's own code: some providers call it `code`, others `type`.
fn code(body: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    let error = body.get("error")?;
    let code = error.get("code").filter(|code| code.is_string()).or_else(|| error.get("type"))?;
    code.as_str().map(str::to_owned)
}

#[derive(Deserialize)]
pub(crate) struct PartEvent {
    pub(crate) part: Part,
}

/// A piece of a message.
#[derive(Deserialize)]
pub(crate) struct Part {
    #[serde(rename = "sessionID")]
    pub(crate) session: String,
    #[serde(flatten)]
    pub(crate) content: Content,
}

/// What a piece of a message holds.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(crate) enum Content {
    Text {
        text: String,
        #[serde(default)]
        synthetic: bool,
        #[serde(default)]
        time: Span,
    },
    Tool {
        #[serde(rename = "callID")]
        call: String,
        tool: String,
        state: ToolState,
    },
    StepFinish {
        reason: String,
        #[serde(flatten)]
        taken: CallUsage,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Span {
    pub(crate) created: i64,
    pub(crate) end: Option<i64>,
}

#[derive(Deserialize)]
pub(crate) struct ToolState {
    pub(crate) status: ToolStatus,
    pub(crate) title: Option<String>,
    #[serde(default)]
    pub(crate) input: Value,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ToolStatus {
    Pending,
    Running,
    Completed,
    Error,
}

/// Tokens and dollars of one call of the model.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct CallUsage {
    cost: f64,
    tokens: Tokens,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Tokens {
    input: f64,
    output: f64,
    reasoning: f64,
    cache: CacheTokens,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CacheTokens {
    read: f64,
    write: f64,
}

impl From<CallUsage> for Usage {
    fn from(taken: CallUsage) -> Self {
        let CallUsage { cost, tokens } = taken;
        Self {
            calls: 1,
            input: whole(tokens.input),
            output: whole(tokens.output),
            reasoning: whole(tokens.reasoning),
            cache_read: whole(tokens.cache.read),
            cache_write: whole(tokens.cache.write),
            cost,
        }
    }
}

/// The engine subtracts what providers report, and some report more from their cache than they read: then it is below zero.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of a float saturates")]
fn whole(tokens: f64) -> u64 {
    tokens as u64
}

#[derive(Deserialize)]
pub(crate) struct SessionEvent {
    pub(crate) info: SessionInfo,
}

/// A session.
#[derive(Deserialize)]
pub(crate) struct SessionInfo {
    pub(crate) id: String,
    #[serde(rename = "parentID")]
    pub(crate) parent: Option<String>,
}

/// Something that waits for a person.
#[derive(Deserialize)]
pub(crate) struct Request {
    pub(crate) id: String,
    #[serde(rename = "sessionID")]
    pub(crate) session: String,
    #[serde(default)]
    permission: String,
    #[serde(default)]
    patterns: Vec<String>,
    #[serde(default)]
    questions: Vec<AskedQuestion>,
}

#[derive(Deserialize)]
struct AskedQuestion {
    #[serde(default)]
    question: String,
    #[serde(default)]
    options: Vec<QuestionOption>,
}

#[derive(Deserialize)]
struct QuestionOption {
    label: String,
}

impl Request {
    /// Returns what is asked. What is long is cut where it is shown.
    pub(crate) fn ask(self, kind: AskKind) -> Ask {
        let (about, choices) = match (kind, &self.questions[..]) {
            (AskKind::Permission, _) => {
                (format!("{}: {}", self.permission, self.patterns.join(", ")), Vec::new())
            }
            (AskKind::Question, [one]) => {
                (one.question.clone(), one.options.iter().map(|option| option.label.clone()).collect())
            }
            (AskKind::Question, several) => {
                let questions: Vec<_> = several.iter().map(|one| one.question.as_str()).collect();
                (questions.join(" "), Vec::new())
            }
        };
        Ask { id: self.id, kind, about, choices }
    }
}

#[derive(Deserialize)]
pub(crate) struct TodoEvent {
    #[serde(rename = "sessionID")]
    pub(crate) session: String,
    pub(crate) todos: Vec<Todo>,
}

#[derive(Deserialize)]
pub(crate) struct Todo {
    #[serde(default)]
    pub(crate) content: String,
    pub(crate) status: String,
}

/// A message, as far as files came with it.
#[derive(Deserialize)]
pub(crate) struct WithFiles {
    info: Named,
    parts: Vec<FilePart>,
}

#[derive(Deserialize)]
struct Named {
    id: String,
}

#[derive(Deserialize)]
struct FilePart {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    /// Written by the engine, not by whoever spoke.
    #[serde(default)]
    synthetic: bool,
}

impl WithFiles {
    /// Returns the ids of the message and of each part that is a file or was made of one.
    pub(crate) fn of_files(&self) -> Vec<(&str, &str)> {
        if !self.parts.iter().any(|part| part.kind == "file") {
            return Vec::new();
        }
        let parts = self.parts.iter().filter(|part| part.kind == "file" || part.synthetic);
        parts.map(|part| (self.info.id.as_str(), part.id.as_str())).collect()
    }
}

/// A message with its parts.
#[derive(Deserialize)]
pub(crate) struct WireMessage {
    pub(crate) info: MessageInfo,
    pub(crate) parts: Vec<Part>,
}

#[derive(Deserialize)]
pub(crate) struct MessageInfo {
    pub(crate) role: Role,
    #[serde(default)]
    pub(crate) time: Span,
    pub(crate) error: Option<EngineError>,
    pub(crate) finish: Option<String>,
    /// The message is the engine's own summary of what was said before.
    #[serde(default)]
    summary: Value,
    #[serde(flatten)]
    pub(crate) taken: CallUsage,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    User,
    Assistant,
}

impl MessageInfo {
    pub(crate) fn finish(&self) -> Option<FinishReason> {
        self.finish.as_deref().map(FinishReason::parse)
    }

    pub(crate) fn is_summary(&self) -> bool {
        self.summary == Value::Bool(true)
    }
}

impl WireMessage {
    /// Returns what the model said to people in it.
    pub(crate) fn text(&self) -> Option<String> {
        let texts = self.parts.iter().filter_map(|part| match &part.content {
            Content::Text { text, synthetic: false, .. } if !text.trim().is_empty() => Some(text.trim()),
            _ => None,
        });
        let texts: Vec<_> = texts.collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }
}

/// An agent as `GET /agent` lists it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Agent {
    /// Its exact name; nothing else is understood.
    pub name: String,
    /// Who may start it.
    pub mode: Mode,
    /// The engine keeps it for itself.
    #[serde(default, deserialize_with = "null_is_false")]
    pub hidden: bool,
}

/// Who may start an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A person.
    Primary,
    /// Another agent.
    Subagent,
    /// Both.
    All,
}

impl Agent {
    /// Tells whether a prompt may name it.
    pub fn is_primary(&self) -> bool {
        !self.hidden && self.mode != Mode::Subagent
    }
}

fn null_is_false<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[derive(Deserialize)]
pub(crate) struct Providers {
    pub(crate) providers: Vec<Provider>,
}

impl Providers {
    /// Names every model of every provider.
    pub(crate) fn names(self) -> impl Iterator<Item = ModelName> {
        self.providers.into_iter().flat_map(|Provider { id, models }| {
            models.into_keys().map(move |model| ModelName { provider: id.clone(), model })
        })
    }
}

#[derive(Deserialize)]
pub(crate) struct Provider {
    pub(crate) id: String,
    pub(crate) models: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
pub(crate) struct Health {
    pub(crate) version: String,
}
