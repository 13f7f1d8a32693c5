//! One thing the scripted model can do when it is called.

use std::time::Duration;

use serde_json::{Value, json};

use crate::model::Seen;

/// What the model does with one call.
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) act: Act,
    pub(super) usage: Option<Usage>,
    pub(super) pause: Duration,
}

pub(super) enum Act {
    /// A message, streamed if the call asked for it.
    Speak(Speech),
    /// These bytes as they are.
    Body { content_type: &'static str, text: String },
    /// Whatever this makes of the call.
    Answer(Box<dyn FnOnce(&Seen) -> Reply + Send>),
}

/// A message of the model, in the order in which it is streamed.
#[derive(Default)]
pub(super) struct Speech {
    pub(super) reasoning: String,
    pub(super) text: String,
    pub(super) tools: Vec<(String, Value)>,
    pub(super) ending: Ending,
}

/// How a message ends.
#[derive(Default)]
pub(super) enum Ending {
    /// With `stop`, or `tool_calls` if there are any.
    #[default]
    Whole,
    /// With `length`, as if the output limit were reached.
    Length,
    /// With the end of the stream and no finish reason.
    Cut,
    /// With a connection that breaks inside the transfer.
    Break,
    /// Not at all: silence until the client goes.
    Stall,
}

#[derive(Clone, Copy)]
pub(super) struct Usage {
    pub(super) prompt: usize,
    pub(super) completion: usize,
}

impl Reply {
    /// A text, streamed in several deltas; an empty one is streamed as none.
    pub fn text(text: impl Into<String>) -> Self {
        Self::speech(Speech { text: text.into(), ..Speech::default() })
    }

    /// One tool call, its arguments streamed in pieces.
    pub fn tool(name: &str, arguments: Value) -> Self {
        Self::tools(vec![(name, arguments)])
    }

    /// Several tool calls in one message.
    pub fn tools(calls: Vec<(&str, Value)>) -> Self {
        let tools = calls.into_iter().map(|(name, arguments)| (name.to_owned(), arguments)).collect();
        Self::speech(Speech { tools, ..Speech::default() })
    }

    /// Thoughts (`reasoning_content`), then a text.
    pub fn reasoning(thoughts: &str, text: &str) -> Self {
        Self::speech(Speech { reasoning: thoughts.to_owned(), text: text.to_owned(), ..Speech::default() })
    }

    /// A text that ends with `length`, as if the output limit were reached.
    pub fn out_of_length(text: &str) -> Self {
        Self::speech(Speech { text: text.to_owned(), ending: Ending::Length, ..Speech::default() })
    }

    /// A text whose stream just ends, with no finish reason, as when a server closes an unframed connection.
    pub fn cut_after(partial: &str) -> Self {
        Self::speech(Speech { text: partial.to_owned(), ending: Ending::Cut, ..Speech::default() })
    }

    /// A text whose connection breaks, so that the client's transport reports an error.
    pub fn broken_after(partial: &str) -> Self {
        Self::speech(Speech { text: partial.to_owned(), ending: Ending::Break, ..Speech::default() })
    }

    /// An opened answer, then silence until the client goes.
    pub fn stall() -> Self {
        Self::stall_after("")
    }

    /// A beginning of a text, then silence until the client goes.
    pub fn stall_after(partial: &str) -> Self {
        Self::speech(Speech { text: partial.to_owned(), ending: Ending::Stall, ..Speech::default() })
    }

    /// A refusal with this HTTP status; the body is an error object unless given by [`Reply::body`].
    pub fn status(status: u16) -> Self {
        let text = error_object(&format!("scripted {status}")).to_string();
        Self { status, ..Self::from_act(Act::Body { content_type: "application/json", text }) }
    }

    /// An error object inside a stream that began well with 200.
    pub fn error_in_stream(message: &str) -> Self {
        Self::event_stream(format!("data: {}\n\n", error_object(message)))
    }

    /// A stream of something that is not JSON.
    ///
    /// Not one cut short: "unterminated" in its parser's complaint makes OpenCode 1.18 try again.
    pub fn garbage() -> Self {
        Self::event_stream("data: {this is not JSON\n\n".to_owned())
    }

    /// Whatever `answer` makes of the call, at the moment it comes.
    pub fn answering(answer: impl FnOnce(&Seen) -> Self + Send + 'static) -> Self {
        Self::from_act(Act::Answer(Box::new(answer)))
    }

    /// Adds a response header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends these bytes as the whole body.
    #[must_use]
    pub fn body(mut self, text: impl Into<String>) -> Self {
        self.act = Act::Body { content_type: "application/json", text: text.into() };
        self
    }

    /// Says that so many tokens were used. Without it they are counted from the bytes of this call and reply.
    #[must_use]
    pub fn usage(mut self, prompt: usize, completion: usize) -> Self {
        self.usage = Some(Usage { prompt, completion });
        self
    }

    /// Waits before each delta.
    #[must_use]
    pub fn slowly(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    pub(super) fn unscripted() -> Self {
        let message = "the script of the simulated model is empty: this call was not expected";
        Self::status(500).body(error_object(message).to_string())
    }

    pub(super) fn wrong_key() -> Self {
        Self::status(401).body(error_object("the API key is not the one this model accepts").to_string())
    }

    /// Computes the reply if it is one that depends on the call.
    pub(super) fn resolved(self, seen: &Seen) -> Self {
        match self.act {
            Act::Answer(answer) => answer(seen).resolved(seen),
            Act::Speak(_) | Act::Body { .. } => self,
        }
    }

    fn speech(speech: Speech) -> Self {
        Self::from_act(Act::Speak(speech))
    }

    fn event_stream(text: String) -> Self {
        Self::from_act(Act::Body { content_type: "text/event-stream", text })
    }

    fn from_act(act: Act) -> Self {
        Self { status: 200, headers: Vec::new(), act, usage: None, pause: Duration::ZERO }
    }
}

impl Speech {
    pub(super) fn finish_reason(&self) -> &'static str {
        match self.ending {
            Ending::Length => "length",
            Ending::Whole | Ending::Cut | Ending::Break | Ending::Stall if self.tools.is_empty() => "stop",
            Ending::Whole | Ending::Cut | Ending::Break | Ending::Stall => "tool_calls",
        }
    }

    /// The bytes that the model made up itself, which is what completion tokens are counted from.
    pub(super) fn bytes(&self) -> usize {
        let tools = self.tools.iter().map(|(name, arguments)| name.len() + arguments.to_string().len());
        self.reasoning.len() + self.text.len() + tools.sum::<usize>()
    }
}

fn error_object(message: &str) -> Value {
    json!({ "error": { "message": message, "type": "scripted_error", "param": null, "code": null } })
}
