//! Everything behind the wall ends when the harness does, whichever way that is.

use std::{
    collections::BTreeMap,
    process::Child,
    time::{Duration, Instant},
};

use rustix::process::Signal;

use crate::world::{WALLED, World, eventually, everyone, python, send};

/// An engine with a shell in a session of its own and a daemon that nobody waits for.
const ENGINE: &str = "
import os, signal, subprocess, time
subprocess.Popen(['sleep', '601'], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        os.execvp('sleep', ['sleep', '602'])
    os._exit(0)
os.wait()
";
const AND_WAITS: &str = "
open('ready', 'w').close()
time.sleep(603)
";

#[test]
fn the_exit_code_is_the_engine_s() {
    everyone(|world| {
        let codes = ["exit 0", "exit 7", "kill -SEGV $$"].map(|script| world.shell(script).status.code());

        assert_eq!(codes, [Some(0), Some(7), Some(139)]);
    });
}

#[test]
fn sigkill_of_the_harness_leaves_no_process() {
    everyone(|world| {
        let script = ENGINE.to_owned() + AND_WAITS;
        let python = python(world.user);
        let mut wall: Vec<String> = vec![world.program(WALLED).display().to_string()];
        wall.extend(world.spec.arguments().into_iter().map(|word| word.into_string().unwrap()));
        wall.extend(["--", &python.program.display().to_string(), "-c", &script].map(str::to_owned));
        let harness =
            format!("import subprocess, time; p = subprocess.Popen({wall:?}, stdin=-1); time.sleep(604)");
        let mut harness = world.outsider(python.program.as_os_str()).args(["-c", &harness]).spawn().unwrap();
        expect_ready(&world);

        send(&harness, Signal::KILL);
        harness.wait().unwrap();

        eventually(|| world.processes(), BTreeMap::is_empty);
    });
}

#[test]
fn sigkill_of_the_supervisor_ends_the_engine() {
    everyone(|world| {
        let engine = started(&world, &["import time", AND_WAITS]);

        send(&engine, Signal::KILL);
        ended(engine);

        eventually(|| world.processes(), BTreeMap::is_empty);
    });
}

#[test]
fn an_engine_that_obeys_ends_with_its_own_code() {
    everyone(|world| {
        let obeys = "\nsignal.signal(signal.SIGTERM, lambda *_: os._exit(5))";
        let engine = started(&world, &[ENGINE, obeys, AND_WAITS]);

        send(&engine, Signal::TERM);

        assert_eq!(ended(engine), Some(5));
        assert_eq!(world.processes(), BTreeMap::new());
    });
}

#[test]
fn an_engine_that_does_not_obey_is_killed_after_the_grace() {
    everyone(|mut world| {
        world.spec.grace = Duration::from_millis(300);
        let engine = started(&world, &[ENGINE, STUBBORN, AND_WAITS]);
        let asked = Instant::now();

        send(&engine, Signal::INT);

        assert_eq!(ended(engine), Some(137));
        assert!(asked.elapsed() >= world.spec.grace);
        assert_eq!(world.processes(), BTreeMap::new());
    });
}

#[test]
fn a_second_signal_cuts_the_grace_short() {
    everyone(|mut world| {
        world.spec.grace = Duration::from_hours(1);
        let engine = started(&world, &[ENGINE, STUBBORN, AND_WAITS]);

        send(&engine, Signal::TERM);
        eventually(|| world.inside().join("asked").exists(), |asked| *asked);
        send(&engine, Signal::TERM);

        assert_eq!(ended(engine), Some(137));
    });
}

#[test]
fn what_an_ended_engine_leaves_behind_is_killed() {
    everyone(|world| {
        let output = world.python(&(ENGINE.to_owned() + "os._exit(3)"), &[]);

        assert_eq!(output.status.code(), Some(3));
        assert_eq!(world.processes(), BTreeMap::new());
    });
}

#[test]
fn a_process_that_keeps_forking_away_is_caught() {
    everyone(|world| {
        let hops = "
import os
if os.fork() == 0:
    os.setsid()
    while True:
        if os.fork():
            os._exit(0)
os._exit(0)";
        let output = world.python(hops, &[]);

        assert_eq!(output.status.code(), Some(0));
        assert_eq!(world.processes(), BTreeMap::new());
    });
}

#[test]
fn words_on_the_lifeline_mean_nothing_but_its_end_does() {
    use std::io::Write as _;
    everyone(|world| {
        let mut engine = started(&world, &[ENGINE, AND_WAITS]);

        let lifeline = engine.stdin.as_mut().unwrap();
        lifeline.write_all(&[b'x'; 1000]).unwrap();
        eventually(|| rustix::io::ioctl_fionread(&*lifeline).unwrap(), |unread| *unread == 0);
        assert_eq!(engine.try_wait().unwrap(), None);
        drop(engine.stdin.take());

        assert_eq!(ended(engine), Some(128 + 15));
        assert_eq!(world.processes(), BTreeMap::new());
    });
}

const STUBBORN: &str = "\nsignal.signal(signal.SIGTERM, lambda *_: open('asked', 'w').close())";

fn started(world: &World, parts: &[&str]) -> Child {
    let engine = world.start_python(&(parts.concat() + "time.sleep(605)\n"));
    expect_ready(world);
    engine
}

fn expect_ready(world: &World) {
    eventually(|| world.inside().join("ready").exists(), |ready| *ready);
}

/// Waits for the end and returns the exit code, if there is one.
fn ended(mut engine: Child) -> Option<i32> {
    // Not by `wait`, which would cut the lifeline.
    let status = eventually(|| engine.try_wait().unwrap(), Option::is_some);
    status.and_then(|status| status.code())
}
