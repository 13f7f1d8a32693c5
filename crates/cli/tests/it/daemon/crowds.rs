//! Many threads, many workers: who is served when, who takes over, and what a thousand idle threads weigh.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use fro_core::{
    RepoName,
    chat::{ChannelId, Follow, Thread},
};
use fro_sim::model::Reply;
use jiff::Timestamp;

use super::stage::{Stage, all, report};

/// What a turn was, as the store wrote it down.
struct Run {
    turn: i64,
    repository: String,
    began: i64,
    ended: i64,
}

/// Under a cap, turns are taken in their order, repositories by turns, and each is answered once.
#[tokio::test(flavor = "multi_thread")]
async fn more_threads_than_engines_are_answered_in_a_fair_order() {
    const WORDS: &[&str] = &["asked"];
    let (threads, cap) = if all() { (20, 4) } else { (5, 2) };
    let stage = Stage::open().await;
    stage.github.change(|state| state.repo_mut("octo/cellar").unwrap().private = false);
    plant(&stage, "octo/cellar");
    stage.link("cellar", "octo/cellar").await;
    stage.model_echoes(threads, WORDS);
    let serving = stage.serve_alone().await;
    let garden: Vec<_> = (2..threads).map(|_| stage.asks("question asked")).collect();
    let cellar = stage.discord.channel("cellar");
    let late = [(); 2].map(|()| stage.discord.says("maya", cellar, "@fro-bot question asked"));
    stage.until_load(0, i64::try_from(threads).unwrap()).await;

    let most = cap.to_string();
    let _working = stage.works("w", &["--turns", &most, "--per-repository", &most, "--in-all", &most]);
    for thread in garden.into_iter().chain(late) {
        assert_eq!(stage.answers(thread, 1).await, ["You asked: asked"]);
    }
    stage.until_load(0, 0).await;
    assert!(serving.stop().await.success());

    let runs = runs(&stage);
    assert_eq!(runs.len(), threads, "each turn ran once");
    // Those of the other repository were asked last, and are not kept waiting by all the others.
    let order: Vec<_> = runs.iter().map(|run| run.repository.trim_start_matches("octo/")).collect();
    assert_eq!(order[..5], ["garden", "cellar", "garden", "cellar", "garden"]);
    for repository in ["octo/garden", "octo/cellar"] {
        let turns = runs.iter().filter(|run| run.repository == repository).map(|run| run.turn);
        assert!(turns.is_sorted(), "who came first is served first: {order:?}");
    }
    let beside = |run: &Run| runs.iter().filter(|it| it.began <= run.began && run.began < it.ended).count();
    let busiest = runs.iter().map(beside).max().unwrap();
    assert!((2..=cap).contains(&busiest), "{busiest} at once");
    report(&format!("{threads} threads, at most {cap} engines: {busiest} at once, each answered once"));
}

/// Gives a repository its first commit.
fn plant(stage: &Stage, repository: &str) {
    let folder = tempfile::tempdir().unwrap();
    let token = stage.github.token("octo");
    let url = stage.github.clone_url(repository).replacen("://", &format!("://octo:{token}@"), 1);
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(folder.path()).args(["-c", "user.name=octo", "-c", "user.email=octo@example.com"]);
        assert!(git.args(arguments).status().unwrap().success(), "{arguments:?}");
    };
    fs_err::write(folder.path().join("shelf.txt"), "apples\n").unwrap();
    git(&["init", "--quiet", "--initial-branch=main"]);
    git(&["add", "shelf.txt"]);
    git(&["commit", "--quiet", "--no-gpg-sign", "--message=Begin"]);
    git(&["push", "--quiet", &url, "main"]);
}

/// Returns the runs in the order in which they began.
fn runs(stage: &Stage) -> Vec<Run> {
    let store = rusqlite::Connection::open(stage.folder.path().join("store.db")).unwrap();
    let sql = "SELECT r.turn, t.repository, r.started_at, r.ended_at FROM run AS r JOIN turn AS t ON t.id = r.turn \
               ORDER BY r.fence";
    let mut statement = store.prepare(sql).unwrap();
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Run { turn: row.get(0)?, repository: row.get(1)?, began: row.get(2)?, ended: row.get(3)? })
    };
    statement.query_map([], read).unwrap().map(Result::unwrap).collect()
}

/// Of two workers on one Postgres, the one that lives finishes what the killed one had begun.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_finishes_what_another_had_begun_when_it_was_killed() {
    const WORDS: &[&str] = &["two", "one", "aside"];
    let postgres = Postgres::start();
    let stage = Stage::open_on(tempfile::tempdir().unwrap(), postgres.url()).await;
    let (serving, model) = (stage.serve_alone().await, stage.github.model());

    model.plays(Reply::stall());
    let first = stage.works("first", &["--turns", "1"]);
    let thread = stage.asks("question one");
    model.wait_for_calls(1).await;
    stage.discord.says("maya", thread, "question two");
    stage.model_echoes(4, WORDS);
    let _second = stage.works("second", &["--turns", "1"]);
    let other = stage.asks("question aside");
    assert_eq!(stage.answers(other, 1).await, ["You asked: aside"]);
    assert!(stage.said(thread).iter().all(|text| text.starts_with("Noted;")), "the first one has it");

    first.kill().await;
    assert_eq!(stage.answers(thread, 2).await, ["You asked: one", "You asked: two"]);
    stage.until_load(0, 0).await;
    assert!(serving.stop().await.success());
}

/// A Postgres of its own, which ends with the pipe that the script reads.
struct Postgres {
    script: Child,
    folder: String,
}

impl Postgres {
    fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres");
        let mut script = Command::new(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut folder = String::new();
        BufReader::new(script.stdout.take().unwrap()).read_line(&mut folder).unwrap();
        assert!(!folder.is_empty(), "scripts/postgres could not start one");
        Self { script, folder: folder.trim().to_owned() }
    }

    fn url(&self) -> String {
        format!("postgres://fro@/postgres?host={}", self.folder)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.script.stdin.take());
        drop(self.script.wait());
    }
}

/// A thousand threads that nobody writes in cost next to nothing, and each of them is still listened to.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_idle_threads_weigh_little() {
    let stage = Stage::open().await;
    let threads = idle_threads(&stage).await;
    let serving = stage.serve_alone().await;
    stage.discord.says("maya", threads[617], "question one");
    stage.until_load(0, 1).await;
    let status = fs_err::read_to_string(format!("/proc/{}/status", serving.pid().as_raw_nonzero())).unwrap();
    let megabytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
    };
    // Pages of the program's file are not what threads cost, and a build without optimisation has more.
    let (own, resident) = (megabytes("RssAnon:"), megabytes("VmRSS:"));
    report(&format!(
        "`serve` with {} idle threads: {own} MB of its own, {resident} MB resident",
        threads.len()
    ));
    assert!(own <= 20, "{own} MB");
    assert!(serving.stop().await.success());
}

/// A measurement, which `./test --all` prints: until the model is asked, with an engine that has to be started.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_in_an_idle_thread_and_an_event_on_github_reach_the_model() {
    if !all() {
        return;
    }
    let stage = Stage::open().await;
    let threads = idle_threads(&stage).await;
    let serving = stage.serve().await;
    let [mut in_thread, mut on_github] = [Vec::new(), Vec::new()];
    for thread in &threads[615..618] {
        let spoken = || stage.discord.says("maya", *thread, "Why is the floor wet?");
        in_thread.push(until_asked(&stage, spoken).await.0);
        stage.until_load(0, 0).await;
        let (took, mut run) = until_asked(&stage, || stage.mention("Why is the floor wet?")).await;
        on_github.push(took);
        assert!(tokio::task::spawn_blocking(move || run.wait().unwrap()).await.unwrap().success());
    }
    let [thread, run] = [in_thread, on_github].map(|mut took| {
        took.sort();
        took[1]
    });
    let ratio = thread.as_secs_f64() / run.as_secs_f64();
    report(&format!(
        "until the model is asked: {thread:.1?} in a thread, {run:.1?} in a run on GitHub ({ratio:.2}×)"
    ));
    assert!(serving.stop().await.success());
}

/// Does something, and returns how long it took until the model was asked, once it has answered.
async fn until_asked<T>(stage: &Stage, deed: impl FnOnce() -> T) -> (Duration, T) {
    let model = stage.github.model();
    let before = model.seen().len();
    model.says("The hose leaks.");
    let began = Instant::now();
    let done = deed();
    model.wait_for_calls(before + 1).await;
    (began.elapsed(), done)
}

/// Opens a thousand threads that have a session each.
async fn idle_threads(stage: &Stage) -> Vec<u64> {
    let garden = stage.discord.channel("garden");
    let opened = (0..1000).map(|number| {
        let topic = format!("Topic {number}");
        let message = stage.discord.says("maya", garden, &topic);
        stage.discord.begins_thread("fro-bot", garden, message, &topic)
    });
    let threads: Vec<_> = opened.collect();
    let known = |id: &u64| {
        Follow::OpenThread(Thread {
            id: ChannelId::new(*id).unwrap(),
            channel: ChannelId::new(garden).unwrap(),
            guild: stage.guild(),
            repository: RepoName::parse("octo/garden").unwrap(),
            session: Some(format!("ses_{id}")),
            forked_from: None,
            named: None,
            opened_at: Timestamp::now(),
        })
    };
    let follows: Vec<_> = threads.iter().map(known).collect();
    stage.store.take_in("a thousand threads", &follows, Timestamp::now()).await.unwrap();
    threads
}
