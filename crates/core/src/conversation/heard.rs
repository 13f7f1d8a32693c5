//! The events of one turn that the engine reports, in types of our own.

use jiff::Timestamp;

use crate::conversation::{
    outcome::{Breakage, Usage},
    todo::TodoList,
};

/// Something the engine said, or something the driver found when it was told to look.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// The session works.
    Busy,
    /// The session rests. This counts only after it was busy, because the end of an earlier turn may still be under way.
    Idle,
    /// The model could not be called; the engine tries again at `next`.
    Retrying {
        /// Counts from one for every call of the model.
        attempt: u32,
        /// When the engine will try again; a provider may ask for hours.
        next: Timestamp,
        /// The account's allowance is used up, so trying again is of no use.
        spent: bool,
    },
    /// The turn broke. It comes before the session rests, and sometimes the session never rests after it.
    Broke(Breakage),
    /// The model is writing or thinking.
    Writing,
    /// The model finished a piece of text.
    Said(String),
    /// A tool started.
    ToolBegan(Tool),
    /// A tool ended, well or not.
    ToolEnded {
        /// Which one, on what.
        tool: Tool,
        /// Whether the engine calls it completed.
        ok: bool,
    },
    /// One call of the model ended.
    StepDone {
        /// Why it ended.
        finish: FinishReason,
        /// What it took.
        usage: Usage,
    },
    /// The engine waits for a person to answer, and nobody is there.
    Asked(Ask),
    /// A subagent's session began below this one.
    ChildBorn,
    /// The list of things to do changed.
    TodoChanged(TodoList),
    /// The engine summarised the conversation to make room.
    Compacted,
    /// A heartbeat: the server lives, but nothing happened.
    Quiet,
    /// Events may have been lost: the stream was cut and is open again.
    Gap,
    /// The server is gone.
    Gone,
    /// The answer to [`Do::Poll`](crate::conversation::Do::Poll).
    Pulse(SessionActivity),
    /// [`Do::Poll`](crate::conversation::Do::Poll) got no answer.
    NoPulse,
    /// The answer to [`Do::Settle`](crate::conversation::Do::Settle).
    Read(FinalMessage),
    /// The messages could not be read.
    Unreadable,
}

impl Heard {
    /// Tells whether a tool looked around in the code.
    pub fn explores(&self) -> bool {
        const TOOLS: [&str; 5] = ["read", "grep", "glob", "list", "bash"];
        matches!(self, Self::ToolEnded { tool, .. } if TOOLS.contains(&tool.name.as_str()))
    }

    /// Returns what a subagent's event means for the whole turn.
    ///
    /// A child that rests or breaks does not end its parent: the parent's tool call reports it. Its needs, its retries and
    /// its cost do count.
    pub fn in_child(self) -> Option<Self> {
        match self {
            Self::Idle | Self::Broke(_) | Self::Said(_) | Self::TodoChanged(_) => None,
            Self::Busy
            | Self::Retrying { .. }
            | Self::Writing
            | Self::ToolBegan(_)
            | Self::ToolEnded { .. }
            | Self::StepDone { .. }
            | Self::Asked(_)
            | Self::ChildBorn
            | Self::Compacted
            | Self::Quiet
            | Self::Gap
            | Self::Gone
            | Self::Pulse(_)
            | Self::NoPulse
            | Self::Read(_)
            | Self::Unreadable => Some(self),
        }
    }
}

/// A tool call as shown to people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// The tool's name.
    pub name: String,
    /// What it works on, in one short line; may be empty.
    pub about: String,
}

/// Something that waits for a person's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// The engine's id of the request.
    pub id: String,
    /// Which of the two kinds of request it is.
    pub kind: AskKind,
    /// What it is about, in one short line.
    pub about: String,
    /// What a question can be answered with; for several questions at once there is no answer.
    pub choices: Vec<String>,
}

/// The two ways in which the engine waits for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskKind {
    /// May I do this?
    Permission,
    /// What do you want?
    Question,
}

/// Why one call of the model ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// The model had said all.
    Stop,
    /// The model wants tools to run.
    ToolCalls,
    /// The answer was longer than the model may write.
    Length,
    /// The provider withheld the answer.
    Filtered,
    /// The stream ended without a reason: it was cut, and the engine calls again at once.
    Cut,
    /// Anything else.
    Other,
}

impl FinishReason {
    /// Reads the engine's word for it.
    pub fn parse(reason: &str) -> Self {
        match reason {
            "stop" => Self::Stop,
            "tool-calls" => Self::ToolCalls,
            "length" => Self::Length,
            "content-filter" => Self::Filtered,
            "unknown" => Self::Cut,
            _ => Self::Other,
        }
    }
}

/// What a session does right now, with everything that waits for an answer in it and its children.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionActivity {
    /// Whether the engine counts the session as working.
    pub busy: bool,
    /// Requests whose events were lost.
    pub asked: Vec<Ask>,
}

/// What the messages of this turn say once the session rests.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FinalMessage {
    /// The final message's text, if it has any.
    pub text: Option<String>,
    /// Why the final call of the model ended.
    pub finish: Option<FinishReason>,
    /// What broke the turn.
    pub breakage: Option<Breakage>,
    /// The sum over all messages of the turn, those of subagents too.
    pub usage: Usage,
}
