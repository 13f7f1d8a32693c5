//! What the agent's git can push: a real git against the store's door, and the simulated GitHub behind it.

use std::{
    path::Path,
    process::Command,
    sync::{Arc, Mutex},
};

use fro_boundary::{
    BranchState, CloneBase, Credential, Git, PROTECTED_PATHS, Push, Pushing, Rules, Signature, Staging,
    Store, Tip, Untracked,
};
use fro_core::{Redactor, RepoName, Secret};
use fro_sim::World;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::world::confinement;

const EMAIL: &str = "109017866+fro-bot@users.noreply.github.com";

/// A secret that the run knows.
const KNOWN: &str = "planted-known-value";

/// An agent's clone with an open door behind it.
pub(crate) struct StagedClone {
    pub(crate) github: World,
    pub(crate) staging: Staging,
    pub(crate) folder: TempDir,
    _store: Store,
}

impl StagedClone {
    async fn open(tip: Tip, pushing: impl FnOnce(&World) -> Pushing) -> Self {
        let github = World::start().await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let host: Vec<_> = std::env::vars_os().collect();
        let git = Git::new(&host, confinement())
            .with_token(&github.api_url(), &Secret::new(github.token("fro-bot")));
        let url = github.clone_url("octo/garden");
        let ground = CloneBase { checkout: folder.path().join("none"), url: url.clone(), tip };
        let store = Store::open(git, folder.path(), &ground).await.unwrap();
        let hook = [env!("CARGO_BIN_EXE_receiving").into()];
        let repo = RepoName::parse("octo/garden").unwrap();
        let staging = store.open_door(&repo, &hook, pushing(&github)).await.unwrap();
        let origin = url.replace("http://", "https://");
        let work = folder.path().join("work");
        store.clone_into(&work, "opencode/issue1-1", &origin, Untracked::Stay).await.unwrap();
        Self { github, staging, folder, _store: store }
    }

    pub(crate) async fn working() -> Self {
        Self::open(Tip::Checkout, |github| open(github, None)).await
    }

    /// Runs a script in the clone, as the agent's shell would, and returns what it printed.
    pub(crate) async fn shell(&self, script: &str) -> String {
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .current_dir(self.folder.path().join("work"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_TERMINAL_PROMPT", "0")
            .envs(self.staging.environment(&self.github.api_url()))
            .envs([("GIT_AUTHOR_NAME", "fro-bot"), ("GIT_AUTHOR_EMAIL", EMAIL)])
            .envs([("GIT_COMMITTER_NAME", "fro-bot"), ("GIT_COMMITTER_EMAIL", EMAIL)]);
        let output = tokio::process::Command::from(command).output().await.unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }

    /// Returns what the simulated GitHub has on a branch.
    pub(crate) async fn upstream(&self, branch: &str) -> String {
        let url = self.github.clone_url("octo/garden");
        let output = tokio::process::Command::new("git").args(["ls-remote", &url, branch]).output().await;
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        text.split('\t').next().unwrap_or_default().to_owned()
    }
}

fn open(github: &World, head: Option<&str>) -> Pushing {
    let token = Secret::new(github.token("fro-bot"));
    let credential: Credential = Arc::new(move || {
        let token = token.clone();
        Box::pin(async move { Ok(token) })
    });
    let rules = Rules {
        url: github.clone_url("octo/garden"),
        branch: head.unwrap_or("opencode/issue1-1").to_owned(),
        stands: head.map_or(BranchState::NotYet, |_| BranchState::Already),
        closed: vec!["main".to_owned()],
        protected_paths: PROTECTED_PATHS.map(str::to_owned).into(),
        signature: Signature { name: "fro-bot".to_owned(), email: EMAIL.to_owned() },
        co_author: None,
    };
    let redactor = Arc::new(Redactor::knowing([&Secret::new(KNOWN)]));
    Pushing::Open { rules, server: github.api_url(), credential, redactor }
}

/// Keeps what fro-bot and git say of a refusal.
fn refusal(said: &str) -> String {
    let told = said.lines().filter(|line| line.contains("fro-bot") || line.contains("! ["));
    told.map(|line| line.trim().trim_start_matches("remote: ").to_owned()).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_good_push_lands_on_github() {
    let staged = StagedClone::working().await;

    let said = staged.shell("echo dry > bed.txt && git add . && git commit -qm Dry && git push origin HEAD 2>&1 && git rev-parse HEAD").await;

    let commit = said.lines().last().unwrap().to_owned();
    let branch = "opencode/issue1-1";
    assert_eq!(staged.upstream(branch).await, commit, "{said}");
    assert_eq!(staged.staging.pushes(), [Push::Passed { branch: branch.to_owned(), commit }]);

    let again = staged.shell("echo dust >> bed.txt && git commit -qam Dust && git push 2>&1 && git fetch 2>&1 && git status -sb").await;
    assert!(again.contains("## opencode/issue1-1...origin/opencode/issue1-1"), "{again}");
    assert_eq!(staged.staging.pushes().len(), 2);
}

#[tokio::test]
async fn the_pull_request_s_own_branch_takes_a_commit() {
    let staged = StagedClone::open(Tip::Remote("refs/pull/2/head".to_owned()), |github| {
        open(github, Some("new-seal"))
    })
    .await;

    let said = staged.shell("echo dry > bed.txt && git add . && git commit -qm Dry && git push origin HEAD:new-seal 2>&1; git rev-parse HEAD").await;

    assert_eq!(staged.upstream("new-seal").await, said.lines().last().unwrap(), "{said}");
}

/// Branches, paths, people and sizes that are not the run's to push.
fn what_is_not_the_run_s() -> Vec<String> {
    let change = "git commit -q --allow-empty -m x";
    let workflow =
        "mkdir -p .github/workflows && echo x > .github/workflows/ci.yml && git add . && git commit -qm a";
    vec![
        format!("{change} && git push origin HEAD:main"),
        format!("{change} && git push origin HEAD:opencode/issue1-2"),
        format!("{change} && git push origin HEAD:refs/tags/v1"),
        "git push origin :new-seal".to_owned(),
        format!("{change} && git push --force origin HEAD:new-seal"),
        format!("{workflow} && git push"),
        format!("{workflow} && git revert --no-edit HEAD && git push"),
        format!("{workflow} && git mv .github/workflows/ci.yml ci.yml && git commit -qm b && git push"),
        "ln -s /etc/passwd link && git add . && git commit -qm a && git push".to_owned(),
        "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub && git commit -qm a && git push"
            .to_owned(),
        "GIT_COMMITTER_EMAIL=maya@garden.example git commit -q --allow-empty -m x && git push".to_owned(),
        "GIT_AUTHOR_NAME=maya git commit -q --allow-empty -m x && git push".to_owned(),
        "git commit -q --allow-empty -m 'x\n\nCo-authored-by: maya <maya@garden.example>' && git push"
            .to_owned(),
        "echo '* filter=x' > .gitattributes && git add . && git commit -qm a && git push".to_owned(),
        "head -c 40000000 /dev/urandom > large && git add . && git commit -qm a && git push".to_owned(),
        format!("{change} && git push https://github.example/octo/garden.git HEAD"),
        format!("{change} && git push \"$(git remote get-url origin | sed s/garden/cellar/)\" HEAD"),
    ]
}

/// The same secret in a file, a name, a message, an archive, and one that only looks like one.
fn what_holds_a_credential() -> Vec<String> {
    vec![
        format!("echo {KNOWN} > a.txt && git add . && git commit -qm a && git push"),
        format!(
            "echo {KNOWN} > a.txt && git add . && git commit -qm a && git rm -q a.txt && git commit -qm b && git push"
        ),
        format!("printf {KNOWN} | base64 > a.txt && git add . && git commit -qm a && git push"),
        format!("echo {KNOWN} | gzip > a.gz && git add . && git commit -qm a && git push"),
        format!(
            "echo {KNOWN} > a.txt && python3 -m zipfile -c b.zip a.txt && tar -czf c.tgz b.zip && rm a.txt b.zip && \
             git add . && git commit -qm a && git push"
        ),
        format!("echo {KNOWN} | iconv -t utf-16 > a.txt && git add . && git commit -qm a && git push"),
        format!("echo a > {KNOWN}.txt && git add . && git commit -qm a && git push"),
        format!("git commit -q --allow-empty -m 'see {KNOWN}' && git push"),
        format!(
            "t=$(printf '040000 tree %s\\t{KNOWN}\\n' $(git hash-object -t tree -w /dev/null) | git mktree) && \
                 git push origin $(git commit-tree -p base -m x $t):refs/heads/opencode/issue1-1"
        ),
        "echo ghp_a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1 > a.txt && git add . && git commit -qm a && git push"
            .to_owned(),
    ]
}

#[tokio::test]
async fn what_may_not_be_pushed_is_refused_with_the_reason() {
    let staged = StagedClone::working().await;
    let before = (staged.upstream("main").await, staged.upstream("new-seal").await);
    staged.shell("git branch base").await;
    let mut told = String::new();
    for script in [what_is_not_the_run_s(), what_holds_a_credential()].concat() {
        let said = staged
            .shell(&format!(
                "git checkout -q -B opencode/issue1-1 base && ({script}) 2>&1; git reset -q --hard"
            ))
            .await;
        let refused = refusal(&said);
        assert!(!said.contains("[new branch]"), "{script}: {said}");
        told.push_str(if refused.is_empty() { "(no way there)" } else { &refused });
        told.push('\n');
    }
    insta::with_settings!({ filters => [(r"commit [0-9a-f]{7}", "commit …"), (r"[0-9a-f]{40} ->", "… ->")] }, {
        insta::assert_snapshot!(told);
    });
    assert_eq!((staged.upstream("main").await, staged.upstream("new-seal").await), before);
    assert_eq!(staged.upstream("opencode/*").await, "");
    let refused = staged.staging.pushes().iter().filter(|push| matches!(push, Push::Refused { .. })).count();
    assert!(refused > 5, "{refused} refusals were written down");
}

#[tokio::test]
async fn a_branch_of_the_run_is_neither_deleted_nor_rewritten() {
    let staged = StagedClone::working().await;
    staged.shell("git commit -q --allow-empty -m one && git push origin HEAD").await;
    let before = staged.upstream("opencode/issue1-1").await;

    let deleted = staged.shell("git push origin :opencode/issue1-1").await;
    let rewritten =
        staged.shell("git commit -q --amend --allow-empty -m two && git push --force origin HEAD").await;

    assert!(deleted.contains("fro-bot: `refs/heads/opencode/issue1-1` would be deleted"), "{deleted}");
    assert!(rewritten.contains("fro-bot: `refs/heads/opencode/issue1-1` would be rewritten"), "{rewritten}");
    assert_eq!(staged.upstream("opencode/issue1-1").await, before);
}

#[tokio::test]
async fn a_branch_that_moved_meanwhile_is_not_overwritten() {
    let staged = StagedClone::working().await;
    staged.shell("git commit -q --allow-empty -m one && git push origin HEAD").await;
    let other = tempfile::tempdir().unwrap();
    let url = staged
        .github
        .clone_url("octo/garden")
        .replace("http://", &format!("http://x:{}@", staged.github.token("fro-bot")));
    let script = format!(
        "git clone -q -b opencode/issue1-1 {url} . && git -c user.name=m -c user.email=m@x commit -q --allow-empty -m theirs && git push -q"
    );
    let pushed = tokio::process::Command::new("sh").args(["-c", &script]).current_dir(other.path()).status();
    assert!(pushed.await.unwrap().success());
    let theirs = staged.upstream("opencode/issue1-1").await;

    let said = staged.shell("git commit -q --allow-empty -m two && git push origin HEAD 2>&1").await;

    assert!(said.contains("GitHub refused it"), "{said}");
    assert_eq!(staged.upstream("opencode/issue1-1").await, theirs);
}

#[tokio::test]
async fn who_may_not_push_is_told_so_and_can_still_fetch() {
    let staged =
        StagedClone::open(Tip::Checkout, |_| Pushing::Closed("nobody asked for a change".to_owned())).await;

    let said = staged
        .shell("git commit -q --allow-empty -m x && git push origin HEAD; git fetch origin && echo fetched")
        .await;

    assert!(said.contains("fro-bot: nobody asked for a change"), "{said}");
    assert!(said.contains("fetched"), "{said}");
}

#[tokio::test]
async fn the_hook_s_credential_is_nowhere_in_the_store() {
    let staged = StagedClone::working().await;
    staged.shell("git commit -q --allow-empty -m x && git push origin HEAD").await;
    let token = staged.github.token("fro-bot");

    let found = Command::new("grep").args(["-rlF", &token]).arg(staged.folder.path()).output().unwrap();

    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
    assert!(Path::new(staged.folder.path()).exists());
}

/// Answers every request with these lines, and keeps what was asked.
async fn answering(lines: String) -> (std::net::SocketAddr, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, heard) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(String::new())));
    let hearing = Arc::clone(&heard);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = [0; 4096];
            let n = stream.read(&mut bytes).await.unwrap_or_default();
            hearing.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..n]));
            let _gone = stream.write_all(lines.as_bytes()).await;
        }
    });
    (address, heard)
}

#[tokio::test]
async fn a_push_is_led_to_no_other_server() {
    let (there, heard_there) =
        answering("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_owned()).await;
    let moved = format!(
        "HTTP/1.1 301 Moved\r\nlocation: http://{there}/octo/garden.git/info/refs?service=git-receive-pack\r\n\
         content-length: 0\r\nconnection: close\r\n\r\n"
    );
    let (here, asked_here) = answering(moved).await;
    let staged = StagedClone::open(Tip::Checkout, |github| match open(github, None) {
        Pushing::Open { rules, credential, redactor, .. } => {
            let rules = Rules { url: format!("http://{here}/octo/garden.git"), ..rules };
            Pushing::Open { rules, server: format!("http://{here}"), credential, redactor }
        }
        closed @ Pushing::Closed(_) => closed,
    })
    .await;

    let said = staged.shell("git commit -q --allow-empty -m x && git push origin HEAD 2>&1").await;

    assert!(said.contains("fro-bot: GitHub refused it"), "{said}");
    assert!(asked_here.lock().unwrap().contains("info/refs"), "it was asked at all");
    assert_eq!(*heard_there.lock().unwrap(), "");
}

#[tokio::test]
async fn what_the_run_knows_is_repeated_in_no_refusal() {
    let staged = StagedClone::working().await;

    let said = staged
        .shell(&format!("echo {KNOWN} > {KNOWN} && git add . && git commit -qm a && git push 2>&1"))
        .await;

    let refused = refusal(&said);
    assert!(refused.contains("has a credential in the name of a file"), "{said}");
    assert!(!refused.contains(KNOWN), "{refused}");
}

#[tokio::test]
async fn a_run_that_is_over_takes_no_push() {
    let staged = StagedClone::working().await;
    staged.staging.close().await;

    let said = staged.shell("git commit -q --allow-empty -m x && git push origin HEAD 2>&1").await;

    assert!(said.contains("fro-bot: the run is over"), "{said}");
    assert_eq!(staged.upstream("opencode/*").await, "");
}
