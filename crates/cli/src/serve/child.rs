//! The worker beside `serve`: a process of its own without the bot's token, begun anew when it ends.

use std::{future::Future, process::Stdio, time::Duration};

use fro_serve::{Address, Store};
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    process::{self, Command},
    time,
};
use tracing::{error, warn};

use crate::env;

/// The pauses before it is begun anew; the last one repeats.
const PAUSES: [u64; 5] = [1, 2, 5, 15, 60];
/// A worker that lived this long was sound.
const SOUND: Duration = Duration::from_mins(10);

/// How a worker is started.
pub(super) struct Child {
    store: String,
    name: String,
    /// Where it answers an operator's questions.
    metrics: Option<String>,
}

impl Child {
    pub(super) fn new(store: &Address, serve: &str, metrics: Option<&str>) -> Self {
        let store = match store {
            Address::File(path) => path.display().to_string(),
            Address::Url(url) => url.expose().to_owned(),
        };
        Self { store, name: serve.to_owned(), metrics: metrics.map(str::to_owned) }
    }

    /// Keeps a worker alive until we are asked to stop, and lets it take its leave then.
    pub(super) async fn keep(&self, store: &Store, stop: impl Future<Output = ()>) {
        let mut stop = Box::pin(stop);
        let mut failures = 0;
        for number in 1.. {
            let (name, began) = (format!("{}-worker-{number}", self.name), time::Instant::now());
            match self.start(&name) {
                Err(error) => error!("cannot start a worker: {error}"),
                Ok(mut child) => {
                    // Whoever waits for a child closes its pipe, unless it was taken.
                    let _lifeline = child.stdin.take();
                    tokio::select! {
                        ended = child.wait() => warn!("the worker ended: {ended:?}; another one is started"),
                        () = &mut stop => {
                            ask_to_end(&child);
                            drop(child.wait().await);
                            return given_back(store, &name).await;
                        }
                    }
                }
            }
            given_back(store, &name).await;
            failures = if began.elapsed() > SOUND { 0 } else { failures + 1 };
            let pause = PAUSES.get(failures).or(PAUSES.last()).copied().unwrap_or(60);
            tokio::select! {
                () = time::sleep(Duration::from_secs(pause)) => {}
                () = &mut stop => return,
            }
        }
    }

    fn start(&self, name: &str) -> std::io::Result<process::Child> {
        let mut command = Command::new(std::env::current_exe()?);
        // A password in the store's address is no argument: others could read it in the list of processes.
        command.args(["work", "--beside", "--name", name]).env(env::FRO_STORE, &self.store);
        // Two processes cannot answer at one port.
        command.env_remove(env::FRO_METRICS).env_remove(env::FRO_PAGE_TOKEN);
        command.envs(self.metrics.iter().map(|metrics| (env::FRO_METRICS, metrics)));
        // The pipe is held until we end, however we end: then the worker takes its leave.
        command.env_remove(env::FRO_DISCORD_TOKEN).stdin(Stdio::piped()).kill_on_drop(true).spawn()
    }
}

fn ask_to_end(child: &process::Child) {
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It may have ended by itself at this moment.
        let _: Result<(), _> = kill_process(pid, Signal::TERM);
    }
}

/// What it had under way is free for others at once.
async fn given_back(store: &Store, name: &str) {
    if let Err(error) = store.abandon(name).await {
        warn!("cannot give the turns of {name} back: {}", error.fault().what());
    }
}
