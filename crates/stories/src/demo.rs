//! The demo as a newcomer starts it, in a home and a temporary folder of its own.

use std::{net::TcpListener, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

use crate::{door, tools};

/// A demo under way.
pub struct Demo {
    folder: TempDir,
    tracking: String,
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    shown: Vec<String>,
}

impl Demo {
    /// Starts it.
    pub fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::Builder::new().prefix("demo-").tempdir().expect("there is room for a folder");
        let (home, temp) = (folder.path().join("home"), folder.path().join("temp"));
        for folder in [&home, &temp] {
            fs_err::create_dir(folder).expect("the folder is new");
        }
        let tracking = format!("demo-{}", folder.path().display());
        let mut child = Command::new(tools::binary())
            .arg("demo")
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home)
            .env("TMPDIR", temp)
            .env("RUNNER_TOOL_CACHE", tools::tool_cache())
            .env("RUNNER_TRACKING_ID", &tracking)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the binary starts");
        let lines = BufReader::new(child.stdout.take().expect("the output is piped")).lines();
        Self { folder, tracking, child, lines, shown: Vec::new() }
    }

    /// Waits for a line of the output that holds these words.
    pub async fn shows(&mut self, words: &str) {
        let patience = Duration::from_mins(2);
        loop {
            let line = timeout(patience, self.lines.next_line()).await.expect("the demo goes on");
            let Some(line) = line.expect("the demo's output is text") else {
                panic!("the demo ended without `{words}`:\n{}", self.shown.join("\n"));
            };
            self.shown.push(line);
            if self.shown.last().is_some_and(|line| line.contains(words)) {
                return;
            }
        }
    }

    /// Presses Ctrl-C.
    pub fn interrupt(&self) {
        let pid = self.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        kill_process(pid.expect("the demo is under way"), Signal::INT).expect("the demo can be signalled");
    }

    /// Waits for the end and checks that nothing is left: no process, no temporary file.
    pub async fn ends(mut self) -> Ended {
        while let Ok(Ok(Some(line))) = timeout(Duration::from_mins(2), self.lines.next_line()).await {
            self.shown.push(line);
        }
        let output = timeout(Duration::from_mins(1), self.child.wait_with_output()).await;
        let output = output.expect("the demo ends").expect("the demo can be waited for");
        door::no_process_is_left(&self.tracking, Duration::from_mins(1)).await;
        let left = door::files(&self.folder.path().join("temp"));
        assert!(left.is_empty(), "the demo left {left:?}");
        Ended {
            code: output.status.code(),
            shown: self.shown.join("\n"),
            errors: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// A demo that is over.
#[derive(Debug)]
pub struct Ended {
    /// The exit code.
    pub code: Option<i32>,
    /// What it showed.
    pub shown: String,
    /// What it complained about.
    pub errors: String,
}

/// Takes a port, so that nobody else can have it for as long as this lives.
pub fn taken_port() -> (TcpListener, u16) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
    let port = listener.local_addr().expect("a listener has an address").port();
    (listener, port)
}
