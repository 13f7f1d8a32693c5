//! A walled engine with several sessions: the real engine and the built binary, a scripted model and a little GitHub.

mod engines;
mod handover;
mod memory;
mod sessions;

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use fro_agent::{
    Delegation, Elevated, EngineSettings, Job, Origin, Plan, Question, Resume, Session, Settings,
};
use fro_core::{
    Decision, Login, Permission, Permit, RepoName, Secret, Trigger,
    delegation::NoWork,
    event::{self, Event, Reading},
    gate::{self, Answered, Facts, Policy},
    remembered::Audience,
};
use fro_http::ClientSettings;
use fro_memory::{Retention, StoreSettings};
use fro_sim::World;
use jiff::Timestamp;
use tempfile::TempDir;

const REPO: &str = "octo/garden";

async fn ask(session: &mut Session<'_>, text: &str) {
    let (text, began) = (text.to_owned(), Timestamp::now());
    let turn = session.ask(Question { text, files: Vec::new(), began }).await;
    assert_eq!(turn.outcome.word(), "answered", "{turn:?}");
}

fn draft(session: &Session<'_>) -> String {
    session.drafts().last().unwrap().body
}

/// Returns a command that writes a line to the tools' socket, past the engine.
fn forged(socket: &Path, line: &str) -> String {
    format!(
        "python3 -c \"import socket; s = socket.socket(socket.AF_UNIX); s.connect('{}'); s.sendall(b'''{}\\n'''); \
         print(s.recv(9999))\"",
        socket.display(),
        line.replace('"', "\\\"")
    )
}

fn plan(job: &Job, title: &str) -> Plan {
    Plan {
        permit: job.permit.clone(),
        origin: job.origin.clone(),
        continuity: None,
        resume: Resume::InPlace,
        title: title.to_owned(),
        recalled: Vec::new(),
        tools: Vec::new(),
    }
}

fn job(world: &World, folder: &TempDir) -> Job {
    let began = Timestamp::now();
    Job {
        permit: permit(world),
        audience: Some(Audience::Everyone),
        origin: Origin {
            run: "1".to_owned(),
            key: "1".to_owned(),
            surface: "test".to_owned(),
            event: "issue_comment".to_owned(),
            began,
            waited_since: began,
        },
        checkout: checkout(folder.path()),
        git_ref: Some("main".to_owned()),
        head: None,
        work: Err(NoWork::Unasked),
    }
}

fn permit(world: &World) -> Permit {
    request(world, "@fro-bot why is the floor wet?").1
}

/// Returns what maya says on issue 1, and what she may have done.
fn request(world: &World, words: &str) -> (Trigger, Permit) {
    let comment = world.write_comment(REPO, 1, "maya", words);
    let event = Event {
        name: "issue_comment".to_owned(),
        payload: world.comment_event(REPO, comment).to_string(),
        repo: RepoName::parse(REPO).unwrap(),
        actor: Login::new("maya"),
        prompt: None,
    };
    let Reading::Trigger(trigger) = event::read(&event).unwrap() else { panic!("it is no trigger") };
    let facts = Facts { own: Login::new("fro-bot"), permission: Permission::Write, answered: Answered::No };
    match gate::decide(&trigger, &facts, &Policy::usual()) {
        Decision::Run(permit, _) => (trigger, *permit),
        Decision::Skip(why) => panic!("{why}"),
    }
}

fn checkout(folder: &Path) -> PathBuf {
    let checkout = folder.join("garden");
    fs_err::create_dir(&checkout).unwrap();
    fs_err::write(checkout.join("tap.rs"), "fn tap() {}\n").unwrap();
    for arguments in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["add", "."],
        &[
            "-c",
            "user.name=maya",
            "-c",
            "user.email=maya@example.org",
            "commit",
            "--quiet",
            "--message=Plant",
        ],
    ] {
        assert!(Command::new("git").args(arguments).current_dir(&checkout).status().unwrap().success());
    }
    checkout
}

pub(crate) fn settings(world: &World, folder: &TempDir) -> Settings {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_fro-bot"));
    let scratch = folder.path().join("scratch");
    fs_err::create_dir(&scratch).unwrap();
    Settings {
        github: fro_github::Address {
            api: world.api_url(),
            graphql: world.graphql_url(),
            web: world.api_url(),
            stores: Vec::new(),
        },
        server: world.api_url(),
        client: ClientSettings::loopback(),
        token: Secret::new(world.token("fro-bot")),
        hidden: Vec::new(),
        elevated: Elevated::None,
        delegation: Delegation::default(),
        engine: EngineSettings {
            tool_cache: program.ancestors().nth(2).unwrap().join("tools"),
            program,
            environment: std::env::vars_os().collect(),
            timeout: Some(Duration::from_mins(3)),
            ..EngineSettings::pinned(world.model().provider())
        },
        memory: StoreSettings::folder(folder.path().join("memory")),
        retention: Retention::default(),
        scratch,
    }
}
