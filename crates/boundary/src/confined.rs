//! Runs a program of ours over what the agent wrote: behind a wall of its own, within limits, its output taken as data.
//!
//! Whatever a hostile file can make such a program do, it has no credential to give away, reads and writes only the
//! folders of its errand, has no network, and ends when its time is up. It is the wall that also stands around the
//! engine, with nothing on its list of connections.

use std::{
    ffi::OsString,
    io,
    path::PathBuf,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::{Child, Command},
    time::timeout,
};

use crate::wall::{Address, Enclosure, Limits, Strictness, WallSpec};

/// How long the wall may take to end what took too long.
const GRACE: Duration = Duration::from_millis(200);

/// The most that is kept of what a program complains of.
const COMPLAINT: usize = 4 << 10;

/// How programs are confined on this machine.
#[derive(Debug, Clone)]
pub struct Confinement {
    /// The command line of `fro-bot wall`.
    pub launcher: Vec<OsString>,
    /// What to do where the kernel lacks a wall; the engine's own wall has the same.
    pub strictness: Strictness,
    /// What stands around the engine: as root it is another user, whose files only that user can read for certain.
    pub enclosure: Enclosure,
}

/// What a confined program is to do.
#[derive(Debug, Clone)]
pub struct ConfinedTask {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The folder that it starts in.
    pub folder: PathBuf,
    /// What it may read besides the system's programs.
    pub read: Vec<PathBuf>,
    /// What it may write.
    pub write: Vec<PathBuf>,
    /// Where it may connect to.
    pub connect: Vec<Address>,
    /// The file that is its standard input.
    pub input: Option<PathBuf>,
    /// What it may use up.
    pub bounds: Bounds,
}

/// What a confined program may use up.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Until it is ended.
    pub time: Duration,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of each file that it writes.
    pub file: u64,
    /// Bytes that it may print.
    pub output: usize,
}

/// What a confined program said.
#[derive(Debug)]
pub struct ConfinedOutput {
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed.
    pub output: Vec<u8>,
    /// The beginning of what it complained of.
    pub complaint: Vec<u8>,
}

/// Why a confined program has no result.
#[derive(Debug, thiserror::Error)]
pub enum Overrun {
    /// The operating system refused.
    #[error("it cannot be started")]
    Start(#[from] io::Error),
    /// It was ended.
    #[error("it took longer than {} s", .0.as_secs())]
    Time(Duration),
    /// It was ended.
    #[error("it printed more than {} MiB", .0 >> 20)]
    Output(usize),
}

impl Confinement {
    /// Runs an errand to its end, or to the end of what it may use up.
    pub async fn run(&self, errand: ConfinedTask) -> Result<ConfinedOutput, Overrun> {
        let Bounds { time, output: most, .. } = errand.bounds;
        let mut running = self.command(errand).spawn()?;
        // The wall takes the end of its standard input for ours.
        let lifeline = running.stdin.take();
        let (output, complaint) = (running.stdout.take(), running.stderr.take());
        let heard = async {
            let (output, complaint) = tokio::join!(take(output, most + 1), take(complaint, COMPLAINT));
            let output = output?;
            if output.len() > most {
                return Err(Overrun::Output(most));
            }
            Ok(ConfinedOutput { status: running.wait().await?, output, complaint: complaint? })
        };
        let said = timeout(time, heard).await.unwrap_or(Err(Overrun::Time(time)));
        if said.is_err() {
            drop(lifeline);
            end(&mut running).await;
        }
        said
    }

    fn command(&self, errand: ConfinedTask) -> Command {
        let spec = WallSpec {
            read: errand.read.into_iter().chain(errand.input.clone()).collect(),
            write: errand.write,
            connect: errand.connect,
            input: errand.input,
            limits: Limits {
                memory: Some(errand.bounds.memory),
                file: Some(errand.bounds.file),
                seconds: Some(errand.bounds.time.as_secs().saturating_mul(2)),
            },
            grace: GRACE,
            strictness: self.strictness,
            enclosure: self.enclosure,
            ..WallSpec::default()
        };
        let mut words = self.launcher.iter();
        let mut command = Command::new(words.next().cloned().unwrap_or_default());
        command.args(words).args(spec.arguments()).arg("--").args(errand.command);
        command.env_clear().envs(errand.environment).current_dir(errand.folder).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// Waits for the wall to end everything behind it, whose lifeline is cut, and ends the wall itself if it does not.
async fn end(running: &mut Child) {
    if timeout(GRACE * 10, running.wait()).await.is_err() {
        tracing::warn!("a confined program does not end, using force");
        // It may have ended just now.
        drop(running.kill().await);
    }
}

async fn take(from: Option<impl AsyncRead + Unpin>, most: usize) -> io::Result<Vec<u8>> {
    let mut taken = Vec::new();
    if let Some(from) = from {
        from.take(most as u64).read_to_end(&mut taken).await?;
    }
    Ok(taken)
}
