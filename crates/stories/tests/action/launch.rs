//! The launchers: which binary they start, and how they say that there is none.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use fro_stories::{REPO, Sim, node, project, sums};

use crate::office::Office;

/// A program that tells how it was started, in place of the binary.
const PROGRAM: &[u8] = b"#!/bin/sh\necho \"started with $1\"\nexit 7\n";
const NAME: &str = "fro-bot-linux-x64-musl";

/// An action folder, and what a runner sets for it.
struct Launch<'a> {
    sim: &'a Sim,
    action: PathBuf,
    inputs: Vec<(&'static str, String)>,
}

impl<'a> Launch<'a> {
    /// An action whose checksums fit `bytes`.
    fn expecting(sim: &'a Sim, bytes: &[u8]) -> Self {
        let action = sim.folder().join("agent");
        let assets = sim.folder().join("assets");
        let _old = fs_err::remove_dir_all(&action);
        fs_err::create_dir_all(&action).unwrap();
        fs_err::create_dir_all(&assets).unwrap();
        let copied = Command::new("cp").arg("-R").arg(project().join("launch")).arg(&action).status();
        assert!(copied.unwrap().success());
        fs_err::write(assets.join(NAME), bytes).unwrap();
        fs_err::write(action.join("launch/sums.json"), sums(&assets)).unwrap();
        Self { sim, action, inputs: Vec::new() }
    }

    fn with(mut self, input: &'static str, value: impl Into<String>) -> Self {
        self.inputs.push((input, value.into()));
        self
    }

    fn tools(&self) -> PathBuf {
        self.sim.folder().join("tools")
    }

    async fn run(&self) -> Told {
        let mut command = tokio::process::Command::new(node());
        command.arg(self.action.join("launch/main.mjs")).env_clear().current_dir(self.sim.checkout());
        command.env("PATH", "/usr/bin:/bin").env("RUNNER_TOOL_CACHE", self.tools());
        command.env("GITHUB_SERVER_URL", self.sim.world().api_url());
        command.env("GITHUB_API_URL", self.sim.world().api_url()).env("GITHUB_ACTION_REPOSITORY", REPO);
        command.env("GITHUB_WORKSPACE", self.sim.checkout());
        for (name, value) in &self.inputs {
            command.env(name, value);
        }
        Told::from_output(&command.output().await.unwrap())
    }
}

/// What a launcher said.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    code: Option<i32>,
    said: String,
}

impl Told {
    fn from_output(output: &Output) -> Self {
        let said = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said).into_owned());
        Self { code: output.status.code(), said: said.concat() }
    }

    fn started() -> Self {
        Self { code: Some(7), said: "started with action\n".to_owned() }
    }
}

/// Returns how often the release was asked for its file.
fn downloads(sim: &Sim) -> usize {
    sim.world().traffic().iter().filter(|exchange| exchange.path.contains("/releases/download/")).count()
}

fn write(path: &Path, bytes: &[u8], mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, bytes).unwrap();
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn the_release_is_fetched_once_and_then_found_in_the_tool_cache() {
    let sim = Sim::new().await;
    sim.world().release(REPO, "v0.0.1", &[(NAME, PROGRAM)]);
    let launch = Launch::expecting(&sim, PROGRAM);
    assert_eq!((launch.run().await, downloads(&sim)), (Told::started(), 1));
    assert_eq!((launch.run().await, downloads(&sim)), (Told::started(), 1));
    assert!(launch.tools().join("fro-bot/0.0.1/x64.complete").exists());

    // What is not whole any more is fetched again, and said.
    fs_err::write(launch.tools().join("fro-bot/0.0.1/x64/fro-bot"), "#!/bin/sh\necho weeds\n").unwrap();
    let told = launch.run().await;
    assert_eq!((told.code, downloads(&sim)), (Some(7), 2), "{}", told.said);
    assert!(
        told.said.contains("::warning title=fro-bot::") && !told.said.contains("weeds\n"),
        "{}",
        told.said
    );
    sim.finish_early().await;
}

#[tokio::test]
async fn the_release_is_fetched_through_an_office_s_proxy() {
    let sim = Sim::new().await;
    sim.world().release(REPO, "v0.0.1", &[(NAME, PROGRAM)]);
    let office = Office::open(sim.folder(), &[("garden.example", sim.world().port())]).await;
    let launch = Launch::expecting(&sim, PROGRAM)
        .with("GITHUB_SERVER_URL", "https://garden.example")
        .with("HTTPS_PROXY", &office.proxy)
        .with("NODE_EXTRA_CA_CERTS", office.authority.to_str().unwrap());
    assert_eq!((launch.run().await, office.visited()), (Told::started(), vec!["garden.example".to_owned()]));
    sim.finish_early().await;
}

#[tokio::test]
async fn a_wrong_sum_starts_nothing_and_leaves_nothing() {
    let sim = Sim::new().await;
    sim.world().release(REPO, "v0.0.1", &[(NAME, b"#!/bin/sh\necho weeds\n")]);
    let launch = Launch::expecting(&sim, PROGRAM);
    let told = launch.run().await;
    assert_eq!(told.code, Some(1), "{}", told.said);
    assert!(told.said.contains("does not have the SHA-256"), "{}", told.said);
    assert!(!launch.tools().join("fro-bot/0.0.1/x64").exists());
    let left = fs_err::read_dir(launch.tools().join("fro-bot/0.0.1")).unwrap().count();
    assert_eq!(left, 0);
    sim.finish_early().await;
}

#[tokio::test]
async fn a_missing_sum_or_release_is_said_with_the_next_step() {
    let sim = Sim::new().await;
    let launch = Launch::expecting(&sim, PROGRAM);
    let told = launch.run().await;
    assert_eq!(told.code, Some(1));
    assert!(told.said.contains("status 404%0Ahint: a runner without access"), "{}", told.said);

    let sums = launch.action.join("launch/sums.json");
    fs_err::write(&sums, r#"{ "version": "0.0.1", "sums": { "macos-x64": "00" } }"#).unwrap();
    let told = launch.run().await;
    assert!(told.said.contains("was not released for linux-x64-musl, only for macos-x64"), "{}", told.said);

    fs_err::write(&sums, r#"{ "version": null, "sums": {} }"#).unwrap();
    let told = launch.run().await;
    assert!(told.said.contains("this commit of the action belongs to no release"), "{}", told.said);
    sim.finish_early().await;
}

#[tokio::test]
async fn a_binary_by_hand_or_beside_the_action_needs_no_release() {
    let sim = Sim::new().await;
    write(&sim.checkout().join("built/fro-bot"), PROGRAM, 0o755);
    let launch = Launch::expecting(&sim, PROGRAM).with("INPUT_BINARY", "built/fro-bot");
    assert_eq!(launch.run().await, Told::started());

    let launch = Launch::expecting(&sim, PROGRAM).with("INPUT_BINARY", "nowhere");
    let told = launch.run().await;
    assert!(told.said.contains("where nothing is%0Ahint: build it"), "{}", told.said);

    write(&sim.checkout().join("built/fro-bot"), PROGRAM, 0o644);
    let launch = Launch::expecting(&sim, PROGRAM).with("INPUT_BINARY", "built/fro-bot");
    assert!(launch.run().await.said.contains("may not be executed"));

    let launch = Launch::expecting(&sim, PROGRAM);
    write(&launch.action.join("bin").join(NAME), PROGRAM, 0o755);
    assert_eq!(launch.run().await, Told::started());
    write(&launch.action.join("bin").join(NAME), b"#!/bin/sh\necho weeds\n", 0o755);
    assert_eq!(launch.run().await.code, Some(1));
    assert_eq!(downloads(&sim), 0);
    sim.finish_early().await;
}
