//! `fro-bot serve` as a process: how it begins, how it ends, and what `doctor` says of the bot.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
};

use fro_sim::discord::Discord;

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

fn told(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    format!("{out}{err}exit code {}", output.status.code().unwrap())
}

#[test]
fn without_a_token_the_next_step_is_told() {
    let folder = tempfile::tempdir().unwrap();
    insta::assert_snapshot!(told(&mut bot(&["serve", "--no-worker"], folder.path())), @r"
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
    let told = world.told();
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
        let told = told(&mut command);
        told.lines().find(|line| line.contains("discord")).unwrap_or(&told).to_owned()
    };
    let rows = [row(true), row(false)];
    assert!(rows[0].contains("ok") && rows[0].contains("reads the channels"), "{rows:?}");
    assert!(rows[1].contains("look") && rows[1].contains("reads only what mentions it"), "{rows:?}");
}
