//! The agent's clone, made with the real git from real checkouts.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use fro_boundary::{AgentClone, Git, Ground, LeftOut, Store, Tip};
use fro_core::Secret;
use tempfile::TempDir;

/// A runner's folder with a checkout in it.
struct Runner {
    folder: TempDir,
    url: String,
}

impl Runner {
    fn new(url: &str) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), url: url.to_owned() }
    }

    /// Begins a repository with one commit, as `actions/checkout` leaves it: with a credential in its settings.
    fn with_checkout() -> Self {
        let runner = Self::new("http://127.0.0.1:9/octo/garden.git");
        std::fs::create_dir(runner.checkout()).unwrap();
        std::fs::write(runner.checkout().join("tap.rs"), "fn tap() {}\n").unwrap();
        std::fs::write(runner.checkout().join(".gitignore"), "deps/\n").unwrap();
        runner.git("init --quiet --initial-branch=main");
        runner.git("add .");
        runner.git("commit --quiet --message=tap");
        runner.git("config http.https://github.com/.extraheader planted-credential");
        runner.git("update-ref refs/remotes/origin/main HEAD");
        runner
    }

    fn checkout(&self) -> PathBuf {
        self.folder.path().join("checkout")
    }

    fn git(&self, arguments: &str) -> String {
        git(&self.checkout(), arguments)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.checkout().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    async fn store(&self, tip: Tip, token: &str) -> Store {
        let host: Vec<_> = std::env::vars_os().collect();
        let server = self.url.trim_end_matches("/octo/garden.git");
        let git = Git::new(&host).with_token(server, &Secret::new(token));
        let ground = Ground { checkout: self.checkout(), url: self.url.clone(), tip };
        Store::open(git, self.folder.path(), &ground).await.unwrap()
    }

    async fn clone(&self, store: &Store) -> AgentClone {
        let folder = self.folder.path().join("agent/garden");
        store.clone_into(&folder, "work", "https://github.com/octo/garden.git").await.unwrap()
    }
}

fn git(folder: &Path, arguments: &str) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Maya", "-c", "user.email=maya@garden.example"])
        .args(arguments.split(' '))
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Returns every text below a folder, links not followed.
fn texts(folder: &Path) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            all.push_str(&texts(&entry.path()));
        } else if kind.is_file() {
            all.push_str(&String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()));
        }
    }
    all
}

#[tokio::test]
async fn the_clone_has_the_commit_and_what_lies_beside_it_but_no_credential() {
    let runner = Runner::with_checkout();
    runner.write("deps/pump/index.js", "pump()");
    runner.write("notes.txt", "untracked");
    runner.write(".env", "planted-credential");
    runner.write("vendor/other/.git/config", "planted-credential");
    runner.write("tap.rs", "changed by an earlier step");

    let store = runner.store(Tip::Checkout, "t").await;
    let clone = runner.clone(&store).await;

    let read = |name: &str| std::fs::read_to_string(clone.folder.join(name)).unwrap();
    assert_eq!(
        [read("tap.rs"), read("deps/pump/index.js"), read("notes.txt")],
        ["fn tap() {}\n", "pump()", "untracked"]
    );
    assert!(!texts(&clone.folder).contains("planted"));
    assert_eq!(git(&clone.folder, "status --short"), "?? notes.txt");
    assert_eq!(git(&clone.folder, "rev-parse HEAD origin/main"), runner.git("rev-parse HEAD HEAD"));
    assert_eq!(git(&clone.folder, "symbolic-ref --short HEAD"), "work");
    assert_eq!(clone.left_out.private, [PathBuf::from(".env")]);
}

#[tokio::test]
async fn what_is_hidden_is_seen_neither_by_the_clone_nor_by_the_store() {
    let runner = Runner::with_checkout();
    let store = runner.store(Tip::Checkout, "t").await;
    let clone = runner.clone(&store).await;
    store.hide(&clone, &["/.omo/"]).unwrap();
    let before = store.tree_of(&clone.folder).await.unwrap();

    std::fs::create_dir(clone.folder.join(".omo")).unwrap();
    std::fs::write(clone.folder.join(".omo/plan.md"), "dry").unwrap();

    assert_eq!(git(&clone.folder, "status --short"), "");
    assert_eq!(store.tree_of(&clone.folder).await.unwrap(), before);
}

#[tokio::test]
async fn what_the_agent_does_to_its_clone_does_not_reach_the_checkout() {
    let runner = Runner::with_checkout();
    runner.write("deps/pump/index.js", "pump()");
    let store = runner.store(Tip::Checkout, "t").await;
    let clone = runner.clone(&store).await;

    std::fs::write(clone.folder.join("deps/pump/index.js"), "evil()").unwrap();
    git(&clone.folder, "commit --quiet --allow-empty --message=mine");

    assert_eq!(std::fs::read_to_string(runner.checkout().join("deps/pump/index.js")).unwrap(), "pump()");
    assert_eq!(runner.git("rev-list --all --count"), "1");
}

#[tokio::test]
async fn nothing_that_the_checkout_s_settings_name_is_run() {
    let runner = Runner::with_checkout();
    let trap = runner.folder.path().join("trapped");
    let program = format!("!f() {{ touch {}; cat; }}; f", trap.display());
    let plain = program.trim_start_matches('!');
    for key in [
        "core.fsmonitor",
        "filter.x.smudge",
        "filter.x.clean",
        "core.sshCommand",
        "uploadpack.packObjectsHook",
    ] {
        Command::new("git").args(["config", key, plain]).current_dir(runner.checkout()).status().unwrap();
    }
    runner.write(".git/info/attributes", "* filter=x\n");
    runner.write(".git/hooks/post-checkout", &format!("#!/bin/sh\ntouch {}\n", trap.display()));
    Command::new("chmod")
        .args(["+x"])
        .arg(runner.checkout().join(".git/hooks/post-checkout"))
        .status()
        .unwrap();

    let store = runner.store(Tip::Checkout, "t").await;
    runner.clone(&store).await;

    assert!(!trap.exists(), "something of the checkout was run");
}

#[tokio::test]
async fn a_checkout_with_little_history_is_enough() {
    let runner = Runner::with_checkout();
    runner.git("commit --quiet --allow-empty --message=second");
    let shallow = Runner::new(&runner.url);
    git(
        shallow.folder.path(),
        &format!("clone --quiet --depth=1 file://{} checkout", runner.checkout().display()),
    );

    let store = shallow.store(Tip::Checkout, "t").await;
    let clone = shallow.clone(&store).await;

    assert_eq!(git(&clone.folder, "log --format=%s"), "second");
    git(&clone.folder, "commit --quiet --allow-empty --message=third");
    git(&clone.folder, "fsck --connectivity-only");
}

#[tokio::test]
async fn without_a_checkout_the_repository_is_fetched() {
    let github = fro_sim::World::start().await.unwrap();
    let runner = Runner::new(&github.clone_url("octo/garden"));
    std::fs::create_dir(runner.checkout()).unwrap();

    let store = runner.store(Tip::Checkout, &github.token("fro-bot")).await;
    let clone = runner.clone(&store).await;

    assert!(clone.folder.join("tap.rs").exists());
    assert_eq!(clone.left_out, LeftOut::default());
}

#[tokio::test]
async fn a_pull_request_s_head_is_fetched_and_the_checkout_stays_as_it_is() {
    let github = fro_sim::World::start().await.unwrap();
    let runner = Runner { url: github.clone_url("octo/garden"), ..Runner::with_checkout() };
    runner.write("deps/pump/index.js", "pump()");
    let before = runner.git("rev-parse HEAD");

    let store = runner.store(Tip::Remote("refs/pull/2/head".to_owned()), &github.token("fro-bot")).await;
    let clone = runner.clone(&store).await;

    assert_eq!(git(&clone.folder, "log -1 --format=%s"), "Give the tap a new seal");
    assert!(clone.folder.join("deps/pump/index.js").exists());
    assert_eq!((runner.git("rev-parse HEAD"), store.fell_back()), (before, None));
}

#[tokio::test]
async fn a_head_that_cannot_be_fetched_is_said_and_the_checkout_s_commit_stands_in() {
    let runner = Runner::with_checkout();

    let store = runner.store(Tip::Remote("refs/pull/7/head".to_owned()), "t").await;

    assert_eq!(store.tip(), runner.git("rev-parse HEAD"));
    let why = store.fell_back().unwrap_or_default();
    assert!(why.starts_with("`refs/pull/7/head` cannot be fetched: `git fetch"), "{why}");
}
