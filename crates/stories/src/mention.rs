//! Somebody writes a comment, and a workflow run starts on it.

use std::{
    ffi::OsString,
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use rustix::process::Signal;
use serde_json::Value;
use tokio::{process::Child, time::timeout};

use crate::{
    ISSUE, REPO, Run, Sim,
    processes::{descendants, launcher_and_harness, signal},
    tools, workflow,
};

/// The people of octo/garden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Person {
    /// maya, who may push.
    Maintainer,
    /// rita, who may read.
    Reader,
    /// mallory, whom nobody knows.
    Stranger,
    /// The bot itself.
    Bot,
}

impl Person {
    fn login(self) -> &'static str {
        match self {
            Self::Maintainer => "maya",
            Self::Reader => "rita",
            Self::Stranger => "mallory",
            Self::Bot => "fro-bot",
        }
    }
}

/// Values that a run must never show to the engine, nor anybody else.
pub const PLANTED: [(&str, &str); 4] = [
    ("AWS_SECRET_ACCESS_KEY", "planted-aws-secret-0123456789"),
    ("ACTIONS_RUNTIME_TOKEN", "planted-runtime-token-0123456789"),
    ("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "planted-oidc-token-0123456789"),
    ("INPUT_AUTH-JSON", "{\"openai\":{\"type\":\"api\",\"key\":\"planted-model-key-0123456789\"}}"),
];

/// A comment about to be written, and the run that it starts.
#[derive(Clone)]
pub struct Mention<'a> {
    sim: &'a Sim,
    text: String,
    by: Person,
    variables: Vec<(OsString, OsString)>,
    user: Option<u32>,
    step: &'static str,
    arguments: Vec<String>,
    start: Start,
    /// How many megabytes the disk for temporary files has, if it is one of its own.
    disk: Option<u32>,
    happened: Happened,
}

/// What starts the binary.
#[derive(Debug, Clone, Copy)]
enum Start {
    /// The test itself.
    Directly,
    /// The action's launcher, which node runs.
    ByNode,
}

/// What sets a run off.
#[derive(Debug, Clone)]
enum Happened {
    /// The comment is written when the run starts.
    Comment,
    /// Something that is already there, with its event.
    Event { name: String, payload: String, about: u64 },
}

impl<'a> Mention<'a> {
    pub(crate) fn new(sim: &'a Sim, text: &str) -> Self {
        Self {
            sim,
            text: text.to_owned(),
            by: Person::Maintainer,
            variables: Vec::new(),
            user: None,
            step: "action",
            arguments: Vec::new(),
            start: Start::Directly,
            disk: None,
            happened: Happened::Comment,
        }
    }

    pub(crate) fn of_event(sim: &'a Sim, name: &str, payload: &Value, about: u64) -> Self {
        let (name, payload) = (name.to_owned(), payload.to_string());
        Self { happened: Happened::Event { name, payload, about }, ..Self::new(sim, "") }
    }

    /// Says who writes it.
    #[must_use]
    pub fn by(mut self, person: Person) -> Self {
        self.by = person;
        self
    }

    /// Sets an input of the action.
    #[must_use]
    pub fn with(self, input: &str, value: &str) -> Self {
        self.variable(&format!("INPUT_{}", input.to_uppercase()), value)
    }

    /// Sets a variable of the run.
    #[must_use]
    pub fn variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Puts a folder in front of the programs that the run finds.
    #[must_use]
    pub fn finding(self, program: &Path) -> Self {
        let mut path = program.parent().expect("a program is in a folder").as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        self.variable("PATH", path)
    }

    /// Calls the simulated GitHub by its real name, which git reaches through a proxy: `gh` knows no other remote.
    #[must_use]
    pub fn on_github_com(self) -> Self {
        let world = self.sim.world().api_url();
        self.variable("GITHUB_SERVER_URL", "http://github.com")
            .variable("http_proxy", world)
            .variable("no_proxy", "127.0.0.1")
    }

    /// Runs as another user of the machine.
    #[must_use]
    pub fn as_user(mut self, user: u32) -> Self {
        self.user = Some(user);
        self
    }

    /// Runs where temporary files are on a disk of their own, which has so many megabytes.
    #[must_use]
    pub fn on_disk_of(mut self, megabytes: u32) -> Self {
        self.disk = Some(megabytes);
        self
    }

    /// Is started as the runner does it: by node, which runs the action's launcher.
    #[must_use]
    pub fn by_node(mut self) -> Self {
        self.start = Start::ByNode;
        let binary = tools::binary();
        self.variable("INPUT_BINARY", binary)
    }

    /// Is another of the program's commands, typed in the checkout.
    #[must_use]
    pub fn typed(mut self, command: &'static str, arguments: &[&str]) -> Self {
        self.step = command;
        self.arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        self
    }

    /// Is the step after the run, with what that left for it.
    #[must_use]
    pub fn post(mut self) -> Self {
        let state = fs_err::read_to_string(self.sim.folder().join("state")).unwrap_or_default();
        self.step = "post";
        let left = state.lines().filter_map(|line| line.split_once('='));
        left.fold(self, |post, (name, value)| post.variable(&format!("STATE_{name}"), value))
    }

    /// Starts from a comment that is already there, as a second attempt does.
    #[must_use]
    pub fn again(mut self, comment: u64) -> Self {
        let payload = self.sim.world().comment_event(REPO, comment).to_string();
        self.happened = Happened::Event { name: "issue_comment".to_owned(), payload, about: comment };
        self
    }

    /// Writes the comment, lets the run go through and returns what came of it.
    pub async fn run(self) -> Run {
        self.start().end().await
    }

    /// Writes the comment and starts the run.
    pub fn start(self) -> Launched<'a> {
        let (world, login) = (self.sim.world(), self.by.login());
        let (name, payload, comment) = match &self.happened {
            Happened::Comment => {
                let comment = world.write_comment(REPO, ISSUE, login, &self.text);
                ("issue_comment", world.comment_event(REPO, comment).to_string(), comment)
            }
            Happened::Event { name, payload, about } => (name.as_str(), payload.clone(), *about),
        };
        let event = self.sim.folder().join(format!("event-{comment}.json"));
        fs_err::write(&event, payload).expect("the event can be written");
        let mut command = match self.disk {
            Some(megabytes) => on_disk(&self.command(), &self.sim.temp(), megabytes),
            None => self.command(),
        };
        command.env_clear().envs(self.environment(name, event.as_os_str().to_owned()));
        command
            .current_dir(self.sim.checkout())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        let child =
            tokio::process::Command::from(command).kill_on_drop(true).spawn().expect("the binary starts");
        Launched { sim: self.sim, child, comment }
    }

    fn command(&self) -> Command {
        match self.start {
            Start::Directly => {
                let mut binary = Command::new(tools::binary());
                binary.arg(self.step).args(&self.arguments);
                binary
            }
            Start::ByNode => {
                let launcher = if self.step == "post" { "post.mjs" } else { "main.mjs" };
                let mut node = Command::new(tools::node());
                node.arg(workflow::project().join("launch").join(launcher));
                node
            }
        }
    }

    fn environment(&self, event_name: &str, event: OsString) -> Vec<(OsString, OsString)> {
        let (sim, world) = (self.sim, self.sim.world());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let text = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let mut variables = vec![
            (OsString::from("PATH"), path),
            (OsString::from("GITHUB_EVENT_PATH"), event),
            (OsString::from("GITHUB_WORKSPACE"), sim.checkout().into()),
            (OsString::from("RUNNER_TEMP"), sim.temp().into()),
            (OsString::from("RUNNER_TOOL_CACHE"), tools::tool_cache().into()),
            (OsString::from("HOME"), sim.folder().join("home").into()),
            (OsString::from("FRO_MEMORY"), sim.folder().join("memory").into()),
            (OsString::from("GITHUB_STATE"), sim.folder().join("state").into()),
            (OsString::from("GITHUB_OUTPUT"), sim.folder().join("output").into()),
            (OsString::from("GITHUB_STEP_SUMMARY"), sim.folder().join("page.md").into()),
            text("GITHUB_EVENT_NAME", event_name),
            text("GITHUB_ACTOR", self.by.login()),
            text("GITHUB_API_URL", &world.api_url()),
            text("GITHUB_SERVER_URL", &world.api_url()),
            text("GITHUB_GRAPHQL_URL", &world.graphql_url()),
            text("GITHUB_REPOSITORY", REPO),
            text("GITHUB_RUN_ID", "42"),
            text("GITHUB_REF_NAME", "main"),
            text("RUNNER_TRACKING_ID", sim.tracking()),
            text("FRO_RETRY_DELAYS", "10,10,10"),
            text("FRO_SHARE_URL", &world.api_url()),
            text("INPUT_SHARE", "false"),
            text("INPUT_ENABLE-OMO", "false"),
            text("INPUT_GITHUB-TOKEN", &world.token("fro-bot")),
            text("INPUT_OPENCODE-CONFIG", &world.model().provider().to_string()),
        ];
        variables.extend(PLANTED.map(|(name, value)| text(name, value)));
        variables.extend(self.variables.iter().cloned());
        variables
    }
}

/// Returns a command that mounts a disk of this size on a folder, which nobody else sees, and then becomes another command.
/// Whoever is not root is given the right to mount in a namespace of their own.
fn on_disk(command: &Command, folder: &Path, megabytes: u32) -> Command {
    // No shell: it would drop the variables of inputs whose names have hyphens.
    let script = format!(
        "import os, subprocess, sys\n\
         subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size={megabytes}m', 'disk', sys.argv[1]], check=True)\n\
         os.execvp(sys.argv[2], sys.argv[2:])"
    );
    let mut mounting = Command::new("unshare");
    if !rustix::process::getuid().is_root() {
        mounting.args(["--user", "--map-current-user", "--keep-caps"]);
    }
    mounting.args(["--mount", "python3", "-c", &script]).arg(folder);
    mounting.arg(command.get_program()).args(command.get_args());
    mounting
}

/// A run under way.
pub struct Launched<'a> {
    sim: &'a Sim,
    child: Child,
    comment: u64,
}

impl Launched<'_> {
    /// Returns the process id of the harness.
    pub fn pid(&self) -> u32 {
        self.child.id().expect("the run is under way")
    }

    /// Returns the process id of the harness that a launcher started.
    pub fn harness(&self) -> u32 {
        launcher_and_harness(self.pid()).1
    }

    /// Cancels the run as the runner does: asks twice, then kills everything it started.
    pub async fn cancel(mut self) -> Run {
        let launcher = self.pid();
        for (asked, patience) in [(Signal::INT, 7500), (Signal::TERM, 2500)] {
            signal(launcher, asked);
            if timeout(Duration::from_millis(patience), self.child.wait()).await.is_ok() {
                return self.end().await;
            }
        }
        for pid in descendants(launcher) {
            signal(pid, Signal::KILL);
        }
        self.end().await
    }

    /// Waits for the end. Nothing in a story takes minutes, but a machine may have much else to do.
    pub async fn end(self) -> Run {
        let output = timeout(Duration::from_mins(10), self.child.wait_with_output()).await;
        let output = output.expect("the run ends within ten minutes").expect("the run can be waited for");
        Run {
            code: output.status.code(),
            log: String::from_utf8_lossy(&output.stdout).into_owned(),
            errors: String::from_utf8_lossy(&output.stderr).into_owned(),
            comment: self.comment,
            answers: self.sim.answers(),
            reactions: self.sim.reactions(self.comment),
        }
    }
}
