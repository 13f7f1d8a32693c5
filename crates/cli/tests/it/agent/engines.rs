//! Many engines in one process: all alive at once, asked at once, and nothing left of them.

use std::{collections::BTreeSet, env, process::Command};

use fro_agent::{Agent, Job, Offer, Origin, Process};
use fro_sim::{World, model::Reply};
use futures::future::join_all;
use serde_json::json;

use super::{ask, draft, job, plan, settings};
use crate::daemon::stage::all;

/// Set for the child that has the process to itself: descriptors and children are counted, and other tests have theirs.
const ALONE: &str = "FRO_TEST_ALONE";

/// How many engines live at once in `./test --all`, and usually.
const N_ENGINES: [usize; 2] = [10, 4];

/// What an engine may take of the harness's own memory, in megabytes; a debug build took 2.1, with the simulated world in it.
const MOST_PER_ENGINE_MB: usize = 5;

#[test]
fn many_engines_in_one_process_leave_nothing_behind() {
    if env::var_os(ALONE).is_some() {
        // What the first engine leaves is the process's own, once and for all.
        live_through(1);
        let descriptors = descriptors();
        let n_engines = if all() { N_ENGINES[0] } else { N_ENGINES[1] };
        let [before, working] = live_through(n_engines);
        assert_eq!(self::descriptors(), descriptors);
        // An engine is a process of its own; of the harness it takes a proxy, brokers and some records.
        let most = before + n_engines * MOST_PER_ENGINE_MB;
        assert!(working <= most, "{working} MB resident with {n_engines} engines, {before} MB before");
        return;
    }
    let own_name = "agent::engines::many_engines_in_one_process_leave_nothing_behind";
    let alone = Command::new(env::current_exe().unwrap())
        .args(["--exact", own_name, "--nocapture"])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let printed = [alone.stdout, alone.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    println!("{}", printed[0]);
    assert!(alone.status.success() && printed[0].contains("1 passed"), "{}\n{}", printed[0], printed[1]);
}

/// Starts, asks and stops so many engines at once. When the runtime is gone, so are the connections of the one client
/// and of the simulated world. Returns the megabytes that were resident before, and with all engines.
fn live_through(n_engines: usize) -> [usize; 2] {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(engines(n_engines))
}

#[expect(clippy::print_stdout, reason = "the figures are half of what this is for")]
async fn engines(n_engines: usize) -> [usize; 2] {
    let (world, folder) = (World::start().await.unwrap(), tempfile::tempdir().unwrap());
    let process = Process::new(settings(&world, &folder));
    let job = job(&world, &folder);
    let jobs: Vec<_> = (0..n_engines).map(|n| for_run(&job, n)).collect();
    let before = resident_kb();
    let seen = Box::pin(play(&process, &world, &jobs)).await;
    let [before, working, after] = [before, seen.resident_kb, resident_kb()].map(|kb| kb / 1024);
    println!("resident: {before} MB before, {working} MB with {n_engines} engines, {after} MB after");
    assert!(seen.processes.len() >= 2 * n_engines, "{seen:?}");
    let still_there = processes();
    let left: Vec<_> = seen.processes.intersection(&still_there).collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(descendants(), BTreeSet::new());
    let left: Vec<_> = fs_err::read_dir(folder.path().join("scratch")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    [before, working]
}

/// What there was while all engines ran.
#[derive(Debug)]
struct Seen {
    processes: BTreeSet<(u32, String)>,
    resident_kb: usize,
}

/// Starts an engine for each job, asks them all at once, and ends them all at once.
async fn play(process: &Process, world: &World, jobs: &[Job]) -> Seen {
    let (mut agents, mut sessions) = (Vec::new(), Vec::new());
    for job in jobs {
        let mut agent = Agent::open(process, job, &|_| {}).unwrap();
        let running = agent.prepare().await.unwrap().start(Offer::usual()).await.unwrap();
        sessions.push(running.open_session(plan(job, &job.origin.run)).await.unwrap());
        agents.push(agent);
    }
    for _ in 0..2 * jobs.len() {
        world.model().plays(Reply::answering(|seen| match seen.tool_results().as_slice() {
            [] => Reply::tool("answer_draft", json!({ "body": seen.last_user() })),
            _ => Reply::text("Done."),
        }));
    }
    let questions = jobs.iter().map(|job| format!("for run {}", job.origin.run));
    join_all(
        sessions.iter_mut().zip(questions.clone()).map(async |(session, text)| ask(session, &text).await),
    )
    .await;
    let drafts: Vec<_> = sessions.iter().map(draft).collect();
    assert_eq!(drafts, questions.collect::<Vec<_>>(), "each hears its own session");
    let seen = Seen { processes: descendants(), resident_kb: resident_kb() };
    drop(sessions);
    for finished in join_all(agents.into_iter().map(Agent::finish)).await {
        finished.cleaned.unwrap();
    }
    seen
}

fn for_run(job: &Job, n: usize) -> Job {
    let origin = Origin { run: n.to_string(), key: n.to_string(), ..job.origin.clone() };
    Job { origin, ..job.clone() }
}

/// Returns what the open descriptors of this process lead to, without their numbers.
fn descriptors() -> Vec<String> {
    let entries = fs_err::read_dir("/proc/self/fd").unwrap().map(|entry| entry.unwrap().path());
    let targets = entries.filter_map(|path| Some(fs_err::read_link(path).ok()?.display().to_string()));
    let kind = |target: String| target.split('[').next().unwrap_or_default().to_owned();
    let mut kinds: Vec<_> = targets.map(kind).collect();
    kinds.sort();
    kinds
}

fn resident_kb() -> usize {
    let status = fs_err::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Returns every process of the machine, by id and by when it began: ids are used again.
fn processes() -> BTreeSet<(u32, String)> {
    stats().into_iter().map(|(id, _, began)| (id, began)).collect()
}

/// Returns the processes below this one.
fn descendants() -> BTreeSet<(u32, String)> {
    let all = stats();
    let (mut known, mut below) = (BTreeSet::from([std::process::id()]), BTreeSet::new());
    loop {
        let new: Vec<_> =
            all.iter().filter(|(id, parent, _)| known.contains(parent) && !known.contains(id)).collect();
        if new.is_empty() {
            return below;
        }
        for (id, _, began) in new {
            known.insert(*id);
            below.insert((*id, began.clone()));
        }
    }
}

/// Returns id, parent and beginning of every process.
fn stats() -> Vec<(u32, u32, String)> {
    let entries = fs_err::read_dir("/proc").unwrap().filter_map(Result::ok);
    let stat = |entry: fs_err::DirEntry| {
        let text = fs_err::read_to_string(entry.path().join("stat")).ok()?;
        let fields: Vec<_> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let id = entry.file_name().to_str()?.parse().ok()?;
        Some((id, fields.get(1)?.parse().ok()?, (*fields.get(19)?).to_owned()))
    };
    entries.filter_map(stat).collect()
}
