//! Where the engine's tools ask the harness, over a unix socket, one line each way.
//!
//! The tools' own process holds nothing. What it may ask is what stands here, and the agent's shell, which can open the
//! socket as well, gains nothing by it.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use fro_boundary::Address;
use fro_core::{
    Drafts, Fault,
    say::{log::harmless, sessions as say},
    tool_call::{Call, Line, Reply, ToolSet},
};
use fro_opencode::McpServer;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{UnixListener, UnixStream},
    task::{JoinSet, spawn_blocking},
};
use tokio_util::task::AbortOnDropHandle;

use crate::{memory::SessionArchive, review::ReviewTools};

/// The largest line that is read; a draft with many remarks is far below.
const LARGEST: u64 = 4 << 20;

/// An open socket for tool calls; dropping it closes the socket and cuts every connection.
#[derive(Debug)]
pub(crate) struct ToolServer {
    socket: PathBuf,
    tools: Arc<SessionTools>,
    _accepting: AbortOnDropHandle<()>,
}

/// How often the agent asked what is remembered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) searches: u32,
    pub(crate) reads: u32,
}

/// Who answers.
#[derive(Debug)]
struct SessionTools {
    archive: SessionArchive,
    drafts: Drafts,
    /// Answers in place of all others, if this is a review.
    review: Option<Arc<ReviewTools>>,
    searches: AtomicU32,
    reads: AtomicU32,
}

impl ToolServer {
    /// Opens the socket in a folder where the engine cannot write.
    pub(crate) fn open(
        folder: &Path,
        (archive, drafts): (SessionArchive, Drafts),
        review: Option<Arc<ReviewTools>>,
    ) -> Result<Self, Fault> {
        let socket = folder.join("s");
        let listener = UnixListener::bind(&socket)
            .map_err(|error| Fault::ours(format!("cannot open a socket for the engine's tools: {error}")))?;
        let (searches, reads) = (AtomicU32::new(0), AtomicU32::new(0));
        let tools = Arc::new(SessionTools { archive, drafts, review, searches, reads });
        let accepting = tokio::spawn(serve(listener, Arc::clone(&tools)));
        Ok(Self { socket, tools, _accepting: AbortOnDropHandle::new(accepting) })
    }

    /// Returns the socket, for the wall's list.
    pub(crate) fn address(&self) -> Address {
        Address::Unix(self.socket.clone())
    }

    /// Returns the servers that the engine starts for its tools.
    pub(crate) fn servers(&self, program: &Path) -> Vec<McpServer> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let server = |set: ToolSet| McpServer {
            name: set.name().to_owned(),
            command: vec![
                text(program),
                "mcp".to_owned(),
                "--desk".to_owned(),
                text(&self.socket),
                set.name().to_owned(),
            ],
        };
        let sets = match &self.tools.review {
            Some(_) => ToolSet::OF_REVIEWS,
            None => ToolSet::OF_ANSWERS,
        };
        sets.map(server).into()
    }

    /// Says in which session this run takes place.
    pub(crate) fn serve(&self, session: &str) {
        self.tools.archive.serve(session);
    }

    /// Returns how often the agent asked what is remembered.
    pub(crate) fn asked(&self) -> Asked {
        let count = |counter: &AtomicU32| counter.load(Ordering::Relaxed);
        Asked { searches: count(&self.tools.searches), reads: count(&self.tools.reads) }
    }
}

async fn serve(listener: UnixListener, tools: Arc<SessionTools>) {
    let mut connections = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(connections.spawn(hear(stream, Arc::clone(&tools)))),
            // As when there are too many open files; it passes.
            Err(error) => {
                tracing::warn!("a question of the engine's tools cannot be taken: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn hear(stream: UnixStream, tools: Arc<SessionTools>) {
    if let Err(error) = answer(stream, tools).await {
        tracing::debug!("a question of the engine's tools broke off: {error}");
    }
}

async fn answer(stream: UnixStream, tools: Arc<SessionTools>) -> io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut line = String::new();
    BufReader::new(reader.take(LARGEST)).read_line(&mut line).await?;
    let reply = match serde_json::from_str(&line) {
        // Reading the memory blocks, and a search can take a while.
        Ok(line) => spawn_blocking(move || tools.answer(line)).await.map_err(io::Error::other)?,
        Err(error) => Reply::Failed(format!("this is not a question: {error}")),
    };
    let mut text = serde_json::to_vec(&reply)?;
    text.push(b'\n');
    writer.write_all(&text).await
}

impl SessionTools {
    fn answer(&self, line: Line) -> Reply {
        let (set, tool, arguments) = match line {
            Line::Tools(set) => {
                return Reply::Tools(self.review.as_ref().map_or(set.tools(), |_| ReviewTools::cards(set)));
            }
            Line::Call { set, tool, arguments } => (set, tool, arguments),
        };
        let name = harmless(&format!("{}_{tool}", set.name()));
        let performed = match &self.review {
            Some(review) => review.call(set, &tool, arguments),
            None => Call::read(set, &tool, arguments).and_then(|call| self.perform(call)),
        };
        match performed {
            Ok(text) => {
                tracing::info!("{name}: answered with {} bytes", text.len());
                Reply::Said(text)
            }
            Err(why) => {
                tracing::info!("{name}: {}", harmless(&why));
                Reply::Failed(why)
            }
        }
    }

    fn perform(&self, call: Call) -> Result<String, String> {
        let told = match call {
            Call::List(part) => self.archive.list(part),
            Call::Search(search) => {
                self.searches.fetch_add(1, Ordering::Relaxed);
                self.archive.search(&search)
            }
            Call::Read(read) => {
                self.reads.fetch_add(1, Ordering::Relaxed);
                let told = self.archive.read(&read).map_err(|error| error.to_string())?;
                return told.ok_or_else(|| say::unknown(&read.session_id));
            }
            Call::Info(whole) => {
                let told = self.archive.info(&whole.session_id).map_err(|error| error.to_string())?;
                return told.ok_or_else(|| say::unknown(&whole.session_id));
            }
            Call::Draft(draft) => return Ok(self.take(draft)),
        };
        told.map_err(|error| error.to_string())
    }

    fn take(&self, draft: fro_core::Draft) -> String {
        let n_comments = draft.comments.len();
        let id = self.drafts.set(draft);
        let remarks = match n_comments {
            0 => String::new(),
            1 => " with 1 remark beside the code".to_owned(),
            many => format!(" with {many} remarks beside the code"),
        };
        format!(
            "`{id}`{remarks} is your answer now. It is posted when you are done; another draft replaces it."
        )
    }
}
