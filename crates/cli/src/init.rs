//! `fro-bot init`: writes the workflow file of a repository, and says what has to be set before its first run.

mod answers;
mod secrets;

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anstream::{print, println};
use clap::{Args, ValueEnum};
use fro_core::{
    Fault,
    workflow::{ACTION, Kind, MemoryChoice, Need, Pusher, Workflow},
};
use fs_err as fs;

use crate::{
    env::Env,
    local,
    question::{self, ask},
};

/// Where the file goes, below the top of the clone.
const FILE: &str = ".github/workflows/fro-bot.yaml";

/// The model that is proposed.
const MODEL: &str = "anthropic/claude-sonnet-4-5";

/// What the workflow is to do.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The model, as `provider/model`; asked for on a terminal
    #[arg(long, value_name = "PROVIDER/MODEL")]
    model: Option<String>,

    /// What it answers: all, or a list of mentions, threads, discussions, issues, pulls, schedule, dispatch
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    triggers: Option<Vec<String>>,

    /// Where the memory is kept
    #[arg(long, value_enum)]
    memory: Option<Memory>,

    /// The bucket's region, with `--memory s3`
    #[arg(long, value_name = "REGION", default_value = "us-east-1")]
    region: String,

    /// The action that the workflow uses, such as `you/agent@v0` for a release of your own
    #[arg(long, value_name = "OWNER/NAME@REF", default_value = ACTION)]
    action: String,

    /// Push changes and open pull requests as a GitHub App
    #[arg(long)]
    app: bool,

    /// Set the secrets and variables too, by `gh`: from variables of the same names, or from what you type; a file that is
    /// there already stays as it is
    #[arg(long)]
    set_secrets: bool,

    /// Print the file instead of writing it
    #[arg(long, conflicts_with = "set_secrets")]
    print: bool,
}

/// Where the memory is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Memory {
    /// In the Actions cache: nothing to set up
    Cache,
    /// In an S3 bucket: shared by all runs, never evicted
    S3,
}

/// Writes the file, or prints it.
pub(crate) fn main(options: &Options, env: &Env) -> Result<ExitCode, Fault> {
    if options.print {
        print!("{}", workflow(options, Asking::No)?.render());
        return Ok(ExitCode::SUCCESS);
    }
    let top = top_of_clone()?;
    let repo = origin(&top);
    let mut needs = match options.written_before(&top.join(FILE)) {
        Some(workflow) => workflow.needs(),
        None => write(&top.join(FILE), options)?.needs(),
    };
    if options.set_secrets {
        needs = secrets::set(needs, repo.as_deref(), env)?;
    }
    tell_what_is_left(&needs, repo.as_deref());
    Ok(ExitCode::SUCCESS)
}

/// Returns the model that the workflow of this clone names, if there is one.
pub(crate) fn model_here() -> Option<String> {
    let file = fs::read_to_string(top_of_clone().ok()?.join(FILE)).ok()?;
    answers::model(&Workflow::read(&file)?.model).ok()
}

/// Whether somebody is asked for what no option says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asking {
    Yes,
    No,
}

impl Asking {
    fn here() -> Self {
        if question::is_answered() { Self::Yes } else { Self::No }
    }
}

impl Options {
    /// Returns the workflow that is there already, if only its secrets are to be set.
    ///
    /// The secrets follow from the file: nobody has to say twice what was answered when it was written.
    fn written_before(&self, path: &Path) -> Option<Workflow> {
        let says_more = self.model.is_some() || self.triggers.is_some() || self.memory.is_some() || self.app;
        if !self.set_secrets || says_more {
            return None;
        }
        let workflow = Workflow::read(&fs::read_to_string(path).ok()?)?;
        // Its provider is printed, and the file can be anybody's.
        answers::model(&workflow.model).ok()?;
        println!("{FILE} is there already and stays as it is");
        Some(workflow)
    }
}

fn workflow(options: &Options, asking: Asking) -> Result<Workflow, Fault> {
    let given = |answer: &Option<String>, question: &str, usual: &str| match (answer, asking) {
        (Some(answer), _) => Ok(answer.clone()),
        (None, Asking::Yes) => ask(question, usual),
        (None, Asking::No) => Ok(usual.to_owned()),
    };
    let model = given(&options.model, "Which model", MODEL)?;
    let triggers = options.triggers.as_ref().map(|names| names.join(","));
    let triggers = given(&triggers, "What to answer", "all")?;
    let memory = match (options.memory, asking) {
        (Some(memory), _) => memory,
        (None, Asking::Yes) => memory(&ask("Where to keep the memory, cache or s3", "cache")?)?,
        (None, Asking::No) => Memory::Cache,
    };
    let shelf = match memory {
        Memory::Cache => MemoryChoice::Cache,
        Memory::S3 => MemoryChoice::S3 { region: answers::plain("region", &options.region)? },
    };
    let pusher = if options.app { Pusher::App } else { Pusher::Job };
    let (kinds, model, action) =
        (answers::kinds(&triggers)?, answers::model(&model)?, answers::action(&options.action)?);
    Ok(Workflow { kinds, model, shelf, pusher, action })
}

fn memory(name: &str) -> Result<Memory, Fault> {
    let unknown = |_| Fault::yours(format!("the memory cannot be kept in `{name}`"), "say `cache` or `s3`");
    Memory::from_str(name, true).map_err(unknown)
}

fn top_of_clone() -> Result<PathBuf, Fault> {
    let top = git(Path::new("."), &["rev-parse", "--show-toplevel"]);
    let hint = "change to the clone of your repository, or use `--print`";
    top.map(PathBuf::from).ok_or_else(|| Fault::yours("this folder is not in a clone", hint))
}

/// Returns the repository on GitHub that the clone came from, as `owner/name`.
fn origin(top: &Path) -> Option<String> {
    let url = git(top, &["remote", "get-url", "origin"])?;
    let (owner, name) = local::owner_and_name(&url);
    (!owner.is_empty()).then(|| format!("{owner}/{name}"))
}

fn git(folder: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Writes what the options and the answers say. A file with the same text is as good as written, so that a command that
/// failed half-way can be repeated.
fn write(path: &Path, options: &Options) -> Result<Workflow, Fault> {
    let there = fs::read_to_string(path).ok();
    let asking = if there.is_some() { Asking::No } else { Asking::here() };
    let workflow = workflow(options, asking)?;
    let text = workflow.render();
    if options.set_secrets && there.as_ref() == Some(&text) {
        println!("{FILE} is there already and stays as it is");
        return Ok(workflow);
    }
    if path.exists() {
        let hint = "compare it with `fro-bot init --print`, or move it away first; `fro-bot init --set-secrets` sets the secrets of the file that is there";
        return Err(Fault::yours(format!("{FILE} is there already and was left as it is"), hint));
    }
    let folder = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
    let hint = "see that the folder can be written";
    written.map_err(|error| Fault::yours(format!("cannot write {FILE}: {error}"), hint))?;
    println!("wrote {FILE}: {}", names(&workflow.kinds));
    Ok(workflow)
}

fn tell_what_is_left(needs: &[Need], repo: Option<&str>) {
    let repo = repo.map(|repo| format!(" --repo {repo}")).unwrap_or_default();
    if !needs.is_empty() {
        println!("\nBefore the first run, set:\n");
    }
    for Need { name, value, sort, file } in needs {
        let file = file.map(|file| format!(" < {file}")).unwrap_or_default();
        println!("  gh {sort} set {name}{repo}{file}\n      # {value}");
    }
    println!(
        "\nThen commit {FILE} to the default branch, and write on any issue:\n\n  @fro-bot what is this repository about?"
    );
}

fn names(kinds: &[Kind]) -> String {
    kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}
