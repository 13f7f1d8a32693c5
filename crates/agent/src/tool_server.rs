//! Serves the engine's tool calls over a unix socket: one line with the call, one line with the answer.
//!
//! The tools' own process holds nothing. A call is done in the name of the session that really makes it: see
//! [`callers`](crate::callers).

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use fro_boundary::{Address, SocketListener, SocketStream};
use fro_core::{
    Fault,
    say::log::harmless,
    tool_call::{Line, ToolReply},
};
use fro_opencode::McpServer;
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixListener,
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};
use tokio_util::task::AbortOnDropHandle;

use crate::{
    callers::Callers,
    tools::{Arguments, ToolList},
};

/// The largest line that is read; a draft with many remarks is far below.
const LARGEST: u64 = 4 << 20;

/// Lines that are larger than this have to find room: what is understood of one takes many times its size.
const SMALL: u64 = 64 << 10;

/// So many large lines are read and answered at once.
const LARGE_AT_ONCE: usize = 4;

/// What is heard out of a longer one, so that whoever speaks comes to hear why it is not taken.
const HEARD_OUT: u64 = 64 << 20;

/// How long a question may take to be put.
const PATIENCE: Duration = Duration::from_secs(30);

/// An open socket for tool calls; dropping it closes the socket and cuts every connection.
#[derive(Debug)]
pub(crate) struct ToolServer {
    socket: PathBuf,
    handler: Arc<Handler>,
    _accepting: AbortOnDropHandle<()>,
}

/// What is offered, and who may call.
#[derive(Debug)]
struct Handler {
    lists: Vec<ToolList>,
    callers: Arc<Callers>,
    room: Semaphore,
}

/// A line as it came, with the room that it takes.
struct SocketLine<'a> {
    /// Nothing, if it is too long.
    bytes: Option<Vec<u8>>,
    _room: Option<SemaphorePermit<'a>>,
}

impl ToolServer {
    /// Opens the socket in a folder where the engine cannot write.
    pub(crate) fn open(folder: &Path, lists: Vec<ToolList>, callers: Arc<Callers>) -> Result<Self, Fault> {
        let socket = folder.join("s");
        // An engine that did not start leaves its socket behind; the next one has its own.
        if let Err(error) = fs_err::remove_file(&socket)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(Fault::ours(format!("cannot remove an earlier socket: {error}")));
        }
        let listener = UnixListener::bind(&socket)
            .map_err(|error| Fault::ours(format!("cannot open a socket for the engine's tools: {error}")))?;
        let handler = Arc::new(Handler { lists, callers, room: Semaphore::new(LARGE_AT_ONCE) });
        let accepting = tokio::spawn(serve(listener, Arc::clone(&handler)));
        Ok(Self { socket, handler, _accepting: AbortOnDropHandle::new(accepting) })
    }

    /// Returns the socket, for the wall's list.
    pub(crate) fn address(&self) -> Address {
        Address::Unix(self.socket.clone())
    }

    /// Returns the servers that the engine starts for its tools.
    pub(crate) fn servers(&self, program: &Path) -> Vec<McpServer> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let command = [text(program), "mcp".to_owned(), "--socket".to_owned(), text(&self.socket)];
        let server = |list: &ToolList| McpServer {
            name: list.name.clone(),
            command: command.iter().cloned().chain([list.name.clone()]).collect(),
        };
        self.handler.lists.iter().map(server).collect()
    }
}

async fn serve(listener: UnixListener, handler: Arc<Handler>) {
    SocketListener::Unix(listener).serve(|stream| hear(stream, Arc::clone(&handler))).await;
}

async fn hear(stream: SocketStream, handler: Arc<Handler>) {
    if let Err(error) = answer(stream, &handler).await {
        tracing::debug!("a question of the engine's tools broke off: {error}");
    }
}

async fn answer(stream: SocketStream, handler: &Handler) -> io::Result<()> {
    let (reader, mut writer) = tokio::io::split(stream);
    let question = timeout(PATIENCE, question(BufReader::new(reader), &handler.room)).await??;
    let reply = match &question.bytes {
        Some(line) => match serde_json::from_slice(line) {
            Ok(line) => handler.answer(line).await,
            Err(error) => ToolReply::Failed(format!("this is not a question: {error}")),
        },
        None => ToolReply::Failed(format!("the question has more than {} MiB; shorten it", LARGEST >> 20)),
    };
    let mut text = serde_json::to_vec(&reply)?;
    text.push(b'\n');
    writer.write_all(&text).await
}

/// Reads a line, unless it is too long; of that the rest is heard and forgotten.
async fn question(mut from: impl AsyncBufRead + Unpin, room: &Semaphore) -> io::Result<SocketLine<'_>> {
    let mut line = Vec::new();
    (&mut from).take(SMALL).read_until(b'\n', &mut line).await?;
    if (line.len() as u64) < SMALL || line.last() == Some(&b'\n') {
        return Ok(SocketLine { bytes: Some(line), _room: None });
    }
    let room = room.acquire().await.ok();
    (&mut from).take(LARGEST + 1 - SMALL).read_until(b'\n', &mut line).await?;
    if line.len() as u64 <= LARGEST {
        return Ok(SocketLine { bytes: Some(line), _room: room });
    }
    let mut rest = from.take(HEARD_OUT);
    while line.last() != Some(&b'\n') {
        line.clear();
        // By pieces, none of which is kept.
        if (&mut rest).take(LARGEST).read_until(b'\n', &mut line).await? == 0 {
            break;
        }
    }
    Ok(SocketLine { bytes: None, _room: room })
}

impl Handler {
    async fn answer(&self, line: Line) -> ToolReply {
        let (set, tool, arguments) = match line {
            Line::Tools(set) => return self.offer(&set),
            Line::Call { set, tool, arguments } => (set, tool, arguments),
        };
        let name = harmless(&format!("{set}_{tool}"));
        match self.perform(&set, &tool, arguments).await {
            Ok(text) => {
                tracing::info!("{name}: answered with {} bytes", text.len());
                ToolReply::Said(text)
            }
            Err(why) => {
                tracing::info!("{name}: {}", harmless(&why));
                ToolReply::Failed(why)
            }
        }
    }

    fn offer(&self, set: &str) -> ToolReply {
        match self.lists.iter().find(|list| list.name == set) {
            Some(list) => ToolReply::Tools(list.tools.clone()),
            None => ToolReply::Failed(format!("there are no tools called `{set}`")),
        }
    }

    async fn perform(&self, set: &str, tool: &str, arguments: Arguments) -> Result<String, String> {
        let tools = self.callers.tools_of(set, &format!("{set}_{tool}"), &arguments).await?;
        tools.call(tool, arguments).await
    }
}

#[cfg(test)]
mod tests {
    use fro_core::tool_call::ToolSet;
    use tokio::net::UnixStream;

    use super::*;

    fn opened() -> (tempfile::TempDir, ToolServer) {
        let folder = tempfile::tempdir().unwrap();
        let server = ToolServer::open(folder.path(), ToolList::usual(), Arc::default()).unwrap();
        (folder, server)
    }

    async fn answered(server: &ToolServer, question: &[u8]) -> String {
        let mut stream = UnixStream::connect(&server.socket).await.unwrap();
        stream.write_all(question).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn a_line_without_measure_comes_to_a_clear_end() {
        let (_folder, server) = opened();
        let long = [vec![b'x'; 9 << 20], b"\n".to_vec()].concat();
        let too_long = r#"{"failed":"the question has more than 4 MiB; shorten it"}"#;
        assert_eq!(answered(&server, &long).await.trim_end(), too_long);
        for strange in [&b"\xff\0\n"[..], b"[[[[\n", b"\n"] {
            let answer = answered(&server, strange).await;
            assert!(answer.contains("this is not a question"), "{answer}");
        }
    }

    #[tokio::test]
    async fn a_flood_of_callers_waits_outside() {
        const CALLERS: usize = 500;
        let (_folder, server) = opened();
        let open_files = || std::fs::read_dir("/proc/self/fd").unwrap().count();
        let before = open_files();
        let connect = |_| std::os::unix::net::UnixStream::connect(&server.socket).unwrap();
        let callers: Vec<_> = (0..CALLERS).map(connect).collect();
        // There is one thread: whoever is let in is let in while this one gives way.
        for _ in 0..10_000 {
            tokio::task::yield_now().await;
        }
        let let_in = open_files() - before - callers.len();
        assert!((1..CALLERS / 2).contains(&let_in), "{let_in} of {CALLERS} were let in");
        drop(callers);
        assert!(answered(&server, b"x\n").await.contains("this is not a question"));
    }

    #[tokio::test]
    async fn large_lines_are_taken_in_a_few_at_a_time() {
        const CALLERS: usize = 40;
        const LINE: usize = 3 << 20;
        let (_folder, server) = opened();
        let (mut streams, piece) = (Vec::new(), vec![b'x'; LINE]);
        for _ in 0..CALLERS {
            streams.push((UnixStream::connect(&server.socket).await.unwrap(), 0));
        }
        // Until nobody takes anything more: there is one thread, and whoever reads does so while this one gives way.
        let mut idle = 0;
        while idle < 100 {
            idle += 1;
            for (stream, poured) in &mut streams {
                if let Ok(taken @ 1..) = stream.try_write(&piece[*poured..]) {
                    (*poured, idle) = (*poured + taken, 0);
                }
            }
            tokio::task::yield_now().await;
        }
        let whole = streams.iter().filter(|(_, poured)| *poured == LINE).count();
        assert_eq!(whole, LARGE_AT_ONCE);
        drop(streams);
        let long = [piece, b"\n".to_vec()].concat();
        assert!(answered(&server, &long).await.contains("this is not a question"));
    }

    #[tokio::test]
    async fn each_line_gets_one_whether_it_is_a_question_or_not() {
        let (_folder, server) = opened();
        let offered = answered(&server, b"{\"tools\":\"answer\"}\n").await;
        let offered: serde_json::Value = serde_json::from_str(&offered).unwrap();
        assert_eq!(offered["tools"][0]["name"], ToolSet::Answer.tools()[0].name.as_str(), "{offered}");
        let unknown = answered(&server, b"{\"tools\":\"weeds\"}\n").await;
        assert!(unknown.contains("there are no tools called `weeds`"), "{unknown}");
        let call = r#"{"call":{"set":"answer","tool":"draft","arguments":{"body":"Hello"}}}"#;
        let nobodys = answered(&server, format!("{call}\n").as_bytes()).await;
        assert!(nobodys.contains("no session of this engine makes this call"), "{nobodys}");
    }

    #[tokio::test]
    async fn the_engine_is_told_where_each_set_is_served() {
        let (folder, server) = opened();
        let servers = server.servers(Path::new("/bin/fro-bot"));
        let names: Vec<_> = servers.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, ["session", "answer"]);
        let socket = folder.path().join("s").display().to_string();
        assert_eq!(servers[1].command, ["/bin/fro-bot", "mcp", "--socket", &socket, "answer"]);
    }
}
