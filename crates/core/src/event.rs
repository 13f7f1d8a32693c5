//! Reads the event that started a run into a `Trigger`, with exactly the fields each case needs.

mod added;
mod comment;
mod discussion;
mod issue;
mod order;
mod payload;
mod pull;
mod required;
mod review_comment;

pub use comment::Comment;
pub use discussion::{Discussion, DiscussionComment};
pub use issue::{Issue, IssueAction};
pub use order::{Order, OrderKind};
pub use pull::{Head, Pull, PullAction, PullEvent};
pub use review_comment::{CodePlace, ReviewComment};

use jiff::Timestamp;

use crate::{
    fault::Fault,
    gate::SkipReason,
    names::{Login, RepoName},
    place::{Subject, Surface, Target},
    remembered::Audience,
};

/// An event as a workflow run gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Such as `issue_comment`.
    pub name: String,
    /// The webhook's payload.
    pub payload: String,
    /// The repository whose workflow runs.
    pub repo: RepoName,
    /// Who set the workflow off.
    pub actor: Login,
    /// What the workflow asks for; a schedule has nothing else to go by.
    pub prompt: Option<String>,
}

impl Event {
    /// Returns who can see what happened, if the event says so.
    pub fn audience(&self) -> Option<Audience> {
        let shown: payload::RawVisibility = payload::parse(&self.name, &self.payload).ok()?;
        Some(if shown.repository.private { Audience::Insiders } else { Audience::Everyone })
    }
}

/// Something happened that may be for us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trigger {
    /// Somebody wrote a comment in the conversation of an issue or a pull request.
    Comment(Comment),
    /// Somebody wrote a comment beside the code of a pull request.
    ReviewComment(ReviewComment),
    /// An issue was opened or edited.
    Issue(Issue),
    /// A pull request wants to be looked at.
    Pull(Pull),
    /// Somebody began a discussion.
    Discussion(Discussion),
    /// Somebody wrote a comment in a discussion.
    DiscussionComment(DiscussionComment),
    /// A schedule or a person started the workflow with a prompt.
    Order(Order),
}

/// What an event turned out to hold.
#[expect(clippy::large_enum_variant, reason = "a run has one of them")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// Something that may be for us.
    Trigger(Trigger),
    /// Nothing for us, as far as the event alone tells.
    Skip(SkipReason),
}

/// Returns when somebody asked, if the event tells.
pub fn asked_at(event: &Event) -> Option<Timestamp> {
    serde_json::from_str::<payload::Moments>(&event.payload).ok()?.asked()
}

/// What it happened on, in the words of that time, as far as the event tells them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubjectThen {
    /// The title.
    pub title: Option<String>,
    /// The description.
    pub body: Option<String>,
}

/// Returns the words that the event carries of what it happened on.
pub fn subject_then(event: &Event) -> SubjectThen {
    let moments = serde_json::from_str::<payload::Moments>(&event.payload).ok();
    moments.and_then(payload::Moments::subject).unwrap_or_default()
}

/// Reads an event by its name and its payload.
pub fn read(event: &Event) -> Result<Reading, Fault> {
    let payload = &event.payload;
    match event.name.as_str() {
        "issue_comment" => comment::read(payload),
        "pull_request_review_comment" => review_comment::read(payload),
        "issues" => issue::read(payload),
        "pull_request" => pull::read(PullEvent::Plain, payload),
        "pull_request_target" => pull::read(PullEvent::Target, payload),
        "discussion" => discussion::read(payload),
        "discussion_comment" => discussion::read_comment(payload),
        "schedule" => Ok(order::read(OrderKind::Schedule, event)),
        "workflow_dispatch" => Ok(order::read(OrderKind::Dispatch, event)),
        other => Ok(Reading::Skip(SkipReason::UnsupportedEvent(payload::word(other)))),
    }
}

impl Trigger {
    /// Returns the repository it happened in.
    pub fn repo(&self) -> &RepoName {
        match self {
            Self::Comment(comment) => &comment.repo,
            Self::ReviewComment(comment) => &comment.repo,
            Self::Issue(issue) => &issue.repo,
            Self::Pull(pull) => &pull.repo,
            Self::Discussion(discussion) => &discussion.repo,
            Self::DiscussionComment(comment) => &comment.repo,
            Self::Order(order) => &order.repo,
        }
    }

    /// Returns what it is about.
    pub fn subject(&self) -> Subject {
        match self {
            Self::Comment(comment) => comment.subject,
            Self::ReviewComment(comment) => Subject::PullRequest(comment.pull),
            Self::Issue(issue) => Subject::Issue(issue.number),
            Self::Pull(pull) => Subject::PullRequest(pull.number),
            Self::Discussion(discussion) => Subject::Discussion(discussion.number),
            Self::DiscussionComment(comment) => Subject::Discussion(comment.number),
            Self::Order(_) => Subject::Repository,
        }
    }

    /// Returns the very thing that is acknowledged.
    pub fn target(&self) -> Target {
        match self {
            Self::Comment(comment) => Target::Comment(comment.id),
            Self::ReviewComment(comment) => Target::ReviewComment(comment.id),
            Self::Issue(_) | Self::Pull(_) => Target::Subject(self.subject()),
            Self::Discussion(discussion) => Target::Node(discussion.id.clone()),
            Self::DiscussionComment(comment) => Target::Node(comment.id.clone()),
            Self::Order(_) => Target::Nowhere,
        }
    }

    /// Returns where its answer goes.
    pub fn surface(&self) -> Surface {
        match self {
            Self::Comment(comment) => Surface::Conversation(comment.subject.number().unwrap_or_default()),
            Self::ReviewComment(comment) => Surface::ReviewThread { pull: comment.pull, root: comment.root },
            Self::Issue(issue) => Surface::Conversation(issue.number),
            Self::Pull(pull) => Surface::Conversation(pull.number),
            Self::Discussion(begun) => {
                Surface::Discussion { number: begun.number, id: begun.id.clone(), comment: None }
            }
            Self::DiscussionComment(comment) => Surface::Discussion {
                number: comment.number,
                id: comment.discussion.clone(),
                comment: Some(comment.id.clone()),
            },
            Self::Order(_) => Surface::RunPage,
        }
    }

    /// Returns the commit that it names: a later push has an event of its own.
    pub fn commit(&self) -> Option<&str> {
        match self {
            Self::Pull(pull) => Some(&pull.sha),
            Self::Comment(_)
            | Self::ReviewComment(_)
            | Self::Issue(_)
            | Self::Discussion(_)
            | Self::DiscussionComment(_)
            | Self::Order(_) => None,
        }
    }

    /// Returns whose words are acted on.
    pub fn asker(&self) -> &Login {
        match self {
            Self::Comment(comment) => &comment.author,
            Self::ReviewComment(comment) => &comment.author,
            Self::Issue(issue) => issue.asker(),
            Self::Pull(pull) => pull.asker(),
            Self::Discussion(discussion) => &discussion.author,
            Self::DiscussionComment(comment) => &comment.author,
            Self::Order(order) => &order.actor,
        }
    }

    /// Returns the words that are acted on.
    pub fn words(&self) -> &str {
        match self {
            Self::Comment(comment) => &comment.body,
            Self::ReviewComment(comment) => &comment.body,
            Self::Issue(issue) => &issue.words,
            Self::Pull(pull) => &pull.body,
            Self::Discussion(discussion) => &discussion.body,
            Self::DiscussionComment(comment) => &comment.body,
            Self::Order(order) => &order.prompt,
        }
    }

    /// Returns the labels of what it is about, as far as the event tells.
    pub fn labels(&self) -> &[String] {
        match self {
            Self::Comment(comment) => &comment.labels,
            Self::ReviewComment(comment) => &comment.labels,
            Self::Issue(issue) => &issue.labels,
            Self::Pull(pull) => &pull.labels,
            Self::Discussion(_) | Self::DiscussionComment(_) | Self::Order(_) => &[],
        }
    }

    /// Returns the name of the event, as workflows know it.
    pub fn event_name(&self) -> &'static str {
        match self {
            Self::Comment(_) => "issue_comment",
            Self::ReviewComment(_) => "pull_request_review_comment",
            Self::Issue(_) => "issues",
            Self::Pull(Pull { event: PullEvent::Plain, .. }) => "pull_request",
            Self::Pull(Pull { event: PullEvent::Target, .. }) => "pull_request_target",
            Self::Discussion(_) => "discussion",
            Self::DiscussionComment(_) => "discussion_comment",
            Self::Order(Order { kind: OrderKind::Schedule, .. }) => "schedule",
            Self::Order(Order { kind: OrderKind::Dispatch, .. }) => "workflow_dispatch",
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
