//! The little GitHub on its own: starts the garden on a port and keeps it open until Ctrl-C.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;
use fro_sim::World;
use tokio::signal::unix::{SignalKind, signal};

/// A simulated GitHub with one small repository, for trying things out on this machine.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The loopback port to serve on; any free one if left out.
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
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
    say(&format!(
        "page     {}\nREST     {}\nGraphQL  {}\nmodel    {}\ntoken    {} (fro-bot)\n\nrunning until Ctrl-C",
        world.page_url(1),
        world.api_url(),
        world.graphql_url(),
        world.model().base_url(),
        world.token("fro-bot"),
    ));
    interrupts.recv().await;
    Ok(())
}

#[expect(clippy::print_stdout, reason = "this is the program's output")]
fn say(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stderr, reason = "this is where a program says what went wrong")]
fn complain(text: &str) {
    eprintln!("{text}");
}
