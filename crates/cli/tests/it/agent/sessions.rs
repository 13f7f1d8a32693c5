//! Two sessions in one engine: each has its own tools and its own bill, and neither can do anything in the other's name.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

use fro_agent::{Agent, Arguments, Offer, Plan, Process, Step, ToolList, Tools};
use fro_core::tool_call::ToolCard;
use fro_sim::{World, model::Reply};
use futures::future::{BoxFuture, ready};
use serde_json::{Value, json};

use super::{ask, draft, forged, job, plan, settings};

/// What a session wrote down with its own set of tools.
#[derive(Default)]
struct Notebook(Mutex<Vec<String>>);

impl Notebook {
    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Tools for Notebook {
    fn name(&self) -> &'static str {
        "notebook"
    }

    fn call(&self, _tool: &str, arguments: Arguments) -> BoxFuture<'_, Result<String, String>> {
        self.0.lock().unwrap().push(arguments["line"].as_str().unwrap().to_owned());
        Box::pin(ready(Ok("Written.".to_owned())))
    }
}

fn offer() -> Offer {
    let takes =
        json!({ "type": "object", "properties": { "line": { "type": "string" } }, "required": ["line"] });
    let Value::Object(takes) = takes else { panic!("a schema is an object") };
    let card = ToolCard { name: "write".to_owned(), about: "Writes a line down.".to_owned(), takes };
    let notebook = ToolList { name: "notebook".to_owned(), tools: vec![card] };
    let usual = Offer::usual();
    Offer { tools: usual.tools.into_iter().chain([notebook]).collect(), ..usual }
}

/// Queues a reply for whichever session asks next: it calls a tool, then ends. Each session's calls cost otherwise.
fn replies(world: &World, n_calls: usize) {
    for _ in 0..n_calls {
        world.model().plays(Reply::answering(|seen| {
            let (line, tokens) = match seen.last_user().as_str() {
                "first" => ("the first was here", 1_000),
                _ => ("the second was here", 3_000),
            };
            match seen.tool_results().len() {
                0 => Reply::tool("notebook_write", json!({ "line": line })).usage(tokens, 10),
                1 => Reply::tool("answer_draft", json!({ "body": line })).usage(tokens, 10),
                _ => Reply::text("Done.").usage(tokens, 10),
            }
        }));
    }
}

#[tokio::test]
async fn sessions_that_are_asked_at_once_have_tools_drafts_and_costs_of_their_own() {
    let (world, folder) = (World::start().await.unwrap(), tempfile::tempdir().unwrap());
    let (process, job) = (Process::new(settings(&world, &folder)), job(&world, &folder));
    let mut agent = Agent::open(&process, &job, &|_| {}).unwrap();
    let running = agent.prepare().await.unwrap().start(offer()).await.unwrap();
    let books = [Arc::<Notebook>::default(), Arc::<Notebook>::default()];
    let with = |book: &Arc<Notebook>, title| {
        let tools = vec![Arc::clone(book) as Arc<dyn Tools>];
        running.open_session(Plan { tools, ..plan(&job, title) })
    };
    let (mut first, mut second) =
        (with(&books[0], "first").await.unwrap(), with(&books[1], "second").await.unwrap());
    replies(&world, 6);
    tokio::join!(ask(&mut first, "first"), ask(&mut second, "second"));
    assert_eq!(books.each_ref().map(|book| book.lines()), [["the first was here"], ["the second was here"]]);
    assert_eq!([&first, &second].map(draft), ["the first was here", "the second was here"]);
    // Three calls each, at 1 dollar per million tokens read and 2 per million written.
    assert_eq!([first.usage(), second.usage()].map(|usage| usage.calls), [3, 3]);
    assert_eq!([first.usage(), second.usage()].map(|usage| usage.millionths()), [3_060, 9_060]);
    drop((first, second));
    agent.finish().await.cleaned.unwrap();
}

#[tokio::test]
async fn a_session_has_no_set_that_another_one_was_opened_with() {
    let (world, folder) = (World::start().await.unwrap(), tempfile::tempdir().unwrap());
    let (process, job) = (Process::new(settings(&world, &folder)), job(&world, &folder));
    let mut agent = Agent::open(&process, &job, &|_| {}).unwrap();
    let running = agent.prepare().await.unwrap().start(offer()).await.unwrap();
    let book = Arc::<Notebook>::default();
    let tools = vec![Arc::clone(&book) as Arc<dyn Tools>];
    let _first = running.open_session(Plan { tools, ..plan(&job, "first") }).await.unwrap();
    let mut second = running.open_session(plan(&job, "second")).await.unwrap();
    world.model().calls("notebook_write", json!({ "line": "in your name" }));
    world.model().says("It was refused.");
    ask(&mut second, "write into the other's notebook").await;
    let told = json!(world.model().seen().last().unwrap().body).to_string();
    assert!(told.contains("this session has no tools called `notebook`"), "{told}");
    assert_eq!(book.lines(), [""; 0]);
    agent.finish().await.cleaned.unwrap();
}

#[tokio::test]
async fn a_call_with_the_other_session_s_id_is_refused() {
    let (world, folder) = (World::start().await.unwrap(), tempfile::tempdir().unwrap());
    let (process, job) = (Process::new(settings(&world, &folder)), job(&world, &folder));
    let private = Mutex::new(PathBuf::new());
    let tell = |step: Step| {
        if let Step::Opened { private: opened } = step {
            *private.lock().unwrap() = opened;
        }
    };
    let mut agent = Agent::open(&process, &job, &tell).unwrap();
    let running = agent.prepare().await.unwrap().start(Offer::usual()).await.unwrap();
    let mut first = running.open_session(plan(&job, "first")).await.unwrap();
    let mut second = running.open_session(plan(&job, "second")).await.unwrap();
    let socket = private.lock().unwrap().join("s");
    world.model().calls("answer_draft", json!({ "body": "From the first" }));
    world.model().says("Done.");
    ask(&mut first, "hand in your answer").await;
    // The line has no place for a session; whoever writes one in is told that this is not a question.
    let name = first.id().to_owned();
    let body = r#""arguments":{"body":"Forged"}"#;
    let named = format!(r#"{{"call":{{"set":"answer","tool":"draft","session":"{name}",{body}}}}}"#);
    let plain = format!(r#"{{"call":{{"set":"answer","tool":"draft",{body}}}}}"#);
    let told = async |second: &mut _, line: &str| {
        world.model().calls("bash", json!({ "command": forged(&socket, line), "description": "forge" }));
        world.model().says("Tried.");
        ask(second, "speak for the other").await;
        json!(world.model().seen().last().unwrap().body).to_string()
    };
    let refused = told(&mut second, &named).await;
    assert!(refused.contains("this is not a question"), "{refused}");
    let refused = told(&mut second, &plain).await;
    assert!(refused.contains("no session of this engine makes this call"), "{refused}");
    assert_eq!(draft(&first), "From the first");
    assert_eq!(second.drafts().last(), None);
    drop((first, second));
    let finished = agent.finish().await;
    finished.cleaned.unwrap();
    drop(finished.private);
    let left: Vec<_> = fs_err::read_dir(folder.path().join("scratch")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
