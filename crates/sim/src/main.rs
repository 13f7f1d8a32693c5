//! The little GitHub on its own: starts the garden on a port and keeps it open until Ctrl-C.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context as _;
use clap::Parser;
use fro_sim::{
    World,
    discord::{Discord, Flaw},
    state::{CacheAccess, Grant, Repo, TokenAccess},
};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    signal::unix::{Signal, SignalKind, signal},
};

/// A simulated GitHub with one small repository, for trying things out on this machine.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The loopback port to serve on; any free one if left out.
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// Says everything on one line of JSON, with a token for everybody; at the end, which routes have served.
    #[arg(long)]
    json: bool,

    /// The folder to start jobs in, one for each of a few events; their environments are told too.
    #[arg(long, requires = "json")]
    jobs: Option<PathBuf>,

    /// A little Discord instead, on one line of JSON; each line that comes in is a deed of its people. It makes the mistake
    /// that `FRO_SIM_BREAK` names: `thread-id`, `resume-drops`, `nonce-forgotten` or `mentions-ring`.
    #[arg(long, conflicts_with_all = ["json", "jobs"])]
    discord: bool,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match serve(&Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!(
                "error: {error:#}\n\nhint: choose another port with `--port`, or leave it out"
            ));
            ExitCode::FAILURE
        }
    }
}

async fn serve(arguments: &Arguments) -> anyhow::Result<()> {
    // Before anything is said: whoever reads it may interrupt at once.
    let mut interrupts = signal(SignalKind::interrupt()).context("cannot listen for Ctrl-C")?;
    if arguments.discord {
        return serve_discord(arguments.port, &mut interrupts).await;
    }
    let world = World::start_on(arguments.port)
        .await
        .with_context(|| format!("cannot serve on 127.0.0.1:{}", arguments.port))?;
    if arguments.json {
        say(&everything(&world, arguments.jobs.as_deref())?.to_string());
    } else {
        say(&greeting(&world));
    }
    interrupts.recv().await;
    if arguments.json {
        say(&json!({ "served": world.served_routes() }).to_string());
    }
    Ok(())
}

/// Serves a Discord whose people do what the lines of the standard input say.
async fn serve_discord(port: u16, interrupts: &mut Signal) -> anyhow::Result<()> {
    let discord =
        Discord::start_on(port).await.with_context(|| format!("cannot serve on 127.0.0.1:{port}"))?;
    if let Some(name) = std::env::var("FRO_SIM_BREAK").ok().filter(|name| !name.is_empty()) {
        discord.makes(Flaw::named(&name).with_context(|| format!("no mistake is called `{name}`"))?);
    }
    say(&discord.everything().to_string());
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    loop {
        tokio::select! {
            _ = interrupts.recv() => break,
            line = lines.next_line() => match line.context("cannot read the standard input")? {
                Some(line) => say(&discord.play(&serde_json::from_str(&line)?).to_string()),
                None => break,
            },
        }
    }
    say(&discord.record().to_string());
    Ok(())
}

fn greeting(world: &World) -> String {
    format!(
        "page     {}\nREST     {}\nGraphQL  {}\nmodel    {}\ntoken    {} (fro-bot)\n\nrunning until Ctrl-C",
        world.page_url(1),
        world.api_url(),
        world.graphql_url(),
        world.model().base_url(),
        world.token("fro-bot"),
    )
}

/// What a client in another language needs: addresses, tokens of people and of an app, jobs of workflows.
fn everything(world: &World, jobs: Option<&Path>) -> anyhow::Result<Value> {
    world.release("octo/garden", "v1.0.0", &[("fro-bot-x86_64-linux", b"not really a program")]);
    let logins: Vec<_> =
        world.state(|state| state.people.iter().map(|person| person.login.clone()).collect());
    let tokens: BTreeMap<_, _> = logins.iter().map(|login| (login, world.token(login))).collect();
    let app = world.state(|state| {
        let app = state.apps.first();
        json!({
            "id": app.map(|app| app.id),
            "client_id": app.map(fro_sim::state::App::client_id),
            "installation": app.and_then(|app| app.installations.first()).map(|own| own.id),
            "key": world.app_key(),
        })
    });
    let expired = Grant {
        repos: vec!["octo/garden".to_owned()],
        permissions: BTreeMap::new(),
        expires_at: Timestamp::UNIX_EPOCH,
    };
    let question = ("octo", "Ideas", "What shall we grow?");
    let discussion =
        world.change(|state| state.begin_discussion("octo/garden", question.0, question.1, question.2));
    world.change(|state| {
        let empty = state.repo("octo/cellar").map(|cellar| Repo {
            id: cellar.id + 1000,
            name: "agent".to_owned(),
            private: false,
            issues: Vec::new(),
            ..cellar.clone()
        });
        state.repos.extend(empty);
    });
    let red = world.fail_ci("octo/garden", 2, "test wet ... FAILED\nthe floor is wet\n");
    Ok(json!({
        "api": world.api_url(),
        "graphql": world.graphql_url(),
        "clone": world.clone_url("octo/garden"),
        "model": world.model().base_url(),
        "routes": { "all": world.routes(), "rest": world.rest_routes() },
        "tokens": tokens,
        "read_only": world.change(|state| state.give_token("fro-bot", TokenAccess::ReadOnly)),
        "expired": world.change(|state| state.grant_token("garden-helper[bot]", expired)),
        "app": app,
        "discussion": discussion,
        "red_run": red,
        "attachments": {
            "public": world.attach("octo/garden", "puddle.png", "image/png", "a puddle"),
            "private": world.attach("octo/cellar", "key.png", "image/png", "a key"),
        },
        "jobs": jobs.map(|folder| started(world, folder)).transpose()?,
    }))
}

/// Starts a job for each of a few events, and tells their environments.
fn started(world: &World, folder: &Path) -> anyhow::Result<Value> {
    let comment = world.write_comment("octo/garden", 1, "maya", "@fro-bot why?");
    let comment = world.comment_event("octo/garden", comment);
    let pull = world.pull_event("octo/garden", 2, "synchronize", "maya");
    let schedule = json!({
        "schedule": "17 4 * * *",
        "repository": comment["repository"],
        "sender": comment["sender"],
    });
    let jobs = [
        ("schedule", world.job("schedule", &schedule)),
        ("pull", world.job("pull_request", &pull)),
        ("comment", world.job("issue_comment", &comment)),
        ("comment_writing", world.job("issue_comment", &comment).cache_mode(CacheAccess::Write)),
        ("blind", world.job("schedule", &schedule).cache_mode(CacheAccess::WriteOnly)),
    ];
    let mut told = BTreeMap::new();
    for (name, job) in jobs {
        let job = job.start(&folder.join(name)).with_context(|| format!("cannot start the job {name}"))?;
        let variables = job.environment.iter().map(|(name, value)| (name, value.to_string_lossy()));
        told.insert(
            name,
            json!({ "environment": variables.collect::<BTreeMap<_, _>>(), "token": job.token }),
        );
    }
    Ok(json!(told))
}

#[expect(clippy::print_stdout, reason = "this is the program's output")]
fn say(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stderr, reason = "this is where a program says what went wrong")]
fn complain(text: &str) {
    eprintln!("{text}");
}
