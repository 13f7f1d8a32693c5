//! Turns with the real engine: how they end, what they cost, and that they do not hear each other.

use fro_core::conversation::{
    Limits,
    heard::{Heard, Tool},
    outcome::{Outcome, Trouble, Usage},
};
use fro_opencode::{Message, Server};
use fro_sim::{ClaimedPort, model::Reply};
use jiff::{Timestamp, ToSpan as _};
use serde_json::json;
use tokio::{
    io,
    net::{TcpListener, TcpStream},
    sync::watch,
};

use crate::world::{Stage, answered, run};

#[test]
fn a_turn_runs_tools_answers_and_adds_up_what_it_took() {
    run(async || {
        let stage = Stage::shared().await;
        let bash = json!({ "command": "echo hi", "description": "greet" });
        stage.model.plays(Reply::tool("bash", bash).usage(1000, 10));
        stage.model.plays(Reply::reasoning("hm", "It says hi.").usage(2000, 20));
        let talk = stage.ask("greet").await;
        stage.finish();

        assert_eq!(talk.turn.outcome, answered("It says hi."));
        let Usage { calls, input, cost, .. } = talk.turn.usage;
        assert_eq!((calls, input), (2, 3000));
        assert!(cost > 0.003, "{cost}");
        let greeting = Tool { name: "bash".to_owned(), about: "echo hi".to_owned() };
        let tools: Vec<_> = talk
            .heard
            .iter()
            .filter(|heard| matches!(heard, Heard::ToolBegan(_) | Heard::ToolEnded { .. }))
            .cloned()
            .collect();
        assert_eq!(
            tools,
            [Heard::ToolBegan(greeting.clone()), Heard::ToolEnded { tool: greeting, ok: true }]
        );
    });
}

#[test]
fn a_session_goes_on_and_only_the_new_turn_counts() {
    run(async || {
        let stage = Stage::shared().await;
        let session = stage.session().await;
        stage.model.plays(Reply::text("One.").usage(100, 1));
        stage.model.plays(Reply::text("Two.").usage(200, 1));
        stage.ask_in(&session, "first").await;
        let talk = stage.ask_in(&session, "second").await;
        stage.finish();

        assert_eq!((talk.answer(), talk.turn.usage.calls, talk.turn.usage.input), ("Two.", 1, 200));
    });
}

#[test]
fn a_subagent_counts_too_and_does_not_end_its_parent() {
    run(async || {
        let stage = Stage::shared().await;
        let errand = json!({ "description": "look", "prompt": "look around", "subagent_type": "general" });
        stage.model.plays(Reply::tool("task", errand).usage(100, 1));
        stage.model.plays(Reply::text("I looked.").usage(200, 1));
        stage.model.plays(Reply::text("The child looked.").usage(400, 1));
        let talk = stage.ask("delegate").await;
        stage.finish();

        let born = talk.heard.iter().filter(|heard| **heard == Heard::ChildBorn).count();
        let Usage { calls, input, .. } = talk.turn.usage;
        assert_eq!((talk.answer(), born, calls, input), ("The child looked.", 1, 3, 700));
    });
}

#[test]
fn two_turns_at_once_do_not_hear_each_other() {
    run(async || {
        let stage = Stage::shared().await;
        for _ in 0..2 {
            stage.model.plays(Reply::answering(|seen| Reply::text(seen.last_user())));
        }
        let (one, two) = tokio::join!(stage.ask("one"), stage.ask("two"));
        stage.finish();

        let said = |talk: &crate::world::TurnDriver| {
            let said = talk.heard.iter().filter(|heard| matches!(heard, Heard::Said(_)));
            said.count()
        };
        assert_eq!((one.answer(), two.answer(), said(&one), said(&two)), ("one", "two", 1, 1));
    });
}

#[test]
fn the_deadline_ends_a_model_that_hangs_and_keeps_what_it_said() {
    run(async || {
        let stage = Stage::shared().await;
        stage.model.plays(Reply::stall_after("The hose leaks at"));
        let limits = Limits { deadline: Some(Timestamp::now() + 3.seconds()), ..Limits::default() };
        let talk = stage.say(&stage.session().await, &Message::new("why?"), limits).await;
        stage.finish();

        let partial = Some("The hose leaks at".to_owned());
        assert_eq!(talk.turn.outcome, Outcome::OutOfTime { partial });
        assert_eq!(stage.raw().get("/session/status").await.unwrap().bytes(), b"{}");
    });
}

#[test]
fn a_provider_that_limits_us_is_waited_for_but_not_for_ever() {
    run(async || {
        let stage = Stage::shared().await;
        let busy = || Reply::status(429).header("retry-after-ms", "20");
        stage.model.plays(busy());
        stage.model.says("Better.");
        assert_eq!(stage.ask("hello").await.answer(), "Better.");

        for _ in 0..4 {
            stage.model.plays(busy());
        }
        let talk = stage.ask("hello").await;
        stage.finish();
        let failure = Trouble::Unavailable.into();
        assert_eq!(talk.turn.outcome, Outcome::Failed { failure, partial: None });
    });
}

#[test]
fn a_provider_that_wants_hours_is_not_waited_for() {
    run(async || {
        let stage = Stage::shared().await;
        stage.model.plays(Reply::status(429).header("retry-after", "61200"));
        let began = Timestamp::now();
        let talk = stage.ask("hello").await;
        stage.finish();

        let failure = Trouble::Unavailable.into();
        assert_eq!(talk.turn.outcome, Outcome::Failed { failure, partial: None });
        assert!(Timestamp::now().duration_since(began).as_secs() < 10);
    });
}

/// A way to the engine that can be cut.
struct Bridge {
    cut: watch::Sender<u32>,
}

impl Bridge {
    fn build(from: TcpListener, to: u16) -> Self {
        let cut = watch::Sender::new(0);
        let scissors = cut.clone();
        tokio::spawn(async move {
            while let Ok((mut near, _)) = from.accept().await {
                let mut scissors = scissors.subscribe();
                tokio::spawn(async move {
                    let Ok(mut far) = TcpStream::connect(("127.0.0.1", to)).await else { return };
                    tokio::select! {
                        _ = io::copy_bidirectional(&mut near, &mut far) => {}
                        _ = scissors.changed() => {}
                    }
                });
            }
        });
        Self { cut }
    }
}

#[test]
fn a_stream_that_breaks_is_opened_again_and_nothing_is_lost() {
    run(async || {
        let (mut launch, model, _spare, _folder) = Stage::prepare().await;
        let ours = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let free = ClaimedPort::find();
        launch.port = Some(ours.local_addr().unwrap().port());
        let script = format!("exec \"$1\" serve --hostname=127.0.0.1 --port={}", free.number);
        launch.wrap.extend(["/bin/sh", "-c", &script, "elsewhere"].map(Into::into));
        let bridge = Bridge::build(ours, free.number);
        let work = launch.directory.clone();
        let server = Server::start(launch).await.unwrap();

        let session = server.create_session(&work, "a test").await.unwrap();
        let go = work.join("go");
        let wait = format!("until [ -e {} ]; do sleep 0.05; done", go.display());
        model.calls("bash", json!({ "command": wait, "description": "wait" }));
        model.says("Nothing was lost.");
        let mut heard = Vec::new();
        let mut listen = |one: &Heard| {
            match one {
                Heard::ToolBegan(_) => bridge.cut.send_modify(|cuts| *cuts += 1),
                Heard::Gap => std::fs::write(&go, "").unwrap(),
                _ => {}
            }
            heard.push(one.clone());
        };
        let limits = Limits { deadline: Some(Timestamp::now() + 1.minute()), ..Limits::default() };
        let turn =
            fro_opencode::converse(&server, &session, &Message::new("hello"), limits, &mut listen).await;
        server.stop().await;

        assert_eq!(turn.outcome, answered("Nothing was lost."), "{heard:?}");
        assert!(heard.contains(&Heard::Gap), "{heard:?}");
    });
}
