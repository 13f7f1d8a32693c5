//! The engine as a process: its start, its last words, and the end of it and of everything it started.

use std::{
    collections::VecDeque,
    ffi::OsString,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use fro_core::Secret;
use fs_err as fs;
use futures::future;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::{Child, Command},
    sync::{Notify, watch},
    task::JoinHandle,
    time,
};
use tracing::{debug, warn};

use crate::{
    error::Error,
    random::{SOURCE, random_hex},
    server::{Launch, PORT},
};

/// How much of what the engine prints is kept.
const TAIL: usize = 8 << 10;

/// How long the last words of an ended engine may take.
const HEAR_OUT: Duration = Duration::from_millis(500);

/// How often what stayed behind is looked for; each round kills all that were found.
const ROUNDS: usize = 10;

/// A started engine with everything that hangs on it.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    /// Kept open for as long as we live: a wrapping command takes its end for ours.
    _lifeline: Option<tokio::process::ChildStdin>,
    printed: Printed,
    drains: Vec<JoinHandle<()>>,
    life: watch::Sender<bool>,
    ending: Ending,
}

/// The last few kilobytes that the engine printed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Printed(Arc<Tail>);

#[derive(Debug, Default)]
struct Tail {
    bytes: Mutex<VecDeque<u8>>,
    /// Told whenever something is added.
    added: Notify,
}

impl Printed {
    /// Returns the end of what was printed.
    pub(crate) fn text(&self) -> String {
        let tail: Vec<u8> = self.bytes().iter().copied().collect();
        String::from_utf8_lossy(&tail).into_owned()
    }

    fn add(&self, piece: &[u8]) {
        let mut tail = self.bytes();
        tail.extend(piece);
        let excess = tail.len().saturating_sub(TAIL);
        tail.drain(..excess);
        drop(tail);
        self.0.added.notify_one();
    }

    fn bytes(&self) -> MutexGuard<'_, VecDeque<u8>> {
        self.0.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How everything that the engine started is made to end.
#[derive(Debug)]
enum Ending {
    /// The wrapping command sees to it: asked once it is patient, asked twice it is not. Killing it would let
    /// what it watches over go.
    Asked,
    /// Nobody does but us: whatever carries this password in its environment is killed.
    Marked(Secret),
}

/// Returns a password that nobody can guess.
pub(crate) fn password() -> Result<Secret, Error> {
    let made = random_hex::<24>();
    let made = made.map_err(|source| Error::Disk { deed: "read", path: SOURCE.into(), source })?;
    Ok(Secret::new(made))
}

impl Process {
    pub(crate) fn spawn(
        launch: &Launch,
        port: u16,
        environment: Vec<(OsString, OsString)>,
        password: &Secret,
    ) -> Result<Self, Error> {
        let engine = launch.engine.binary.as_os_str().to_owned();
        let wrap =
            launch.wrap.iter().map(|word| if word == PORT { port.to_string().into() } else { word.clone() });
        let mut words = wrap.chain([engine]);
        let program = words.next().unwrap_or_default();
        let mut child = Command::new(&program)
            .args(words)
            .args(["serve", "--hostname=127.0.0.1"])
            .arg(format!("--port={port}"))
            .current_dir(&launch.directory)
            .env_clear()
            .envs(environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(launch.wrap.is_empty())
            .spawn()
            .map_err(|source| Error::Start { program: program.into(), source })?;
        let printed = Printed::default();
        let out = child.stdout.take().map(|out| drain(out, &printed));
        let err = child.stderr.take().map(|err| drain(err, &printed));
        let drains = out.into_iter().chain(err).collect();
        let lifeline = child.stdin.take();
        let ending = if launch.wrap.is_empty() { Ending::Marked(password.clone()) } else { Ending::Asked };
        Ok(Self { child, _lifeline: lifeline, printed, drains, life: watch::Sender::new(true), ending })
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Returns how the engine ended, if it did.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.child.try_wait().ok().flatten();
        if status.is_some() {
            self.life.send_replace(false);
        }
        status
    }

    /// Waits until the engine prints something or ends, but no longer than this.
    pub(crate) async fn stirs(&mut self, patience: Duration) {
        tokio::select! {
            _ended = self.child.wait() => {}
            () = self.printed.0.added.notified() => {}
            () = time::sleep(patience) => {}
        }
    }

    /// Tells others of our end: true as long as the engine is wanted.
    pub(crate) fn life(&self) -> watch::Receiver<bool> {
        self.life.subscribe()
    }

    /// Waits until all that an ended engine printed is read, but not for children that keep its output open.
    pub(crate) async fn hear_out(&mut self) {
        let drained = future::join_all(self.drains.drain(..));
        if time::timeout(HEAR_OUT, drained).await.is_err() {
            debug!("something that the engine started still holds its output");
        }
    }

    /// Returns the end of what was printed.
    pub(crate) fn output(&self) -> String {
        self.printed.text()
    }

    /// Returns what holds the end of what was printed, beyond our own end.
    pub(crate) fn printed(&self) -> Printed {
        self.printed.clone()
    }

    /// Returns the last line that was printed.
    pub(crate) fn last_words(&self) -> String {
        let output = self.output();
        let line = output.lines().rev().find(|line| !line.trim().is_empty());
        line.map_or_else(|| "it said nothing".to_owned(), |line| line.trim().chars().take(300).collect())
    }

    /// Asks the engine to end, and makes it and all that it started end if it does not.
    pub(crate) async fn stop(&mut self, grace: Duration) {
        self.life.send_replace(false);
        self.signal(Signal::TERM);
        if time::timeout(grace, self.child.wait()).await.is_err() {
            warn!("the engine does not stop, using force");
        }
        self.force();
        if time::timeout(grace, self.child.wait()).await.is_err() {
            self.signal(Signal::KILL);
        }
        if let Err(error) = self.child.wait().await {
            warn!("cannot wait for the engine: {error}");
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.pid().and_then(pid) {
            // It may be gone by itself.
            let _gone = kill_process(pid, signal);
        }
    }

    /// Ends everything without patience.
    fn force(&self) {
        match &self.ending {
            Ending::Asked => {
                self.signal(Signal::TERM);
                self.signal(Signal::TERM);
            }
            Ending::Marked(password) => self.kill(password),
        }
    }

    /// Kills the engine's group, and whatever carries its password: the commands of its shell have groups of
    /// their own.
    fn kill(&self, password: &Secret) {
        if let Some(pid) = self.pid().and_then(pid) {
            let _gone = kill_process_group(pid, Signal::KILL);
        }
        let mark = format!("OPENCODE_SERVER_PASSWORD={}", password.expose());
        for _ in 0..ROUNDS {
            let marked = marked(mark.as_bytes());
            if marked.is_empty() {
                return;
            }
            for pid in marked {
                let _gone = kill_process(pid, Signal::KILL);
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.life.send_replace(false);
        self.force();
    }
}

fn pid(id: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(id).ok()?)
}

/// Returns the processes whose environment holds these bytes. A process that is only waited for has none.
fn marked(mark: &[u8]) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| {
        fs::read(format!("/proc/{id}/environ"))
            .is_ok_and(|all| all.split(|&byte| byte == 0).any(|one| one == mark))
    })
    .filter_map(pid)
    .collect()
}

/// Reads what is printed so that the engine never blocks on it, and keeps the end.
fn drain(mut output: impl AsyncRead + Unpin + Send + 'static, printed: &Printed) -> JoinHandle<()> {
    let printed = printed.clone();
    tokio::spawn(async move {
        let mut piece = [0; 1 << 10];
        while let Ok(n @ 1..) = output.read(&mut piece).await {
            printed.add(&piece[..n]);
        }
    })
}
