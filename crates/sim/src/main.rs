//! The little GitHub on its own: starts the garden on a port and keeps it open until Ctrl-C.

use std::{collections::BTreeMap, process::ExitCode};

use anyhow::Context as _;
use clap::Parser;
use fro_sim::{
    World,
    state::{CacheAccess, TokenAccess},
};
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

/// A simulated GitHub with one small repository, for trying things out on this machine.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The loopback port to serve on; any free one if left out.
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// Says everything on one line of JSON, with a token for everybody.
    #[arg(long)]
    json: bool,
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
    let world = World::start_on(arguments.port)
        .await
        .with_context(|| format!("cannot serve on 127.0.0.1:{}", arguments.port))?;
    if arguments.json {
        say(&everything(&world).to_string());
    } else {
        say(&greeting(&world));
    }
    interrupts.recv().await;
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

/// What a client in another language needs: addresses, tokens of people, tokens of workflow runs.
fn everything(world: &World) -> Value {
    let logins: Vec<_> =
        world.state(|state| state.people.iter().map(|person| person.login.clone()).collect());
    let tokens: BTreeMap<_, _> = logins.iter().map(|login| (login, world.token(login))).collect();
    let run = |scopes: &[&str], cache| world.change(|state| state.start_run("octo/garden", scopes, cache));
    let (main, pull) = ("refs/heads/main", "refs/pull/2/merge");
    json!({
        "api": world.api_url(),
        "graphql": world.graphql_url(),
        "clone": world.clone_url("octo/garden"),
        "actions": world.actions_url(),
        "model": world.model().base_url(),
        "tokens": tokens,
        "read_only": world.change(|state| state.give_token("fro-bot", TokenAccess::ReadOnly)),
        "runs": {
            "main": run(&[main], CacheAccess::Write),
            "pull": run(&[pull, main], CacheAccess::Write),
            "comment": run(&[main], CacheAccess::ReadOnly),
        },
    })
}

#[expect(clippy::print_stdout, reason = "this is the program's output")]
fn say(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stderr, reason = "this is where a program says what went wrong")]
fn complain(text: &str) {
    eprintln!("{text}");
}
