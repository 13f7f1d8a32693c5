//! Decides on each push, and pushes what passes on to GitHub.
//!
//! Everything that a push would publish is read first: refs, paths, commits as they stand, and the content of every new
//! file, by a git without a credential. The credential is got when all of that has passed, for the one command that
//! pushes. What GitHub refuses in its turn is refused to the agent in GitHub's words.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex as Ledger, PoisonError},
};

use fro_core::Redactor;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixListener,
    sync::Mutex,
    task::spawn_blocking,
};

use crate::{
    accept::{SocketListener, SocketStream},
    git::{
        Credential, GitError, Push, Rules, lfs,
        reader::{GitQuestion, Reader},
        receive::{Answer, HookQuestion, MOST_UPDATES},
        rules::{Change, Refused, Update},
        scan::{self, Object},
    },
    wall::Enclosure,
};

/// The longest question of the hook; one ref is a line, and git has a limit for its length.
const LONGEST: u64 = 8 << 20;

/// The most that a push may unpack to, the files that it replaces included; and once more what archives in it do.
const UNPACKED: u64 = 128 << 20;

/// Why a push did not pass.
#[derive(Debug, thiserror::Error)]
enum PushFailure {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("GitHub refused it: {0}")]
    Upstream(String),
    #[error("{0}")]
    NoCredential(String),
    #[error("the run is over")]
    Over,
    #[error("nobody knows whether GitHub took it: {0}")]
    Unknown(#[source] GitError),
    #[error("the push cannot be checked: {0}")]
    Git(#[from] GitError),
    #[error("the push cannot be checked")]
    Io(#[from] io::Error),
}

/// Decides on pushes, one after the other.
pub(super) struct Gatekeeper {
    pub(super) reader: Reader,
    pub(super) rules: Rules,
    pub(super) server: String,
    pub(super) credential: Credential,
    pub(super) redactor: Arc<Redactor>,
    pub(super) record: Record,
}

/// What became of the pushes, and whether there can be more.
#[derive(Debug, Clone, Default)]
pub(super) struct Record(Arc<State>);

#[derive(Debug, Default)]
struct State {
    pushes: Ledger<Vec<Push>>,
    is_over: Mutex<bool>,
}

impl Record {
    /// Returns all so far, oldest first.
    pub(super) fn all(&self) -> Vec<Push> {
        self.0.pushes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn add(&self, push: Push) {
        self.0.pushes.lock().unwrap_or_else(PoisonError::into_inner).push(push);
    }

    /// Waits for a push that is being decided on, and lets none come after it.
    pub(super) async fn close(&self) {
        *self.0.is_over.lock().await = true;
    }
}

/// Answers the hook's questions for as long as the socket is there.
pub(super) async fn serve(listener: UnixListener, gatekeeper: Arc<Gatekeeper>) {
    let hear = move |stream| {
        let gatekeeper = Arc::clone(&gatekeeper);
        async move {
            if let Err(error) = gatekeeper.hear(stream).await {
                tracing::warn!("a push was not answered: {error}");
            }
        }
    };
    SocketListener::Unix(listener).serve(hear).await;
}

impl Gatekeeper {
    async fn hear(&self, mut stream: SocketStream) -> io::Result<()> {
        let mut line = String::new();
        BufReader::new((&mut stream).take(LONGEST)).read_line(&mut line).await?;
        let asked: HookQuestion = serde_json::from_str(&line).map_err(io::Error::other)?;
        let answer = self.answer(&asked).await;
        let mut text = serde_json::to_string(&answer).map_err(io::Error::other)?;
        text.push('\n');
        stream.write_all(text.as_bytes()).await
    }

    async fn answer(&self, asked: &HookQuestion) -> Answer {
        // Held to the end: the run is not over before this push is.
        let is_over = self.record.0.is_over.lock().await;
        let judged = if *is_over { Err(PushFailure::Over) } else { self.judge(asked).await };
        match judged {
            Ok(updates) => {
                for Update { name, new, .. } in updates {
                    let branch = name.trim_start_matches("refs/heads/").to_owned();
                    self.record.add(Push::Passed { branch, commit: new });
                }
                Answer::Passed
            }
            Err(failure) => {
                let why = self.redactor.clean(&failure.to_string()).as_str().to_owned();
                self.record.add(Push::Refused { why: why.clone() });
                Answer::Refused(why)
            }
        }
    }

    async fn judge(&self, asked: &HookQuestion) -> Result<Vec<Update>, PushFailure> {
        if asked.updates.len() > MOST_UPDATES {
            return Err(Refused::TooMany(MOST_UPDATES, self.rules.branch.clone()).into());
        }
        let updates: Option<Vec<Update>> = asked.updates.iter().map(|line| Update::parse(line)).collect();
        let updates = updates.filter(|updates| !updates.is_empty()).ok_or(Refused::Unclear)?;
        for update in &updates {
            self.rules.check_ref(update)?;
        }
        let incoming = self.incoming(asked.quarantine.as_deref())?;
        for update in &updates {
            // git would find out only after this hook, when GitHub has it already.
            let ancestor = ["merge-base", "--is-ancestor", &update.old, &update.new];
            if !update.is_new() && self.ask(&incoming, &ancestor, b"").await.is_err() {
                return Err(Refused::Rewrite(update.name.clone()).into());
            }
            let commits = self.ask(&incoming, &["rev-list", &update.new, "--not", "--all"], b"").await?;
            if !commits.is_empty() {
                self.check(&incoming, (&commits, &update.new)).await?;
            }
        }
        self.pass_on(&incoming, &updates).await?;
        Ok(updates)
    }

    /// Returns the folder of the new objects, if it is one of the store's own.
    fn incoming(&self, told: Option<&Path>) -> Result<PathBuf, PushFailure> {
        let objects = fs_err::canonicalize(self.reader.repository.join("objects"))?;
        match told {
            None => Ok(objects),
            Some(told) => {
                let real = fs_err::canonicalize(told)?;
                if real.starts_with(&objects) { Ok(real) } else { Err(Refused::Unclear.into()) }
            }
        }
    }

    /// Reads everything that these commits would publish.
    async fn check(&self, incoming: &Path, (commits, tip): (&[u8], &str)) -> Result<(), PushFailure> {
        let files = ["diff-tree", "--stdin", "-r", "-t", "-m", "--root", "--no-renames", "--raw", "-z"];
        let told = self.ask(incoming, &files, commits).await?;
        let changes = self.rules.check_files(&told)?;
        let raw = self.ask(incoming, &["cat-file", "--batch"], commits).await?;
        for commit in scan::objects(&raw).ok_or(Refused::Unclear)? {
            self.rules.check_commit(&commit)?;
            scan::commit(&self.redactor, &commit)?;
        }
        let contents = self.contents(incoming, &changes).await?;
        lfs::check(&changes, &contents, &self.kept_by_lfs(incoming, tip, &changes).await)?;
        let redactor = Arc::clone(&self.redactor);
        let scanned = spawn_blocking(move || scan::changes(&redactor, &changes, &contents, UNPACKED)).await;
        Ok(scanned.map_err(io::Error::other)??)
    }

    /// Returns which of the changed files LFS keeps. A git before 2.40 cannot tell; then only pointers do.
    async fn kept_by_lfs(&self, incoming: &Path, tip: &str, changes: &[Change]) -> BTreeSet<String> {
        let paths: Vec<u8> =
            changes.iter().flat_map(|change| [change.path.as_bytes(), b"\0"]).flatten().copied().collect();
        let question = ["check-attr", "--source", tip, "-z", "--stdin", "filter"];
        match self.ask(incoming, &question, &paths).await {
            Ok(told) => lfs::kept(&told),
            Err(error) => {
                tracing::warn!("which files Git LFS keeps is not known: {error}");
                BTreeSet::new()
            }
        }
    }

    /// Returns what the changed files hold and held.
    async fn contents(
        &self,
        incoming: &Path,
        changes: &[Change],
    ) -> Result<BTreeMap<String, Vec<u8>>, PushFailure> {
        let ids: BTreeSet<&str> = changes.iter().flat_map(Change::contents).collect();
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let list: String = ids.iter().flat_map(|id| [id, "\n"]).collect();
        let sizes = self.ask(incoming, &["cat-file", "--batch-check=%(objectsize)"], list.as_bytes()).await?;
        let sizes = String::from_utf8_lossy(&sizes);
        let total =
            sizes.lines().map(str::parse::<u64>).try_fold(0_u64, |sum, size| Ok(sum.saturating_add(size?)));
        let total = total.map_err(|_: std::num::ParseIntError| Refused::Unclear)?;
        if total > UNPACKED {
            return Err(Refused::TooLarge(UNPACKED >> 20).into());
        }
        let raw = self.ask(incoming, &["cat-file", "--batch"], list.as_bytes()).await?;
        let objects = scan::objects(&raw).ok_or(Refused::Unclear)?;
        Ok(objects.into_iter().map(|Object { id, content }| (id, content.to_vec())).collect())
    }

    async fn ask(&self, incoming: &Path, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, GitError> {
        let arguments = arguments.iter().map(OsString::from).collect();
        let enclosure = Enclosure::Open;
        self.reader.ask(GitQuestion { arguments, input, objects: incoming, clone: None, enclosure }).await
    }

    /// Pushes to GitHub, if the branches there are still as the agent found them.
    async fn pass_on(&self, incoming: &Path, updates: &[Update]) -> Result<(), PushFailure> {
        let token =
            (self.credential)().await.map_err(|fault| PushFailure::NoCredential(fault.what().to_owned()))?;
        let Reader { git, repository, .. } = &self.reader;
        let git = git.with_token(&self.server, &token);
        let mut command = git.at(repository);
        command.env("GIT_OBJECT_DIRECTORY", incoming);
        command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", repository.join("objects"));
        command.args(["push", "--quiet", "--porcelain", "--no-verify", "--atomic"]);
        for update in updates {
            let expected = if update.is_new() { "" } else { &update.old };
            command.arg(format!("--force-with-lease={}:{expected}", update.name));
        }
        command.arg(&self.rules.url);
        command.args(updates.iter().map(|update| format!("{}:{}", update.new, update.name)));
        let output = git.errand(&mut command, "push").await.map_err(PushFailure::Unknown)?;
        if output.status.success() {
            return Ok(());
        }
        let told = [output.stdout, output.stderr].concat();
        let told = String::from_utf8_lossy(&told);
        let lines = told.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "Done");
        Err(PushFailure::Upstream(lines.take(8).collect::<Vec<_>>().join("; ").chars().take(600).collect()))
    }
}
