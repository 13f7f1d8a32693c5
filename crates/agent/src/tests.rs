//! What the modules of this crate share in their tests: settings, permits and jobs; and the ledger's rows.

mod garden;
mod life;
mod tools;
mod work;

use std::path::PathBuf;

use fro_core::{
    Decision, Login, Permission, Permit, Reach, RepoName, Secret,
    conversation::outcome::{Turn, Usage},
    delegation::NoWork,
    event::{self, Event, Reading},
    gate::{self, Answered, Facts, Policy},
    remembered::Audience,
};
use fro_http::ClientSettings;
use fro_memory::{Figures, Retention, StoreSettings};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::{
    Delegation, Elevated, EngineSettings, Job, Origin, Settings,
    memory::{FinishedTurn, RowOwner},
};

/// Returns the permit of somebody whose words on octo/garden reach so far.
pub(crate) fn permit(reach: Reach) -> Permit {
    permit_in("octo/garden", reach)
}

/// Returns the permit of somebody whose words on issue 7 of a repository reach so far.
pub(crate) fn permit_in(repo: &str, reach: Reach) -> Permit {
    let (permission, needed) = match reach {
        Reach::Work => (Permission::Write, Permission::Write),
        Reach::Answer | Reach::ReadOnly => (Permission::Read, Permission::Read),
    };
    let words = "@fro-bot why is the floor wet?";
    let (name, payload) = match reach {
        Reach::ReadOnly => (
            "issues",
            json!({ "action": "opened", "issue": { "number": 7, "title": "Wet", "body": words,
                    "user": { "login": "rita" }, "labels": [], "locked": false },
                    "sender": { "login": "rita" }, "repository": { "full_name": repo } }),
        ),
        Reach::Work | Reach::Answer => (
            "issue_comment",
            json!({ "action": "created", "issue": { "number": 7, "locked": false },
                    "comment": { "id": 99, "body": words, "user": { "login": "maya" } },
                    "repository": { "full_name": repo } }),
        ),
    };
    let event = Event {
        name: name.to_owned(),
        payload: payload.to_string(),
        repo: RepoName::parse(repo).unwrap(),
        actor: Login::new("maya"),
        prompt: None,
    };
    let Ok(Reading::Trigger(trigger)) = event::read(&event) else { panic!("no trigger: {payload}") };
    let facts = Facts { own: Login::new("fro-bot"), permission, answered: Answered::No };
    match gate::decide(&trigger, &facts, &Policy { needed, ..Policy::usual() }) {
        Decision::Run(permit, _) => *permit,
        Decision::Skip(reason) => panic!("{reason}"),
    }
}

/// Returns the job of an engine with this permit.
pub(crate) fn job(permit: Permit) -> Job {
    Job {
        permit,
        audience: None,
        origin: origin(),
        checkout: PathBuf::new(),
        git_ref: None,
        head: None,
        work: Err(NoWork::Unasked),
    }
}

/// Returns run 42, which a chat set off at noon.
pub(crate) fn origin() -> Origin {
    Origin {
        run: "42".to_owned(),
        key: "42/comment-99".to_owned(),
        surface: "chat".to_owned(),
        event: "message".to_owned(),
        began: Timestamp::UNIX_EPOCH + SignedDuration::from_secs(30),
        waited_since: Timestamp::UNIX_EPOCH,
    }
}

/// Returns settings with this configuration of the engine; nothing of them is there.
pub(crate) fn settings(config: Value) -> Settings {
    let nowhere = "http://127.0.0.1:9".to_owned();
    let github = fro_github::Address {
        api: nowhere.clone(),
        graphql: nowhere.clone(),
        web: nowhere.clone(),
        stores: Vec::new(),
    };
    Settings {
        github,
        server: nowhere,
        client: ClientSettings::loopback(),
        token: Secret::new("workflow-token"),
        hidden: vec![Secret::new("hidden-token")],
        elevated: Elevated::Token(Secret::new("person-token")),
        delegation: Delegation::default(),
        engine: EngineSettings::pinned(config),
        memory: StoreSettings::default(),
        retention: Retention::default(),
        scratch: PathBuf::new(),
    }
}

#[test]
fn a_row_says_who_asked_where_and_what_came_of_it() {
    let (permit, origin) = (permit(Reach::Work), origin());
    let check = |audience: Option<Audience>, visibility: Audience| {
        let row = RowOwner { permit: &permit, origin: &origin, audience }.begun("ses_1");
        assert_eq!(row.visibility, visibility, "{audience:?}");
        let told = (row.id.as_str(), row.subject.as_str(), row.surface.as_str(), row.event.as_str());
        assert_eq!(told, ("42/comment-99", "octo/garden#7", "chat", "message"));
        let told = (row.actor.as_str(), row.session.as_deref(), row.outcome.as_str());
        assert_eq!(told, ("maya", Some("ses_1"), "broken off"));
    };
    check(Some(Audience::Everyone), Audience::Everyone);
    check(Some(Audience::Insiders), Audience::Insiders);
    // What may be private is kept as if it were.
    check(None, Audience::Insiders);
}

#[test]
fn the_end_of_a_run_adds_what_it_took() {
    let (permit, origin) = (permit(Reach::Work), origin());
    let whose = RowOwner { permit: &permit, origin: &origin, audience: None };
    let usage =
        Usage { input: 10, cache_read: 5, output: 2, reasoning: 1, cost: 0.012_345_6, ..Usage::default() };
    let turn = Turn { usage, ..Turn::answered("It is the tap.".to_owned()) };
    let links = vec!["https://example.org/1".to_owned()];
    let figures = Figures { memory_calls: 3, ..Figures::default() };
    let row = whose.ended("ses_1", FinishedTurn { turn: &turn, links: links.clone(), figures });
    assert_eq!((row.outcome.as_str(), row.links), ("answered", links));
    let Figures { cost, tokens, memory_calls, duration, first_output, .. } = row.figures;
    assert_eq!((cost, tokens.input, tokens.output, memory_calls), (12_346, 15, 3, 3));
    assert_eq!(first_output, Some(duration + 30_000), "counted from the start of the job");
}
