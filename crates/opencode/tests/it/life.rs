//! The life of a server: that it starts with care and that nothing of it stays behind.

use std::{path::Path, time::Duration};

use fro_core::conversation::{
    Limits,
    heard::Heard,
    outcome::{Outcome, Trouble},
};
use fro_opencode::{Error, McpServer, Message, Server, converse};
use fro_sim::model::Reply;
use rustix::process::{Pid, Signal, kill_process};

use crate::world::{Stage, processes, run, until};

#[test]
fn dropping_a_server_kills_it_and_the_commands_of_its_shell() {
    run(async || {
        let stage = Stage::bare().await;
        let engine = stage.server.pid().unwrap();
        let command = stage.leave_running().await;
        drop(stage);

        until("the command is gone", || processes(&command).is_empty()).await;
        until("the engine is gone", || !Path::new(&format!("/proc/{engine}")).exists()).await;
    });
}

#[test]
fn the_servers_of_tools_start_before_anything_is_asked() {
    run(async || {
        let (mut launch, _model, _spare, folder) = Stage::prepare().await;
        let seen = folder.path().join("seen");
        let command = ["/bin/sh", "-c", &format!("echo started >> {}", seen.display())];
        let command = command.map(str::to_owned).into();
        launch.tools = vec![McpServer { name: "answer".to_owned(), command }];
        let work = launch.directory.clone();
        let server = Server::start(launch).await.unwrap();
        assert!(!seen.exists());
        server.start_tools(&work).await.unwrap();
        assert_eq!(std::fs::read_to_string(&seen).unwrap(), "started\n");
    });
}

#[test]
fn a_server_that_dies_ends_the_turn() {
    run(async || {
        let stage = Stage::bare().await;
        let session = stage.session().await;
        let Stage { server, model, .. } = &stage;
        model.plays(Reply::stall_after("Half a"));
        let pid = Pid::from_raw(i32::try_from(server.pid().unwrap()).unwrap()).unwrap();
        let mut listen = |heard: &Heard| {
            if *heard == Heard::Writing {
                let _gone = kill_process(pid, Signal::KILL);
            }
        };
        let turn = converse(server, &session, &Message::new("hello"), Limits::default(), &mut listen).await;

        assert_eq!(turn.outcome, Outcome::Failed { failure: Trouble::Gone.into(), partial: None });
        stage.server.stop().await;
    });
}

#[test]
fn an_engine_that_cannot_start_says_why() {
    run(async || {
        let (mut launch, _model, _spare, _folder) = Stage::prepare().await;
        launch.wrap = ["/bin/sh", "-c", "echo no wall today >&2; exit 7"].map(Into::into).into();
        let error = Server::start(launch.clone()).await.unwrap_err();
        assert_eq!(error.to_string(), "the engine ended before it was ready (exit status: 7): no wall today");

        launch.wrap = vec!["/nowhere/wall".into()];
        let error = Server::start(launch.clone()).await.unwrap_err();
        assert!(matches!(error, Error::Start { .. }), "{error}");
        assert_eq!(
            error.fault().what(),
            "cannot start `/nowhere/wall`: No such file or directory (os error 2)"
        );

        launch.wrap = ["/bin/sh", "-c", "echo waiting; sleep 60"].map(Into::into).into();
        launch.patience = Duration::from_secs(2);
        let error = Server::start(launch).await.unwrap_err();
        assert_eq!(error.to_string(), "the engine was not ready after 2 s: waiting");
    });
}
