//! Where the engine's tools ask the harness, over a unix socket, one line each way.
//!
//! The tools' own process holds nothing. A call is done in the name of the session that really makes it: see
//! [`callers`](crate::callers).

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use fro_boundary::{Address, SocketListener, SocketStream};
use fro_core::{
    Fault,
    say::log::harmless,
    tool_call::{Line, Reply},
};
use fro_opencode::McpServer;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixListener,
};
use tokio_util::task::AbortOnDropHandle;

use crate::{
    callers::Callers,
    tools::{Arguments, ToolList},
};

/// The largest line that is read; a draft with many remarks is far below.
const LARGEST: u64 = 4 << 20;

/// An open socket for tool calls; dropping it closes the socket and cuts every connection.
#[derive(Debug)]
pub(crate) struct ToolServer {
    socket: PathBuf,
    window: Arc<Window>,
    _accepting: AbortOnDropHandle<()>,
}

/// What is offered, and who may call.
#[derive(Debug)]
struct Window {
    lists: Vec<ToolList>,
    callers: Arc<Callers>,
}

impl ToolServer {
    /// Opens the socket in a folder where the engine cannot write.
    pub(crate) fn open(folder: &Path, lists: Vec<ToolList>, callers: Arc<Callers>) -> Result<Self, Fault> {
        let socket = folder.join("s");
        let listener = UnixListener::bind(&socket)
            .map_err(|error| Fault::ours(format!("cannot open a socket for the engine's tools: {error}")))?;
        let window = Arc::new(Window { lists, callers });
        let accepting = tokio::spawn(serve(listener, Arc::clone(&window)));
        Ok(Self { socket, window, _accepting: AbortOnDropHandle::new(accepting) })
    }

    /// Returns the socket, for the wall's list.
    pub(crate) fn address(&self) -> Address {
        Address::Unix(self.socket.clone())
    }

    /// Returns the servers that the engine starts for its tools.
    pub(crate) fn servers(&self, program: &Path) -> Vec<McpServer> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let command = [text(program), "mcp".to_owned(), "--desk".to_owned(), text(&self.socket)];
        let server = |list: &ToolList| McpServer {
            name: list.name.clone(),
            command: command.iter().cloned().chain([list.name.clone()]).collect(),
        };
        self.window.lists.iter().map(server).collect()
    }
}

async fn serve(listener: UnixListener, window: Arc<Window>) {
    SocketListener::Unix(listener).serve(|stream| hear(stream, Arc::clone(&window))).await;
}

async fn hear(stream: SocketStream, window: Arc<Window>) {
    if let Err(error) = answer(stream, &window).await {
        tracing::debug!("a question of the engine's tools broke off: {error}");
    }
}

async fn answer(stream: SocketStream, window: &Window) -> io::Result<()> {
    let (reader, mut writer) = tokio::io::split(stream);
    let mut line = String::new();
    BufReader::new(reader.take(LARGEST)).read_line(&mut line).await?;
    let reply = match serde_json::from_str(&line) {
        Ok(line) => window.answer(line).await,
        Err(error) => Reply::Failed(format!("this is not a question: {error}")),
    };
    let mut text = serde_json::to_vec(&reply)?;
    text.push(b'\n');
    writer.write_all(&text).await
}

impl Window {
    async fn answer(&self, line: Line) -> Reply {
        let (set, tool, arguments) = match line {
            Line::Tools(set) => return self.offer(&set),
            Line::Call { set, tool, arguments } => (set, tool, arguments),
        };
        let name = harmless(&format!("{set}_{tool}"));
        match self.perform(&set, &tool, arguments).await {
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

    fn offer(&self, set: &str) -> Reply {
        match self.lists.iter().find(|list| list.name == set) {
            Some(list) => Reply::Tools(list.tools.clone()),
            None => Reply::Failed(format!("there are no tools called `{set}`")),
        }
    }

    async fn perform(&self, set: &str, tool: &str, arguments: Arguments) -> Result<String, String> {
        let tools = self.callers.tools_of(set, &format!("{set}_{tool}"), &arguments).await?;
        tools.call(tool, arguments).await
    }
}
