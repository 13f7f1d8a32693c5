//! What an operator sees of the daemon's processes: `/healthz`, and `/metrics` as Prometheus's own client reads it.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use fro_http::{Client, ClientSettings};
use fro_sim::discord::{Discord, LimitScope};
use serde_json::{Value, json};

use crate::daemon::stage::Stage;

/// Samples by name and labels.
type Samples = BTreeMap<String, f64>;

/// Where the processes of a daemon can be looked at, in the order in which they said so.
struct Windows(Vec<String>);

impl Windows {
    /// Reads what a process prints, and those that it starts, until so many windows are open.
    fn printed_by(process: &mut Child, count: usize) -> Self {
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
        let addresses = lines.by_ref().filter_map(|line| Some(line.split_once(" are at ")?.1.to_owned()));
        let windows = Self(addresses.take(count).collect());
        assert_eq!(windows.0.len(), count, "the process ended before it opened its windows");
        // Whoever prints into a pipe that nobody reads gets an error.
        std::thread::spawn(move || lines.for_each(drop));
        windows
    }

    /// The process that speaks to Discord opens its window before it starts a worker.
    fn serve(&self) -> String {
        self.0[0].clone()
    }

    fn work(&self) -> String {
        self.0[1].clone()
    }
}

/// Asks a window something.
async fn look(window: &str, path: &str) -> (u16, String) {
    let client = Client::new(ClientSettings::loopback()).unwrap();
    let mut answer = client.get(format!("{window}{path}")).relay().await.unwrap();
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await.unwrap() {
        body.extend_from_slice(&piece);
    }
    (answer.status(), String::from_utf8(body).unwrap())
}

/// Reads the metrics of a process with Prometheus's own client.
async fn metrics(window: &str) -> Samples {
    let (status, text) = look(window, "/metrics").await;
    assert_eq!(status, 200);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/openmetrics");
    let mut reading = Command::new(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    reading.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = tokio::task::spawn_blocking(move || reading.wait_with_output().unwrap()).await.unwrap();
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

async fn health(window: &str) -> (u16, Value) {
    let (status, text) = look(window, "/healthz").await;
    (status, serde_json::from_str(&text).unwrap())
}

/// Ends when the line to Discord is as told, and returns what `/healthz` says then.
async fn until(window: &str, gateway: &str) -> (u16, Value) {
    loop {
        let told = health(window).await;
        if told.1["gateway"] == gateway {
            return told;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_says_how_its_line_to_discord_is_and_counts_what_befell_it() {
    let (world, folder) = (Discord::start().await.unwrap(), tempfile::tempdir().unwrap());
    world.slow_down("GET /api/v10/applications/@me", LimitScope::User, Duration::from_secs(1));
    let mut command = Command::new(env!("CARGO_BIN_EXE_fro-bot"));
    command
        .args(["serve", "--no-worker", "--metrics", "0", "--store"])
        .arg(folder.path().join("serve.db"))
        .env("FRO_DISCORD_TOKEN", world.token())
        .env("FRO_DISCORD_API", world.api_url())
        .env("FRO_DISCORD_GATEWAY", world.gateway_url());
    let mut serving = command.stdout(Stdio::piped()).spawn().unwrap();
    let window = Windows::printed_by(&mut serving, 1).serve();
    let sound = json!({
        "healthy": true, "store": "reachable", "gateway": "connected", "oldest_waiting_seconds": null, "workers": 0,
    });
    assert_eq!(until(&window, "connected").await, (200, sound.clone()));
    let (code, said) = healthy(&window);
    assert_eq!((code, serde_json::from_str::<Value>(&said).unwrap()), (Some(0), sound));

    world.close_next(&[4014]);
    world.close_connections(4000);
    assert_eq!(until(&window, "refused").await.0, 503);
    assert_eq!(healthy(&window).0, Some(1));
    let samples = metrics(&window).await;
    for (sample, expect) in [
        ("fro_bot_gateway_up", 0.0),
        ("fro_bot_gateway_events_total{event=began}", 1.0),
        ("fro_bot_gateway_events_total{event=refused}", 1.0),
        ("fro_bot_discord_slowed_total", 1.0),
        ("fro_bot_workers", 0.0),
    ] {
        assert_eq!(samples.get(sample), Some(&expect), "{sample} in {samples:#?}");
    }
    assert_eq!(look(&window, "/").await.0, 404);
    serving.kill().unwrap();
    serving.wait().unwrap();
    assert_eq!(healthy(&window).0, Some(1), "nobody is there any more");
}

/// Asks as the health check of a container does.
fn healthy(window: &str) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fro-bot"));
    let output =
        command.args(["healthy", "--metrics", window.trim_start_matches("http://")]).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

/// A turn is answered by the real engine, and both processes have counted it.
#[tokio::test(flavor = "multi_thread")]
async fn both_processes_count_a_turn() {
    let stage = Stage::open().await;
    stage.github.model().says("The hose leaks.");
    let mut program = stage.program();
    program.args(["serve", "--store"]).arg(stage.folder.path().join("store.db"));
    program.env("FRO_METRICS", "0").env("FRO_WORKER_METRICS", "0").stdout(Stdio::piped());
    let mut serving = program.spawn().unwrap();
    let windows = Windows::printed_by(&mut serving, 2);
    let thread = stage.asks("why is the floor wet?");
    stage.until_said(thread, "The hose leaks.").await;

    let ended = "fro_bot_turns_ended_total{ending=answered}";
    let work = until_counted(&windows.work(), |samples| samples.contains_key(ended)).await;
    for (sample, expect) in [
        (ended, 1.0),
        ("fro_bot_turn_duration_seconds_count", 1.0),
        ("fro_bot_memory_saves_total{came=saved}", 1.0),
        ("fro_bot_engines", 0.0),
        ("fro_bot_workers", 1.0),
        ("fro_bot_turns{state=waiting}", 0.0),
    ] {
        assert_eq!(work.get(sample), Some(&expect), "{sample} in {work:#?}");
    }
    assert!(work["fro_bot_tokens_total{way=in}"] > 0.0, "{work:#?}");

    let serve = until_counted(&windows.serve(), |samples| samples["fro_bot_outbox"] < 1.0).await;
    for (sample, expect) in [
        ("fro_bot_gateway_up", 1.0),
        ("fro_bot_store_up", 1.0),
        ("fro_bot_gateway_events_total{event=began}", 1.0),
        ("fro_bot_discord_slowed_total", 0.0),
        ("fro_bot_turns{state=running}", 0.0),
    ] {
        assert_eq!(serve.get(sample), Some(&expect), "{sample} in {serve:#?}");
    }
    assert!(serve["fro_bot_deeds_total{came=done}"] >= 1.0, "{serve:#?}");
    assert_eq!(health(&windows.work()).await.0, 200);
    let pid = rustix::process::Pid::from_child(&serving);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let left = tokio::task::spawn_blocking(move || serving.wait().unwrap()).await.unwrap();
    assert_eq!(left.code(), Some(0));
}

/// Looks until something was counted.
async fn until_counted(window: &str, fact: impl Fn(&Samples) -> bool) -> Samples {
    loop {
        let samples = metrics(window).await;
        if fact(&samples) {
            return samples;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_port_that_is_taken_or_none_is_told_before_anything_else() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (place, told) in
        [(port.as_str(), "cannot answer `/metrics` at 127.0.0.1:"), ("garden", "is no place")]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fro-bot"));
        command.args(["serve", "--metrics", place, "--store"]).arg(folder.path().join("serve.db"));
        let output = command.env("FRO_DISCORD_TOKEN", "planted-token").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(told), "{said}");
    }
    assert!(!folder.path().join("serve.db").exists(), "a database was made");
}
