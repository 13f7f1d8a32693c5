//! The traps of the real engine, each by its number, and that we do not step into them.

use std::{ffi::OsString, path::Path};

use fro_core::conversation::{
    Limits,
    heard::{Ask, AskKind, Heard, Tool},
    outcome::{Failure, Outcome, Trouble},
};
use fro_opencode::{Error, Message, ModelName, Server, Session};
use fro_sim::model::Reply;
use insta::assert_snapshot;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::OnceCell};

use crate::world::{Stage, TurnDriver, answered, processes, run, spare, until, write};

fn trouble(talk: &TurnDriver) -> Option<Trouble> {
    match &talk.turn.outcome {
        Outcome::Failed { failure: Failure { trouble, .. }, .. } => Some(*trouble),
        _ => None,
    }
}

/// The tools that did not do what they were called for.
fn refused(talk: &TurnDriver) -> Vec<&str> {
    let refused = talk.heard.iter().filter_map(|heard| match heard {
        Heard::ToolEnded { tool: Tool { name, .. }, ok: false } => Some(name.as_str()),
        _ => None,
    });
    refused.collect()
}

fn asks(talk: &TurnDriver) -> usize {
    talk.heard.iter().filter(|heard| matches!(heard, Heard::Asked(_))).count()
}

#[test]
fn trap_01_the_error_counts_not_the_rest_that_follows() {
    run(async || {
        let stage = Stage::shared().await;
        stage.model.plays(Reply::status(401));
        let mut events = stage.server.events();
        let session = stage.session().await;
        let talk = stage.ask_in(&session, "hello").await;
        stage.finish();

        assert_eq!(trouble(&talk), Some(Trouble::Auth));
        let order = async {
            let mut order = Vec::new();
            while order.len() < 3 {
                match events.recv().await.unwrap().heard {
                    Heard::Broke(_) => order.push("broke"),
                    Heard::Idle => order.push("idle"),
                    _ => {}
                }
            }
            order
        };
        assert_eq!(order.await, ["broke", "idle", "idle"]);
    });
}

#[test]
fn trap_02_an_agent_that_is_not_there_is_never_sent() {
    run(async || {
        let stage = Stage::shared().await;
        let session = stage.session().await;
        for agent in ["nope", "Build", "title", "explore"] {
            let message = Message { agent: Some(agent.to_owned()), ..Message::new("hello") };
            let talk = stage.say(&session, &message, Limits::default()).await;
            assert_eq!(trouble(&talk), Some(Trouble::UnknownAgent), "{agent}");
        }
        let model = ModelName::parse("scripted/m9");
        let talk = stage.say(&session, &Message { model, ..Message::new("hello") }, Limits::default()).await;
        assert_eq!(trouble(&talk), Some(Trouble::UnknownModel));

        let primary: Vec<_> = stage.server.agents(&stage.work()).await.unwrap();
        let primary: Vec<_> =
            primary.iter().filter(|agent| agent.is_primary()).map(|agent| &agent.name).collect();
        assert_eq!(primary, ["build", "plan"]);
        stage.model.says("Planned.");
        let message = Message { agent: Some("plan".to_owned()), ..Message::new("hello") };
        assert_eq!(stage.say(&session, &message, Limits::default()).await.answer(), "Planned.");
        stage.finish();
    });
}

#[test]
fn trap_02_what_the_engine_does_with_an_unknown_agent() {
    run(async || {
        let stage = Stage::shared().await;
        let session = stage.session().await;
        let mut events = stage.server.events();
        let prompt = json!({ "agent": "nope", "parts": [{ "type": "text", "text": "hello" }] });
        let answer =
            stage.raw().post(&format!("/session/{}/prompt_async", session.id), prompt).await.unwrap();
        assert_eq!(answer.status(), 204);

        let mut broken = 0;
        while broken < 2 {
            match events.recv().await.unwrap().heard {
                Heard::Broke(_) => broken += 1,
                Heard::Busy | Heard::Idle => panic!("it rests after all: the check before sending may go"),
                _ => {}
            }
        }
    });
}

#[test]
fn trap_03_a_session_in_another_folder_is_heard() {
    run(async || {
        let stage = Stage::shared().await;
        let folder = stage.elsewhere("another place & more");
        stage.model.calls("bash", json!({ "command": "pwd", "description": "where" }));
        stage.model.says("There.");
        let session = stage.server.create_session(&folder, "elsewhere").await.unwrap();
        let talk = stage.ask_in(&session, "where are you?").await;
        stage.finish();

        assert_eq!(talk.turn.outcome, answered("There."));
        let seen = stage.model.seen();
        assert_eq!(seen.last().unwrap().tool_results(), [format!("{}\n", folder.display())]);
    });
}

#[test]
fn trap_04_a_permission_is_refused_in_its_own_folder() {
    run(async || {
        let stage = Stage::shared().await;
        let (folder, raw) = (stage.elsewhere("asking"), stage.raw());
        let rule = json!([{ "permission": "bash", "pattern": "*", "action": "ask" }]);
        let path = format!("/session?directory={}", folder.display());
        let born = raw.post(&path, json!({ "title": "asking", "permission": rule })).await.unwrap();
        let id = born.json::<Value>().unwrap()["id"].as_str().unwrap().to_owned();
        stage.model.calls("bash", json!({ "command": "echo hi", "description": "greet" }));
        stage.model.says("Without it, then.");
        let talk = stage.ask_in(&Session { id, directory: folder }, "greet").await;
        stage.finish();

        assert_eq!((talk.answer(), asks(&talk), refused(&talk)), ("Without it, then.", 1, vec!["bash"]));
        assert_snapshot!(stage.model.seen().last().unwrap().tool_results().join("\n"), @"The user rejected permission to use this specific tool call with the following feedback: Nobody is here to allow this. Go on without it.");
        let Some(Heard::Asked(Ask { id, kind: AskKind::Permission, .. })) =
            talk.heard.iter().find(|heard| matches!(heard, Heard::Asked(_)))
        else {
            panic!("nobody asked")
        };
        let reply = raw.post(&format!("/permission/{id}/reply"), json!({ "reply": "reject" })).await;
        assert_eq!(reply.unwrap_err().status(), Some(404));
    });
}

#[test]
fn trap_05_nothing_waits_for_a_person() {
    run(async || {
        let stage = Stage::shared().await;
        let work = stage.work();
        write(&work, ".env", "KEY=planted");
        let file = |path: &str| ("read", json!({ "filePath": path }));
        stage.model.plays(Reply::tools(vec![
            file(work.join(".env").to_str().unwrap()),
            file("/etc/hostname"),
            ("question", json!({ "questions": [{ "question": "Which?", "header": "Pick", "options": [] }] })),
        ]));
        stage.model.says("Refused.");
        let talk = stage.ask("look around").await;

        assert_eq!((talk.answer(), asks(&talk), refused(&talk)), ("Refused.", 0, vec!["read", "read"]));
        let seen = stage.model.seen();
        let offered = seen.last().unwrap().offered_tools();
        assert!(!offered.contains(&"question".to_owned()), "{offered:?}");
        assert!(!seen.last().unwrap().render_whole().contains("planted"));
        stage.finish();
    });
}

#[test]
fn trap_05_the_same_call_over_and_over_does_not_wait_either() {
    run(async || {
        let stage = Stage::shared().await;
        write(&stage.work(), "same.txt", "same");
        let path = stage.work().join("same.txt");
        let call = || ("read", json!({ "filePath": path.to_str().unwrap() }));
        stage.spare.plays(Reply::tools(vec![call(), call(), call(), call()]));
        let message = Message { model: spare(), ..Message::new("again") };
        let talk = stage.say(&stage.session().await, &message, Limits::default()).await;

        assert_eq!((asks(&talk), trouble(&talk)), (0, Some(Trouble::Engine)));
    });
}

#[test]
fn trap_06_searching_works_without_a_download() {
    run(async || {
        let stage = Stage::shared().await;
        write(&stage.work(), "src/tap.rs", "// the hose leaks here\n");
        stage.model.calls("grep", json!({ "pattern": "hose" }));
        stage.model.calls("glob", json!({ "pattern": "**/*.rs" }));
        stage.model.says("Found.");
        let talk = stage.ask("where does it leak?").await;
        stage.finish();

        assert_eq!((talk.answer(), refused(&talk)), ("Found.", vec![]));
        let found = stage.model.seen().last().unwrap().tool_results();
        assert!(found.iter().all(|result| result.contains("src/tap.rs")), "{found:?}");
    });
}

/// What was there after a server was stopped while a command ran in its shell.
struct Stopped {
    commands: Vec<String>,
    sessions_without_log: i64,
    sessions: i64,
}

impl Stopped {
    async fn shared() -> &'static Self {
        static STOPPED: OnceCell<Stopped> = OnceCell::const_new();
        STOPPED.get_or_init(Self::stop).await
    }

    async fn stop() -> Self {
        let stage = Stage::open().await;
        let command = stage.leave_running().await;
        let engine = format!("opencode serve --hostname=127.0.0.1 --port={}", stage.raw().port());
        assert!(!processes(&engine).is_empty());
        let Stage { server, folder, .. } = stage;
        server.stop().await;

        let commands = processes(&command);
        until("the engine and what wraps it are gone", || processes(&engine).is_empty()).await;
        let database = folder.path().join("home/data/opencode/opencode.db");
        let alone = folder.path().join("alone.db");
        std::fs::copy(&database, &alone).unwrap();
        let count = |path: &Path| {
            let database = rusqlite::Connection::open(path).unwrap();
            database.query_row("select count(*) from session", [], |row| row.get(0)).unwrap_or(0)
        };
        Self { commands, sessions_without_log: count(&alone), sessions: count(&database) }
    }
}

#[test]
fn trap_07_stopping_ends_the_commands_of_the_shell() {
    run(async || {
        assert_eq!(Stopped::shared().await.commands, Vec::<String>::new());
    });
}

#[test]
fn trap_08_the_database_is_whole_only_with_its_log() {
    run(async || {
        let Stopped { sessions_without_log, sessions, .. } = Stopped::shared().await;
        assert_eq!((sessions_without_log, sessions), (&0, &1));
    });
}

#[test]
fn trap_09_streams_that_always_break_off_end_the_turn() {
    run(async || {
        let stage = Stage::shared().await;
        for _ in 0..20 {
            stage.spare.plays(Reply::cut_after("I was just about"));
        }
        let message = Message { model: spare(), ..Message::new("hello") };
        let talk = stage.say(&stage.session().await, &message, Limits::default()).await;

        assert_eq!(trouble(&talk), Some(Trouble::CutStream));
        assert!(stage.spare.unplayed() > 5, "the engine went on calling: {} left", stage.spare.unplayed());
        while stage.spare.unplayed() > 0 {
            let message = Message { model: spare(), ..Message::new("hello") };
            stage.say(&stage.session().await, &message, Limits::default()).await;
        }
    });
}

#[test]
fn trap_10_a_session_that_cannot_be_read_is_understood_all_the_same() {
    run(async || {
        let stage = Stage::shared().await;
        let (session, raw) = (stage.session().await, stage.raw());
        let format = json!({ "type": "json_schema", "schema": { "type": "object" } });
        let poison =
            json!({ "noReply": true, "format": format, "parts": [{ "type": "text", "text": "as JSON" }] });
        let path = format!("/session/{}", session.id);
        raw.post(&format!("{path}/prompt_async"), poison).await.unwrap();
        stage.model.plays(Reply::text("Read from the events.").usage(1000, 50));
        let talk = stage.ask_in(&session, "hello").await;
        stage.finish();

        assert_eq!(raw.get(&format!("{path}/message")).await.unwrap_err().status(), Some(400));
        assert_eq!((talk.answer(), talk.turn.usage.input), ("Read from the events.", 1000));
    });
}

#[test]
fn trap_11_a_repository_runs_no_code_and_gives_no_orders() {
    run(async || {
        let stage = Stage::shared().await;
        let folder = stage.elsewhere("hostile");
        let touch = |name: &str| format!("touch {}", folder.join(name).display());
        let plugin = |name: &str| {
            let command = touch(name);
            format!("require('child_process').execSync('{command}'); export const Evil = async () => ({{}})")
        };
        let mcp = json!({ "evil": { "type": "local", "command": ["sh", "-c", touch("by-mcp")] } });
        let references = json!({ "evil": { "path": ".", "description": "planted order" } });
        let config = json!({ "mcp": mcp, "plugin": ["./evil.js"], "references": references, "instructions": ["A.md"] });
        write(&folder, "opencode.json", &config.to_string());
        write(&folder, "evil.js", &plugin("by-config"));
        write(&folder, ".opencode/plugin/evil.js", &plugin("by-plugin"));
        write(&folder, ".opencode/agent/evil.md", "---\nmode: primary\n---\nplanted order");
        for orders in ["AGENTS.md", "CLAUDE.md", "A.md"] {
            write(&folder, orders, "planted order");
        }
        write(&folder, ".claude/skills/evil/SKILL.md", "---\nname: evil\ndescription: planted order\n---\n");
        // The engine would load its own plugins right before those of the repository.
        let home = stage.folder.path().join("home");
        write(&home, "config/opencode/plugin/control.js", &plugin("by-control"));

        let session = stage.server.create_session(&folder, "hostile").await.unwrap();
        stage.model.says("Nothing happened.");
        assert_eq!(stage.ask_in(&session, "hello").await.answer(), "Nothing happened.");
        until("the engine tried its own plugin", || stage.server.output().contains("refused to load")).await;
        stage.model.says("And nothing will.");
        assert_eq!(stage.ask_in(&session, "hello").await.answer(), "And nothing will.");
        stage.finish();
        std::fs::remove_dir_all(home.join("config/opencode/plugin")).unwrap();

        let traces = std::fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.file_name());
        let traces: Vec<_> = traces.filter(|name| name.to_string_lossy().starts_with("by-")).collect();
        assert_eq!(traces, Vec::<OsString>::new());
        let output = stage.server.output();
        let mut refused = output.lines().filter(|line| line.contains("refused to load"));
        assert!(refused.all(|line| line.ends_with("control.js")), "{output}");
        assert!(!stage.model.seen().last().unwrap().render_whole().contains("planted order"));
        let agents = stage.server.agents(&folder).await.unwrap();
        assert!(agents.iter().all(|agent| agent.name != "evil"), "{agents:?}");
    });
}

#[test]
fn trap_11_whoever_reads_a_file_gets_no_orders_from_beside_it() {
    run(async || {
        let stage = Stage::shared().await;
        let folder = stage.elsewhere("nested");
        for place in ["a", "b", "c"] {
            write(&folder, &format!("{place}/deep/er/file"), "some words");
        }
        let orders = [
            "a/AGENTS.md",
            "a/deep/AGENTS.md",
            "a/deep/er/AGENTS.md",
            "b/deep/CLAUDE.md",
            "c/deep/er/CONTEXT.md",
        ];
        for orders in orders {
            write(&folder, orders, "planted order");
        }
        let reads = ["a", "b", "c"].map(|place| {
            ("read", json!({ "filePath": folder.join(place).join("deep/er/file").to_str().unwrap() }))
        });
        stage.model.plays(Reply::tools(reads.to_vec()));
        let own = folder.join("a/AGENTS.md");
        let own = own.to_str().unwrap();
        stage.model.plays(Reply::tools(vec![("read", json!({ "filePath": own }))]));
        let change = json!({ "filePath": own, "oldString": "planted", "newString": "changed" });
        stage.model.plays(Reply::tools(vec![("edit", change)]));
        stage.model.says("I have read.");
        let session = stage.server.create_session(&folder, "nested").await.unwrap();
        assert_eq!(stage.ask_in(&session, "read").await.answer(), "I have read.");
        stage.finish();

        let seen = stage.model.seen();
        let after_reading = seen[seen.len() - 3].render_whole();
        assert_eq!(after_reading.matches("some words").count(), 3, "{after_reading}");
        assert!(!after_reading.contains("planted order"), "{after_reading}");
        // As data it is there like any other file.
        assert!(seen.last().unwrap().render_whole().contains("planted order"));
        assert_eq!(std::fs::read_to_string(own).unwrap(), "changed order");
    });
}

#[test]
fn trap_11_the_tools_still_see_what_the_engine_does_not_load() {
    run(async || {
        let stage = Stage::shared().await;
        let folder = stage.elsewhere("configured");
        write(&folder, "opencode.json", "{ \"model\": \"theirs\" }");
        stage.model.plays(Reply::tools(vec![
            ("read", json!({ "filePath": folder.join("opencode.json").to_str().unwrap() })),
            ("bash", json!({ "command": "ls; echo guard=$BUN_INSPECT_PRELOAD", "description": "look" })),
        ]));
        stage.model.says("I see it.");
        let session = stage.server.create_session(&folder, "configured").await.unwrap();
        assert_eq!(stage.ask_in(&session, "look").await.answer(), "I see it.");
        stage.finish();

        let results = stage.model.seen().last().unwrap().tool_results();
        assert!(results[0].contains("theirs"), "{results:?}");
        assert_eq!(results[1], "opencode.json\nguard=\n");
    });
}

#[test]
fn trap_11_an_engine_without_its_guard_is_not_used() {
    run(async || {
        let (mut launch, _model, _spare, _folder) = Stage::prepare().await;
        launch.wrap.extend(["/usr/bin/env", "-u", "BUN_INSPECT_PRELOAD"].map(Into::into));
        let error = Server::start(launch).await.unwrap_err();
        assert!(matches!(error, Error::Unguarded), "{error}");
    });
}

#[test]
fn trap_12_a_taken_port_is_told_and_a_free_one_is_ours_to_choose() {
    run(async || {
        let somebody = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = somebody.local_addr().unwrap().port();
        let (mut launch, _model, _spare, _folder) = Stage::prepare().await;
        launch.port = Some(port);
        let error = Server::start(launch).await.unwrap_err();

        assert!(matches!(error, Error::PortTaken { port: taken } if taken == port), "{error}");
        let fault = error.fault();
        assert_eq!(fault.exit_code(), 2);
        assert_ne!(Stage::shared().await.raw().port(), 4096);
    });
}
