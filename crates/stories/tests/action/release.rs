//! The release workflow as it stands, played by act: from a push to an empty repository to a working `uses:`.
//!
//! Three things are not the real ones. The build is replaced by the binary that the tests were built with, since it takes
//! minutes; `sudo` installs nothing; and of the four actions that the workflow uses, act has none at hand: `release/*.mjs`
//! stand in for them. git, gh, `scripts/publish` and the launcher are what they are on GitHub.

use std::{
    ffi::OsString,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use fro_sim::state::{Grant, Level, Repo};
use fro_stories::{REPO, Sim, act, binary, gh, node, project, tool_cache};
use fs_err::os::unix::fs::symlink;
use jiff::Timestamp;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::Child,
};

/// Where the action is released.
const ACTION: &str = "fro-bot/agent";
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What takes the place of minutes of building. With what a debugger reads, the program would be larger than the launcher
/// takes a release to be.
const BUILD: &str = r#"#!/bin/sh
set -eu
[ "$2" = x86_64-unknown-linux-musl ]
mkdir -p target/release-assets
strip -o "target/release-assets/fro-bot-$1" "$BUILT_WITH_THE_TESTS"
echo '{}' >"target/release-assets/fro-bot-$1.sbom.json"
"#;

/// Starts the proxy by which the witnesses' gh reaches the world.
const PROXY: &str =
    "const { recorder } = await import(process.argv[1]); console.log((await recorder(process.argv[2])).url);";

/// A copy of this project about to be released, and the repository that it is pushed to.
struct Release<'a> {
    sim: &'a Sim,
    source: PathBuf,
    token: String,
    /// Ends with the story.
    _proxy: Child,
    proxy: String,
}

impl<'a> Release<'a> {
    /// Pushes what a release needs of this project to an empty repository.
    async fn pushed(sim: &'a Sim) -> Self {
        let token = sim.world().change(|state| {
            let mut empty = state.repo(REPO).unwrap().clone();
            (empty.id, empty.owner, empty.name) = (900_000_001, "fro-bot".to_owned(), "agent".to_owned());
            empty.roles.insert("github-actions[bot]".to_owned(), fro_sim::state::Role::Write);
            state.repos.push(Repo {
                protected: Vec::new(),
                issues: Vec::new(),
                releases: Vec::new(),
                check_runs: Vec::new(),
                ..empty
            });
            // What the job `publish` asks for, and no more.
            let permissions = [("contents".to_owned(), Level::Write)].into();
            let grant = Grant { repos: vec![ACTION.to_owned()], permissions, expires_at: Timestamp::MAX };
            state.grant_token("github-actions[bot]", grant)
        });
        let source = sim.folder().join("source");
        fs_err::create_dir_all(source.join(".github/workflows")).unwrap();
        for part in
            ["Cargo.toml", "action.yaml", "launch", "review", "scripts", ".github/workflows/release.yaml"]
        {
            let copied =
                Command::new("cp").arg("-R").arg(project().join(part)).arg(source.join(part)).status();
            assert!(copied.unwrap().success(), "{part}");
        }
        fs_err::write(source.join("launch/sums.json"), "{ \"version\": null, \"sums\": {} }\n").unwrap();
        write_program(&source.join("scripts/build-release"), BUILD);
        let (running, proxy) = start_proxy(&sim.world().api_url()).await;
        let release = Self { sim, source, token, _proxy: running, proxy };
        release.git(&["init", "--quiet", "--initial-branch=main"]).await;
        release.git(&["add", "."]).await;
        release.git(&["commit", "--quiet", "-m", "All of it"]).await;
        let owner = sim.world().token("fro-bot");
        let url = sim.world().clone_url(ACTION).replace("://", &format!("://x-access-token:{owner}@"));
        release.git(&["push", "--quiet", &url, "main"]).await;
        release.git(&["remote", "add", "origin", &sim.world().clone_url(ACTION)]).await;
        release
    }

    async fn git(&self, arguments: &[&str]) -> String {
        let mut git = tokio::process::Command::new("git");
        git.args(["-c", "user.name=Octavia", "-c", "user.email=octo@garden.example"]).args(arguments);
        git.current_dir(&self.source).env("GIT_CONFIG_GLOBAL", "/dev/null");
        let output = git.output().await.unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Lets act run the workflow, as *Run workflow* does; returns how it ended and what was printed.
    async fn run(&self, version: &str) -> (Option<i32>, String) {
        let folder = self.sim.folder();
        let event = folder.join("dispatch.json");
        fs_err::write(&event, format!(r#"{{"inputs":{{"version":"{version}"}}}}"#)).unwrap();
        let mut act = tokio::process::Command::new(act());
        act.arg("workflow_dispatch").arg("--directory").arg(&self.source).arg("--eventpath").arg(event);
        act.args(["--no-skip-checkout", "--no-cache-server"]);
        act.args(["--platform=ubuntu-22.04=-self-hosted", "--platform=ubuntu-latest=-self-hosted"]);
        act.arg("--action-cache-path").arg(folder.join("act-release"));
        act.arg("--secret").arg(format!("GITHUB_TOKEN={}", self.token));
        for (name, value) in self.variables() {
            act.arg("--env").arg(format!("{name}={value}"));
        }
        act.args(stand_ins(folder)).env_clear().env("PATH", self.path()).env("HOME", folder.join("home"));
        act.env("RUNNER_TRACKING_ID", self.sim.tracking()).stdin(Stdio::null()).kill_on_drop(true);
        let output = act.output().await.unwrap();
        let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
        (output.status.code(), said.concat())
    }

    /// gh speaks plain HTTP to this host only, and to the world's port only by way of a proxy.
    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("GITHUB_REPOSITORY", ACTION.to_owned()),
            ("GITHUB_SERVER_URL", "http://github.localhost".to_owned()),
            ("GITHUB_API_URL", "http://api.github.localhost".to_owned()),
            ("GH_HOST", "github.localhost".to_owned()),
            ("http_proxy", self.proxy.clone()),
            ("no_proxy", "127.0.0.1".to_owned()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
            ("ARTIFACTS", self.sim.folder().join("artifacts").display().to_string()),
            ("BUILT_WITH_THE_TESTS", binary().display().to_string()),
            ("RUNNER_TRACKING_ID", self.sim.tracking().to_owned()),
        ]
    }

    /// gh and node as a runner of GitHub's has them, and a `sudo` that does nothing.
    fn path(&self) -> OsString {
        let tools = self.sim.folder().join("sudo");
        fs_err::create_dir_all(&tools).unwrap();
        write_program(&tools.join("sudo"), "#!/bin/sh\nexit 0\n");
        let own = [tools, node().parent().unwrap().to_owned(), gh().parent().unwrap().to_owned()];
        let usual = std::env::var_os("PATH").unwrap_or_default();
        std::env::join_paths(own.into_iter().chain(std::env::split_paths(&usual))).unwrap()
    }
}

fn write_program(path: &Path, text: &str) {
    fs_err::write(path, text).unwrap();
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Starts a proxy in front of the world; returns it and its address.
async fn start_proxy(world: &str) -> (Child, String) {
    let module = project().join("conformance/recorder.mjs").canonicalize().unwrap();
    let mut proxy = tokio::process::Command::new(node());
    proxy.args(["--input-type=module", "-e", PROXY]).arg(module).arg(world);
    let mut running = proxy.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(running.stdout.take().unwrap()).lines();
    let url = lines.next_line().await.unwrap().unwrap();
    (running, url)
}

/// Puts an action in the place of each that the workflow uses, and tells act where it is.
fn stand_ins(folder: &Path) -> Vec<String> {
    let workflow = fs_err::read_to_string(project().join(".github/workflows/release.yaml")).unwrap();
    let used =
        workflow.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("uses: "));
    let mut used: Vec<_> = used.map(|used| used.split(" #").next().unwrap().trim()).collect();
    used.sort_unstable();
    used.dedup();
    let placed = used.into_iter().map(|used| {
        let (name, commit) = used.trim_start_matches("actions/").split_once('@').unwrap();
        assert_eq!(commit.len(), 40, "{used} is pinned by its commit");
        let own = folder.join("stand-ins").join(name);
        fs_err::create_dir_all(&own).unwrap();
        let program = project().join(format!("crates/stories/tests/action/release/{name}.mjs"));
        fs_err::copy(&program, own.join("main.mjs")).unwrap_or_else(|_| panic!("nothing stands in for {used}"));
        let action = format!(
            "name: {name}\ninputs:\n  token: {{ default: '${{{{ github.token }}}}' }}\nruns: {{ using: node24, main: main.mjs }}\n"
        );
        fs_err::write(own.join("action.yml"), action).unwrap();
        format!("--local-repository={used}={}", own.display())
    });
    placed.collect()
}

#[tokio::test]
async fn a_push_a_release_and_the_action_is_used() {
    let sim = Sim::new().await;
    let release = Release::pushed(&sim).await;

    // A version that the source does not have is not released.
    let (code, log) = release.run("9.9.9").await;
    assert_ne!(code, Some(0), "{log}");
    assert_eq!(sim.world().state(|state| state.repo(ACTION).unwrap().releases.len()), 0, "{log}");

    let (code, log) = release.run(VERSION).await;
    assert_eq!(code, Some(0), "{log}");
    let (tag, assets) = sim.world().state(|state| {
        let [released] = &state.repo(ACTION).unwrap().releases[..] else { panic!("one release\n{log}") };
        assert!(!released.draft);
        let mut names: Vec<_> = released.assets.iter().map(|asset| asset.name.clone()).collect();
        names.sort_unstable();
        (released.tag.clone(), names)
    });
    assert_eq!(tag, format!("v{VERSION}"));
    assert_eq!(assets, ["SHA256SUMS", "fro-bot-linux-x64-musl", "fro-bot-linux-x64-musl.sbom.json"]);
    // The branch and both tags stand on the commit with the checksums, the second one there is.
    release.git(&["fetch", "--quiet", "--tags", "--force", "origin", "main"]).await;
    let major = format!("v{}", VERSION.split('.').next().unwrap());
    let heads = release
        .git(&["rev-parse", "origin/main", &format!("v{VERSION}^{{}}"), &format!("{major}^{{}}")])
        .await;
    assert_eq!(heads.lines().collect::<std::collections::BTreeSet<_>>().len(), 1, "{heads}");
    let changed = release.git(&["diff", "--name-only", "HEAD", "origin/main"]).await;
    assert_eq!(changed, "launch/sums.json");

    // `uses: fro-bot/agent@v0`: the launcher of that tag fetches what was released, and the mention is answered.
    let text = fs_err::read_to_string(project().join("docs/examples/mention.yaml")).unwrap();
    let config = sim.model().provider().to_string().replace('\'', "''");
    let text = text.replace("    cache-mode: write\n", "").replace(
        "          model: anthropic/claude-sonnet-4-5\n",
        &format!("          opencode-config: '{config}'\n          enable-omo: false\n"),
    );
    sim.model().says("It is the seal.");
    let comment = sim.world().write_comment(REPO, 1, "maya", "@fro-bot why is the floor wet?");
    let payload = sim.world().comment_event(REPO, comment);
    let auth = r#"{"scripted":{"type":"api","key":"planted-model-key-0123456789"}}"#;
    let workflow = sim.workflow(&text, "issue_comment", &payload).secret("OPENCODE_AUTH_JSON", auth);
    let (action, tools) = (sim.folder().join("agent"), sim.folder().join("act/tool_cache"));
    fs_err::remove_dir_all(&action).unwrap();
    let url = sim.world().clone_url(ACTION);
    release.git(&["clone", "--quiet", "--branch", &major, &url, action.to_str().unwrap()]).await;
    // The engine need not be downloaded again, but what was released must be.
    fs_err::remove_file(&tools).unwrap();
    fs_err::create_dir(&tools).unwrap();
    for tool in ["opencode", "ripgrep"] {
        symlink(tool_cache().join(tool), tools.join(tool)).unwrap();
    }
    drop(release);
    let worked = workflow.run().await;
    assert_eq!(worked.code, Some(0), "{}", worked.log);
    assert!(matches!(sim.answers().as_slice(), [only] if only.contains("It is the seal.")), "{}", worked.log);
    assert!(tools.join("fro-bot").join(VERSION).join("x64.complete").exists());
    sim.finish().await;
}
