//! Whole runs in ten lines: the simulated world, the built binary, the real engine, and a door check at the end.
//!
//! ```ignore
//! let sim = Sim::new().await;
//! sim.model().says("The hose leaks at `tap.rs:12`.");
//! let run = sim.mention("@fro-bot why is the floor wet?").by(Person::Maintainer).run().await;
//! assert_snapshot!(run.only_comment());
//! sim.finish().await;
//! ```

#![expect(clippy::expect_used, reason = "a story that cannot be told fails its test")]

mod checkout;
mod demo;
mod door;
mod mention;
mod processes;
mod registry;
mod run;
mod tools;
mod workflow;

pub use demo::{Demo, taken_port};
pub use mention::{Launched, Mention, PLANTED, Person};
pub use processes::signal;
pub use registry::Registry;
pub use run::{Run, normal};
pub use rustix::process::Signal;
pub use tools::{act, binary, gh, node, old_gh, tool_cache, wrong_in_sarif};
pub use workflow::{Worked, Workflow, Working, project, sums};

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use fro_sim::{World, model::Model};
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::timeout;

/// The repository of every story.
pub const REPO: &str = "octo/garden";
/// The issue of every story.
pub const ISSUE: u64 = 1;

/// Returns the forms of a story that are played: the first usually, and all of them in `./test --all`, which sets
/// `FRO_ALL_FORMS`.
pub fn forms<T, const N: usize>(all: [T; N]) -> impl Iterator<Item = T> {
    let played = if std::env::var_os("FRO_ALL_FORMS").is_some() { N } else { 1 };
    all.into_iter().take(played)
}

/// The world of one story.
pub struct Sim {
    world: World,
    folder: TempDir,
    /// Every process of the story has this in its environment, so that one that stays behind is found.
    tracking: String,
}

impl Sim {
    /// Opens a world with octo/garden, its issue #1 and its people, and a checkout with one file.
    pub async fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let world = World::start().await.expect("a loopback port is free");
        let folder = tempfile::Builder::new().prefix("story-").tempdir().expect("there is room for a folder");
        let tracking = format!("story-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        // What a request means is asked outside of any session; a story that hangs on it says otherwise.
        world.model().answers_aside("no");
        let sim = Self { world, folder, tracking };
        checkout::make(&sim.checkout());
        for folder in ["temp", "home"] {
            fs_err::create_dir(sim.folder.path().join(folder)).expect("the folder is new");
        }
        sim
    }

    /// Opens a world whose checkout is a real clone of octo/garden, as work that is to be pushed needs it.
    pub async fn cloned() -> Self {
        let sim = Self::new().await;
        fs_err::remove_dir_all(sim.checkout()).expect("the checkout can be replaced");
        checkout::clone(&sim.world.clone_url(REPO), &sim.checkout()).await;
        sim
    }

    /// Lets the owner push a file to a branch, whatever protects it.
    pub async fn publish(&self, branch: &str, file: &str, text: &str) {
        self.publish_all(branch, &[(file.to_owned(), text.to_owned())]).await;
    }

    /// Lets the owner push files to a branch in one commit, whatever protects it.
    pub async fn publish_all(&self, branch: &str, files: &[(String, String)]) {
        self.world.change(|state| state.repo_mut(REPO).expect("the garden is there").protected.clear());
        let token = self.world.token("octo");
        let url = self.world.clone_url(REPO).replace("://", &format!("://x-access-token:{token}@"));
        checkout::publish(&url, branch, files).await;
    }

    /// Lets the owner put a branch anew onto the default one, with one commit that has this file.
    pub async fn rebase(&self, branch: &str, file: &str, text: &str) {
        let token = self.world.token("octo");
        let url = self.world.clone_url(REPO).replace("://", &format!("://x-access-token:{token}@"));
        checkout::rebase(&url, branch, (file, text)).await;
    }

    /// Commits a file in the runner's checkout, without pushing it.
    pub fn commit(&self, file: &str, text: &str) {
        fs_err::write(self.checkout().join(file), text).expect("the checkout can be written");
        checkout::commit(&self.checkout(), file);
    }

    /// Stages a file in the runner's checkout, without committing it.
    pub fn stage(&self, file: &str, text: &str) {
        fs_err::write(self.checkout().join(file), text).expect("the checkout can be written");
        checkout::run(&self.checkout(), &["add", file]);
    }

    /// Returns the world itself.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Returns the scripted model.
    pub fn model(&self) -> Model {
        self.world.model()
    }

    /// Has somebody write a comment; the maintainer, if the story does not say otherwise.
    pub fn mention(&self, text: &str) -> Mention<'_> {
        Mention::new(self, text)
    }

    /// Lets something happen that is already there. `about` is the comment whose reactions count, if it is one.
    pub fn event(&self, name: &str, payload: &Value, about: u64) -> Mention<'_> {
        Mention::of_event(self, name, payload, about)
    }

    /// Lets a real runner run a workflow on an event.
    pub fn workflow(&self, text: &str, event: &str, payload: &Value) -> Workflow<'_> {
        Workflow::new(self, text, event, payload)
    }

    /// Returns what was written to the run's page.
    pub fn run_page(&self) -> String {
        fs_err::read_to_string(self.folder.path().join("page.md")).unwrap_or_default()
    }

    /// Returns the runner's checkout, of which the agent gets a clone.
    pub fn checkout(&self) -> PathBuf {
        self.folder.path().join("garden")
    }

    /// Returns the clone that the agent works in, once there is one.
    pub fn clone_of_agent(&self) -> Option<PathBuf> {
        let homes = fs_err::read_dir(self.temp()).ok()?.flatten();
        homes.map(|home| home.path().join("work/garden")).find(|clone| clone.exists())
    }

    /// Waits until the agent's shell has written a file into its clone.
    pub async fn wait_for_file(&self, name: &str) {
        let is_there = || self.clone_of_agent().is_some_and(|clone| clone.join(name).exists());
        let written = async {
            while !is_there() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(Duration::from_mins(2), written).await.expect("the engine's shell starts");
    }

    /// Returns the folder for temporary files, which a run leaves empty.
    pub fn temp(&self) -> PathBuf {
        self.folder.path().join("temp")
    }

    /// Returns the folder of the story.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns what marks the story's processes.
    pub fn tracking(&self) -> &str {
        &self.tracking
    }

    /// Returns the texts of all comments that the bot left, oldest first.
    pub fn answers(&self) -> Vec<String> {
        self.world.comments_by(REPO, ISSUE, "fro-bot")
    }

    /// Returns the reactions on a comment as `login: content`.
    pub fn reactions(&self, comment: u64) -> Vec<String> {
        self.world.reactions_on(REPO, comment)
    }

    /// Returns the labels on the issue.
    pub fn labels(&self) -> Vec<String> {
        self.world
            .state(|state| state.issue(REPO, ISSUE).map(|issue| issue.labels.clone()).unwrap_or_default())
    }

    /// Runs one of the program's commands on the story's memory; returns what it printed, and how it ended.
    pub fn command(&self, arguments: &[&str]) -> (String, Option<i32>) {
        let mut command = Command::new(binary());
        let memory = self.folder().join("memory");
        let output = command.args(arguments).env_clear().env("FRO_MEMORY", memory).output();
        let output = output.unwrap_or_else(|error| panic!("cannot run {arguments:?}: {error}"));
        let printed = [output.stdout, output.stderr].concat();
        (String::from_utf8_lossy(&printed).into_owned(), output.status.code())
    }

    /// Gives everything in the story's folder to another user of the machine.
    pub fn give_to(&self, user: u32) {
        let done =
            Command::new("chown").args(["-R", &format!("{user}:{user}")]).arg(self.folder.path()).status();
        assert!(done.is_ok_and(|status| status.success()), "chown failed");
    }

    /// Checks the door: nothing unread, unused, unknown, leaked or alive.
    pub async fn finish(self) {
        assert_eq!(self.model().unplayed(), 0, "the model was not asked for everything it was to say");
        door::check(&self).await;
    }

    /// Checks the door after a run that may have ended before the model was asked.
    pub async fn finish_early(self) {
        door::check(&self).await;
    }
}
