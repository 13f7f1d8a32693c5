//! A walled engine with several sessions: the real engine and the built binary, a scripted model and a little GitHub.

mod engines;
mod handover;
mod memory;

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
    time::Duration,
};

use fro_agent::{
    Agent, Delegation, Elevated, EngineSettings, Job, Offer, Onward, Origin, Plan, Process, Question,
    Session, Settings, Step,
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
use serde_json::json;
use tempfile::TempDir;

const REPO: &str = "octo/garden";

#[tokio::test]
async fn a_session_s_tools_serve_that_session_alone() {
    let (world, folder) = (World::start().await.unwrap(), tempfile::tempdir().unwrap());
    let (process, job) = (Process::new(settings(&world, &folder)), job(&world, &folder));
    let private = Mutex::new(PathBuf::new());
    let tell = |step: Step| {
        if let Step::Opened { private: opened } = step {
            *private.lock().unwrap() = opened;
        }
    };
    let mut agent = Agent::open(&process, &job, &tell).unwrap();
    let running = agent.start(Offer::usual()).await.unwrap();
    let mut first = running.open_session(plan(&job, "first")).await.unwrap();
    let mut second = running.open_session(plan(&job, "second")).await.unwrap();
    let model = world.model();
    for (session, body) in [(&mut first, "From the first"), (&mut second, "From the second")] {
        model.calls("answer_draft", json!({ "body": body }));
        model.says("Done.");
        ask(session, "hand in your answer").await;
    }
    assert_eq!([&first, &second].map(draft), ["From the first", "From the second"]);

    let socket = private.lock().unwrap().join("s");
    model.calls("bash", json!({ "command": forged(&socket), "description": "forge" }));
    model.says("Tried.");
    ask(&mut second, "speak for the other").await;
    let told = json!(model.seen().last().unwrap().body).to_string();
    assert!(told.contains("no session of this engine makes this call"), "{told}");
    assert_eq!([&first, &second].map(draft), ["From the first", "From the second"]);

    assert_eq!([first.usage().calls, second.usage().calls], [2, 4]);
    assert_ne!(first.id(), second.id());
    drop((first, second));
    let finished = agent.finish().await;
    finished.cleaned.unwrap();
    drop(finished.private);
    let left: Vec<_> = fs_err::read_dir(folder.path().join("scratch")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

async fn ask(session: &mut Session<'_>, text: &str) {
    let (text, began) = (text.to_owned(), Timestamp::now());
    let turn = session.ask(Question { text, files: Vec::new(), began }).await;
    assert_eq!(turn.outcome.word(), "answered", "{turn:?}");
}

fn draft(session: &Session<'_>) -> String {
    session.drafts().last().unwrap().body
}

/// Returns a command that hands in an answer past the engine.
fn forged(socket: &Path) -> String {
    let line = r#"{"call":{"set":"answer","tool":"draft","arguments":{"body":"Forged"}}}"#;
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
        onward: Onward::InIt,
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
