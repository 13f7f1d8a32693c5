//! Webhook events, as a workflow run finds them in its event file.

use serde_json::{Value, json};

use crate::{
    World,
    rest::Shape,
    state::{Comment, Discussion, Node, Repo, State, node_id},
};

/// The event that a new comment sets off; none if there is no such comment.
pub(crate) fn issue_comment(state: &State, address: &str, repo: &str, comment: u64) -> Option<Value> {
    let repo = state.repo(repo)?;
    let (issue, comment) = repo.comment(comment)?;
    let shape = Shape { state, address };
    Some(json!({
        "action": "created",
        "issue": shape.issue(repo, issue),
        "comment": shape.comment(repo, issue, comment),
        "repository": shape.repo(repo),
        "sender": shape.user(&comment.author),
    }))
}

impl World {
    /// The event `issues` with this action, set off by somebody.
    pub fn issue_event(&self, repo: &str, number: u64, action: &str, sender: &str) -> Value {
        self.event(repo, |shape, repo| {
            let issue = repo.issue(number)?;
            let mut event = event(shape, repo, action, sender);
            event["issue"] = shape.issue(repo, issue);
            if action == "edited" {
                event["changes"] = json!({ "body": { "from": "What it said before." } });
            }
            Some(event)
        })
    }

    /// The event `pull_request` with this action, set off by somebody.
    pub fn pull_event(&self, repo: &str, number: u64, action: &str, sender: &str) -> Value {
        self.event(repo, |shape, repo| {
            let mut event = event(shape, repo, action, sender);
            event["number"] = number.into();
            event["pull_request"] = pull(shape, repo, number)?;
            if action == "synchronize" {
                let pull = repo.issue(number)?.pull.as_ref()?;
                let earlier = pull.commits.iter().rev().nth(1).map_or(&pull.base_oid, |commit| &commit.oid);
                (event["before"], event["after"]) = (json!(earlier), json!(pull.head_oid));
            }
            Some(event)
        })
    }

    /// The event `pull_request_review_comment` (`created`) of a comment.
    pub fn review_comment_event(&self, repo: &str, comment: u64) -> Value {
        self.event(repo, |shape, repo| {
            let (issue, thread, comment) = repo.review_comment(comment)?;
            let mut event = event(shape, repo, "created", &comment.author);
            event["comment"] = shape.review_comment(repo, issue, thread, comment);
            event["pull_request"] = pull(shape, repo, issue.number)?;
            Some(event)
        })
    }

    /// The event `discussion` (`created`) of a discussion.
    pub fn discussion_event(&self, repo: &str, number: u64) -> Value {
        self.event(repo, |shape, repo| {
            let discussion = repo.discussion(number)?;
            let mut event = event(shape, repo, "created", &discussion.author);
            event["discussion"] = begun(shape, repo, discussion);
            Some(event)
        })
    }

    /// The event `discussion_comment` (`created`) of a comment.
    pub fn discussion_comment_event(&self, repo: &str, comment: u64) -> Value {
        self.event(repo, |shape, repo| {
            let discussion = repo.discussions.iter().find(|known| known.comment(comment).is_some())?;
            let comment = discussion.comment(comment)?;
            let mut event = event(shape, repo, "created", &comment.author);
            event["discussion"] = begun(shape, repo, discussion);
            event["comment"] = discussed(shape, repo, discussion, comment);
            Some(event)
        })
    }

    /// Draws an event; panics if what it is about is not there.
    fn event(&self, repo: &str, draw: impl FnOnce(Shape<'_>, &Repo) -> Option<Value>) -> Value {
        let address = self.api_url();
        let drawn = self.state(|state| {
            let found = state.repo(repo)?;
            draw(Shape { state, address: &address }, found)
        });
        drawn.unwrap_or_else(|| panic!("there is no such thing in {repo}"))
    }
}

fn event(shape: Shape<'_>, repo: &Repo, action: &str, sender: &str) -> Value {
    json!({ "action": action, "repository": shape.repo(repo), "sender": shape.user(sender) })
}

fn pull(shape: Shape<'_>, repo: &Repo, number: u64) -> Option<Value> {
    let issue = repo.issue(number)?;
    Some(shape.whole_pull(repo, issue, issue.pull.as_ref()?))
}

fn begun(shape: Shape<'_>, repo: &Repo, discussion: &Discussion) -> Value {
    json!({
        "id": discussion.id,
        "node_id": node_id(Node::Discussion { repo: repo.id, id: discussion.id }),
        "number": discussion.number,
        "title": discussion.title,
        "body": discussion.body,
        "user": shape.user(&discussion.author),
        "author_association": discussion.association.word(),
        "locked": discussion.locked,
        "state": "open",
        "html_url": format!("{}/{}/discussions/{}", shape.address, repo.full_name(), discussion.number),
    })
}

fn discussed(shape: Shape<'_>, repo: &Repo, discussion: &Discussion, comment: &Comment) -> Value {
    json!({
        "id": comment.id,
        "node_id": node_id(Node::DiscussionComment { repo: repo.id, id: comment.id }),
        "parent_id": discussion.above(comment.id).map(|above| above.id),
        "body": comment.body,
        "user": shape.user(&comment.author),
        "author_association": comment.association.word(),
    })
}
