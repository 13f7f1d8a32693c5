//! `fro-bot serve` as a process: how it begins, how it ends, and what `doctor` says of the bot.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
};

use fro_core::{
    RepoName,
    chat::{AuditAction, ChannelId, ChannelLink, ChannelSettings, GuildId, RoleId, Roles, UserId},
};
use fro_serve::{Address, Store};
use fro_sim::{World, discord::Discord};
use jiff::Timestamp;
use serde_json::Value;

use crate::work::stage::granted;

fn bot(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fro-bot"));
    command.args(arguments).env_clear().env("HOME", folder).env("FRO_STORE", folder.join("serve.db"));
    command.current_dir(folder);
    command
}

fn known_to(command: &mut Command, world: &Discord) {
    command
        .env("FRO_DISCORD_TOKEN", world.token())
        .env("FRO_DISCORD_API", world.api_url())
        .env("FRO_DISCORD_GATEWAY", world.gateway_url());
}

fn output_of(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    format!("{out}{err}exit code {}", output.status.code().unwrap())
}

#[test]
fn without_a_token_the_next_step_is_told() {
    let folder = tempfile::tempdir().unwrap();
    insta::assert_snapshot!(output_of(&mut bot(&["serve", "--no-worker"], folder.path())), @r"
    error: there is no token of a bot

    hint: set `FRO_DISCORD_TOKEN`, from the bot's page at Discord
    exit code 2
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_serves_until_it_is_asked_to_stop_and_goes_on_where_it_was() {
    let (world, folder) = (Discord::start().await.unwrap(), tempfile::tempdir().unwrap());
    for _ in 0..2 {
        let mut command = bot(&["serve", "--no-worker"], folder.path());
        known_to(&mut command, &world);
        let mut serving: Child = command.stdout(Stdio::null()).spawn().unwrap();
        world.wait_until_connected(1).await;
        world.says("sam", world.channel("garden"), "@fro-bot hello");
        let answers = |chat: &fro_sim::discord::Chat| {
            let bot = chat.application.id;
            chat.messages.iter().filter(|it| it.author == bot).count()
        };
        let before = world.state(answers);
        world.wait_until(|chat| answers(chat) > before).await;
        let pid = rustix::process::Pid::from_child(&serving);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let ended = tokio::task::spawn_blocking(move || serving.wait().unwrap()).await.unwrap();
        assert_eq!(ended.code(), Some(0));
        world.wait_until_connected(0).await;
    }
    let told = world.dispatched_names();
    assert_eq!(told.iter().filter(|name| *name == "RESUMED").count(), 1, "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_says_what_the_bot_may_read() {
    let (world, folder) = (Discord::start().await.unwrap(), tempfile::tempdir().unwrap());
    let row = |content: bool| {
        world.change(|chat| chat.application.privileged = if content { 1 << 15 } else { 0 });
        let mut command = bot(&["doctor"], folder.path());
        known_to(&mut command, &world);
        command.env("FRO_GITHUB_CLIENT_ID", "Iv23li1");
        let told = output_of(&mut command);
        told.lines().find(|line| line.contains("intents")).unwrap_or(&told).to_owned()
    };
    let rows = [row(true), row(false)];
    assert!(rows[0].contains("ok") && rows[0].contains("reads the channels"), "{rows:?}");
    assert!(rows[1].contains("look") && rows[1].contains("reads only what mentions it"), "{rows:?}");
}

/// A newcomer, somebody who was stopped half-way, and somebody who has set everything up.
#[tokio::test(flavor = "multi_thread")]
async fn doctor_says_how_the_daemon_is_set_up_in_the_same_words_as_json() {
    let (github, folder) = (World::start().await.unwrap(), tempfile::tempdir().unwrap());
    let rows = |folder: &Path| {
        let mut command = bot(&["doctor", "--skip-model"], folder);
        command.env("GITHUB_API_URL", github.api_url()).env("GITHUB_GRAPHQL_URL", github.graphql_url());
        command.env("GITHUB_TOKEN", github.token("fro-bot"));
        let text = output_of(&mut command);
        let json = output_of(command.arg("--json"));
        let (json, _) = json.rsplit_once("exit code").unwrap();
        let findings: Vec<Value> = serde_json::from_str(json).unwrap();
        let ours = ["store", "worker", "roles", "links"];
        let ours = findings.iter().filter(|it| ours.contains(&it["about"].as_str().unwrap()));
        let lines = ours.map(|finding| {
            let [about, health, says] = ["about", "health", "says"].map(|key| finding[key].as_str().unwrap());
            // What GitHub answered has a number that is never the same.
            let says = says.split(": GET ").next().unwrap();
            let next = finding["next"].as_str().unwrap_or_default();
            assert!(text.contains(says) && text.contains(next), "{text}\n{finding}");
            format!("{health} {about}: {says}").replace(&folder.display().to_string(), "FOLDER")
        });
        lines.collect::<Vec<_>>()
    };
    assert_eq!(rows(folder.path()), ["look store: there is no database at FOLDER/serve.db"]);
    assert!(!folder.path().join("serve.db").exists(), "looking makes no database");

    let store = Store::open(&Address::File(folder.path().join("serve.db"))).await.unwrap();
    let good_store = "ok store: the database can be reached and has version 6";
    let no_worker = "look worker: no worker is there, 0 turns waiting";
    let no_link = "look roles: no channel is linked to a repository";
    assert_eq!(rows(folder.path()), [good_store, no_worker, no_link]);

    let (guild, maya) = (GuildId::new(900).unwrap(), UserId::new(7).unwrap());
    for (channel, repo) in [(1, "octo/garden"), (2, "octo/nowhere")] {
        let link = ChannelLink {
            channel: ChannelId::new(channel).unwrap(),
            guild,
            repository: RepoName::parse(repo).unwrap(),
            settings: ChannelSettings::default(),
            linked_by: maya,
            linked_at: Timestamp::now(),
        };
        store.link(&link, granted(guild, maya, AuditAction::Link)).await.unwrap();
    }
    let silent = "look roles: nobody may ask on the server 900";
    let closed = "bad links: octo/nowhere: cannot look at octo/nowhere";
    assert_eq!(rows(folder.path()), [good_store, no_worker, silent, closed]);

    let roles = Roles { askers: [RoleId::new(2).unwrap()].into(), ..Roles::default() };
    let before = store.policy(guild).await.unwrap();
    store.set_policy(guild, &before, &roles, granted(guild, maya, AuditAction::SetPolicy)).await.unwrap();
    let unlinked = granted(guild, maya, AuditAction::Unlink);
    store.unlink(ChannelId::new(2).unwrap(), unlinked).await.unwrap();
    store.greet("worker-1", Timestamp::now()).await.unwrap();
    let worker = "ok worker: 1 worker at work, 0 turns waiting";
    let asked = "ok roles: somebody may ask on every server with a linked channel";
    let open = "ok links: GitHub lets a worker into every linked repository";
    assert_eq!(rows(folder.path()), [good_store, worker, asked, open]);
}
