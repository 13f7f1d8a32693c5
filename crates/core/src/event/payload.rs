//! The parts that payloads share, with only the fields that are read.

use jiff::Timestamp;
use serde::Deserialize;

use crate::{
    event::{Reading, SubjectThen, required::missing},
    fault::Fault,
    gate::SkipReason,
    names::{Login, RepoName},
    place::NodeId,
};

const HINT: &str = "the event file must be the webhook payload that GitHub writes to `GITHUB_EVENT_PATH`";

/// Reads a payload.
pub(super) fn parse<'a, T: Deserialize<'a>>(event: &str, payload: &'a str) -> Result<T, Fault> {
    serde_json::from_str(payload).map_err(|bad| {
        let lacks: Vec<_> = missing(event, payload).iter().map(|field| format!("`{field}`")).collect();
        let why = match lacks.as_slice() {
            [] => bad.to_string(),
            lacks => format!("its payload has no {}", lacks.join(", ")),
        };
        Fault::yours(format!("cannot read the event `{event}`: {why}"), HINT)
    })
}

/// Returns a short word of the payload, for people to read.
pub(super) fn word(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Says that only new ones count.
pub(super) fn not_created(action: &str) -> Reading {
    Reading::Skip(SkipReason::ActionNotCreated(word(action)))
}

/// Says that an event is known but this action of it is not.
pub(super) fn not_supported(event: &'static str, action: &str) -> Reading {
    Reading::Skip(SkipReason::ActionNotSupported { event, action: word(action) })
}

/// Just the action, because the rest differs with it.
#[derive(Deserialize)]
pub(super) struct Action {
    pub(super) action: String,
}

/// Just when what happened did, and on what.
#[derive(Deserialize)]
pub(super) struct Moments {
    comment: Option<Moment>,
    pull_request: Option<Moment>,
    issue: Option<Moment>,
    discussion: Option<Moment>,
}

#[derive(Deserialize)]
struct Moment {
    created_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
    title: Option<String>,
    body: Option<String>,
}

impl Moments {
    /// A comment is new; everything else may have been there for long.
    pub(super) fn asked(self) -> Option<Timestamp> {
        match self.comment {
            Some(comment) => comment.created_at,
            None => self.pull_request.or(self.issue).or(self.discussion)?.updated_at,
        }
    }

    pub(super) fn subject(self) -> Option<SubjectThen> {
        let Moment { title, body, .. } = self.pull_request.or(self.issue).or(self.discussion)?;
        Some(SubjectThen { title, body })
    }
}

/// Just whether the repository is for everyone to see.
#[derive(Deserialize)]
pub(super) struct RawVisibility {
    pub(super) repository: Visible,
}

#[derive(Deserialize)]
pub(super) struct Visible {
    pub(super) private: bool,
}

#[derive(Deserialize)]
pub(super) struct Repository {
    full_name: String,
}

impl Repository {
    pub(super) fn name(&self, event: &str) -> Result<RepoName, Fault> {
        RepoName::parse(&self.full_name)
            .map_err(|bad| Fault::yours(format!("cannot read the event `{event}`: {bad}"), HINT))
    }
}

/// An account; a deleted one is null.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct User(Option<AccountPart>);

#[derive(Deserialize)]
struct AccountPart {
    login: Login,
}

impl User {
    pub(super) fn login(self) -> Login {
        self.0.map_or_else(|| Login::new("ghost"), |account| account.login)
    }
}

#[derive(Deserialize)]
pub(super) struct Label {
    name: String,
}

impl Label {
    pub(super) fn names(labels: Vec<Self>) -> Vec<String> {
        labels.into_iter().map(|label| label.name).collect()
    }
}

/// What issues and pull requests have in common.
#[derive(Deserialize)]
pub(super) struct SubjectPart {
    pub(super) number: u64,
    pub(super) body: Option<String>,
    pub(super) user: User,
    #[serde(default)]
    pub(super) labels: Vec<Label>,
    #[serde(default)]
    pub(super) locked: bool,
}

#[derive(Deserialize)]
pub(super) struct DiscussionPart {
    pub(super) number: u64,
    pub(super) node_id: NodeId,
    pub(super) body: Option<String>,
    pub(super) user: User,
    #[serde(default)]
    pub(super) locked: bool,
}
