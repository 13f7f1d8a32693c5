//! What is heard: every kind of event, and whatever happens to the connection, each of them once.

use std::time::Duration;

use fro_core::{Secret, chat::QuoteReason};
use fro_discord::{Fatal, Heard, InteractionKind, OptionValue, Session};
use serde_json::json;

use crate::stage::{Stage, interaction, message, next, until};

#[tokio::test]
async fn a_message_is_heard_with_who_said_it_and_their_roles() {
    let stage = Stage::new().await;
    let mut gateway = stage.listen(None).await;
    let garden = stage.garden().number();
    stage.world.attaches("maya", garden, "@fro-bot why?", ("a.txt", "text/plain", b"because"));
    let heard = message(&mut gateway).await;
    assert_eq!((heard.author.name.as_str(), heard.author.bot, heard.webhook), ("Maya", false, false));
    assert_eq!(heard.mentions.len(), 1);
    assert_eq!(heard.roles.map(|roles| roles.len()), Some(1));
    assert_eq!((heard.attachments[0].name.as_str(), heard.attachments[0].size), ("a.txt", 7));
    let (id, channel) = (heard.id, heard.channel);
    stage.world.edits(channel.number(), id.number(), "never mind");
    let edited =
        until(&mut gateway, |heard| if let Heard::Edited(it) = heard { Some(it) } else { None }).await;
    assert_eq!((edited.id, edited.content.as_str()), (id, "never mind"));
    stage.world.deletes(channel.number(), id.number());
    assert_eq!(next(&mut gateway).await, Heard::Deleted { channel, message: id });
}

#[tokio::test]
async fn an_answer_is_heard_with_whom_it_rings_and_what_it_answers() {
    let stage = Stage::new().await;
    let mut gateway = stage.listen(None).await;
    let garden = stage.garden().number();
    let first = stage.says("fro-bot", "It drips.");
    message(&mut gateway).await;
    stage.world.replies("maya", garden, first, "where?");
    let heard = message(&mut gateway).await;
    let me = stage.world.state(|chat| chat.application.id);
    assert_eq!(heard.mentions.iter().map(|id| id.number()).collect::<Vec<_>>(), [me]);
    let quoted = heard.quoted.unwrap();
    assert_eq!((quoted.reason, quoted.text.as_str()), (QuoteReason::Answered, "It drips."));
}

#[tokio::test]
async fn channels_threads_and_roles_are_heard_of() {
    let stage = Stage::new().await;
    let mut gateway = stage.listen(None).await;
    let (world, garden) = (&stage.world, stage.garden().number());
    let guild = world.state(|chat| chat.guilds[0].id);
    let said = stage.says("maya", "Why?");
    world.begins_thread("maya", garden, said, "Why");
    world.archives(said, true);
    world.renames(garden, "yard");
    let made = world.makes_channel(guild, "shed");
    world.removes_channel(made);
    let role = world.makes_role(guild, "gardeners", 0);
    world.changes_role(guild, role, 1 << 5);
    world.removes_role(guild, role);
    world.removes_channel(said);
    let mut seen = Vec::new();
    while seen.len() < 10 {
        seen.push(match next(&mut gateway).await {
            Heard::Message(_) => "message".to_owned(),
            Heard::Channel(it) => format!("{} {:?} {} {}", it.name, it.kind, it.archived, it.locked),
            Heard::ChannelGone(id) => {
                format!("gone {}", if id.number() == said { "thread" } else { "channel" })
            }
            Heard::Role(_, role) => format!("role {}", role.permissions & (1 << 5)),
            Heard::RoleGone(_, id) => format!("role gone {}", id.number() == role),
            other => panic!("{other:?}"),
        });
    }
    let expected = [
        "message",
        "Why Thread false false",
        "Why Thread true true",
        "yard Text false false",
        "shed Text false false",
        "gone channel",
        "role 0",
        "role 32",
        "role gone true",
        "gone thread",
    ];
    assert_eq!(seen, expected);
    world.expels_bot(guild);
    assert!(matches!(next(&mut gateway).await, Heard::GuildGone(id) if id.number() == guild));
}

#[tokio::test]
async fn a_private_channel_is_hidden_and_one_that_we_may_not_see_is_not_told() {
    let stage = Stage::new().await;
    let mut gateway = fro_discord::Gateway::open(&stage.settings, None);
    let guild = until(&mut gateway, |heard| if let Heard::Guild(it) = heard { Some(it) } else { None }).await;
    let seen: Vec<_> = guild.channels.iter().map(|it| (it.name.as_str(), it.hidden)).collect();
    assert_eq!(seen, [("garden", false), ("cellar", true)]);
}

#[tokio::test]
async fn commands_clicks_choices_and_forms_are_heard() {
    let stage = Stage::new().await;
    let mut gateway = stage.listen(None).await;
    let (world, garden) = (&stage.world, stage.garden().number());
    let option = json!({ "name": "repo", "description": "Which", "type": 3 });
    world.change(|chat| {
        chat.application.commands = vec![json!({ "id": "7", "name": "link", "options": [option] })];
    });
    world.commands("octo", garden, "link", &json!({ "repo": "octo/garden" }));
    let asked = interaction(&mut gateway).await;
    let options = [("repo".to_owned(), OptionValue::Text("octo/garden".to_owned()))].into();
    assert_eq!(asked.what, InteractionKind::Command { name: "link".to_owned(), options });
    assert_eq!((asked.asker.name.as_str(), asked.permissions & (1 << 3) != 0), ("Octo", true));
    assert_eq!(format!("{:?}", asked.token), "[secret]");
    world.types("maya", garden, "link", ("repo", "oc"));
    let (name, option, typed) = ("link".to_owned(), "repo".to_owned(), "oc".to_owned());
    assert_eq!(interaction(&mut gateway).await.what, InteractionKind::Complete { name, option, typed });
    world.submits("maya", garden, "why", &[("reason", "so")]);
    let fields = [("reason".to_owned(), "so".to_owned())].into();
    assert_eq!(
        interaction(&mut gateway).await.what,
        InteractionKind::Form { custom_id: "why".to_owned(), fields }
    );
}

#[tokio::test]
async fn whatever_ends_the_connection_each_message_is_heard_once_and_in_order() {
    type Break = fn(&fro_sim::discord::Discord);
    let breaks: [(&str, Break); 8] = [
        ("cut", |world| assert_eq!(world.cut_connections(), 1)),
        ("closed with 4000", |world| assert_eq!(world.close_connections(4000), 1)),
        ("closed with 4007", |world| assert_eq!(world.close_connections(4007), 1)),
        ("closed with 4008", |world| assert_eq!(world.close_connections(4008), 1)),
        ("closed with 4009", |world| assert_eq!(world.close_connections(4009), 1)),
        ("closed with 1001", |world| assert_eq!(world.close_connections(1001), 1)),
        ("asked to reconnect", |world| assert_eq!(world.ask_to_reconnect(), 1)),
        ("closed, and the next attempt fails", |world| {
            world.close_next(&[4000]);
            world.close_connections(4000);
        }),
    ];
    for (name, break_it) in breaks {
        let stage = Stage::new().await;
        let mut gateway = stage.listen(None).await;
        stage.says("maya", "before");
        assert_eq!(message(&mut gateway).await.content, "before", "{name}");
        break_it(&stage.world);
        stage.says("maya", "meanwhile");
        assert_eq!(message(&mut gateway).await.content, "meanwhile", "{name}");
        stage.says("maya", "after");
        assert_eq!(message(&mut gateway).await.content, "after", "{name}");
    }
}

#[tokio::test]
async fn a_connection_without_acknowledgements_is_given_up_and_taken_up_again() {
    let stage = Stage::new().await;
    stage.world.set_heartbeat(Duration::from_millis(200));
    let mut gateway = stage.listen(None).await;
    stage.world.mute_acknowledgements(true);
    until(&mut gateway, |heard| matches!(heard, Heard::Lost { .. }).then_some(())).await;
    stage.world.mute_acknowledgements(false);
    stage.says("maya", "still there?");
    assert_eq!(message(&mut gateway).await.content, "still there?");
}

#[tokio::test]
async fn a_session_that_discord_forgot_is_begun_anew_and_said_so() {
    let stage = Stage::new().await;
    let mut gateway = stage.listen(None).await;
    stage.world.invalidate_sessions();
    until(&mut gateway, |heard| matches!(heard, Heard::Ready { .. }).then_some(())).await;
    stage.says("maya", "hello again");
    assert_eq!(message(&mut gateway).await.content, "hello again");
}

#[tokio::test]
async fn a_session_is_taken_up_by_the_next_process() {
    let stage = Stage::new().await;
    let mut first = stage.listen(None).await;
    stage.says("maya", "one");
    message(&mut first).await;
    let kept = serde_json::to_string(first.session().unwrap()).unwrap();
    // Neither a crash nor a farewell gives the session up.
    stage.says("maya", "two");
    drop(first);
    stage.world.wait_until_connected(0).await;
    stage.says("maya", "three");
    let kept: Session = serde_json::from_str(&kept).unwrap();
    let mut second = stage.listen(Some(kept)).await;
    assert_eq!(message(&mut second).await.content, "two");
    assert_eq!(message(&mut second).await.content, "three");
    assert_eq!(next(&mut second).await, Heard::Resumed);
    let kept = second.close().await;
    stage.world.wait_until_connected(0).await;
    stage.says("maya", "four");
    let mut third = stage.listen(kept).await;
    assert_eq!(message(&mut third).await.content, "four");
}

#[tokio::test]
async fn a_refusal_for_good_is_told_and_tried_again_until_somebody_mends_it() {
    let cases = [
        (4004, Fatal::Token),
        (4010, Fatal::Shards),
        (4011, Fatal::Shards),
        (4012, Fatal::Version),
        (4013, Fatal::Intents),
        (4014, Fatal::PrivilegedIntents),
    ];
    for (code, fatal) in cases {
        let stage = Stage::new().await;
        stage.world.close_next(&[code, code]);
        let mut gateway = fro_discord::Gateway::open(&stage.settings, None);
        assert_eq!(next(&mut gateway).await, Heard::Refused(fatal));
        // Everything else goes on meanwhile.
        stage.discord.about_me().await.unwrap();
        assert_eq!(next(&mut gateway).await, Heard::Refused(fatal));
        assert!(matches!(next(&mut gateway).await, Heard::Ready { .. }), "{code}");
    }
}

/// Whoever hears in a `select!` lets go of the future again and again, and the pause must not begin anew each time.
#[tokio::test]
async fn the_pause_after_a_refusal_passes_though_nobody_waits_for_it_in_one_go() {
    let mut stage = Stage::new().await;
    stage.settings.refused = vec![Duration::from_millis(200)];
    stage.world.close_next(&[4014]);
    let mut gateway = fro_discord::Gateway::open(&stage.settings, None);
    assert_eq!(next(&mut gateway).await, Heard::Refused(Fatal::PrivilegedIntents));
    let waited = async {
        loop {
            if let Ok(heard) = tokio::time::timeout(Duration::from_millis(50), gateway.next()).await {
                return heard;
            }
        }
    };
    let heard = tokio::time::timeout(Duration::from_secs(30), waited).await.unwrap();
    assert!(matches!(heard, Heard::Ready { .. }), "{heard:?}");
}

#[tokio::test]
async fn a_wrong_token_and_an_intent_that_is_off_are_refused_by_name() {
    let stage = Stage::new().await;
    let wrong = fro_discord::Settings { token: Secret::new("wrong"), ..stage.settings.clone() };
    assert_eq!(next(&mut fro_discord::Gateway::open(&wrong, None)).await, Heard::Refused(Fatal::Token));
    stage.world.change(|chat| chat.application.privileged = 0);
    let mut gateway = fro_discord::Gateway::open(&stage.settings, None);
    assert_eq!(next(&mut gateway).await, Heard::Refused(Fatal::PrivilegedIntents));
    // Without asking for it, words come only where the bot is named.
    let modest = fro_discord::Settings { reads_content: false, ..stage.settings.clone() };
    let mut gateway = fro_discord::Gateway::open(&modest, None);
    until(&mut gateway, |heard| matches!(heard, Heard::Guild(_)).then_some(())).await;
    stage.says("maya", "not for you");
    assert_eq!(message(&mut gateway).await.content, "");
    stage.says("maya", "@fro-bot for you");
    assert!(message(&mut gateway).await.content.ends_with("for you"));
    assert!(!stage.discord.about_me().await.unwrap().reads_content);
}
