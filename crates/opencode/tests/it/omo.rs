//! Oh My OpenCode, the real one, loaded from two pinned packages.

use std::env;

use fro_http::{Client, ClientSettings};
use fro_opencode::{Agent, Omo, Server, ToolCache, Version, Wanted, install_omo};

use crate::world::{Stage, environment, write};

async fn omo() -> Omo {
    let test = env::current_exe().unwrap();
    let cache = ToolCache::new(test.ancestors().nth(3).unwrap().join("tools"));
    let wanted = Wanted::pinned(environment(), Client::new(ClientSettings::default()).unwrap());
    let folder = install_omo(&wanted, &Version::Pinned, &cache, &mut |_| {}).await.unwrap();
    Omo { folder, model: Some("scripted/m1".to_owned()) }
}

fn first_primary(agents: &[Agent]) -> &str {
    &agents.iter().find(|agent| agent.is_primary()).unwrap().name
}

#[tokio::test]
async fn sisyphus_is_there_twice_in_a_row() {
    let (mut launch, model, _spare, _folder) = Stage::prepare().await;
    launch.omo = Some(omo().await);
    for _ in 0..2 {
        let server = Server::start(launch.clone()).await.unwrap();
        let agents = server.agents(&launch.directory).await.unwrap();
        assert_eq!(first_primary(&agents), "Sisyphus - ultraworker", "{agents:?}");
        server.stop().await;
    }
    assert_eq!(model.seen().len(), 0);
}

#[tokio::test]
async fn it_takes_no_settings_from_a_repository_and_moves_none() {
    let (mut launch, _model, _spare, _folder) = Stage::prepare().await;
    launch.omo = Some(omo().await);
    let settings = [
        (".omo/omo.jsonc", r#"{ "[opencode]": { "disabled_agents": ["oracle"] } }"#),
        (".opencode/oh-my-opencode.json", r#"{ "disabled_agents": ["librarian"] }"#),
    ];
    for (name, text) in settings {
        write(&launch.directory, name, text);
    }
    let server = Server::start(launch.clone()).await.unwrap();
    let agents = server.agents(&launch.directory).await.unwrap();
    server.stop().await;

    for name in ["oracle", "librarian"] {
        assert!(agents.iter().any(|agent| agent.name == name), "{name} is missing: {agents:?}");
    }
    for (name, text) in settings {
        assert_eq!(std::fs::read_to_string(launch.directory.join(name)).unwrap(), text);
    }
    assert_eq!(std::fs::read_dir(launch.directory.join(".omo")).unwrap().count(), 1);
}
