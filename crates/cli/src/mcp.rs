//! `fro-bot mcp`: the engine's end of our tools.
//!
//! It speaks MCP with the engine and asks the tool server of the run. It holds no authority and knows no tool: the tool
//! server says what there is and what comes of it.

use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use clap::Args;
use fro_core::{
    Fault,
    tool_call::{Line, ToolReply},
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::stdio,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UnixStream,
};

/// Where to ask, and for what.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The socket of the run
    #[arg(long, value_name = "PATH")]
    socket: PathBuf,
    /// The set of tools, such as `session` or `answer`
    tools: String,
}

/// Serves until the engine closes its end.
pub(crate) async fn main(options: Options) -> Result<ExitCode, Fault> {
    let failed =
        |error: &dyn std::fmt::Display| Fault::ours(format!("cannot speak with the engine: {error}"));
    let window = ToolSetServer { socket: options.socket, set: options.tools };
    let serving = window.serve(stdio()).await.map_err(|error| failed(&error))?;
    serving.waiting().await.map_err(|error| failed(&error))?;
    Ok(ExitCode::SUCCESS)
}

/// A set of tools as the engine sees it.
struct ToolSetServer {
    socket: PathBuf,
    set: String,
}

impl ServerHandler for ToolSetServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        match ask(&self.socket, &Line::Tools(self.set.clone())).await {
            Ok(ToolReply::Tools(cards)) => {
                let tools =
                    cards.into_iter().map(|card| Tool::new(card.name, card.about, Arc::new(card.takes)));
                Ok(ListToolsResult::with_all_items(tools.collect()))
            }
            Ok(ToolReply::Said(what) | ToolReply::Failed(what)) => Err(ErrorData::internal_error(what, None)),
            Err(error) => Err(ErrorData::internal_error(unreachable(&error), None)),
        }
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let line = Line::Call {
            set: self.set.clone(),
            tool: request.name.into_owned(),
            arguments: request.arguments.unwrap_or_default(),
        };
        let text = |text: String| vec![ContentBlock::text(text)];
        let result = match ask(&self.socket, &line).await {
            Ok(ToolReply::Said(said)) => CallToolResult::success(text(said)),
            Ok(ToolReply::Failed(why)) => CallToolResult::error(text(why)),
            Ok(ToolReply::Tools(_)) => {
                CallToolResult::error(text("the run answered something else".to_owned()))
            }
            Err(error) => CallToolResult::error(text(unreachable(&error))),
        };
        Ok(result.into())
    }
}

/// Puts one line to the tool server and returns its answer.
async fn ask(socket: &Path, line: &Line) -> io::Result<ToolReply> {
    let mut stream = UnixStream::connect(socket).await?;
    let mut question = serde_json::to_vec(line)?;
    question.push(b'\n');
    stream.write_all(&question).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(serde_json::from_slice(&answer)?)
}

fn unreachable(error: &io::Error) -> String {
    format!("the run cannot be asked: {error}")
}
