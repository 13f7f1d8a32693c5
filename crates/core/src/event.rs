//! Reads the event that started a run into a `Trigger`, with exactly the fields each case needs.

use serde::Deserialize;

use crate::{
    fault::Fault,
    gate::SkipReason,
    names::{Login, RepoName, Spot, Subject},
};

/// Something happened that may be for us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trigger {
    /// Somebody wrote a comment in the conversation of an issue or a pull request.
    Comment(Comment),
}

/// A new comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The repository it was written in.
    pub repo: RepoName,
    /// The issue or pull request it was written on.
    pub subject: Subject,
    /// Its database id.
    pub id: u64,
    /// Who wrote it.
    pub author: Login,
    /// What was written.
    pub body: String,
    /// Whether the conversation is locked.
    pub locked: bool,
}

impl Trigger {
    /// Returns the repository it happened in.
    pub fn repo(&self) -> &RepoName {
        match self {
            Self::Comment(comment) => &comment.repo,
        }
    }

    /// Returns what it is about.
    pub fn subject(&self) -> Subject {
        match self {
            Self::Comment(comment) => comment.subject,
        }
    }

    /// Returns the very thing that is acknowledged.
    pub fn spot(&self) -> Spot {
        match self {
            Self::Comment(comment) => Spot::Comment(comment.id),
        }
    }

    /// Returns whose words are acted on.
    pub fn asker(&self) -> &Login {
        match self {
            Self::Comment(comment) => &comment.author,
        }
    }

    /// Returns the words that are acted on.
    pub fn words(&self) -> &str {
        match self {
            Self::Comment(comment) => &comment.body,
        }
    }

    /// Returns the name of the event, as workflows know it.
    pub fn event_name(&self) -> &'static str {
        match self {
            Self::Comment(_) => "issue_comment",
        }
    }
}

/// What an event file turned out to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// Something that may be for us.
    Trigger(Trigger),
    /// Nothing for us, as far as the event alone tells.
    Skip(SkipReason),
}

/// Reads an event by its name and its payload.
pub fn read(event_name: &str, payload: &str) -> Result<Reading, Fault> {
    match event_name {
        "issue_comment" => read_comment(payload),
        other => Ok(Reading::Skip(SkipReason::UnsupportedEvent(other.chars().take(60).collect()))),
    }
}

fn read_comment(payload: &str) -> Result<Reading, Fault> {
    let told: IssueComment = parse("issue_comment", payload)?;
    if told.action != "created" {
        return Ok(Reading::Skip(SkipReason::ActionNotCreated(told.action.chars().take(60).collect())));
    }
    let repo = RepoName::parse(&told.repository.full_name)
        .map_err(|bad| Fault::yours(format!("cannot read the event `issue_comment`: {bad}"), HINT))?;
    let number = told.issue.number;
    let subject = match told.issue.pull_request {
        Some(_) => Subject::PullRequest(number),
        None => Subject::Issue(number),
    };
    Ok(Reading::Trigger(Trigger::Comment(Comment {
        repo,
        subject,
        id: told.comment.id,
        author: told.comment.user.login,
        body: told.comment.body,
        locked: told.issue.locked,
    })))
}

const HINT: &str = "the event file must be the webhook payload that GitHub writes to `GITHUB_EVENT_PATH`";

fn parse<'a, T: Deserialize<'a>>(event_name: &str, payload: &'a str) -> Result<T, Fault> {
    serde_json::from_str(payload)
        .map_err(|bad| Fault::yours(format!("cannot read the event `{event_name}`: {bad}"), HINT))
}

#[derive(Deserialize)]
struct IssueComment {
    action: String,
    comment: CommentPart,
    issue: IssuePart,
    repository: RepositoryPart,
}

#[derive(Deserialize)]
struct CommentPart {
    id: u64,
    body: String,
    user: UserPart,
}

#[derive(Deserialize)]
struct IssuePart {
    number: u64,
    #[serde(default)]
    locked: bool,
    pull_request: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct UserPart {
    login: Login,
}

#[derive(Deserialize)]
struct RepositoryPart {
    full_name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAYLOAD: &str = r#"{
        "action": "created",
        "comment": {"id": 99, "body": "@fro-bot why?", "user": {"login": "maya"}},
        "issue": {"number": 7, "locked": false, "pull_request": {"url": "…"}},
        "repository": {"full_name": "octo/garden"}
    }"#;

    #[test]
    fn a_comment_on_a_pull_request_is_read() {
        let Ok(Reading::Trigger(trigger)) = read("issue_comment", PAYLOAD) else { panic!("not a trigger") };
        assert_eq!(trigger.subject(), Subject::PullRequest(7));
        assert_eq!(trigger.spot(), Spot::Comment(99));
        assert_eq!((trigger.asker().as_str(), trigger.words()), ("maya", "@fro-bot why?"));
    }

    #[test]
    fn an_edited_comment_is_not_a_new_one() {
        let edited = PAYLOAD.replace("created", "edited");
        assert_eq!(
            read("issue_comment", &edited),
            Ok(Reading::Skip(SkipReason::ActionNotCreated("edited".to_owned())))
        );
    }

    #[test]
    fn an_event_nobody_knows_is_skipped() {
        assert_eq!(read("push", "{}"), Ok(Reading::Skip(SkipReason::UnsupportedEvent("push".to_owned()))));
    }

    #[test]
    fn a_broken_event_is_named() {
        let broken = read("issue_comment", "{\"action\":").unwrap_err();
        let missing = read("issue_comment", &PAYLOAD.replace("\"id\": 99,", "")).unwrap_err();
        let evil = read("issue_comment", &PAYLOAD.replace("octo/garden", "octo/../x")).unwrap_err();
        insta::assert_debug_snapshot!([broken.what(), missing.what(), evil.what()], @r#"
        [
            "cannot read the event `issue_comment`: EOF while parsing a value at line 1 column 10",
            "cannot read the event `issue_comment`: missing field `id` at line 3 column 72",
            "cannot read the event `issue_comment`: `octo/../x` is not a repository name like `octo/garden`",
        ]
        "#);
    }
}
