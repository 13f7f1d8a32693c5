//! How a reply goes over the wire: as server-sent `chat.completion.chunk`s, or as one `chat.completion`.

use std::{future, io, iter, time::Duration};

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, StatusCode, header::CONTENT_TYPE},
    response::Response,
};
use futures::{StreamExt as _, stream};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::model::{
    Seen,
    reply::{Act, Ending, Reply, Speech, Usage},
};

/// The length from which a delta ends at the next space.
const DELTA: usize = 12;

/// What an answer needs to know of its call.
pub(super) struct Call {
    number: usize,
    model: Value,
    streamed: bool,
    with_usage: bool,
    bytes: usize,
}

/// One step of an answer's body.
enum Beat {
    Send(String),
    Break,
    Stall,
}

impl Call {
    /// Notes what matters of the call that came as the `number`th.
    pub(super) fn note(seen: &Seen, number: usize) -> Self {
        Self {
            number,
            model: seen.body["model"].clone(),
            streamed: seen.body["stream"] == true,
            with_usage: seen.body["stream_options"]["include_usage"] == true,
            bytes: seen.bytes,
        }
    }

    /// The id of a tool call: unique in a conversation, and the same in every run of a script.
    fn tool_id(&self, index: usize) -> String {
        format!("call_{}_{}", self.number, index + 1)
    }

    fn object(&self, kind: &str, choices: &Value) -> Value {
        json!({
            "id": format!("chatcmpl-{}", self.number),
            "object": kind,
            "created": Timestamp::now().as_second(),
            "model": self.model,
            "choices": choices,
        })
    }

    fn chunk(&self, choices: &Value) -> Value {
        self.object("chat.completion.chunk", choices)
    }
}

/// Turns a reply into the HTTP response to its call.
pub(super) fn send(reply: Reply, call: &Call) -> Response {
    let Reply { status, headers, act, usage, pause } = reply;
    let (content_type, beats) = match act {
        Act::Speak(speech) if call.streamed => ("text/event-stream", streamed(&speech, usage, call)),
        Act::Speak(speech) => ("application/json", whole(&speech, usage, call)),
        Act::Body { content_type, text } => (content_type, vec![Beat::Send(text)]),
        Act::Answer(_) => unreachable!("a computed reply is resolved before it is sent"),
    };
    let mut response = Response::new(body(beats, pause));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn body(beats: Vec<Beat>, pause: Duration) -> Body {
    Body::from_stream(stream::iter(beats).then(move |beat| play(beat, pause)))
}

async fn play(beat: Beat, pause: Duration) -> io::Result<String> {
    if !pause.is_zero() {
        tokio::time::sleep(pause).await;
    }
    match beat {
        Beat::Send(text) => Ok(text),
        Beat::Break => {
            // What was sent so far must be on its way before the connection closes under it.
            tokio::task::yield_now().await;
            Err(io::ErrorKind::ConnectionAborted.into())
        }
        Beat::Stall => future::pending().await,
    }
}

/// The message as server-sent events.
fn streamed(speech: &Speech, usage: Option<Usage>, call: &Call) -> Vec<Beat> {
    let delta = |delta: Value, finish: Option<&str>| {
        event(&call.chunk(&json!([{ "index": 0, "delta": delta, "finish_reason": finish }])))
    };
    let mut beats = vec![delta(json!({ "role": "assistant", "content": "" }), None)];
    beats.extend(pieces(&speech.reasoning).map(|piece| delta(json!({ "reasoning_content": piece }), None)));
    beats.extend(pieces(&speech.text).map(|piece| delta(json!({ "content": piece }), None)));
    for (index, (name, arguments)) in speech.tools.iter().enumerate() {
        let tool = |part: Value| delta(json!({ "tool_calls": [part] }), None);
        let function = json!({ "name": name, "arguments": "" });
        beats.push(tool(
            json!({ "index": index, "id": call.tool_id(index), "type": "function", "function": function }),
        ));
        let arguments = arguments.to_string();
        let parts = pieces(&arguments)
            .map(|piece| tool(json!({ "index": index, "function": { "arguments": piece } })));
        beats.extend(parts);
    }
    match speech.ending {
        Ending::Cut => {}
        Ending::Break => beats.push(Beat::Break),
        Ending::Stall => beats.push(Beat::Stall),
        Ending::Whole | Ending::Length => {
            beats.push(delta(json!({}), Some(speech.finish_reason())));
            if call.with_usage {
                let mut chunk = call.chunk(&json!([]));
                chunk["usage"] = counted(speech, usage, call);
                beats.push(event(&chunk));
            }
            beats.push(Beat::Send("data: [DONE]\n\n".to_owned()));
        }
    }
    beats
}

/// The message as one object, for a call that did not ask for a stream.
fn whole(speech: &Speech, usage: Option<Usage>, call: &Call) -> Vec<Beat> {
    let mut message = json!({ "role": "assistant", "content": speech.text });
    if !speech.reasoning.is_empty() {
        message["reasoning_content"] = json!(speech.reasoning);
    }
    if !speech.tools.is_empty() {
        let tools = speech.tools.iter().enumerate().map(|(index, (name, arguments))| {
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            json!({ "id": call.tool_id(index), "type": "function", "function": function })
        });
        message["tool_calls"] = tools.collect();
    }
    let choices = json!([{ "index": 0, "message": message, "finish_reason": speech.finish_reason() }]);
    let mut answer = call.object("chat.completion", &choices);
    answer["usage"] = counted(speech, usage, call);
    let mut text = answer.to_string();
    let ending = match speech.ending {
        Ending::Whole | Ending::Length => return vec![Beat::Send(text)],
        Ending::Cut => None,
        Ending::Break => Some(Beat::Break),
        Ending::Stall => Some(Beat::Stall),
    };
    text.truncate(text.len() / 2);
    iter::once(Beat::Send(text)).chain(ending).collect()
}

/// The `usage` object: as scripted, else a token for every four bytes that really went either way.
fn counted(speech: &Speech, usage: Option<Usage>, call: &Call) -> Value {
    let counted = Usage { prompt: tokens(call.bytes), completion: tokens(speech.bytes()) };
    let Usage { prompt, completion } = usage.unwrap_or(counted);
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": { "cached_tokens": 0 },
        "completion_tokens_details": { "reasoning_tokens": tokens(speech.reasoning.len()).min(completion) },
    })
}

fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(4)
}

fn event(data: &Value) -> Beat {
    Beat::Send(format!("data: {data}\n\n"))
}

/// Cuts a text after spaces into pieces of at least [`DELTA`] bytes, the last one apart.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    iter::from_fn(move || {
        let cut =
            rest.match_indices(' ').map(|(at, _)| at + 1).find(|end| *end >= DELTA).unwrap_or(rest.len());
        let (piece, later) = rest.split_at(cut);
        rest = later;
        (!piece.is_empty()).then_some(piece)
    })
}
