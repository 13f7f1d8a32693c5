//! Attacks on the store behind the agent's pushes: floods, and a git server that somebody has taken over.

use std::{
    path::{Path, PathBuf},
    pin::pin,
    process::Command,
    time::Duration,
};

use fro_boundary::{CloneBase, Git, Push, Store, Tip};
use fro_core::Secret;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::{staging::StagedClone, world::confinement};

/// Pushes a commit to so many branches; git's own client takes minutes for it.
const REFS: &str = r"
import hashlib, subprocess, sys, urllib.request
commit = subprocess.check_output(['git', 'rev-parse', 'HEAD'], text=True).strip()
lines = [f'{0:040x} {commit} refs/heads/flood/{n}'.encode() for n in range(int(sys.argv[2]))]
lines[0] += b'\0report-status side-band-64k'
pack = b'PACK' + bytes([0, 0, 0, 2, 0, 0, 0, 0])
body = b''.join(b'%04x%s' % (len(line) + 4, line) for line in lines) + b'0000' + pack + hashlib.sha1(pack).digest()
place = f'http://{sys.argv[1]}/octo/garden.git/git-receive-pack'
asked = urllib.request.Request(place, body, {'Content-Type': 'application/x-git-receive-pack-request'})
told, words, at = urllib.request.urlopen(asked).read(), b'', 0
while (size := int(told[at:at + 4], 16)) > 0:
    words += told[at + 5:at + size] if told[at + 4] == 2 else b''
    at += size
print(told.count(b'pre-receive hook declined') > 99000, words.decode())
";

#[tokio::test]
async fn a_hundred_thousand_refs_are_refused_in_one_sentence() {
    let staged = StagedClone::working().await;

    let said = staged.shell(&format!("python3 -c \"{REFS}\" {} 100000", staged.staging.address())).await;

    let why = "the push has more than 100 refs; this run has one branch, `opencode/issue1-1`";
    assert_eq!(said.trim(), format!("True fro-bot: {why}"));
    assert_eq!(staged.staging.pushes(), [Push::Refused { why: why.to_owned() }]);
    assert_eq!(staged.upstream("flood/*").await, "");
}

/// A GitHub that takes connections and says nothing, or never stops.
#[tokio::test]
async fn a_server_that_comes_to_no_end_does_not_hold_the_harness_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/octo/garden.git", listener.local_addr().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let host: Vec<_> = std::env::vars_os().collect();
    let git = Git::new(&host, confinement()).with_token(&url, &Secret::new("x"));
    let ground = CloneBase { checkout: folder.path().join("none"), url: url.clone(), tip: Tip::Checkout };

    let (why, seconds, mut accepted) = out_of_patience(&git, folder.path(), &ground, &listener).await;
    assert_eq!(why, format!("`git fetch` came to no end: it took longer than {seconds} s"));
    // Its helpers are gone with it.
    let mut said = Vec::new();
    let closed = tokio::time::timeout(Duration::from_mins(1), accepted.read_to_end(&mut said));
    closed.await.expect("the connection is open still").unwrap();

    let flood = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        let line = format!("{:04x}ERR {}", 60_008, "x".repeat(60_000));
        stream.write_all(b"001e# service=git-upload-pack\n0000").await.unwrap();
        drop(stream.write_all(line.as_bytes()).await);
    };
    let (opened, ()) = tokio::join!(Store::open(git, folder.path(), &ground), flood);
    assert!(opened.unwrap_err().to_string().len() < 600);
}

/// Lets git wait for a server that says nothing, longer each time until it has got as far as to connect: a busy machine takes
/// a while to start it.
async fn out_of_patience(
    git: &Git,
    folder: &Path,
    ground: &CloneBase,
    listener: &TcpListener,
) -> (String, u64, TcpStream) {
    for seconds in [2, 8, 32, 128] {
        let patient = git.clone().patient_for(Duration::from_secs(seconds));
        let opened = Store::open(patient, folder, ground);
        let connected = async { listener.accept().await.unwrap().0 };
        let mut accepted = None;
        let (mut opened, mut connected) = (pin!(opened), pin!(connected));
        let opened = loop {
            tokio::select! {
                ended = &mut opened => break ended,
                stream = &mut connected, if accepted.is_none() => accepted = Some(stream),
            }
        };
        if let Some(accepted) = accepted {
            return (opened.unwrap_err().to_string(), seconds, accepted);
        }
    }
    panic!("git never connected");
}

const CLOSED: &str = "planted-closed-file";

/// Whoever has taken git's server over, by a fault in how it reads a pack, is as far as this hook is.
#[tokio::test]
async fn git_s_own_server_reads_and_writes_nothing_beside_objects_and_refs() {
    let (staged, closed, config) = with_closed_file().await;
    let folder = staged.folder.path();
    let hook = found(folder, "pre-receive");
    let before = std::fs::read_to_string(&config).unwrap();
    let script = format!(
        "#!/bin/sh
         cat '{}' '{}' /etc/shadow 2>&1
         for file in '{}' '{}' '{}/loot' '{}/store.git/loot'; do echo loot > \"$file\"; done 2>&1
         git ls-remote {} 2>&1
         cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -a Authorization
         echo loot > objects/loot; git --version > /dev/null && echo tried; exit 1\n",
        closed.display(),
        folder.join("work/.git/config").display(),
        config.display(),
        hook.display(),
        folder.display(),
        config.parent().unwrap().parent().unwrap().display(),
        staged.github.clone_url("octo/garden"),
    );
    std::fs::write(&hook, &script).unwrap();

    let said = staged.shell("git commit -q --allow-empty -m x && git push origin HEAD 2>&1").await;

    assert!(said.contains("remote: tried"), "{said}");
    for loot in [CLOSED, "refs/heads/main", "Authorization", "root:", "insteadOf"] {
        assert!(!said.contains(loot), "{said}");
    }
    assert_eq!(std::fs::read_to_string(&config).unwrap(), before);
    assert_eq!(std::fs::read_to_string(&hook).unwrap(), script);
    let written = |name: &str| folder.join(name).exists() || config.with_file_name(name).exists();
    assert!(!written("loot") && written("objects/loot"), "{said}");
}

#[tokio::test]
async fn settings_and_lenders_in_the_store_lead_git_s_server_nowhere() {
    let (staged, closed, config) = with_closed_file().await;
    let folder = staged.folder.path();
    let foreign =
        "git init -q foreign && cd foreign && git commit -q --allow-empty -m planted && git rev-parse HEAD";
    let commit = staged.shell(&format!("cd .. && {foreign}")).await;
    let lenders = config.with_file_name("objects").join("info/alternates");
    let lent = std::fs::read_to_string(&lenders).unwrap_or_default();
    std::fs::write(&lenders, format!("{}\n{lent}", folder.join("foreign/.git/objects").display())).unwrap();
    let command = format!("cat '{}' >&2; cp '{0}' objects/loot; echo tried >&2", closed.display());
    let hostile = format!(
        "[core]\n\talternateRefsCommand = \"{command}; :\"\n[uploadpack]\n\tallowAnySHA1InWant = true\n"
    );
    std::fs::write(&config, std::fs::read_to_string(&config).unwrap() + &hostile).unwrap();

    // Another clone: this one borrows from the store, and so from whom that borrows from.
    let elsewhere = "url=$(git remote get-url origin); git init -q ../bare && git -C ../bare fetch $url";
    let said = staged.shell(&format!("git push origin HEAD 2>&1; {elsewhere} {} 2>&1", commit.trim())).await;

    assert!(said.contains("remote: tried"), "the command was run: {said}");
    assert!(!said.contains(CLOSED) && !said.contains("FETCH_HEAD"), "{said}");
    assert!(!config.with_file_name("objects").join("loot").exists(), "{said}");
}

/// Returns a clone, a file beside its store that git's server has no business with, and the store's settings.
async fn with_closed_file() -> (StagedClone, PathBuf, PathBuf) {
    let staged = StagedClone::working().await;
    let (closed, config) = (staged.folder.path().join("closed"), found(staged.folder.path(), "config"));
    std::fs::write(&closed, CLOSED).unwrap();
    (staged, closed, config)
}

/// Returns a file of the store's folder.
fn found(folder: &Path, name: &str) -> PathBuf {
    let mut find = Command::new("find");
    let told = find.arg(folder).args(["-not", "-path", "*/work/*", "-name", name]).output().unwrap();
    String::from_utf8(told.stdout).unwrap().lines().next().unwrap().into()
}

#[tokio::test]
async fn a_flood_of_fetches_is_served_a_few_at_a_time() {
    let staged = StagedClone::working().await;
    let mark = staged.folder.path().display().to_string();
    let servers = || {
        let folders = std::fs::read_dir("/proc").unwrap().flatten();
        let told = folders.filter_map(|folder| std::fs::read(folder.path().join("cmdline")).ok());
        let told = told.map(|words| String::from_utf8_lossy(&words).into_owned());
        told.filter(|words| words.contains(&mark) && words.contains("http-backend")).count()
    };
    let mut flood = std::pin::pin!(
        staged.shell("for n in $(seq 40); do git ls-remote -q origin > told$n && echo served & done; wait")
    );
    let mut most = 0;
    let said = loop {
        tokio::select! {
            said = &mut flood => break said,
            () = tokio::task::yield_now() => most = most.max(servers()),
        }
    };

    assert_eq!(said.matches("served").count(), 40, "{said}");
    // Each is a supervisor and one or two below it; forty at once would be eighty and more.
    assert!((1..40).contains(&most), "{most} at once");
}
