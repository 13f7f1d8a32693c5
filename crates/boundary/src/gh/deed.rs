//! What `gh` may do besides reading: say something on the run's own subject, sort it, and open the run's pull request.
//!
//! Nothing is passed on: the words become the draft of the one answer, and the rest is done anew by the harness, from the
//! few values that are read here.

use std::sync::Arc;

use fro_core::{RepoName, sorting::Sorting};
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::gh::{policy::GhRefusal, sort};

/// Something that `gh` wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum Deed {
    /// Says something on the subject: a draft, as the draft tool takes it.
    Say(Value),
    /// Opens a pull request.
    Propose {
        /// Its title.
        title: String,
        /// Its description.
        body: String,
        /// The branch with the change.
        head: String,
    },
    /// Labels, assigns, closes or reopens the subject.
    Sort(Sorting),
}

/// What came of a deed: where it can be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeedResult {
    /// The page that `gh` prints.
    pub url: String,
    /// The number of the issue or pull request.
    pub number: u64,
}

/// Does a deed, or says why not.
pub type Deeds = Arc<dyn Fn(Deed) -> BoxFuture<'static, Result<DeedResult, String>> + Send + Sync>;

/// A deed that is understood, what it is about and how its answer is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WantedDeed {
    pub(super) deed: Deed,
    pub(super) about: About,
    pub(super) reply: Reply,
}

/// What a deed is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum About {
    /// An issue, pull request or discussion of the repository.
    Number(u64),
    /// Something that only GitHub can tell the number of.
    Node(String),
    /// The repository itself.
    Repository,
}

/// How the answer is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    Rest,
    /// Under the name that the request gave to the field, with the fields that it asks for.
    GraphQl(String, Value),
}

impl WantedDeed {
    /// Reads a deed of the REST API, if this is one.
    pub(super) fn of_rest(
        method: &str,
        parts: &[&str],
        body: &[u8],
        repo: &RepoName,
    ) -> Result<Option<Self>, GhRefusal> {
        let same = |text: &str, name: &str| text.eq_ignore_ascii_case(name);
        let ["repos", owner, name, rest @ ..] = parts else { return Ok(None) };
        if !same(owner, repo.owner()) || !same(name, repo.name()) {
            return Ok(None);
        }
        let number =
            |text: &str| text.parse::<u64>().map_err(|_| GhRefusal::Unclear("there is no such number"));
        if let ["issues" | "pulls", n, rest @ ..] = rest
            && let Some(sorting) = sort::of_rest(method, rest, body)?
        {
            let about = About::Number(number(n)?);
            return Ok(Some(Self { deed: Deed::Sort(sorting), about, reply: Reply::Rest }));
        }
        if method != "POST" {
            return Ok(None);
        }
        let (about, is_review) = match rest {
            ["issues", n, "comments"] | ["pulls", n, "comments", _, "replies"] => {
                (About::Number(number(n)?), false)
            }
            ["pulls", n, "reviews"] => (About::Number(number(n)?), true),
            ["pulls"] => (About::Repository, false),
            _ => return Ok(None),
        };
        let fields = object(serde_json::from_slice(body).ok())?;
        let deed = match (&about, is_review) {
            (About::Repository, _) => propose(&fields, "head")?,
            (_, true) => review(&fields)?,
            (_, false) => say(&fields)?,
        };
        Ok(Some(Self { deed, about, reply: Reply::Rest }))
    }

    /// Reads a mutation of the GraphQL API, if it is one of the few.
    pub(super) fn of_mutation(field: &str, input: Value, reply: Reply) -> Result<Option<Self>, GhRefusal> {
        let fields = object(Some(input))?;
        let node = |name: &str| text(&fields, name).map(About::Node);
        let (deed, about) = match field {
            "addComment" => (say(&fields)?, node("subjectId")?),
            "addDiscussionComment" => (say(&fields)?, node("discussionId")?),
            "addPullRequestReview" => (review(&fields)?, node("pullRequestId")?),
            "createPullRequest" => (propose(&fields, "headRefName")?, About::Repository),
            other => match sort::of_mutation(other, &fields)? {
                Some((sorting, name)) => (Deed::Sort(sorting), node(name)?),
                None => return Ok(None),
            },
        };
        Ok(Some(Self { deed, about, reply }))
    }

    /// Writes what GitHub would have answered: exactly what was asked for, since `gh` takes nothing else.
    pub(super) fn answer(&self, done: &DeedResult) -> Value {
        match &self.reply {
            Reply::Rest => {
                json!({ "id": 0, "number": done.number, "url": done.url, "html_url": done.url, "body": "" })
            }
            Reply::GraphQl(key, asked) => json!({ "data": { key: filled(asked, done) } }),
        }
    }
}

/// Gives every field that was asked for its value, as far as there is one.
fn filled(asked: &Value, done: &DeedResult) -> Value {
    match asked {
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), filled(field, done))).collect()
        }
        Value::String(name) => match name.as_str() {
            "url" | "permalink" => Value::from(done.url.as_str()),
            "id" => Value::from("draft"),
            "number" => Value::from(done.number),
            _ => Value::Null,
        },
        _ => Value::Null,
    }
}

fn object(value: Option<Value>) -> Result<Map<String, Value>, GhRefusal> {
    match value {
        Some(Value::Object(fields)) => Ok(fields),
        _ => Err(GhRefusal::Unclear("the body is not an object")),
    }
}

fn text(fields: &Map<String, Value>, name: &str) -> Result<String, GhRefusal> {
    let text = fields.get(name).and_then(Value::as_str).map(str::to_owned);
    text.ok_or(GhRefusal::Unclear("a text is missing"))
}

fn say(fields: &Map<String, Value>) -> Result<Deed, GhRefusal> {
    Ok(Deed::Say(json!({ "body": text(fields, "body")? })))
}

/// Takes the words of a review, but no verdict: that is for people to give.
fn review(fields: &Map<String, Value>) -> Result<Deed, GhRefusal> {
    match fields.get("event").and_then(Value::as_str) {
        None | Some("COMMENT") => {}
        Some(verdict) => return Err(GhRefusal::Verdict(verdict.chars().take(30).collect())),
    }
    let mut draft = Map::from_iter([("body".to_owned(), Value::from(text(fields, "body")?))]);
    let known = ["path", "line", "start_line", "side", "body"];
    let remarks = fields.get("comments").and_then(Value::as_array).cloned().unwrap_or_default();
    let remarks = remarks.into_iter().filter_map(|remark| {
        let Value::Object(mut remark) = remark else { return None };
        remark.retain(|name, _| known.contains(&name.as_str()));
        Some(Value::Object(remark))
    });
    draft.insert("comments".to_owned(), remarks.collect());
    Ok(Deed::Say(Value::Object(draft)))
}

fn propose(fields: &Map<String, Value>, head: &str) -> Result<Deed, GhRefusal> {
    let head = text(fields, head)?;
    let head = head.rsplit(':').next().unwrap_or_default().to_owned();
    let body = fields.get("body").and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(Deed::Propose { title: text(fields, "title")?, body, head })
}
