//! Everything behind the wall stands still as long as somebody looks at what it wrote.

use std::{collections::BTreeMap, path::Path, time::Duration};

use fro_boundary::{Halt, WallProcess};
use rustix::process::{Pid, Signal, kill_process};

use crate::world::{World, eventually, everyone};

/// An engine with threads, a daemon, and a family that is never the same: each child makes the next one and ends.
const RESTLESS: &str = "
import os, threading, time
def spin(name):
    while True:
        with open(name, 'a') as f: f.write('.')
        time.sleep(0.001)
if os.fork() == 0:
    os.setsid()
    while True:
        if os.fork() != 0: os._exit(0)
        with open('family', 'a') as f: f.write('.')
        time.sleep(0.001)
os.wait()
for name in ['one', 'two']: threading.Thread(target=spin, args=[name]).start()
open('ready', 'w').close()
spin('main')
";

/// An engine that left a process behind.
const DAEMON: &str = "
import os, time
if os.fork() == 0:
    os.setsid()
    open('daemon', 'w').close()
    time.sleep(60)
os.wait()
";

fn sizes(folder: &Path) -> BTreeMap<String, u64> {
    let names = ["family", "one", "two", "main"];
    names
        .map(|name| (name.to_owned(), std::fs::metadata(folder.join(name)).map_or(0, |file| file.len())))
        .into()
}

fn started(world: &World) -> std::process::Child {
    let child = world.start_python(RESTLESS);
    eventually(|| sizes(&world.inside()), |sizes| sizes.values().all(|size| *size > 0));
    child
}

#[test]
fn nothing_behind_the_wall_moves_until_the_halt_ends() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    everyone(|world| {
        let mut wall = started(&world);

        let halt = runtime.block_on(Halt::freeze(wall.id())).unwrap();

        let before = sizes(&world.inside());
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert_eq!(sizes(&world.inside()), before, "{:?}", world.user);
        halt.held().unwrap();
        drop(halt);
        eventually(|| sizes(&world.inside()), |now| now.iter().all(|(name, size)| *size > before[name]));
        drop(wall.stdin.take());
        wall.wait().unwrap();
    });
}

/// An engine with threads, whose process somebody from outside wakes.
const WAKING: &str = "
import os, threading, time
def spin(name):
    while True:
        with open(name, 'a') as f: f.write('.')
        time.sleep(0.001)
for name in ['one', 'two', 'family']: threading.Thread(target=spin, args=[name]).start()
spin('main')
";

#[test]
fn who_went_on_while_somebody_looked_is_found_out() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    everyone(|world| {
        let mut wall = world.start_python(WAKING);
        eventually(|| sizes(&world.inside()), |sizes| sizes.values().all(|size| *size > 0));
        let halt = runtime.block_on(Halt::freeze(wall.id())).unwrap();
        let before = sizes(&world.inside());
        let engines: Vec<_> = world
            .processes()
            .into_iter()
            .filter(|(_, words)| words.contains("spin('main')") && !words.contains("walled"))
            .collect();

        for (id, _) in &engines {
            kill_process(Pid::from_raw(*id).unwrap(), Signal::CONT).unwrap();
        }
        eventually(|| sizes(&world.inside()), |now| *now != before);
        for (id, _) in &engines {
            kill_process(Pid::from_raw(*id).unwrap(), Signal::STOP).unwrap();
        }

        let told = halt.held().unwrap_err().to_string();
        assert!(told.ends_with("went on in between"), "{told}");
        drop(halt);
        drop(wall.stdin.take());
        wall.wait().unwrap();
    });
}

#[test]
fn a_wall_that_ended_by_itself_leaves_nobody_and_one_that_was_killed_is_not_believed() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let gone = |wall: &WallProcess, patience| runtime.block_on(wall.gone(patience));
    everyone(|world| {
        let mut wall = started(&world);
        let process = WallProcess::find(wall.id()).unwrap();
        let stands = gone(&process, Duration::ZERO).unwrap_err().to_string();
        assert!(stands.ends_with("the wall of the killed run still stands"), "{stands}");
        drop(wall.stdin.take());
        // What other tests leave behind for a moment is seen, too.
        eventually(|| gone(&process, Duration::from_secs(20)).is_ok(), |gone| *gone);
        wall.wait().unwrap();

        let mut wall = world.start_python(DAEMON);
        eventually(|| world.inside().join("daemon").exists(), |is_there| *is_there);
        let process = WallProcess::find(wall.id()).unwrap();
        wall.kill().unwrap();
        wall.wait().unwrap();
        if world.is_enclosed() {
            // The namespace goes with its first process, which has the other end of a pipe.
            eventually(|| gone(&process, Duration::ZERO).is_ok(), |gone| *gone);
        } else {
            let seen = gone(&process, Duration::ZERO);
            let why = seen.map_err(|why| why.to_string()).expect_err(&format!("{:?}", world.processes()));
            assert!(why.ends_with("of the killed run lives on"), "{why} {:?}", world.processes());
        }
    });
}

#[test]
fn who_sees_nobody_behind_the_wall_does_not_believe_it() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut alone = std::process::Command::new("sleep").arg("60").spawn().unwrap();

    let refused = runtime.block_on(Halt::freeze(alone.id())).unwrap_err();

    alone.kill().unwrap();
    let status = alone.wait().unwrap();
    assert_eq!(
        refused.to_string(),
        "what the agent started does not stand still: no process behind the wall can be seen"
    );
    assert!(Halt::ended(status).is_err(), "a killed supervisor has seen to nothing");
}
