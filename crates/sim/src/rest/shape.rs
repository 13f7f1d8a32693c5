//! How things of the state look in REST answers and webhook events.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    hub::Hub,
    state::{
        Comment, Issue, IssueState, Label, Node, Person, PersonKind, Reaction, ReactionContent, Repo, State,
        node_id,
    },
};

/// Draws the state as JSON, with the addresses of this world.
#[derive(Clone, Copy)]
pub(crate) struct Shape<'a> {
    pub(crate) state: &'a State,
    pub(crate) address: &'a str,
}

impl Hub {
    /// The hand that draws this world's state.
    pub(crate) fn shape<'a>(&'a self, state: &'a State) -> Shape<'a> {
        Shape { state, address: &self.address }
    }
}

impl Shape<'_> {
    /// A person beside their words; null once the account is gone.
    pub(crate) fn user(&self, login: &str) -> Value {
        self.state.person(login).map_or(Value::Null, |person| self.person(person))
    }

    pub(crate) fn person(&self, person: &Person) -> Value {
        let Person { id, login, kind, .. } = person;
        let url = format!("{}/users/{}", self.address, login.replace('[', "%5B").replace(']', "%5D"));
        let (kind, node, page) = match kind {
            PersonKind::User => ("User", Node::User(*id), login.clone()),
            PersonKind::Bot => ("Bot", Node::Bot(*id), format!("apps/{}", login.trim_end_matches("[bot]"))),
        };
        json!({
            "login": login,
            "id": id,
            "node_id": node_id(node),
            "avatar_url": format!("{}/avatars/{id}", self.address),
            "gravatar_id": "",
            "url": url,
            "html_url": format!("{}/{page}", self.address),
            "followers_url": format!("{url}/followers"),
            "following_url": format!("{url}/following{{/other_user}}"),
            "gists_url": format!("{url}/gists{{/gist_id}}"),
            "starred_url": format!("{url}/starred{{/owner}}{{/repo}}"),
            "subscriptions_url": format!("{url}/subscriptions"),
            "organizations_url": format!("{url}/orgs"),
            "repos_url": format!("{url}/repos"),
            "events_url": format!("{url}/events{{/privacy}}"),
            "received_events_url": format!("{url}/received_events"),
            "type": kind,
            "user_view_type": "public",
            "site_admin": false,
        })
    }

    pub(crate) fn issue(&self, repo: &Repo, issue: &Issue) -> Value {
        let Issue { id, number, .. } = issue;
        let (repo_url, html_url) = (self.repo_url(repo), self.page(repo, issue));
        let url = format!("{repo_url}/issues/{number}");
        let node = match issue.pull {
            Some(_) => Node::PullRequest { repo: repo.id, id: *id },
            None => Node::Issue { repo: repo.id, id: *id },
        };
        let assignees: Vec<_> = issue.assignees.iter().map(|login| self.user(login)).collect();
        let mut shape = json!({
            "url": url,
            "repository_url": repo_url,
            "labels_url": format!("{url}/labels{{/name}}"),
            "comments_url": format!("{url}/comments"),
            "events_url": format!("{url}/events"),
            "timeline_url": format!("{url}/timeline"),
            "html_url": html_url,
            "id": id,
            "node_id": node_id(node),
            "number": number,
            "title": issue.title,
            "user": self.user(&issue.author),
            "labels": self.labels_of(repo, issue),
            "state": issue.state.word(),
            "state_reason": issue.state_reason(),
            "locked": issue.locked,
            "active_lock_reason": issue.lock_reason,
            "assignee": assignees.first(),
            "assignees": assignees,
            "milestone": null,
            "comments": issue.comments.len(),
            "created_at": timestamp(issue.created_at),
            "updated_at": timestamp(issue.updated_at),
            "closed_at": issue.closed_at().map(timestamp),
            "closed_by": issue.closed_by().map(|login| self.user(login)),
            "author_association": issue.association.word(),
            // Nothing said is no text at all; GraphQL has an empty one.
            "body": Some(&issue.body).filter(|body| !body.is_empty()),
            "reactions": rollup(&url, &issue.reactions),
            "performed_via_github_app": self.app_of(&issue.author),
        });
        if let Some(pull) = &issue.pull {
            let merged_at = issue.closed_at().filter(|_| issue.state == IssueState::Merged).map(timestamp);
            shape["draft"] = pull.draft.into();
            shape["pull_request"] = json!({
                "url": format!("{repo_url}/pulls/{number}"),
                "html_url": html_url,
                "diff_url": format!("{html_url}.diff"),
                "patch_url": format!("{html_url}.patch"),
                "merged_at": merged_at,
            });
        }
        shape
    }

    pub(crate) fn comment(&self, repo: &Repo, issue: &Issue, comment: &Comment) -> Value {
        let (repo_url, id) = (self.repo_url(repo), comment.id);
        let url = format!("{repo_url}/issues/comments/{id}");
        json!({
            "url": url,
            "html_url": format!("{}#issuecomment-{id}", self.page(repo, issue)),
            "issue_url": format!("{repo_url}/issues/{}", issue.number),
            "id": id,
            "node_id": node_id(Node::IssueComment { repo: repo.id, id }),
            "user": self.user(&comment.author),
            "created_at": timestamp(comment.created_at),
            "updated_at": timestamp(comment.updated_at),
            "author_association": comment.association.word(),
            "body": comment.body,
            "reactions": rollup(&url, &comment.reactions),
            "performed_via_github_app": self.app_of(&comment.author),
        })
    }

    pub(crate) fn reaction(&self, repo: &Repo, reaction: &Reaction) -> Value {
        json!({
            "id": reaction.id,
            "node_id": node_id(Node::Reaction { repo: repo.id, id: reaction.id }),
            "user": self.user(&reaction.author),
            "content": reaction.content.word(),
            "created_at": timestamp(reaction.created_at),
        })
    }

    pub(crate) fn label(&self, repo: &Repo, label: &Label) -> Value {
        json!({
            "id": label.id,
            "node_id": node_id(Node::Label { repo: repo.id, id: label.id }),
            "url": format!("{}/labels/{}", self.repo_url(repo), label.name.replace(' ', "%20")),
            "name": label.name,
            "color": label.color,
            "default": false,
            "description": label.description,
            "archived_at": null,
            "archived_by": null,
        })
    }

    pub(crate) fn labels_of(&self, repo: &Repo, issue: &Issue) -> Vec<Value> {
        let labels = issue.labels.iter().filter_map(|name| repo.label(name));
        labels.map(|label| self.label(repo, label)).collect()
    }

    pub(crate) fn repo_url(&self, repo: &Repo) -> String {
        format!("{}/repos/{}", self.address, repo.full_name())
    }

    /// The address of the web page of an issue or pull request.
    pub(crate) fn page(&self, repo: &Repo, issue: &Issue) -> String {
        format!("{}/{}/{}", self.address, repo.full_name(), issue.page())
    }
}

/// A time as GitHub writes it.
pub(crate) fn timestamp(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The counts of reactions that stand with the thing itself.
pub(super) fn rollup(url: &str, reactions: &[Reaction]) -> Value {
    let mut shape = json!({ "url": format!("{url}/reactions"), "total_count": reactions.len() });
    for content in ReactionContent::ALL {
        let count = reactions.iter().filter(|reaction| reaction.content == content).count();
        shape[content.word()] = count.into();
    }
    shape
}

/// Puts the fields of one object into another.
pub(super) fn merge(into: &mut Value, more: Value) {
    if let (Some(into), Value::Object(more)) = (into.as_object_mut(), more) {
        into.extend(more);
    }
}
