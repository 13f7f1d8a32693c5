//! Tools that a session offers its model: what is remembered, the answer as a draft, and what a caller adds.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use fro_core::{
    Draft, Drafts,
    say::sessions as say,
    tool_call::{Call, ToolCard, ToolSet},
};
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;

use crate::memory::SessionArchive;

/// What a model gave a tool.
pub type Arguments = Map<String, Value>;

/// A set of tools as it serves one session: one MCP server of the engine's configuration.
pub trait Tools: Send + Sync {
    /// Returns the name of the set; the engine makes `session_search` of `session` and `search`.
    fn name(&self) -> &str;

    /// Performs a call. What is returned is for the model, whether it went well or not.
    fn call(&self, tool: &str, arguments: Arguments) -> BoxFuture<'_, Result<String, String>>;
}

/// A set of tools as the models of an engine are offered it. It is the same for all sessions of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolList {
    /// The name of the set.
    pub name: String,
    /// Its tools.
    pub tools: Vec<ToolCard>,
}

impl ToolList {
    /// Returns the tools that come with every session: memory and draft.
    pub fn usual() -> Vec<Self> {
        ToolSet::OF_ANSWERS.map(|set| Self { name: set.name().to_owned(), tools: set.tools() }).into()
    }
}

/// How often an agent asked what is remembered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryCalls {
    /// How often it searched.
    pub searches: u32,
    /// How often it read.
    pub reads: u32,
}

/// Counts how often an agent asks what is remembered.
#[derive(Debug, Default)]
pub(crate) struct MemoryMeter {
    searches: AtomicU32,
    reads: AtomicU32,
}

impl MemoryMeter {
    pub(crate) fn read(&self) -> MemoryCalls {
        let count = |counter: &AtomicU32| counter.load(Ordering::Relaxed);
        MemoryCalls { searches: count(&self.searches), reads: count(&self.reads) }
    }
}

/// What is remembered, for one session.
pub(crate) struct MemoryTools {
    pub(crate) archive: Arc<SessionArchive>,
    pub(crate) meter: Arc<MemoryMeter>,
    /// The session that asks, whose words the agent has before it anyway.
    pub(crate) own: String,
}

impl Tools for MemoryTools {
    fn name(&self) -> &str {
        ToolSet::Session.name()
    }

    fn call(&self, tool: &str, arguments: Arguments) -> BoxFuture<'_, Result<String, String>> {
        let call = Call::read(ToolSet::Session, tool, arguments);
        let (archive, meter, own) = (Arc::clone(&self.archive), Arc::clone(&self.meter), self.own.clone());
        Box::pin(async move {
            let call = call?;
            // Reading the memory blocks, and a search can take a while.
            let done = spawn_blocking(move || perform(&archive, &meter, &own, call));
            done.await.map_err(|error| error.to_string())?
        })
    }
}

fn perform(archive: &SessionArchive, meter: &MemoryMeter, own: &str, call: Call) -> Result<String, String> {
    let told = match call {
        Call::List(part) => archive.list(part),
        Call::Search(search) => {
            meter.searches.fetch_add(1, Ordering::Relaxed);
            archive.search(&search, own)
        }
        Call::Read(read) => {
            meter.reads.fetch_add(1, Ordering::Relaxed);
            let told = archive.read(&read).map_err(|error| error.to_string())?;
            return told.ok_or_else(|| say::unknown(&read.session_id));
        }
        Call::Info(whole) => {
            let told = archive.info(&whole.session_id).map_err(|error| error.to_string())?;
            return told.ok_or_else(|| say::unknown(&whole.session_id));
        }
        Call::Draft(_) | Call::Attach(_) => return Err("this is no question to the memory".to_owned()),
    };
    told.map_err(|error| error.to_string())
}

/// The answer of one session, handed in as a draft.
pub(crate) struct DraftTools(pub(crate) Drafts);

impl Tools for DraftTools {
    fn name(&self) -> &str {
        ToolSet::Answer.name()
    }

    fn call(&self, tool: &str, arguments: Arguments) -> BoxFuture<'_, Result<String, String>> {
        let call = Call::read(ToolSet::Answer, tool, arguments);
        Box::pin(async move {
            match call? {
                Call::Draft(draft) => Ok(self.take(draft)),
                Call::List(_) | Call::Search(_) | Call::Read(_) | Call::Info(_) | Call::Attach(_) => {
                    Err("this is no draft".to_owned())
                }
            }
        })
    }
}

impl DraftTools {
    fn take(&self, draft: Draft) -> String {
        let n_comments = draft.comments.len();
        let id = self.0.set(draft);
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn a_draft_is_taken_and_the_model_told_so() {
        let tools = DraftTools(Drafts::default());
        let call =
            async |arguments: Value| tools.call("draft", arguments.as_object().cloned().unwrap()).await;
        let remark = json!({ "path": "tap.rs", "line": 1, "body": "It drips." });
        let table = [
            (json!([]), "`draft-1` is your answer now"),
            (json!([remark]), "`draft-2` with 1 remark beside the code is your answer now"),
            (json!([remark, remark]), "`draft-3` with 2 remarks beside the code is your answer now"),
        ];
        for (comments, expect) in table {
            let told = call(json!({ "body": "It is the tap.", "comments": comments })).await.unwrap();
            assert!(told.starts_with(expect), "{told}");
        }
        assert!(call(json!({ "body": "" })).await.unwrap_err().starts_with("`body` is empty"));
        assert_eq!(tools.0.last().unwrap().comments.len(), 2, "what was refused replaces nothing");
    }
}
