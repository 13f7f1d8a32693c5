//! What is done, asserted on Discord's own state; refused, limited, and with answers that are lost.

use std::time::Duration;

use fro_core::chat::{ChannelId, UserId};
use fro_discord::{
    AnswerVisibility, Attempt, Button, ButtonStyle, CommandOption, CommandSpec, OptionKind, Pings, Renamed,
    Row, Upload,
};
use fro_sim::{FaultKind, discord::LimitScope};
use jiff::Timestamp;
use serde_json::json;

use crate::stage::{Stage, interaction, message_id, nonce, post};

const SAY: &str = "POST /api/v10/channels/{channel}/messages";

#[tokio::test]
async fn whatever_becomes_of_the_answer_a_message_is_said_once() {
    let faults = [
        FaultKind::AnswerWithheld,
        FaultKind::AnswerCut,
        FaultKind::Dropped,
        FaultKind::Status(500),
        FaultKind::Status(502),
        FaultKind::Status(503),
    ];
    for fault in faults {
        let stage = Stage::new().await;
        stage.world.faults().on(SAY, fault.clone()).times(2);
        let sent =
            stage.discord.send(stage.garden(), &post("Hello"), &nonce("1"), Attempt::First).await.unwrap();
        assert_eq!(stage.texts(), ["fro-bot: Hello"], "{fault:?}");
        let there = stage.world.state(|chat| chat.messages.last().unwrap().id);
        assert_eq!(sent.number(), there, "{fault:?}");
    }
}

#[tokio::test]
async fn a_message_of_an_earlier_life_is_found_before_it_is_said_again() {
    let stage = Stage::new().await;
    let since = Timestamp::now();
    let first = stage.discord.send(stage.garden(), &post("Done"), &nonce("1"), Attempt::First).await.unwrap();
    let second =
        stage.discord.send(stage.garden(), &post("Done"), &nonce("2"), Attempt::First).await.unwrap();
    stage.says("maya", "Done");
    // By now Discord has forgotten the nonces.
    stage.world.change(|chat| chat.pass(Duration::from_mins(10)));
    let again = Attempt::Again { since, known: &[first] };
    let found = stage.discord.send(stage.garden(), &post("Done"), &nonce("2"), again).await.unwrap();
    assert_eq!((found, stage.texts().len()), (second, 3));
    let other = Attempt::Again { since, known: &[first, second] };
    stage.discord.send(stage.garden(), &post("Done"), &nonce("3"), other).await.unwrap();
    assert_eq!(stage.texts().len(), 4);
}

#[tokio::test]
async fn nobody_is_rung_unless_that_is_meant() {
    let stage = Stage::new().await;
    let (maya, rita) = (stage.world.person("maya"), stage.world.person("rita"));
    let role = stage.world.state(|chat| chat.guilds[0].roles[2].id);
    stage.world.change(|chat| chat.guilds[0].roles[1].permissions |= 1 << 17);
    let text = format!("@everyone @here <@{maya}> <@!{rita}> <@&{role}>");
    let rung = || stage.world.state(|chat| chat.messages.last().unwrap().pings.clone());
    stage.discord.send(stage.garden(), &post(&text), &nonce("1"), Attempt::First).await.unwrap();
    assert_eq!(rung(), fro_sim::discord::Pings::default());
    let meant = fro_discord::Post { pings: Pings::People(vec![UserId::new(maya).unwrap()]), ..post(&text) };
    stage.discord.send(stage.garden(), &meant, &nonce("2"), Attempt::First).await.unwrap();
    assert_eq!(rung(), fro_sim::discord::Pings { users: vec![maya], ..Default::default() });
}

#[tokio::test]
async fn a_message_is_changed_and_taken_back_with_its_buttons_and_files() {
    let stage = Stage::new().await;
    let (label, custom_id) = ("Stop".to_owned(), "stop".to_owned());
    let button = Button { label, custom_id, style: ButtonStyle::Danger, enabled: true };
    let file = Upload { name: "diff.patch".to_owned(), bytes: b"+1\r\n--x".to_vec() };
    let full =
        fro_discord::Post { rows: vec![Row::Buttons(vec![button])], files: vec![file], ..post("Working") };
    let garden = stage.garden();
    let id = stage.discord.send(garden, &full, &nonce("1"), Attempt::First).await.unwrap();
    stage.world.state(|chat| {
        let said = chat.messages.last().unwrap();
        assert_eq!(
            (said.files[0].name.as_str(), &said.files[0].bytes[..]),
            ("diff.patch", &b"+1\r\n--x"[..])
        );
        assert_eq!(said.components[0]["components"][0]["custom_id"], json!("stop"));
    });
    stage.discord.edit(garden, id, &post("Done")).await.unwrap();
    assert_eq!(stage.texts(), ["fro-bot: Done"]);
    assert!(stage.world.state(|chat| chat.messages.last().unwrap().components.is_empty()));
    stage.discord.delete(garden, id).await.unwrap();
    stage.discord.delete(garden, id).await.unwrap();
    assert_eq!(stage.texts(), Vec::<String>::new());
    assert_eq!(stage.discord.message(garden, id).await.unwrap(), None);
    assert!(stage.discord.edit(garden, id, &post("Late")).await.unwrap_err().gone());
}

#[tokio::test]
async fn a_thread_is_begun_once_and_has_its_messages_number() {
    let stage = Stage::new().await;
    let said = stage.says("maya", "Why?");
    let route = "POST /api/v10/channels/{channel}/messages/{message}/threads";
    stage.world.faults().on(route, FaultKind::AnswerWithheld);
    let name = "Why?\n  And how, ".repeat(20);
    let thread = stage.discord.open_thread(stage.garden(), message_id(said), &name).await.unwrap();
    assert_eq!(thread.number(), said);
    let again = stage.discord.open_thread(stage.garden(), message_id(said), &name).await.unwrap();
    assert_eq!(again, thread);
    let told = stage.discord.channel(thread).await.unwrap().unwrap();
    assert_eq!((told.parent, told.name.len()), (Some(stage.garden()), 100));
    stage.discord.typing(thread).await.unwrap();
    assert_eq!(stage.world.state(|chat| chat.typing.len()), 1);
    for n in 0..2 {
        assert_eq!(stage.discord.rename(thread, &format!("Name {n}")).await.unwrap(), Renamed::Yes);
    }
    let third = stage.discord.rename(thread, "Name 3").await.unwrap();
    assert!(matches!(third, Renamed::TooOften(wait) if wait > Duration::from_mins(9)), "{third:?}");
    stage.world.archives(said, false);
    stage.discord.unarchive(thread).await.unwrap();
    assert!(!stage.discord.channel(thread).await.unwrap().unwrap().archived);
    let alone = stage.discord.open_thread_alone(stage.garden(), "Alone").await.unwrap();
    assert!(
        !stage.world.state(|chat| chat.channel(alone.number()).unwrap().thread.as_ref().unwrap().private)
    );
}

#[tokio::test]
async fn what_was_missed_is_read_page_by_page_oldest_first() {
    let stage = Stage::new().await;
    let first = stage.says("maya", "first");
    let texts: Vec<_> = (0..250).map(|n| n.to_string()).collect();
    for text in &texts {
        stage.says("maya", text);
    }
    let read =
        async |most| stage.discord.messages_after(stage.garden(), message_id(first), most).await.unwrap();
    let all: Vec<_> = read(1000).await.into_iter().map(|message| message.content).collect();
    assert_eq!(all, texts);
    assert_eq!(read(120).await.len(), 120);
}

#[tokio::test]
async fn a_command_is_answered_once_in_each_of_its_ways() {
    let stage = Stage::new().await;
    let (name, description) = ("repo".to_owned(), "Which".to_owned());
    let option = CommandOption { name, description, kind: OptionKind::Completed, required: true };
    let (name, description) = ("link".to_owned(), "Links this channel".to_owned());
    stage.discord.register(&[CommandSpec { name, description, options: vec![option] }]).await.unwrap();
    let mut gateway = stage.listen(None).await;
    let garden = stage.garden().number();
    let ask = || stage.world.commands("maya", garden, "link", &json!({ "repo": "octo/garden" }));

    ask();
    let asked = interaction(&mut gateway).await;
    let route = "POST /api/v10/interactions/{interaction}/{token}/callback";
    stage.world.faults().on(route, FaultKind::AnswerWithheld);
    stage.discord.defer(&asked, AnswerVisibility::ByAll).await.unwrap();
    stage.discord.edit_answer(&asked, &post("Linked")).await.unwrap();
    stage.discord.follow_up(&asked, &post("And more"), AnswerVisibility::ByAsker).await.unwrap();
    assert_eq!(stage.texts(), ["fro-bot: Linked", "fro-bot: And more"]);
    assert!(stage.world.state(|chat| chat.messages.last().unwrap().ephemeral()));
    // A second answer of ours is refused, not taken for the first.
    assert_eq!(
        stage.discord.answer(&asked, &post("Twice"), AnswerVisibility::ByAll).await.unwrap_err().code(),
        Some(40060)
    );

    stage.world.types("maya", garden, "link", ("repo", "oc"));
    let typing = interaction(&mut gateway).await;
    let choices = vec![("octo/garden".to_owned(), "octo/garden".to_owned()); 30];
    stage.discord.complete(&typing, &choices).await.unwrap();

    ask();
    let late = interaction(&mut gateway).await;
    stage.world.change(|chat| chat.pass(Duration::from_secs(4)));
    assert!(stage.discord.defer(&late, AnswerVisibility::ByAll).await.unwrap_err().gone());
}

#[tokio::test]
async fn a_click_changes_its_message() {
    let stage = Stage::new().await;
    let mut gateway = stage.listen(None).await;
    let button = |enabled| Button {
        label: "Yes".to_owned(),
        custom_id: "yes".to_owned(),
        style: ButtonStyle::Success,
        enabled,
    };
    let menu = Row::Menu {
        custom_id: "which".to_owned(),
        placeholder: "Which?".to_owned(),
        options: vec![("A".to_owned(), "a".to_owned())],
        most: 1,
    };
    let rows = vec![Row::Buttons(vec![button(true)]), menu];
    let asking = fro_discord::Post { rows, ..post("May I?") };
    let id = stage.discord.send(stage.garden(), &asking, &nonce("1"), Attempt::First).await.unwrap();
    stage.world.clicks("maya", stage.garden().number(), id.number(), "yes");
    let clicked = interaction(&mut gateway).await;
    assert!(matches!(&clicked.what, fro_discord::InteractionKind::Button { message, .. } if *message == id));
    let answered =
        fro_discord::Post { rows: vec![Row::Buttons(vec![button(false)])], ..post("Maya said yes") };
    stage.world.chooses("rita", stage.garden().number(), id.number(), ("which", &["a"]));
    let chosen = interaction(&mut gateway).await;
    assert!(matches!(&chosen.what, fro_discord::InteractionKind::Menu { chosen, .. } if chosen == &["a"]));
    stage.discord.defer_update(&chosen).await.unwrap();
    stage.discord.update(&clicked, &answered).await.unwrap();
    assert_eq!(stage.texts(), ["fro-bot: Maya said yes"]);
}

#[tokio::test]
async fn limits_are_waited_for_whoever_they_are_for() {
    for scope in [LimitScope::User, LimitScope::Shared, LimitScope::Global] {
        let stage = Stage::new().await;
        stage.world.slow_down(SAY, scope, Duration::from_secs(1));
        let before = std::time::Instant::now();
        stage.discord.send(stage.garden(), &post("Hello"), &nonce("1"), Attempt::First).await.unwrap();
        assert!(before.elapsed() >= Duration::from_secs(1), "{scope:?} was not waited for");
        assert_eq!(stage.world.traffic().len(), 2, "{scope:?} was asked again too soon");
    }
}

#[tokio::test]
async fn who_may_not_is_told_so_with_the_next_step() {
    let stage = Stage::new().await;
    let attic = ChannelId::new(stage.world.channel("attic")).unwrap();
    let error = stage.discord.send(attic, &post("Hello"), &nonce("1"), Attempt::First).await.unwrap_err();
    assert!(error.forbidden() && !error.lost(), "{error}");
    let long = "x".repeat(2001);
    let error =
        stage.discord.send(stage.garden(), &post(&long), &nonce("1"), Attempt::First).await.unwrap_err();
    let said = format!(
        "cannot say something in channel {}: the text has 2001 characters, 2000 is the most",
        stage.garden()
    );
    assert_eq!(error.to_string(), said);
    let guild = fro_core::chat::GuildId::new(stage.world.state(|chat| chat.guilds[0].id)).unwrap();
    let roles = async |id| stage.discord.member(guild, UserId::new(id).unwrap()).await.unwrap();
    assert_eq!(roles(stage.world.person("maya")).await.map(|roles| roles.len()), Some(1));
    assert_eq!(roles(1).await, None);
}
