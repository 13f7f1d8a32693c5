//! Runs of the real engine whose memory is in a bucket that fails, that ten use at once, or that somebody prunes.

#[expect(dead_code, reason = "the tests of the memory itself need more of it")]
#[path = "../../../memory/tests/it/bucket/server.rs"]
pub(crate) mod bucket;

use std::{collections::BTreeMap, path::PathBuf, process::Command};

use fro_sim::model::Reply;
use fro_stories::{Launched, Mention, REPO, Run, Signal, Sim, binary, signal};
use serde_json::Value;

use bucket::{BUCKET, Bucket, Fault, KEY, SECRET, files};

const MEMORY: &str = "fro-bot/repo/octo/garden";

/// Everything that can happen to a bucket, one run of the engine for each kind: what the summary says of the memory
/// then, and whether it is saved.
const KINDS: [(&str, Trouble, &str, bool); 11] = [
    ("nothing", Trouble::None, "hit", true),
    ("hangs", Trouble::Fails("/", Fault::Hang), "could not be read", false),
    ("403", Trouble::Fails("/", Fault::Status(403)), "could not be read", false),
    ("409 at the head", Trouble::Fails("PUT /head.3", Fault::Status(409)), "hit", false),
    ("412 at the head", Trouble::Fails("PUT /head.3", Fault::Status(412)), "hit", false),
    ("503", Trouble::Fails("/", Fault::Status(503)), "could not be read", false),
    ("packs are cut", Trouble::Fails("GET /packs/", Fault::Cut), "could not be read", false),
    ("answers are lost", Trouble::Fails("PUT /head.3", Fault::Lose), "hit", true),
    ("bit in the head", Trouble::Flipped("head.3"), "hit", true),
    ("bit in a manifest", Trouble::Flipped("manifests"), "hit", true),
    ("bit in a pack", Trouble::Flipped("packs"), "damaged", true),
];

#[derive(Clone, Copy)]
enum Trouble {
    None,
    Fails(&'static str, Fault),
    Flipped(&'static str),
}

/// Keeps the memory of a run in a bucket, and nowhere else.
pub(crate) fn through<'a>(bucket: &Bucket, mention: Mention<'a>) -> Mention<'a> {
    let mention = mention.variable("FRO_MEMORY", "").with("s3-backup", "true").with("s3-bucket", BUCKET);
    let mention = mention.with("s3-endpoint", bucket.endpoint()).with("s3-allow-insecure-endpoint", "true");
    mention.variable("AWS_ACCESS_KEY_ID", KEY).variable("AWS_SECRET_ACCESS_KEY", SECRET)
}

/// Looks into the bucket as a person does.
fn command(bucket: &Bucket, arguments: &[&str]) -> Value {
    let mut command = Command::new(binary());
    command.args(arguments).args(["--json", "--s3-bucket", BUCKET, "--repo", REPO]);
    command.args(["--s3-endpoint", bucket.endpoint(), "--s3-allow-insecure-endpoint"]);
    command.env_clear().env("AWS_ACCESS_KEY_ID", KEY).env("AWS_SECRET_ACCESS_KEY", SECRET);
    let output = command.output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{arguments:?}: {output:?}"))
}

fn finds(bucket: &Bucket, words: &str) -> bool {
    command(bucket, &["sessions", "search", words]).as_array().is_some_and(|found| !found.is_empty())
}

/// Returns every file of the memory with its content.
fn contents(bucket: &Bucket) -> BTreeMap<PathBuf, Vec<u8>> {
    let read = |path: PathBuf| (path.clone(), fs_err::read(path).unwrap());
    files(&bucket.files(MEMORY)).into_iter().map(read).collect()
}

fn output(sim: &Sim, name: &str) -> String {
    let output = fs_err::read_to_string(sim.folder().join("output")).unwrap_or_default();
    let mut values = output.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    values.next_back().unwrap_or("").to_owned()
}

/// Returns the row of the run's summary about the memory.
fn memory_row(answer: &str) -> String {
    let row = answer.lines().find_map(|line| line.strip_prefix("| Memory | ")).unwrap_or("none");
    let row = row.trim_end_matches(" |");
    row.split(", ").next().unwrap_or(row).to_owned()
}

#[tokio::test]
async fn whatever_a_bucket_does_the_run_answers_and_tells_the_truth() {
    println!("trouble             memory in the summary  saved");
    for (name, trouble, said, is_saved) in KINDS {
        let came = one_run(name, trouble).await;
        println!("{name:19} {:22} {}", came.0, came.1);
        assert_eq!(came, (said.to_owned(), is_saved), "{name}");
    }
}

/// Remembers one thing, makes trouble for the next run, and compares what that says with what is there.
async fn one_run(name: &str, trouble: Trouble) -> (String, bool) {
    let (sim, bucket) = (Sim::new().await, Bucket::open());
    sim.model().says("The hose leaks at the brass coupling.");
    let first = through(&bucket, sim.mention("@fro-bot why is the floor wet?")).run().await;
    assert_eq!((first.code, output(&sim, "memory-saved").as_str()), (Some(0), "true"), "{first}");
    fs_err::remove_file(sim.folder().join("output")).unwrap();
    let good = contents(&bucket);
    let spoilt = match trouble {
        Trouble::None => None,
        Trouble::Fails(request, fault) => {
            bucket.fail(request, fault);
            None
        }
        Trouble::Flipped(kind) => Some(flip(&bucket, kind)),
    };
    sim.model().says("It is the marble basin.");
    let mention = sim.mention("@fro-bot and now?").variable("GITHUB_RUN_ID", "43");
    let next = through(&bucket, mention).run().await;
    bucket.mend();

    assert_eq!((next.code, next.answers.len()), (Some(0), 2), "{name}: {next}");
    assert!(next.answers[1].contains("It is the marble basin."), "{name}: {next}");
    let (saved, found) = (output(&sim, "memory-saved"), finds(&bucket, "marble basin"));
    assert_eq!(saved == "true", found, "{name}: what is told is not what is there\n{next}");
    let after = contents(&bucket);
    for (path, bytes) in &good {
        let is_head = path.ends_with("head.3");
        assert!(
            is_head || Some(path) == spoilt.as_ref() || after.get(path) == Some(bytes),
            "{name}: {} changed",
            path.display()
        );
    }
    if spoilt.is_none() {
        assert!(finds(&bucket, "brass coupling"), "{name}: what was good is gone");
    }
    let said = memory_row(&next.answers[1]);
    sim.finish().await;
    (said, found)
}

/// Flips a bit in the middle of the first file of a kind.
fn flip(bucket: &Bucket, kind: &str) -> PathBuf {
    let path = files(&bucket.files(MEMORY)).into_iter().find(|path| path.to_str().unwrap().contains(kind));
    let path = path.unwrap();
    let mut bytes = fs_err::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs_err::write(&path, bytes).unwrap();
    path
}

#[tokio::test]
async fn ten_runs_at_once_lose_nothing_though_one_is_killed_before_the_head() {
    let (sim, bucket) = (Sim::new().await, Bucket::open());
    sim.model().says("The hose leaks at the brass coupling.");
    let first = through(&bucket, sim.mention("@fro-bot why is the floor wet?")).run().await;
    assert_eq!(first.code, Some(0), "{first}");
    let trap = bucket.another_door();
    trap.fail("PUT /head.3", Fault::Hang);
    let mut runs: Vec<Launched<'_>> = Vec::new();
    for number in 0..10 {
        sim.model().says(format!("Noted as number {number}."));
        let door = if number == 9 { &trap } else { &bucket };
        let state = sim.folder().join(format!("state-{number}"));
        let mention = through(door, sim.mention(&format!("@fro-bot remember remark {number}")));
        let mention = mention.variable("GITHUB_RUN_ID", (100 + number).to_string());
        runs.push(mention.variable("GITHUB_STATE", state).start());
    }
    trap.wait_for("PUT", "/head.3").await;
    let doomed = runs.pop().unwrap();
    signal(doomed.pid(), Signal::KILL);
    let killed = doomed.end().await;
    assert_eq!(killed.code, None);
    let mut ended: Vec<Run> = Vec::new();
    for run in runs {
        ended.push(run.end().await);
    }
    assert!(ended.iter().all(|run| run.code == Some(0)), "{ended:?}");
    let raced = ended.iter().filter(|run| run.log.contains("other runs that saved meanwhile"));
    assert!(raced.count() > 0 && sim.run_page().contains("other runs that saved meanwhile"), "{ended:?}");

    let state = fs_err::read_to_string(sim.folder().join("state-9")).unwrap();
    let private = state.lines().find_map(|line| line.strip_prefix("private=")).unwrap().to_owned();
    let post = sim.mention("").again(killed.comment).post().variable("STATE_private", private);
    let post = through(&bucket, post.variable("GITHUB_RUN_ID", "109")).run().await;
    assert!(post.log.contains("memory saved"), "{post}");

    sim.model().says("All ten.");
    let last = sim.mention("@fro-bot what do you remember?").variable("GITHUB_RUN_ID", "200");
    let last = through(&bucket, last).run().await;
    assert_eq!(last.code, Some(0), "{last}");
    let seen = sim.model().seen();
    assert_eq!(seen.last().unwrap().session, seen[0].session, "the engine goes on in the same session");
    every_turn_is_there_once(&bucket, &output(&sim, "session-id"));
    sim.finish().await;
}

/// Reads a session as a person does: who said what.
pub(crate) fn read(bucket: &Bucket, session: &str) -> Vec<(String, String)> {
    let said = command(bucket, &["sessions", "read", session, "--limit", "100"]);
    let text = |said: &Value, name: &str| said[name].as_str().unwrap().to_owned();
    said.as_array().unwrap().iter().map(|said| (text(said, "role"), text(said, "text"))).collect()
}

fn every_turn_is_there_once(bucket: &Bucket, session: &str) {
    let said = read(bucket, session);
    for number in 0..10 {
        let answer = format!("Noted as number {number}.");
        let places = said.iter().filter(|(role, text)| role == "assistant" && *text == answer);
        assert_eq!(places.count(), 1, "{answer}: {said:#?}");
    }
    for turn in said.windows(2).filter(|turn| turn[1].0 == "assistant") {
        assert_eq!(turn[0].0, "user", "an answer follows its question: {said:#?}");
    }
}

#[tokio::test]
async fn a_session_that_is_pruned_while_it_is_continued_stays() {
    let (sim, bucket) = (Sim::new().await, std::sync::Arc::new(Bucket::open()));
    sim.model().says("The hose leaks at the brass coupling.");
    let first = through(&bucket, sim.mention("@fro-bot why is the floor wet?")).run().await;
    assert_eq!(first.code, Some(0), "{first}");
    sim.model().says("The seal is new.");
    let asked = sim.world().write_comment(REPO, 2, "maya", "@fro-bot what is new?");
    let mention = sim.mention("").again(asked).variable("GITHUB_RUN_ID", "43");
    let second = through(&bucket, mention).run().await;
    assert_eq!(second.code, Some(0), "{second}");

    let pruning = std::sync::Arc::clone(&bucket);
    sim.model().plays(Reply::answering(move |_| {
        let pruned = command(&pruning, &["sessions", "prune", "--keep", "1", "--days", "0"]);
        assert_eq!(pruned["pruned"].as_array().map(Vec::len), Some(1), "{pruned}");
        Reply::text("Still the coupling.")
    }));
    let mention = sim.mention("@fro-bot and today?").variable("GITHUB_RUN_ID", "44");
    let third = through(&bucket, mention).run().await;
    assert_eq!(third.code, Some(0), "{third}");
    sim.model().says("Always the coupling.");
    let mention = sim.mention("@fro-bot and tomorrow?").variable("GITHUB_RUN_ID", "45");
    let fourth = through(&bucket, mention).run().await;
    assert_eq!(fourth.code, Some(0), "{fourth}");
    let seen = sim.model().seen();
    assert_eq!((&seen[0].session, &seen[2].session), (&seen[2].session, &seen[3].session));
    let history = seen[3].render();
    for words in ["The hose leaks at the brass coupling.", "Still the coupling."] {
        assert!(history.contains(words), "{history}");
    }
    sim.finish().await;
}
