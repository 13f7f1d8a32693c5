//! One call to the scripted model as it arrived, with the questions a test asks of it.

use axum::http::HeaderMap;
use serde_json::Value;

use crate::traffic::lines;

/// One recorded call.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// The request's JSON; null if it was none.
    pub body: Value,
    /// Its headers, a line for each.
    pub headers: String,
    /// The key that came as bearer token.
    pub key: Option<String>,
    /// The engine's session, from its `x-session-id` header.
    pub session: Option<String>,
    /// The request's size, from which prompt tokens are counted.
    pub bytes: usize,
}

impl Seen {
    pub(super) fn new(headers: &HeaderMap, body: &[u8]) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        Self {
            body: serde_json::from_slice(body).unwrap_or_default(),
            headers: lines(headers),
            key: text("authorization").and_then(|value| value.strip_prefix("Bearer ")).map(str::to_owned),
            session: text("x-session-id").map(str::to_owned),
            bytes: body.len(),
        }
    }

    /// The system prompt: every system message, joined.
    pub fn system(&self) -> String {
        let texts: Vec<_> =
            self.messages().iter().filter(|message| role(message) == "system").map(text_of).collect();
        texts.join("\n\n")
    }

    /// The text of the newest user message, empty if there is none.
    pub fn last_user(&self) -> String {
        self.messages().iter().rfind(|message| role(message) == "user").map(text_of).unwrap_or_default()
    }

    /// The texts of all tool results of the conversation, oldest first.
    pub fn tool_results(&self) -> Vec<String> {
        self.messages().iter().filter(|message| role(message) == "tool").map(text_of).collect()
    }

    /// The names of the tools that the model may call, sorted.
    pub fn offered_tools(&self) -> Vec<String> {
        let tools = self.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        let mut names: Vec<_> =
            tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).map(str::to_owned).collect();
        names.sort();
        names
    }

    /// The conversation as text, for snapshots: of the system prompt, which holds dates and paths, only the first line.
    pub fn render(&self) -> String {
        self.render_messages(|text| match text.split_once('\n') {
            Some((first, _)) => format!("{first} […]"),
            None => text.to_owned(),
        })
    }

    /// The conversation as text with the whole system prompt.
    pub fn render_whole(&self) -> String {
        self.render_messages(str::to_owned)
    }

    fn render_messages(&self, system: impl Fn(&str) -> String) -> String {
        let blocks = self.messages().iter().flat_map(|message| {
            let text = text_of(message);
            let said = match role(message) {
                "system" => block("system", &system(&text)),
                "tool" => block(&format!("result of {}", self.tool_of(message)), &text),
                other => block(other, &text),
            };
            let calls = calls_of(message).iter().map(block_of_call);
            // An assistant that only calls tools says nothing.
            (!text.is_empty()).then_some(said).into_iter().chain(calls)
        });
        blocks.collect::<Vec<_>>().join("\n\n")
    }

    /// The name of the tool whose result this message is: tool messages carry only the call's id.
    fn tool_of(&self, result: &Value) -> String {
        let id = &result["tool_call_id"];
        let call = self.messages().iter().flat_map(calls_of).find(|call| call["id"] == *id);
        call.map_or_else(|| plain(id), |call| plain(&call["function"]["name"]))
    }

    fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }
}

fn role(message: &Value) -> &str {
    message["role"].as_str().unwrap_or_default()
}

fn calls_of(message: &Value) -> &[Value] {
    message["tool_calls"].as_array().map_or(&[], Vec::as_slice)
}

/// The text of a message, whose content is a string or a list of parts.
fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::Array(parts) => parts.iter().map(text_of_part).collect::<Vec<_>>().join("\n"),
        content => plain(content),
    }
}

fn text_of_part(part: &Value) -> String {
    match part["type"].as_str() {
        Some("text") => plain(&part["text"]),
        // A data URL is its type and a wall of base64.
        Some(other) => {
            let url = part[other]["url"].as_str().unwrap_or_default();
            let kind = url.split(';').next().unwrap_or_default();
            format!("[{other} {kind}, {} bytes]", url.len())
        }
        None => part.to_string(),
    }
}

/// A JSON string without its quotes, nothing for null, other values as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn block_of_call(call: &Value) -> String {
    let function = &call["function"];
    block(&format!("call of {}", plain(&function["name"])), &plain(&function["arguments"]))
}

fn block(heading: &str, text: &str) -> String {
    format!("── {heading} ──\n{}", text.trim_end())
}
