//! The tools that the model reviews with: what each takes, and what it is offered as.
//!
//! The engine puts a server's name before a tool's, so the servers `github` and `submit` make exactly the names
//! `github_get_run_state`, `github_post_review_comment`, `github_reply_to_thread`, `github_resolve_thread` and
//! `submit_pass_results`.

use fro_core::{Anchor, Side, tool_call::ToolCard};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use crate::finding::{Kind, Pass, Score};

/// A call that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewCall {
    /// `github_get_run_state()`.
    RunState,
    /// `github_post_review_comment(file, line, body, assessment)`.
    Post(Post),
    /// `github_reply_to_thread(thread_id, body, is_concession)`.
    Reply(ThreadReply),
    /// `github_resolve_thread(thread_id, reason)`.
    Resolve(Resolve),
    /// `submit_pass_results(pass_number, summary, has_blocking_issues)`.
    Submit(Submit),
}

/// What was found, where.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Post {
    /// The file.
    pub file: String,
    /// The line, or the last of several.
    pub line: usize,
    /// What people read.
    pub body: String,
    /// What the next run reads.
    pub assessment: AssessmentArguments,
    /// The first of several lines.
    #[serde(default)]
    pub start_line: Option<usize>,
    /// Which side of the diff.
    #[serde(default)]
    pub side: Side,
}

/// How the model assesses a finding.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssessmentArguments {
    /// What was found, in one sentence.
    pub finding: String,
    /// Why it matters.
    pub assessment: String,
    /// How bad it is.
    pub score: Score,
    /// What it is about.
    #[serde(default)]
    pub kind: Option<Kind>,
}

/// A reply in a thread.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadReply {
    /// The thread.
    pub thread_id: String,
    /// What is said.
    pub body: String,
    /// Whether the point is given up.
    pub is_concession: bool,
}

/// A thread that is done.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resolve {
    /// The thread, or a draft.
    pub thread_id: String,
    /// Why.
    pub reason: String,
}

/// A pass that is done.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submit {
    /// Which pass.
    pub pass_number: Pass,
    /// What came of it.
    pub summary: String,
    /// What the model thinks of blocking; it decides nothing.
    pub has_blocking_issues: bool,
}

impl Post {
    /// Returns the lines that it is about.
    pub fn anchor(&self) -> Anchor {
        Anchor { path: self.file.clone(), side: self.side, start_line: self.start_line, line: self.line }
    }
}

impl ReviewCall {
    /// Reads a call by the tool's whole name; the complaint is for the model.
    pub fn read(tool: &str, arguments: Map<String, Value>) -> Result<Self, String> {
        match tool {
            "github_get_run_state" => Ok(Self::RunState),
            "github_post_review_comment" => parsed(arguments).map(Self::Post),
            "github_reply_to_thread" => parsed(arguments).map(Self::Reply),
            "github_resolve_thread" => parsed(arguments).map(Self::Resolve),
            "submit_pass_results" => parsed(arguments).map(Self::Submit),
            other => Err(format!("there is no tool `{other}`")),
        }
    }
}

fn parsed<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| error.to_string())
}

/// Returns the tools of the server `github`.
pub fn github() -> Vec<ToolCard> {
    let thread = ("thread_id", text("The thread's id, as `github_get_run_state` tells it, or a draft's"));
    vec![
        card(
            "get_run_state",
            "Tells what was said in earlier reviews of this pull request and what became of it: PENDING, RESOLVED, DISPUTED or ESCALATED, with the developers' replies.",
            &[],
            &[],
        ),
        card(
            "post_review_comment",
            "Reports one finding. It is posted with all others when the review is done; until then it has a draft id. Findings below the threshold are kept aside, and what was said before is not said again; the answer tells which.",
            &[
                ("file", text("The changed file, from the root of the repository")),
                ("line", line("The line, or the last of several")),
                ("body", text("What people read, in GitHub Markdown")),
                ("assessment", assessment()),
                ("start_line", line("The first of several lines")),
                (
                    "side",
                    json!({ "type": "string", "enum": ["LEFT", "RIGHT"], "description": "RIGHT (the usual): lines as the change leaves them; LEFT: removed lines" }),
                ),
            ],
            &["file", "line", "body", "assessment"],
        ),
        card(
            "reply_to_thread",
            "Answers a developer in a thread: concede the point, or say why it stands. Once for each new reply.",
            &[
                thread.clone(),
                ("body", text("What you answer, in GitHub Markdown")),
                (
                    "is_concession",
                    json!({ "type": "boolean", "description": "Whether you give the point up" }),
                ),
            ],
            &["thread_id", "body", "is_concession"],
        ),
        card(
            "resolve_thread",
            "Closes a thread whose problem the new commits have fixed, or withdraws a draft.",
            &[thread, ("reason", text("What fixed it, with the path of the file"))],
            &["thread_id", "reason"],
        ),
    ]
}

/// Returns the tools of the server `submit`.
pub fn submit() -> Vec<ToolCard> {
    vec![card(
        "pass_results",
        "Ends a pass. The next one begins when your turn is over.",
        &[
            (
                "pass_number",
                json!({ "type": "integer", "minimum": 1, "maximum": 4, "description": "The pass that is on" }),
            ),
            ("summary", text("What you looked at and what came of it, in a few sentences")),
            (
                "has_blocking_issues",
                json!({ "type": "boolean", "description": "Whether you would block; the scores decide" }),
            ),
        ],
        &["pass_number", "summary", "has_blocking_issues"],
    )]
}

fn assessment() -> Value {
    json!({
        "type": "object",
        "properties": {
            "finding": text("What you found, in one sentence, with the names it is about"),
            "assessment": text("Why it matters"),
            "score": { "type": "integer", "minimum": 1, "maximum": 10, "description": "The score by the rubric" },
            "kind": { "type": "string", "enum": Kind::ALL.map(Kind::name), "description": "What it is about" },
        },
        "required": ["finding", "assessment", "score"],
        "additionalProperties": false,
    })
}

fn text(about: &str) -> Value {
    json!({ "type": "string", "description": about })
}

fn line(about: &str) -> Value {
    json!({ "type": "integer", "minimum": 1, "description": about })
}

fn card(name: &str, about: &str, properties: &[(&str, Value)], required: &[&str]) -> ToolCard {
    let properties: Map<String, Value> =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    let takes = json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    ToolCard {
        name: name.to_owned(),
        about: about.to_owned(),
        takes: takes.as_object().cloned().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_on_offer_read_like_this() {
        insta::assert_json_snapshot!([github(), submit()]);
    }

    #[test]
    fn calls_are_read_and_mistakes_are_named() {
        let read =
            |tool: &str, arguments: Value| ReviewCall::read(tool, arguments.as_object().unwrap().clone());
        let post = json!({ "file": "tap.rs", "line": 3, "body": "b", "assessment": { "finding": "f", "assessment": "a", "score": 7 } });
        let Ok(ReviewCall::Post(post)) = read("github_post_review_comment", post) else { panic!() };
        assert_eq!(post.anchor().to_string(), "tap.rs:3");
        let complaints = [
            read(
                "github_post_review_comment",
                json!({ "file": "a", "line": 1, "body": "b", "assessment": { "finding": "f", "assessment": "a", "score": 11 } }),
            ),
            read("github_post_review_comment", json!({ "file": "a", "line": 1, "body": "b" })),
            read(
                "submit_pass_results",
                json!({ "pass_number": 5, "summary": "", "has_blocking_issues": false }),
            ),
            read("github_reply_to_thread", json!({ "thread_id": "1", "body": "b", "is_concession": "yes" })),
            read("github_delete_thread", json!({})),
        ];
        insta::assert_snapshot!(complaints.map(Result::unwrap_err).join("\n"));
    }
}
