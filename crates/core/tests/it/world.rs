//! A small world of values, with a place for hostile words in each of its slots.

use fro_core::{
    Context, Decision, Login, Permission, Permit, RepoName, Target, Trigger,
    attachment::Attached,
    context::{PullOutline, RawChange, RawComment, RawCommit, RawContext, RawFile, RawReview, RawThread},
    event::{self, Event, Reading},
    gate::{self, Answered, Facts, Policy},
    prompt::{self, Wishes},
};
use jiff::Timestamp;
use serde_json::json;

/// Where somebody else's words can stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    Title,
    Body,
    Comment,
    Login,
    Label,
    Branch,
    Path,
    CommitMessage,
    AttachmentName,
    Diff,
    Review,
    Thread,
    Request,
    HouseRules,
}

impl Slot {
    pub(crate) const ALL: [Self; 14] = [
        Self::Title,
        Self::Body,
        Self::Comment,
        Self::Login,
        Self::Label,
        Self::Branch,
        Self::Path,
        Self::CommitMessage,
        Self::AttachmentName,
        Self::Diff,
        Self::Review,
        Self::Thread,
        Self::Request,
        Self::HouseRules,
    ];
}

/// Returns the trigger: a review comment, because it has the most slots.
pub(crate) fn trigger(slot: Slot, words: &str) -> Trigger {
    let at = |own: Slot, usual: &str| if slot == own { words.to_owned() } else { usual.to_owned() };
    let payload = json!({
        "action": "created",
        "comment": {
            "id": 55, "in_reply_to_id": 50, "body": format!("@fro-bot {}", at(Slot::Request, "is this right?")),
            "user": { "login": "maya" }, "path": at(Slot::Path, "tap.rs"), "line": 42, "original_line": 40,
            "commit_id": "89e6c98d", "diff_hunk": at(Slot::Diff, "@@ -10,3 +10,5 @@\n+new code"),
        },
        "pull_request": {
            "number": 2, "locked": false, "head": { "sha": "89e6c98d", "repo": { "full_name": "octo/garden" } },
        },
        "repository": { "full_name": "octo/garden" },
    });
    let event = Event {
        name: "pull_request_review_comment".to_owned(),
        payload: payload.to_string(),
        repo: RepoName::parse("octo/garden").unwrap(),
        actor: Login::new("maya"),
        prompt: None,
    };
    match event::read(&event) {
        Ok(Reading::Trigger(trigger)) => trigger,
        other => panic!("no trigger: {other:?}"),
    }
}

pub(crate) fn permit(trigger: &Trigger) -> Permit {
    let facts = Facts { own: Login::new("fro-bot"), permission: Permission::Write, answered: Answered::No };
    match gate::decide(trigger, &facts, &Policy::usual()) {
        Decision::Run(permit, _) => *permit,
        Decision::Skip(reason) => panic!("{reason}"),
    }
}

/// Returns what the model is told with these words in this slot.
pub(crate) fn rendered(slot: Slot, words: &str) -> String {
    let trigger = trigger(slot, words);
    let permit = permit(&trigger);
    let mut context = Context::within_budget(&permit, raw_context(slot, words));
    let name = if slot == Slot::AttachmentName { words } else { "tap.png" };
    let url = "https://github.com/user-attachments/assets/1".to_owned();
    context.attach(vec![Attached { url, name: name.to_owned(), note: "image/png".to_owned() }]);
    context.set_rules(Some(if slot == Slot::HouseRules { words } else { "Be kind." }));
    prompt::compose(&trigger, &permit, &context, &Wishes::default()).render()
}

fn raw_context(slot: Slot, words: &str) -> RawContext {
    let at = |own: Slot, usual: &str| if slot == own { words.to_owned() } else { usual.to_owned() };
    let said = |body: String| RawComment {
        target: Target::Comment(1),
        author: Some(Login::new(at(Slot::Login, "mallory"))),
        at: Timestamp::UNIX_EPOCH,
        edited: None,
        body,
    };
    let path = at(Slot::Path, "tap.rs");
    let change = RawChange {
        outline: PullOutline {
            draft: false,
            fork: true,
            base: at(Slot::Branch, "main"),
            head: at(Slot::Branch, "new-seal"),
            head_oid: "89e6c98d".to_owned(),
            additions: 1,
            deletions: 1,
        },
        files: vec![RawFile {
            path: path.clone(),
            additions: 1,
            deletions: 1,
            change: "MODIFIED".to_owned(),
        }],
        n_files: 1,
        commits: vec![RawCommit {
            oid: "89e6c98d".to_owned(),
            author: Some(at(Slot::Login, "mallory")),
            message: at(Slot::CommitMessage, "Mend it"),
        }],
        n_commits: 1,
        reviews: vec![RawReview { verdict: "APPROVED".to_owned(), comment: said(at(Slot::Review, "Fine.")) }],
        n_reviews: 1,
        threads: vec![RawThread {
            path,
            line: Some(3),
            is_resolved: false,
            comments: vec![said(at(Slot::Thread, "Rubber?"))],
        }],
    };
    RawContext {
        default_branch: at(Slot::Branch, "main"),
        title: at(Slot::Title, "The floor is wet"),
        author: Some(Login::new(at(Slot::Login, "rita"))),
        body: at(Slot::Body, "It is."),
        created: None,
        assignees: vec![Login::new(at(Slot::Login, "rita"))],
        edited: None,
        state: "OPEN".to_owned(),
        labels: vec![at(Slot::Label, "bug")],
        comments: vec![said(at(Slot::Comment, "Me too."))],
        n_comments: 1,
        change: Some(change),
    }
}
