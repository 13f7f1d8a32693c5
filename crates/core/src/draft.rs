//! The answer as the agent hands it in while it works: the last draft is what gets posted.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::Value;

use crate::{
    gate::Permit,
    place::{Anchor, Side, Subject, Surface, Target},
};

/// Bytes of a draft; what is longer would not fit a comment.
const LONGEST: usize = 60_000;
/// Remarks beside the code that one draft may have.
const MOST: usize = 100;

/// An answer, with remarks that belong beside the code.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// The answer itself.
    pub body: String,
    /// What stands beside lines of the change.
    #[serde(default)]
    pub comments: Vec<InlineComment>,
}

/// A remark beside a line of a change.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InlineComment {
    /// The file, from the root of the repository.
    pub path: String,
    /// The line, or the last of several.
    pub line: u32,
    /// The first of several lines.
    #[serde(default)]
    pub start_line: Option<u32>,
    /// Which version of the file the lines are counted in.
    #[serde(default)]
    pub side: Side,
    /// What is said.
    pub body: String,
}

impl Draft {
    /// Reads a draft as the model wrote it; the complaint is for the model.
    pub fn read(arguments: Value) -> Result<Self, String> {
        let mut draft: Self = serde_json::from_value(arguments).map_err(|error| error.to_string())?;
        draft.body = draft.body.trim().to_owned();
        if draft.body.is_empty() {
            return Err("`body` is empty; it is the whole answer, in GitHub Markdown".to_owned());
        }
        if draft.body.len() > LONGEST {
            let length = draft.body.len();
            return Err(format!("`body` has {length} bytes and only {LONGEST} fit; shorten it"));
        }
        if draft.comments.len() > MOST {
            return Err(format!("there are more than {MOST} `comments`; keep those that matter most"));
        }
        for (number, comment) in draft.comments.iter().enumerate() {
            comment.check().map_err(|what| format!("`comments[{number}]`: {what}"))?;
        }
        Ok(draft)
    }
}

/// Returns the pull request and the commit beside whose code remarks can stand.
///
/// Else they stand in the answer itself: where the answer is not given in a pull request's conversation, where nobody
/// knows which commit the agent saw, and where an earlier attempt has answered already, which is edited.
pub fn beside<'a>(
    permit: &Permit,
    remarks: &[InlineComment],
    seen: Option<&'a str>,
    earlier: Option<&Target>,
) -> Option<(u64, &'a str)> {
    match (permit.subject(), permit.surface(), seen, earlier) {
        (Subject::PullRequest(pull), Surface::Conversation(_), Some(commit), None) if !remarks.is_empty() => {
            Some((pull, commit))
        }
        _ => None,
    }
}

impl InlineComment {
    /// Returns the lines that it is about.
    pub fn anchor(&self) -> Anchor {
        let lines = |line: u32| usize::try_from(line).unwrap_or(usize::MAX);
        Anchor {
            path: self.path.clone(),
            side: self.side,
            start_line: self.start_line.map(lines),
            line: lines(self.line),
        }
    }

    fn check(&self) -> Result<(), &'static str> {
        let is_plain = !self.path.is_empty()
            && !self.path.starts_with('/')
            && self.path.split('/').all(|part| part != "..");
        if !is_plain {
            return Err("`path` is counted from the root of the repository, like `src/tap.rs`");
        }
        if self.line == 0 || self.start_line == Some(0) {
            return Err("lines are counted from 1");
        }
        if self.start_line.is_some_and(|start| start >= self.line) {
            return Err("`start_line` comes before `line`");
        }
        if self.body.trim().is_empty() || self.body.len() > LONGEST {
            return Err("`body` is empty or too long");
        }
        Ok(())
    }
}

/// The drafts of one run, shared by all ways on which one can be handed in.
#[derive(Debug, Clone, Default)]
pub struct Drafts {
    taken: Arc<Mutex<(u32, Option<Draft>)>>,
}

impl Drafts {
    /// Takes a draft in place of the one before and returns its name.
    pub fn set(&self, draft: Draft) -> String {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.0 += 1;
        taken.1 = Some(draft);
        format!("draft-{}", taken.0)
    }

    /// Returns the last draft, if there was any.
    pub fn last(&self) -> Option<Draft> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        event::{Trigger, tests::all},
        gate::tests::permit_for,
    };

    #[test]
    fn the_last_draft_wins() {
        let drafts = Drafts::default();
        assert_eq!(drafts.last(), None);
        let draft = |body: &str| Draft::read(json!({ "body": body })).unwrap();
        assert_eq!(drafts.clone().set(draft("first")), "draft-1");
        assert_eq!(drafts.set(draft("second")), "draft-2");
        assert_eq!(drafts.last(), Some(draft("second")));
    }

    #[test]
    fn remarks_stand_beside_the_code_only_where_an_answer_can_be_a_review() {
        let remark = InlineComment {
            path: "tap.rs".to_owned(),
            line: 4,
            start_line: None,
            side: Side::default(),
            body: "It drips.".to_owned(),
        };
        let check = |n_remarks: usize, seen, earlier: Option<&Target>, trigger: &Trigger, expect| {
            let remarks = vec![remark.clone(); n_remarks];
            assert_eq!(beside(&permit_for(trigger), &remarks, seen, earlier), expect, "{trigger:?}");
        };
        let (comment, seen) = (Target::Comment(1), Some("a1b2"));
        for trigger in all() {
            let pull = match trigger.event_name() {
                // The comment of the example is one on a pull request.
                "issue_comment" => Some(7),
                "pull_request" | "pull_request_target" => Some(2),
                _ => None,
            };
            check(1, seen, None, &trigger, pull.map(|pull| (pull, "a1b2")));
            check(0, seen, None, &trigger, None);
            check(1, None, None, &trigger, None);
            check(1, seen, Some(&comment), &trigger, None);
        }
    }

    #[test]
    fn remarks_stand_beside_lines_of_the_change() {
        let said = json!({ "body": "See below.", "comments": [
            { "path": "src/tap.rs", "line": 4, "start_line": 2, "body": "It drips." },
            { "path": "src/hose.rs", "line": 1, "side": "LEFT", "body": "Why remove it?" },
        ]});
        let expect = vec![
            InlineComment {
                path: "src/tap.rs".to_owned(),
                line: 4,
                start_line: Some(2),
                side: Side::Right,
                body: "It drips.".to_owned(),
            },
            InlineComment {
                path: "src/hose.rs".to_owned(),
                line: 1,
                start_line: None,
                side: Side::Left,
                body: "Why remove it?".to_owned(),
            },
        ];
        assert_eq!(Draft::read(said).unwrap().comments, expect);
    }

    #[test]
    fn a_bad_draft_is_sent_back_with_the_reason() {
        let remark = |more: Value| {
            let mut remark = json!({ "path": "tap.rs", "line": 2, "body": "x" });
            remark.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({ "body": "x", "comments": [remark] })
        };
        let complaints = [
            json!({}),
            json!({ "body": " " }),
            json!({ "body": "x", "title": "y" }),
            json!({ "body": "x".repeat(60_001) }),
            remark(json!({ "path": "/etc/passwd" })),
            remark(json!({ "path": "../tap.rs" })),
            remark(json!({ "line": 0 })),
            remark(json!({ "start_line": 2 })),
            remark(json!({ "body": "" })),
            remark(json!({ "side": "UP" })),
        ]
        .map(|arguments| Draft::read(arguments).unwrap_err());
        insta::assert_snapshot!(complaints.join("\n"));
    }
}
