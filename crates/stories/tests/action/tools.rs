//! Where the engine comes from: the Actions cache of an earlier run, or the machine itself.

use std::path::{Path, PathBuf};

use fro_sim::state::CacheAccess;
use fro_stories::{Mention, Sim, tool_cache};
use fs_err::os::unix::fs::symlink;

/// Nobody answers there.
const NOWHERE: &str = "http://127.0.0.1:9/";

/// A tool cache of its own, with these tools of the real one.
fn tools(sim: &Sim, name: &str, linked: &[&str]) -> PathBuf {
    let folder = sim.folder().join(name);
    fs_err::create_dir(&folder).unwrap();
    for tool in linked {
        symlink(tool_cache().join(tool), folder.join(tool)).unwrap();
    }
    folder
}

/// A run of a job whose runner has this tool cache, and the Actions cache.
fn mention<'a>(sim: &'a Sim, tools: &Path, access: CacheAccess) -> Mention<'a> {
    let token = sim.world().change(|state| state.start_run("octo/garden", &["refs/heads/main"], access));
    let server = format!("http://github.localhost:{}", sim.world().port());
    sim.mention("@fro-bot why is the floor wet?")
        .variable("RUNNER_TOOL_CACHE", tools)
        .variable("ACTIONS_RESULTS_URL", sim.world().actions_url())
        .variable("ACTIONS_RUNTIME_TOKEN", token)
        .variable("ACTIONS_CACHE_SERVICE_V2", "True")
        .variable("GITHUB_SERVER_URL", server)
}

fn kept(sim: &Sim) -> Vec<String> {
    let keys = sim.world().state(|state| {
        let finished = state.caches.iter().filter(|entry| entry.bytes().is_some());
        finished.map(|entry| entry.key.clone()).collect::<Vec<_>>()
    });
    keys.into_iter().filter(|key| key.starts_with("fro-bot-tool-")).collect()
}

/// The search tool stands for all of them: it is small, and goes the same way.
#[tokio::test]
async fn what_one_run_downloaded_the_next_finds_in_the_actions_cache() {
    let sim = Sim::new().await;
    sim.model().says("It is the seal.");
    let cold = tools(&sim, "cold", &["opencode", "opencode-baseline"]);
    let run = mention(&sim, &cold, CacheAccess::Write).run().await;
    assert_eq!(
        (run.code, kept(&sim)),
        (Some(0), vec!["fro-bot-tool-@vscode+ripgrep-linux-x64@1.18.0.tgz".to_owned()]),
        "{run}"
    );

    sim.model().says("It is the seal.");
    let warm = tools(&sim, "warm", &["opencode", "opencode-baseline"]);
    let offline = mention(&sim, &warm, CacheAccess::ReadOnly).variable("npm_config_registry", NOWHERE);
    let run = offline.run().await;
    assert_eq!((run.code, kept(&sim).len()), (Some(0), 1), "{run}");
    assert!(warm.join("ripgrep/1.18.0/x64.complete").exists());
    sim.finish().await;
}

#[tokio::test]
async fn an_archive_that_is_not_the_pinned_one_is_not_unpacked() {
    let sim = Sim::new().await;
    sim.model().says("It is the seal.");
    let cold = tools(&sim, "cold", &["opencode", "opencode-baseline"]);
    assert_eq!(mention(&sim, &cold, CacheAccess::Write).run().await.code, Some(0));
    sim.world().change(|state| {
        let archive = state.caches.iter_mut().find(|entry| entry.key.starts_with("fro-bot-tool-")).unwrap();
        archive.upload = fro_sim::state::Upload::Finished("weeds".into());
    });
    let warm = tools(&sim, "warm", &["opencode", "opencode-baseline"]);
    let offline = mention(&sim, &warm, CacheAccess::ReadOnly).variable("npm_config_registry", NOWHERE);
    let run = offline.run().await;
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.log_and_errors().contains("what was kept of @vscode/ripgrep-linux-x64@1.18.0 is not used"),
        "{run}"
    );
    assert!(!warm.join("ripgrep/1.18.0/x64").exists());
    sim.finish_early().await;
}

/// The real engine, where a step before has put it, and no registry to ask.
#[tokio::test]
async fn an_engine_that_is_there_already_is_used_if_it_fits() {
    let sim = Sim::new().await;
    sim.model().says("It is the seal.");
    let folder = sim.folder().join("bin");
    fs_err::create_dir(&folder).unwrap();
    let engine = fs_err::read_dir(tool_cache().join("opencode")).unwrap().next().unwrap().unwrap().path();
    fs_err::copy(engine.join("x64/opencode"), folder.join("opencode")).unwrap();
    let mut path = folder.clone().into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    let machine = tools(&sim, "machine", &["ripgrep"]);
    let added = sim.folder().join("path");
    let mention = mention(&sim, &machine, CacheAccess::None).variable("npm_config_registry", NOWHERE);
    let run = mention.variable("PATH", path).variable("GITHUB_PATH", added.as_os_str()).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert!(!machine.join("opencode").exists(), "nothing was installed");
    let added = fs_err::read_to_string(added).unwrap();
    assert_eq!(added.trim(), folder.canonicalize().unwrap().to_str().unwrap());
    sim.finish().await;
}
