//! What the engine's tools ask of the harness: one line of JSON each way, and what each tool is for.
//!
//! The process that the engine starts for its tools knows nothing of them: it asks for the list, passes calls on and
//! returns what it is told.

pub mod running;
mod tools;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::draft::Draft;

/// A line to the tool server.
///
/// It has no place for a session: whose call it is, the harness finds out by itself. A line with more in it is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Line {
    /// Which tools does this set have?
    Tools(String),
    /// A tool of a set is called.
    Call {
        /// The set that the tool belongs to.
        set: String,
        /// The tool, without the name of its set.
        tool: String,
        /// What the model gave it.
        arguments: Map<String, Value>,
    },
}

/// A line from the tool server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolReply {
    /// The tools of a set.
    Tools(Vec<ToolCard>),
    /// What the model is told.
    Said(String),
    /// What the model is told after a mistake.
    Failed(String),
}

/// A tool as the model is offered it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCard {
    /// Its name, before which the engine puts that of the set.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// What it takes, as JSON Schema.
    pub takes: Map<String, Value>,
}

/// A set of tools. The engine calls a tool by its set and its name, `session_search`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolSet {
    /// What is remembered.
    Session,
    /// The answer of the run.
    Answer,
    /// What a reviewer says, and what it said before.
    Github,
    /// How far a review has got.
    Submit,
    /// Files for the people who read the answer.
    Files,
}

impl ToolSet {
    /// Every set.
    pub const ALL: [Self; 5] = [Self::Session, Self::Answer, Self::Github, Self::Submit, Self::Files];

    /// The sets of a run that answers.
    pub const OF_ANSWERS: [Self; 2] = [Self::Session, Self::Answer];

    /// The sets of a run that reviews.
    pub const OF_REVIEWS: [Self; 2] = [Self::Github, Self::Submit];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Answer => "answer",
            Self::Github => "github",
            Self::Submit => "submit",
            Self::Files => "files",
        }
    }

    /// Finds a set by its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.name() == name)
    }

    /// Returns its tools; those of a reviewer are told by the reviewer's own rules.
    pub fn tools(self) -> Vec<ToolCard> {
        match self {
            Self::Session => tools::session(),
            Self::Answer => tools::answer(),
            Self::Files => tools::files(),
            Self::Github | Self::Submit => Vec::new(),
        }
    }
}

/// A call whose arguments were understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// Which sessions are there?
    List(ListPage),
    /// Where was something said?
    Search(SessionSearch),
    /// What was said in a session?
    Read(Read),
    /// What is known of a session?
    Info(SessionId),
    /// The answer is handed in.
    Draft(Draft),
    /// This file goes with it.
    Attach(Attach),
}

/// A file that goes to people.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attach {
    /// Where it is in the clone.
    pub path: String,
}

/// Which of many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ListPage {
    /// How many are left out at the beginning.
    pub skip: u32,
    /// How many at most.
    pub limit: Option<u32>,
}

/// Words to look for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionSearch {
    /// The words.
    pub query: String,
    /// How many places at most.
    #[serde(default)]
    pub limit: Option<u32>,
}

/// A part of a session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Read {
    /// The session's id.
    pub session_id: String,
    /// How many messages are left out at the beginning.
    #[serde(default)]
    pub skip: u32,
    /// How many messages at most.
    #[serde(default)]
    pub limit: Option<u32>,
}

/// A session as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionId {
    /// The session's id.
    pub session_id: String,
}

impl Call {
    /// Reads a call as the model made it; the complaint is for the model.
    pub fn read(set: ToolSet, tool: &str, arguments: Map<String, Value>) -> Result<Self, String> {
        match (set, tool) {
            (ToolSet::Session, "list") => parsed(arguments).map(Self::List),
            (ToolSet::Session, "search") => parsed(arguments).map(Self::Search),
            (ToolSet::Session, "read") => parsed(arguments).map(Self::Read),
            (ToolSet::Session, "info") => parsed(arguments).map(Self::Info),
            (ToolSet::Answer, "draft") => Draft::read(Value::Object(arguments)).map(Self::Draft),
            (ToolSet::Files, "attach") => parsed(arguments).map(Self::Attach),
            (set, tool) => Err(format!("there is no tool `{}_{tool}`", set.name())),
        }
    }
}

fn parsed<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(tool: &str, arguments: &Value) -> Result<Call, String> {
        let (set, tool) = tool.split_once('_').unwrap();
        Call::read(ToolSet::named(set).unwrap(), tool, arguments.as_object().unwrap().clone())
    }

    #[test]
    fn every_tool_on_offer_is_understood() {
        let session = || "ses_1".to_owned();
        let calls = [
            ("session_list", json!({ "limit": 3 }), Call::List(ListPage { skip: 0, limit: Some(3) })),
            (
                "session_search",
                json!({ "query": "hose" }),
                Call::Search(SessionSearch { query: "hose".to_owned(), limit: None }),
            ),
            (
                "session_read",
                json!({ "session_id": "ses_1", "skip": 2 }),
                Call::Read(Read { session_id: session(), skip: 2, limit: None }),
            ),
            (
                "session_info",
                json!({ "session_id": "ses_1" }),
                Call::Info(SessionId { session_id: session() }),
            ),
            (
                "answer_draft",
                json!({ "body": "Wet." }),
                Call::Draft(Draft { body: "Wet.".to_owned(), comments: Vec::new() }),
            ),
            (
                "files_attach",
                json!({ "path": "tap.png" }),
                Call::Attach(Attach { path: "tap.png".to_owned() }),
            ),
        ];
        for (tool, arguments, call) in &calls {
            assert_eq!(read(tool, arguments).as_ref(), Ok(call), "{tool}");
        }
        let offered = [ToolSet::Session, ToolSet::Answer, ToolSet::Files]
            .map(|set| set.tools().into_iter().map(move |tool| format!("{}_{}", set.name(), tool.name)));
        let offered: Vec<String> = offered.into_iter().flatten().collect();
        assert_eq!(offered, calls.map(|(tool, ..)| tool.to_owned()));
    }

    #[test]
    fn a_call_that_is_not_understood_says_why() {
        let complaints = [
            read("session_search", &json!({})),
            read("session_search", &json!({ "query": 3 })),
            read("session_list", &json!({ "all": true })),
            read("session_delete", &json!({})),
        ]
        .map(Result::unwrap_err);
        insta::assert_snapshot!(complaints.join("\n"));
    }

    #[test]
    fn what_the_model_is_offered_reads_like_this() {
        insta::assert_json_snapshot!(ToolSet::OF_ANSWERS.map(ToolSet::tools));
        insta::assert_json_snapshot!(ToolSet::Files.tools());
    }

    #[test]
    fn a_line_is_one_line() {
        let line = Line::Call { set: "session".to_owned(), tool: "search".to_owned(), arguments: Map::new() };
        let written = serde_json::to_string(&line).unwrap();
        assert_eq!(written, r#"{"call":{"set":"session","tool":"search","arguments":{}}}"#);
        assert_eq!(serde_json::from_str::<Line>(&written).unwrap(), line);
        assert_eq!(
            serde_json::to_string(&Line::Tools("answer".to_owned())).unwrap(),
            r#"{"tools":"answer"}"#
        );
    }
}
