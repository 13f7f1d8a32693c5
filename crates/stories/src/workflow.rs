//! A workflow that a real runner runs: act starts the action from its own files, as GitHub does.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use fro_sim::{Job, state::CacheAccess};
use rustix::process::Signal;
use serde_json::Value;
use tokio::{process::Child, time::timeout};

use crate::{
    REPO, Sim,
    processes::{launcher_and_harness, signal},
    tools,
};

/// A workflow about to be run.
pub struct Workflow<'a> {
    sim: &'a Sim,
    event: String,
    payload: Value,
    arguments: Vec<OsString>,
}

/// A workflow under way.
pub struct Working {
    child: Child,
}

/// What came of a workflow.
#[derive(Debug)]
pub struct Worked {
    /// The runner's exit code.
    pub code: Option<i32>,
    /// Everything that was printed.
    pub log: String,
}

impl<'a> Workflow<'a> {
    /// Puts a workflow into a clone of the story's checkout, and the action beside it. The action's binary is the
    /// built one, by the same checksums that a release has.
    pub(crate) fn new(sim: &'a Sim, text: &str, event: &str, payload: &Value) -> Self {
        let (project, action) = (sim.folder().join("project"), sim.folder().join("agent"));
        if !project.exists() {
            copy(&sim.checkout(), &project);
            // A workflow may use the action from where GitHub has it, or from its own checkout.
            place_action(&action);
            place_action(&project);
            // act has a tool cache of its own; the engine need not be downloaded for each story.
            fs_err::create_dir(sim.folder().join("act")).expect("the folder is new");
            fs_err::os::unix::fs::symlink(tools::tool_cache(), sim.folder().join("act/tool_cache"))
                .expect("the folder is new");
        }
        let workflows = project.join(".github/workflows");
        fs_err::create_dir_all(&workflows).expect("the project can be written");
        fs_err::write(workflows.join("fro-bot.yaml"), text).expect("the project can be written");
        let mut local = OsString::from("--local-repository=fro-bot/agent@v0=");
        local.push(&action);
        let workflow =
            Self { sim, event: event.to_owned(), payload: payload.clone(), arguments: vec![local] };
        workflow.usual()
    }

    /// What the runner sets for every job here: our addresses instead of GitHub's.
    fn usual(self) -> Self {
        let (sim, world) = (self.sim, self.sim.world());
        self.secret("GITHUB_TOKEN", &world.token("fro-bot"))
            .variable("GITHUB_REPOSITORY", REPO)
            .variable("GITHUB_API_URL", &world.api_url())
            .variable("GITHUB_GRAPHQL_URL", &world.graphql_url())
            .variable("GITHUB_SERVER_URL", &world.api_url())
            .variable("RUNNER_TRACKING_ID", sim.tracking())
            .variable("FRO_RETRY_DELAYS", "10,10,10")
            .variable("FRO_SHARE_URL", &sim.world().api_url())
    }

    /// Sets a variable of every step.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.arguments.extend(["--env".into(), format!("{name}={value}").into()]);
        self
    }

    /// Sets a secret of the repository.
    #[must_use]
    pub fn secret(mut self, name: &str, value: &str) -> Self {
        self.arguments.extend(["--secret".into(), format!("{name}={value}").into()]);
        self
    }

    /// Gives the steps the Actions cache that a job with `cache-mode: write` has.
    #[must_use]
    pub fn with_cache(self) -> Self {
        let job = self.sim.world().job(&self.event, &self.payload).cache_mode(CacheAccess::Write);
        self.cached(job)
    }

    /// Gives the steps the Actions cache that GitHub thinks right for the event.
    #[must_use]
    pub fn with_usual_cache(self) -> Self {
        let job = self.sim.world().job(&self.event, &self.payload);
        self.cached(job)
    }

    fn cached(mut self, job: Job<'_>) -> Self {
        let started = job.start(&self.sim.folder().join("job")).expect("there is room for a job");
        for (name, value) in started.environment.iter().filter(|(name, _)| name.starts_with("ACTIONS_")) {
            self = self.variable(name, value.to_str().expect("these are words"));
        }
        // Only GitHub's own servers have this version of the cache; names below `localhost` count as such.
        let server = format!("http://github.localhost:{}", self.sim.world().port());
        self.variable("GITHUB_SERVER_URL", &server)
    }

    /// Starts the runner.
    pub fn start(self) -> Working {
        let folder = self.sim.folder();
        let event = folder.join("event.json");
        fs_err::write(&event, self.payload.to_string()).expect("the event can be written");
        let mut path = tools::node().parent().expect("a program is in a folder").as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut act = Command::new(tools::act());
        act.arg(&self.event).args([
            "--platform=ubuntu-latest=-self-hosted",
            "--no-cache-server",
            "--directory",
        ]);
        act.arg(folder.join("project")).arg("--eventpath").arg(event);
        act.arg("--action-cache-path").arg(folder.join("act")).args(self.arguments);
        act.env_clear().env("PATH", path).env("HOME", folder.join("home"));
        act.env("RUNNER_TRACKING_ID", self.sim.tracking());
        act.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = tokio::process::Command::from(act).kill_on_drop(true).spawn().expect("act starts");
        Working { child }
    }

    /// Runs it to its end.
    pub async fn run(self) -> Worked {
        self.start().end().await
    }
}

impl Working {
    /// Kills the action's main step, launcher and harness at once, as the runner does at the end of its patience.
    pub fn kill_main(&self) {
        let (launcher, harness) = launcher_and_harness(self.child.id().expect("the workflow is under way"));
        for pid in [launcher, harness] {
            signal(pid, Signal::KILL);
        }
    }

    /// Waits for the end.
    pub async fn end(self) -> Worked {
        let output = timeout(Duration::from_mins(5), self.child.wait_with_output()).await;
        let output = output.expect("the workflow ends within five minutes").expect("act can be waited for");
        let log = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
        Worked { code: output.status.code(), log: log.concat() }
    }
}

/// Returns the root of the project that these tests belong to.
pub fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Makes a folder with the action as people get it: its file, its launchers, checksums and a binary.
fn place_action(folder: &Path) {
    for file in ["action.yaml", "launch", "review"] {
        copy(&project().join(file), &folder.join(file));
    }
    let bin = folder.join("bin");
    fs_err::create_dir(&bin).expect("the folder is new");
    fs_err::copy(tools::binary(), bin.join("fro-bot-linux-x64-musl")).expect("there is room for the binary");
    fs_err::write(folder.join("launch/sums.json"), sums(&bin)).expect("the folder can be written");
}

/// Returns the checksums of a folder of binaries, as the release writes them.
pub fn sums(folder: &Path) -> String {
    let mut node = Command::new(tools::node());
    node.arg(project().join("scripts/write-sums.mjs")).arg("0.0.1").arg(folder);
    let output = node.output().expect("node starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("JSON is text")
}

fn copy(from: &Path, to: &Path) {
    fs_err::create_dir_all(to.parent().expect("a folder is in a folder")).expect("there is room");
    let done = Command::new("cp").arg("-R").args([from, to]).status();
    assert!(done.is_ok_and(|status| status.success()), "cannot copy {}", from.display());
}
