//! The door check: what a story must not leave behind.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::{Sim, mention::PLANTED};

/// Fails the story if anything is unused, unknown, leaked or alive.
pub(crate) async fn check(sim: &Sim) {
    let (world, model) = (sim.world(), sim.model());
    assert_eq!(model.unscripted(), 0, "the model was asked more often than the story says");
    assert_eq!(world.unknown_routes(), Vec::<String>::new(), "routes that the simulated world does not have");
    assert_eq!(world.faults().unspent(), Vec::<String>::new(), "faults that never struck");
    no_process_is_left(sim.tracking(), Duration::from_mins(1)).await;
    let left = files(&sim.temp());
    assert!(left.is_empty(), "temporary files were left: {left:?}");
    nothing_leaked(sim);
}

/// Returns what is in a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    fs_err::read_dir(folder).expect("the folder is there").flatten().map(|entry| entry.path()).collect()
}

/// Waits until no process of the story is alive.
pub(crate) async fn no_process_is_left(tracking: &str, patience: Duration) {
    let deadline = Instant::now() + patience;
    loop {
        let alive = processes(tracking);
        if alive.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "processes were left behind: {alive:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Returns the processes that carry the story's mark.
fn processes(tracking: &str) -> Vec<String> {
    let mark = format!("RUNNER_TRACKING_ID={tracking}");
    let entries = fs_err::read_dir("/proc").expect("there is a /proc").flatten();
    let marked = entries.map(|entry| entry.path()).filter(|path| {
        let environment = fs_err::read(path.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    });
    marked
        .map(|path| {
            let line = fs_err::read(path.join("cmdline")).unwrap_or_default();
            format!("{} {}", path.display(), String::from_utf8_lossy(&line).replace('\0', " "))
        })
        .collect()
}

/// Looks for the planted values wherever something left the harness.
fn nothing_leaked(sim: &Sim) {
    let token = sim.world().token("fro-bot");
    let secrets = PLANTED.iter().map(|(_, value)| planted(value)).chain([token.as_str()]);
    let seen: String = sim.model().seen().iter().map(|seen| seen.body.to_string()).collect();
    let answers = sim.answers().concat();
    for secret in secrets {
        assert!(!seen.contains(secret), "the model saw `{secret}`");
        assert!(!answers.contains(secret), "a comment has `{secret}`");
    }
}

/// Returns the part of a planted value that is the secret.
fn planted(value: &str) -> &str {
    let start = value.find("planted").expect("every planted value says so");
    let end = value[start..].find('"').map_or(value.len(), |length| start + length);
    &value[start..end]
}
