//! `fro-bot completions` and `fro-bot man`: what a shell and `man` know of the command line.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Command};
use clap_complete::Shell;
use fro_core::Fault;

const NAME: &str = "fro-bot";

/// Which shell.
#[derive(Debug, Args)]
#[command(after_help = "\
For instance:
  fro-bot completions bash > ~/.local/share/bash-completion/completions/fro-bot
  fro-bot completions fish > ~/.config/fish/completions/fro-bot.fish")]
pub(crate) struct Completions {
    /// The shell that the completions are for
    shell: Shell,
}

/// Where the pages go.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Write the page of every command into this folder, instead of printing that of `fro-bot` itself
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Prints the completions.
pub(crate) fn completions(options: &Completions, command: &Command) -> Result<ExitCode, Fault> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut without_internals(command), NAME, &mut script);
    print(&script)
}

/// Returns the command line without the commands that only the program itself starts: hidden ones are in scripts all the same.
fn without_internals(command: &Command) -> Command {
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    let all = Command::new(NAME).args(command.get_arguments()).subcommands(shown.cloned());
    all.version(env!("CARGO_PKG_VERSION")).propagate_version(true)
}

/// Prints the manual page, or writes all of them.
pub(crate) fn man(options: &Man, command: Command) -> Result<ExitCode, Fault> {
    if let Some(folder) = &options.out {
        return write(folder, command);
    }
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut page);
    rendered.map_err(|error| Fault::ours(format!("cannot render the manual page: {error}")))?;
    print(&page)
}

fn write(folder: &Path, command: Command) -> Result<ExitCode, Fault> {
    let hint = "name a folder that can be written, such as `~/.local/share/man/man1`";
    let wrote = fs_err::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
    wrote.map_err(|error| Fault::yours(format!("cannot write the manual pages: {error}"), hint))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints bytes; a reader that has seen enough, such as `head`, is no mistake.
fn print(bytes: &[u8]) -> Result<ExitCode, Fault> {
    match io::stdout().write_all(bytes) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Fault::ours(format!("cannot print: {error}")))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn a_shell_proposes_no_internals() {
        let shown = without_internals(&crate::Args::command());
        let names: Vec<_> = shown.get_subcommands().map(Command::get_name).collect();
        assert!(names.contains(&"init") && names.contains(&"doctor"), "{names:?}");
        for internal in ["action", "post", "wall", "mcp", "receive", "export-sessions", "reference"] {
            assert!(!names.contains(&internal), "{internal}");
        }
        assert!(shown.get_arguments().any(|argument| argument.get_id() == "color"));
        shown.debug_assert();
    }
}
