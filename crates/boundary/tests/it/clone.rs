//! The agent's clone, made with the real git from real checkouts.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use fro_boundary::{AgentClone, CloneBase, CloneFiles, Git, Halt, LeftOut, Store, Tip, Untracked};
use fro_core::{Secret, credential::CredentialSearch};
use tempfile::TempDir;

use crate::world::confinement;

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
        let git = Git::new(&host, confinement()).with_token(server, &Secret::new(token));
        let ground = CloneBase { checkout: self.checkout(), url: self.url.clone(), tip };
        Store::open(git, self.folder.path(), &ground).await.unwrap()
    }

    async fn clone(&self, store: &Store) -> AgentClone {
        let folder = self.folder.path().join("agent/garden");
        let untracked = Untracked::Come(CredentialSearch::knowing([&Secret::new("planted-known-value")]));
        store.clone_into(&folder, "work", "https://github.com/octo/garden.git", untracked).await.unwrap()
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

async fn taken(store: &Store, clone: &AgentClone) -> CloneFiles {
    store.tree_of(clone, &Halt::before_the_agent()).await.unwrap()
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
    runner.write("config.json", "{\"key\": \"planted-known-value\"}");
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
    assert_eq!(clone.left_out.private, [".env", "config.json"].map(PathBuf::from));
}

#[tokio::test]
async fn what_is_hidden_is_seen_neither_by_the_clone_nor_by_the_store() {
    let runner = Runner::with_checkout();
    let store = runner.store(Tip::Checkout, "t").await;
    let clone = runner.clone(&store).await;
    store.hide(&clone, &["/.omo/"]).unwrap();
    let before = taken(&store, &clone).await;

    std::fs::create_dir(clone.folder.join(".omo")).unwrap();
    std::fs::write(clone.folder.join(".omo/plan.md"), "dry").unwrap();

    assert_eq!(git(&clone.folder, "status --short"), "");
    assert_eq!(taken(&store, &clone).await, before);
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
async fn the_commit_that_was_asked_about_is_the_tip_whatever_was_pushed_since() {
    let github = fro_sim::World::start().await.unwrap();
    let runner = Runner { url: github.clone_url("octo/garden"), ..Runner::with_checkout() };
    let head = "refs/pull/2/head".to_owned();
    let newest = runner.store(Tip::Remote(head.clone()), &github.token("fro-bot")).await;
    let asked = git(&newest.objects()[0].join(".."), &format!("rev-parse {}^", newest.tip()));

    let pinned = Tip::Pinned { name: head.clone(), commit: asked.clone() };
    let store = runner.store(pinned, &github.token("fro-bot")).await;
    assert_eq!((store.tip(), store.fell_back()), (asked.as_str(), None));

    let gone = Tip::Pinned { name: head, commit: "1".repeat(40) };
    let store = runner.store(gone, &github.token("fro-bot")).await;
    assert_eq!(store.tip(), runner.git("rev-parse HEAD"));
    assert!(store.fell_back().is_some());
}

#[tokio::test]
async fn a_head_that_cannot_be_fetched_is_said_and_the_checkout_s_commit_stands_in() {
    let runner = Runner::with_checkout();

    let store = runner.store(Tip::Remote("refs/pull/7/head".to_owned()), "t").await;

    assert_eq!(store.tip(), runner.git("rev-parse HEAD"));
    let why = store.fell_back().unwrap_or_default();
    assert!(why.starts_with("`refs/pull/7/head` cannot be fetched: `git fetch"), "{why}");
}

#[tokio::test]
async fn what_is_no_plain_file_is_left_aside_and_the_rest_is_taken() {
    let runner = Runner::with_checkout();
    let store = runner.store(Tip::Checkout, "t").await;
    let clone = runner.clone(&store).await;
    let at = |name: &str| clone.folder.join(name);
    std::fs::write(at("good.txt"), "good").unwrap();
    std::fs::remove_file(at("tap.rs")).unwrap();
    for name in ["tap.rs", "pipe"] {
        assert!(Command::new("mkfifo").arg(at(name)).status().unwrap().success());
    }
    std::fs::File::create(at("sparse")).unwrap().set_len(7 << 30).unwrap();

    let taken = taken(&store, &clone).await;

    assert_eq!(taken.aside, ["`tap.rs` (no file)", "`sparse` (larger than 32 MiB)"]);
    let changed = store.changed(store.tip(), &taken.tree).await.unwrap();
    let paths: Vec<_> = changed.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["good.txt"]);
}

#[tokio::test]
async fn a_link_in_the_clone_s_place_is_not_followed() {
    let runner = Runner::with_checkout();
    let store = runner.store(Tip::Checkout, "t").await;
    let clone = runner.clone(&store).await;
    let ours = runner.folder.path().join("ours");
    std::fs::create_dir(&ours).unwrap();
    std::fs::write(ours.join("secret"), "planted").unwrap();
    std::fs::rename(&clone.folder, runner.folder.path().join("away")).unwrap();
    std::os::unix::fs::symlink(&ours, &clone.folder).unwrap();

    let refused = store.tree_of(&clone, &Halt::before_the_agent()).await.unwrap_err();

    assert!(refused.to_string().contains("cannot prepare"), "{refused}");
}

#[tokio::test]
async fn what_lies_outside_the_clone_is_read_by_no_way() {
    let runner = Runner::with_checkout();
    let store = runner.store(Tip::Checkout, "t").await;
    let clone = runner.clone(&store).await;
    let ours = runner.folder.path().join("ours");
    std::fs::create_dir(&ours).unwrap();
    std::fs::write(ours.join("secret"), "planted-elsewhere").unwrap();
    // A folder of ours that git would walk into, by a repository in the clone that says its files are there.
    let nested = clone.folder.join("nested");
    std::fs::create_dir(&nested).unwrap();
    std::fs::write(nested.join(".git"), format!("gitdir: {}", ours.display())).unwrap();
    std::os::unix::fs::symlink(ours.join("secret"), clone.folder.join(".gitignore.link")).unwrap();
    std::fs::remove_file(clone.folder.join(".gitignore")).unwrap();
    std::os::unix::fs::symlink(ours.join("secret"), clone.folder.join(".gitignore")).unwrap();

    let taken = taken(&store, &clone).await;

    let patch = store.patch(store.tip(), &taken.tree).await.unwrap();
    assert!(patch.contains(".gitignore") && !patch.contains("planted-elsewhere"), "{patch}");
}

#[tokio::test]
async fn what_is_taken_down_lies_where_the_agent_cannot_look() {
    let runner = Runner::with_checkout();
    let store = runner.store(Tip::Checkout, "t").await;
    let clone = runner.clone(&store).await;
    let before = texts(&store.objects()[0]);
    std::fs::write(clone.folder.join("new.txt"), "new").unwrap();

    let taken = taken(&store, &clone).await;

    assert!(!store.changed(store.tip(), &taken.tree).await.unwrap().is_empty());
    assert_eq!(texts(&store.objects()[0]), before);
}

#[tokio::test]
async fn where_anybody_may_have_asked_nothing_untracked_comes_along() {
    let runner = Runner::with_checkout();
    runner.write("deps/pump/index.js", "pump()");
    runner.write("notes.txt", "untracked");
    let store = runner.store(Tip::Checkout, "t").await;

    let folder = runner.folder.path().join("agent/garden");
    let clone = store.clone_into(&folder, "work", "https://github.com/octo/garden.git", Untracked::Stay);
    let clone = clone.await.unwrap();

    assert!(clone.folder.join("tap.rs").exists());
    assert!(!clone.folder.join("deps").exists() && !clone.folder.join("notes.txt").exists());
    assert_eq!(clone.left_out, LeftOut::default());
}

#[tokio::test]
async fn what_a_pull_request_changes_is_read_from_the_store() {
    let github = fro_sim::World::start().await.unwrap();
    let runner = Runner { url: github.clone_url("octo/garden"), ..Runner::with_checkout() };
    let ends = github.state(|state| {
        let pull = state.issue("octo/garden", 2).and_then(|issue| issue.pull.clone()).unwrap();
        (pull.base_oid, pull.head_oid)
    });
    let store = runner.store(Tip::Checkout, &github.token("fro-bot")).await;

    let told = store.pull_diff(&runner.url, &ends.0, &ends.1).await.unwrap();

    assert!(told.diff.starts_with("diff --git a/tap.rs b/tap.rs\nindex f3b775bcc8b7"), "{}", told.diff);
    assert!(told.diff.contains("\n+    let seal = \"silicone\";\n"), "{}", told.diff);
    let file = |commit: &str, path: &str| (commit.to_owned(), path.to_owned());
    let wanted = [
        file(&ends.1, "tap.rs"),
        file(&ends.1, "gone.rs"),
        file("HEAD", "tap.rs"),
        file(&told.base, "README.md"),
    ];
    let texts = store.texts(&wanted).await.unwrap();
    let lines: Vec<_> =
        texts.iter().map(|text| text.as_deref().and_then(|text| text.lines().next())).collect();
    assert_eq!(lines, [Some("//! The tap in the greenhouse."), None, None, Some("# Garden")]);
    for name in ["--upload-pack=evil", "main", "0000000000000000000000000000000000000000"] {
        assert!(store.pull_diff(&runner.url, &ends.0, name).await.is_err(), "{name}");
    }
}
