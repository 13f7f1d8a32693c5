//! No secret is with anything that the harness started, while it runs and after: looked at from outside, as root can.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use fro_stories::{PLANTED, Sim, binary};
use serde_json::json;

/// Writes down everything that must not be found, and returns the file.
fn needles(sim: &Sim) -> PathBuf {
    let token = sim.world().token("fro-bot");
    let key = sim.world().app_key().lines().nth(3).unwrap();
    let planted =
        PLANTED.iter().map(|(_, value)| value.split('"').find(|part| part.starts_with("planted")).unwrap());
    let all: Vec<&str> = planted.chain([token.as_str(), key]).collect();
    let file = sim.folder().join("needles");
    fs_err::write(&file, all.join("\n")).unwrap();
    file
}

/// Returns the files below a folder that hold one of the values.
fn files_with(needles: &Path, folder: &Path) -> String {
    let mut grep = Command::new("grep");
    let found = grep.args(["-rlaF", "-f"]).arg(needles).arg(folder).output().unwrap();
    String::from_utf8(found.stdout).unwrap()
}

/// Returns a command that may look into other processes.
fn as_root(program: &str) -> Command {
    if rustix::process::getuid().is_root() {
        return Command::new(program);
    }
    let mut sudo = Command::new("sudo");
    sudo.args(["-n", program]);
    sudo
}

/// Waits until the agent's shell has made a file.
async fn appears(sim: &Sim, name: &str) {
    let there = || sim.clone_of_agent().is_some_and(|clone| clone.join(name).exists());
    for _ in 0..1_700 {
        if there() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the agent's shell did not start");
}

#[tokio::test]
async fn no_secret_is_with_anything_that_the_harness_started() {
    let sim = Sim::cloned().await;
    let needles = needles(&sim);
    // The engine's shell waits, so that everything can be looked at while it is there.
    let wait = "touch here; while [ ! -e go ]; do sleep 0.1; done; set; env";
    sim.model().calls("bash", json!({ "command": wait, "description": "Waits" }));
    sim.model().says("Waited.");
    let mention = sim.mention("@fro-bot fix it");
    let mention = mention.with("app-id", "482113").with("private-key", sim.world().app_key());
    let running = mention.start();
    appears(&sim, "here").await;

    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/secrets.py");
    let mut look = as_root("python3");
    let looked = look.arg(script).arg(&needles).arg(running.pid().to_string()).output().unwrap();
    let refused = String::from_utf8_lossy(&looked.stderr).into_owned();
    let success = looked.status.success();
    let looked = String::from_utf8(looked.stdout).unwrap();
    let (in_temp, in_home) =
        (files_with(&needles, &sim.temp()), files_with(&needles, &sim.folder().join("home")));
    fs_err::write(sim.clone_of_agent().unwrap().join("go"), "").unwrap();
    let run = running.end().await;

    assert_eq!(run.code, Some(0), "{run}");
    assert!(success, "this test looks into other processes, which needs root or `sudo -n`: {refused}");
    println!("{looked}");
    assert!(!looked.contains("LEAK"), "{looked}");
    for process in ["fro-bot", "opencode", "bash"] {
        assert!(looked.contains(&format!("looked at {process}: ")), "{process} was not found:\n{looked}");
    }
    assert_eq!((in_temp.as_str(), in_home.as_str()), ("", ""));
    let texts = [run.log_and_errors(), sim.answers().concat(), sim.run_page()];
    fs_err::write(sim.folder().join("texts"), texts.concat()).unwrap();
    assert_eq!(files_with(&needles, &sim.folder().join("texts")), "");
    let mut verify = Command::new(binary());
    let verified = verify
        .args(["memory", "verify", "--secrets"])
        .arg(&needles)
        .env("FRO_MEMORY", sim.folder().join("memory"));
    let verified = verified.env("GITHUB_REPOSITORY", "octo/garden").output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    sim.finish().await;
}
