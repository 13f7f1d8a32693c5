//! The `fro-bot` binary: parses the command line, runs the command and turns its end into an exit code.

mod action;
mod audit;
mod daemon_store;
#[cfg(feature = "demo")]
mod demo;
mod doctor;
mod env;
mod eval;
mod event_source;
mod export_sessions;
mod healthy;
mod init;
mod inputs;
mod interrupt;
mod local;
mod log;
mod manual;
mod mcp;
mod memory;
mod output;
mod page_option;
mod post;
mod question;
mod receive;
mod reference;
mod report;
mod review;
mod run;
mod runner_files;
mod serve;
mod sessions;
mod settings;
mod table;
mod view;
mod waiting;
mod wall;
mod warm;
mod window;
mod work;
mod wrap;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use fro_core::Fault;

use crate::env::Env;

/// Makes the OpenCode agent a collaborator on a GitHub repository.
#[derive(Debug, Parser)]
#[command(name = "fro-bot", version, propagate_version = true, after_help = AFTER)]
struct Args {
    #[command(flatten)]
    output: output::Output,
    #[command(subcommand)]
    command: Command,
}

const AFTER: &str = "\
Exit codes:
  0    answered, or nothing to do
  1    a check did not pass (`memory verify`, `eval`), a task has no prompt,
       or fro-bot has a bug; the message says which
  2    something in the set-up has to be changed; the hint says what
  3    another service failed; trying again later may help
  4    an answer was posted, but it tells of a failure
  5    a review left findings open that are bad enough to fail the check
  130  interrupted

Environment:
  GITHUB_TOKEN, GH_TOKEN  the token for `run`, `review` and `doctor` outside a
                          workflow
  MOCK_EVENT, MOCK_TOKEN  a made-up event and its token in a workflow, where the
                          input `allow-mock-event` is `true`
  FRO_MEMORY              the folder that keeps the memory, for `run`,
                          `sessions` and `memory`
  FRO_OMO_PATIENCE        how long a run waits for Oh My OpenCode, such as
                          `90s`; a minute if not set
  FRO_LOG                 how much is logged, such as `info` or
                          `fro_opencode=debug`
  FRO_LOG_FORMAT          `json` prints the log as one object per line
  NO_COLOR                set to anything: no colours
  SSL_CERT_FILE, NODE_EXTRA_CA_CERTS
                          certificate authorities to trust
  HTTPS_PROXY, NO_PROXY   the proxy, and the hosts that are reached without it";

#[derive(Debug, Subcommand)]
enum Command {
    /// Writes this repository's workflow file, and says which secrets to set
    Init(init::Options),
    /// Answers the event of a workflow run (what the GitHub Action starts)
    #[command(hide = true)]
    Action,
    /// Answers an event of your own from this machine, as the action would
    Run(run::Options),
    /// Reviews a change in a clone on this machine, and prints what it finds
    Review(review::Options),
    /// Finishes what a killed run left open (the step after the GitHub Action)
    #[command(hide = true)]
    Post,
    /// Plays a mention on a small repository of its own, with the real engine and no account
    #[cfg(feature = "demo")]
    Demo(demo::Options),
    /// Shows what is remembered: lists, searches, reads and prunes sessions
    Sessions(sessions::Options),
    /// Checks, copies and cleans the memory: status, verify, pull, push, stats, forget
    Memory(memory::Options),
    /// Asks the run whether a push of the agent may pass (what git starts)
    #[command(hide = true)]
    Receive(receive::Options),
    /// Prints sessions of a database that is not trusted (what a run starts behind a wall)
    #[command(hide = true)]
    ExportSessions(export_sessions::Options),
    /// Starts a command behind the wall (what starts the engine)
    #[command(hide = true)]
    Wall(wall::Options),
    /// Passes the engine's tool calls on to the run (what the engine starts)
    #[command(hide = true)]
    Mcp(mcp::Options),
    /// Checks everything that a run depends on, and says what to fix
    Doctor(doctor::Options),
    /// Measures the reviewer on labelled data of your own
    Eval(eval::Options),
    /// Connects to Discord: a channel is a repository, a thread is a session
    Serve(serve::Options),
    /// Answers what people ask in Discord threads, for `serve`
    Work(work::Options),
    /// Shows sessions, runs and the daemon's state as pages for a browser on this machine
    View(view::Options),
    /// Asks `serve` or `work` on this machine whether it is healthy (for a container's health check)
    Healthy(healthy::Options),
    /// Checks that nobody changed the record of decisions that `serve` and `work` keep
    Audit(audit::Options),
    /// Downloads the engine and its tools, so that the next run finds them
    Warm(warm::Options),
    /// Prints completions for a shell
    Completions(manual::Completions),
    /// Prints the manual page, or writes those of all commands
    Man(manual::Man),
    /// Prints the files that are written from the program's source
    #[command(hide = true)]
    Reference { wanted: reference::Wanted },
}

fn main() -> ExitCode {
    let args = Args::parse();
    let env = args.output.apply(&Env::capture());
    let ended = match args.command {
        Command::Wall(options) => wall::main(options, &env),
        Command::Mcp(options) => on_one_thread(mcp::main(options)),
        Command::Reference { wanted } => Ok(reference::main(wanted)),
        Command::Completions(options) => manual::completions(&options, &Args::command()),
        Command::Man(options) => manual::man(&options, Args::command()),
        Command::Receive(options) => receive::main(&options),
        Command::ExportSessions(options) => export_sessions::main(&options),
        Command::Init(options) => init::main(&options, &env),
        Command::Action => in_runtime(action::main(&env)),
        Command::Run(options) => in_runtime(run::main(&options, &env)),
        Command::Review(options) => in_runtime(review::main(&options, &env)),
        Command::Sessions(options) => sessions::main(&options, &env),
        Command::Memory(options) => memory::main(&options, &env),
        Command::Post => Ok(post::main(&env)),
        Command::Doctor(options) => in_runtime(doctor::main(&options, &env)),
        Command::Eval(options) => eval::main(&options),
        Command::Work(options) => in_runtime(work::main(&options, &env)),
        Command::Serve(options) => in_runtime(serve::main(&options, &env)),
        Command::View(options) => in_runtime(view::main(&options, &env)),
        Command::Healthy(options) => in_runtime(healthy::main(&options, &env)),
        Command::Audit(options) => in_runtime(audit::main(&options, &env)),
        Command::Warm(options) => in_runtime(warm::main(options, &env)),
        #[cfg(feature = "demo")]
        Command::Demo(options) => in_runtime(demo::main(&options, &env)),
    };
    ended.unwrap_or_else(|fault| {
        report::fault(&env, &fault);
        ExitCode::from(fault.exit_code())
    })
}

/// Runs a future on one thread: a run waits far more than it works.
///
/// This process holds the credentials, so it hides its memory and environment from every other first.
fn in_runtime(work: impl Future<Output = Result<ExitCode, Fault>>) -> Result<ExitCode, Fault> {
    fro_boundary::hide()
        .map_err(|error| Fault::ours(format!("cannot hide this process from others: {error}")))?;
    // Where it is not allowed, there are fewer.
    drop(fro_boundary::more_open_files());
    on_one_thread(work)
}

fn on_one_thread(work: impl Future<Output = Result<ExitCode, Fault>>) -> Result<ExitCode, Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Fault::ours(format!("cannot start the runtime: {error}")))?;
    runtime.block_on(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn what_stands_below_the_help_fits_80_columns() {
        let command = Args::command();
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        for command in std::iter::once(&command).chain(shown) {
            let below = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            // Examples too: a command that is wrapped in its midst cannot be copied.
            let long: Vec<_> = below.lines().filter(|line| line.chars().count() > 80).collect();
            assert_eq!(long, [""; 0], "{}", command.get_name());
        }
    }
}
