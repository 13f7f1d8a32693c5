//! The little world that every story starts from: octo/garden with its people, two issues and a pull request.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::{
    git::diff,
    jwt,
    state::{
        App, Association, Comment, Commit, Installation, Issue, Label, Level, Person, PersonKind, Pull,
        Reaction, ReactionContent, Repo, Role, State,
    },
};

/// The public repository.
pub(crate) const REPO: &str = "octo/garden";

/// The base commit of the pull request.
const BASE: &str = "53318360eafc4873d5031a325f2d49be595fa095";
/// Its head.
const HEAD: &str = "af4492d5ac94bb1542074f8116385bd24f443a45";
/// What merging it would make.
const MERGE: &str = "5b6e95c8770d65c627604ee2d6c3139ec2ce01ab";
/// What it changes, as git tells it.
const NEW_SEAL: &str = include_str!("garden/new-seal.diff");

/// The private key of the app. It opens nothing but simulated doors.
pub(crate) const APP_KEY: &str = include_str!("garden/app.pem");

/// All commits of the public repository, for `git fast-import`. The same text always gives the same hashes.
pub(crate) const HISTORY: &str = include_str!("garden/history.fi");

/// Makes the state. Everything in it happened on two days of the past, so that snapshots of it are stable.
pub(crate) fn planted() -> State {
    let mut state = State { people: people(), last_id: 2_750_300_000, ..State::default() };
    let garden = garden(&mut state);
    let cellar = cellar(&mut state);
    state.repos = vec![garden, cellar];
    state.apps = vec![helper(), actions()];
    state
}

/// octo owns, maya maintains, rita reads along, mallory is a stranger, fro-bot is us, github-actions the default token's
/// bot and garden-helper that of an app.
fn people() -> Vec<Person> {
    let person = |id, login: &str, name: &str, kind| Person {
        id,
        login: login.to_owned(),
        name: name.to_owned(),
        kind,
    };
    vec![
        person(583_001, "octo", "Octavia", PersonKind::User),
        person(7_214_882, "maya", "Maya", PersonKind::User),
        person(19_440_367, "rita", "Rita", PersonKind::User),
        person(88_190_544, "mallory", "Mallory", PersonKind::User),
        person(109_017_866, "fro-bot", "Fro Bot", PersonKind::User),
        person(41_898_282, "github-actions[bot]", "GitHub Actions", PersonKind::Bot),
        person(160_224_901, "garden-helper[bot]", "Garden Helper", PersonKind::Bot),
    ]
}

fn garden(state: &mut State) -> Repo {
    let labels = [
        ("bug", "d73a4a", "Something isn't working"),
        ("help wanted", "008672", "Extra attention is needed"),
    ];
    let labels = labels.map(|(name, color, description)| Label {
        id: state.next_id(),
        name: name.to_owned(),
        color: color.to_owned(),
        description: Some(description.to_owned()),
    });
    let roles = [
        ("maya", Role::Write),
        ("rita", Role::Read),
        ("fro-bot", Role::Write),
        ("github-actions[bot]", Role::Write),
        ("garden-helper[bot]", Role::Write),
    ];
    Repo {
        id: 412_908_377,
        owner: "octo".to_owned(),
        name: "garden".to_owned(),
        description: "Beds, taps and a greenhouse".to_owned(),
        private: false,
        without_issues: false,
        archived: false,
        default_branch: "main".to_owned(),
        protected: vec!["main".to_owned()],
        created_at: minute(0),
        labels: labels.into(),
        roles: roles.map(|(login, role)| (login.to_owned(), role)).into(),
        check_runs: Vec::new(),
        statuses: Vec::new(),
        workflows: Vec::new(),
        workflow_runs: Vec::new(),
        releases: Vec::new(),
        issues: vec![wet_floor(state), new_seal(state), tomatoes(state)],
        deleted: Vec::new(),
        discussions: Vec::new(),
    }
}

fn wet_floor(state: &mut State) -> Issue {
    let mut issue = Issue {
        title: "The floor is wet every morning".to_owned(),
        body: "When I open the greenhouse there is a puddle under the tap.\n\n\
               - [x] the tap is shut\n- [ ] the hose is off\n\n\
               It began after the last change to `tap.rs`."
            .to_owned(),
        association: Association::None,
        labels: vec!["bug".to_owned()],
        updated_at: minute(42),
        ..Issue::new(state.next_id(), 1, "mallory", minute(10))
    };
    let seen = "I saw it too. About two litres.";
    let comment = Comment::new(state.next_id(), "rita", Association::Collaborator, seen, minute(42));
    issue.comments.push(comment);
    issue.reactions.push(Reaction {
        id: state.next_id(),
        author: "rita".to_owned(),
        content: ReactionContent::ThumbsUp,
        created_at: minute(41),
    });
    issue
}

fn new_seal(state: &mut State) -> Issue {
    let message = "Give the tap a new seal\n\nThe old one was rubber.";
    let commit = Commit {
        oid: HEAD.to_owned(),
        message: message.to_owned(),
        author_name: "Maya".to_owned(),
        author_email: "maya@garden.example".to_owned(),
        committed_at: minute(1450),
    };
    Issue {
        title: "Give the tap a new seal".to_owned(),
        body: "Fixes #1.".to_owned(),
        association: Association::Collaborator,
        pull: Some(Pull {
            draft: false,
            base_ref: "main".to_owned(),
            base_oid: BASE.to_owned(),
            head_ref: "new-seal".to_owned(),
            head_oid: HEAD.to_owned(),
            head_repo: Some(REPO.to_owned()),
            merge_oid: Some(MERGE.to_owned()),
            conflicts: false,
            open_to_maintainers: false,
            files: diff::changed_files(NEW_SEAL),
            commits: vec![commit],
            reviews: Vec::new(),
            threads: Vec::new(),
            requested_reviewers: Vec::new(),
        }),
        ..Issue::new(state.next_id(), 2, "maya", minute(1455))
    }
}

fn tomatoes(state: &mut State) -> Issue {
    Issue {
        title: "Grow tomatoes".to_owned(),
        body: "There is room for six plants.".to_owned(),
        association: Association::Owner,
        labels: vec!["help wanted".to_owned()],
        ..Issue::new(state.next_id(), 3, "octo", minute(1500))
    }
}

/// A private repository, for what must not be seen from outside.
fn cellar(state: &mut State) -> Repo {
    let issue = Issue {
        title: "The key is under the third pot".to_owned(),
        association: Association::Owner,
        ..Issue::new(state.next_id(), 1, "octo", minute(20))
    };
    Repo {
        id: 412_911_020,
        owner: "octo".to_owned(),
        name: "cellar".to_owned(),
        description: "What nobody else should see".to_owned(),
        private: true,
        without_issues: false,
        archived: false,
        default_branch: "main".to_owned(),
        protected: Vec::new(),
        created_at: minute(5),
        labels: Vec::new(),
        roles: BTreeMap::from([
            ("maya".to_owned(), Role::Triage),
            ("garden-helper[bot]".to_owned(), Role::Write),
        ]),
        check_runs: Vec::new(),
        statuses: Vec::new(),
        workflows: Vec::new(),
        workflow_runs: Vec::new(),
        releases: Vec::new(),
        issues: vec![issue],
        deleted: Vec::new(),
        discussions: Vec::new(),
    }
}

/// An app that is installed in both repositories.
fn helper() -> App {
    let granted =
        ["checks", "contents", "discussions", "issues", "pull_requests"].map(|name| (name, Level::Write));
    let permissions = granted.into_iter().chain([("metadata", Level::Read)]);
    App {
        id: 482_113,
        slug: "garden-helper".to_owned(),
        name: "Garden Helper".to_owned(),
        owner: "octo".to_owned(),
        public_key: jwt::public_key(APP_KEY).unwrap_or_default(),
        created_at: minute(3),
        installations: vec![Installation {
            id: 70_411_256,
            account: "octo".to_owned(),
            repos: vec![REPO.to_owned(), "octo/cellar".to_owned()],
            permissions: permissions.map(|(name, level)| (name.to_owned(), level)).collect(),
        }],
    }
}

/// The app whose bot a job's own token belongs to. It signs nothing here.
fn actions() -> App {
    App {
        id: 15_368,
        slug: "github-actions".to_owned(),
        name: "GitHub Actions".to_owned(),
        owner: "octo".to_owned(),
        public_key: Vec::new(),
        created_at: minute(0),
        installations: Vec::new(),
    }
}

/// A time so many minutes after the garden was made, on 4 May 2026.
fn minute(n: i64) -> Timestamp {
    Timestamp::constant(1_777_881_600, 0) + SignedDuration::from_mins(n)
}
