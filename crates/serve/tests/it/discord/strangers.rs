//! Whoever may not, and whatever is forged: nothing is done, and nobody is rung.

use fro_core::chat::{AuditAction, Deed, GuildId, RoleId, Roles, Ruling, TextFile};
use fro_sim::discord::{GuildRole, Pings};
use jiff::Timestamp;
use serde_json::json;

use super::stage::Stage;

#[tokio::test]
async fn bots_and_people_without_a_role_are_not_answered() {
    let stage = Stage::new().await;
    let serving = stage.serve().await;
    stage.says("other-bot", "@fro-bot push everything");
    // Under the name of somebody who may, and with their roles.
    stage.world.hooks("maya", stage.garden().number(), "@fro-bot push everything");
    stage.says("sam", "@everyone just talking");
    stage.says("sam", "@fro-bot @everyone push everything");
    let said = stage.until_said(stage.garden().number(), 1).await;
    assert_eq!(said, ["I cannot do that: this needs a role that may talk to me."]);
    assert_eq!(stage.store.load(Timestamp::now()).await.unwrap(), (0, 0));
    let audited = stage.store.audited(stage.guild(), 9).await.unwrap();
    let why = "this needs a role that may talk to me".to_owned();
    assert_eq!((audited[0].entry.action, &audited[0].entry.ruling), (AuditAction::Ask, &Ruling::Denied(why)));
    rings_nobody(&stage);
    serving.stop().await;
}

/// Checks that nothing the bot ever said rang anybody.
fn rings_nobody(stage: &Stage) {
    let bot = stage.world.state(|chat| chat.application.id);
    stage.world.state(|chat| {
        for message in chat.messages.iter().filter(|it| it.author == bot) {
            let Pings { users, roles, everyone } = &message.pings;
            assert!(!everyone && users.is_empty() && roles.is_empty(), "{message:?}");
        }
    });
}

#[tokio::test]
async fn whatever_the_model_people_and_files_are_called_rings_nobody() {
    let stage = Stage::new().await;
    let serving = stage.serve().await;
    let (maya, role) = (stage.person("maya"), stage.guild().number() + 2);
    let everybody = format!("@everyone @here <@{maya}> <@!{maya}> <@&{role}> <#1> </help:1>");
    let thread = stage.world.attaches(
        "maya",
        stage.garden().number(),
        &format!("@fro-bot {everybody}"),
        ("`@everyone`\n# x.txt", "text/plain", b"drip"),
    );
    let claimed = stage.claim().await;
    let mut deed = Deed::say(claimed.turn.thread, format!("# {everybody}\n||{everybody}||"));
    if let Deed::Say { file, .. } = &mut deed {
        *file = Some(TextFile { name: format!("{everybody}.md"), text: everybody.clone() });
    }
    stage.store.say(claimed.lease, 0, &deed, Timestamp::now()).await.unwrap();
    stage.until_said(thread, 1).await;
    let title = stage.world.state(|chat| chat.channel(thread).unwrap().name.clone());
    assert!(!title.contains('<') && !title.contains('`'), "{title}");
    stage.finish(&claimed, &format!("Changed: {everybody}")).await;
    stage.until(|chat| chat.messages_in(thread).any(|it| it.content.starts_with("Changed"))).await;
    // Words that wait are shown to whoever asks what waits.
    stage.world.says("maya", thread, &everybody);
    let queue = stage.world.commands("maya", thread, "queue", &json!({}));
    stage.answer_to(queue).await;
    rings_nobody(&stage);
    serving.stop().await;
}

#[tokio::test]
async fn the_ids_of_another_guild_are_worth_nothing() {
    let stage = Stage::new().await;
    let (garden, other) = (stage.garden().number(), GuildId::new(stage.guild().number() + 500).unwrap());
    // Sam has a guild of his own with the bot in it, where he may everything.
    let role = RoleId::new(other.number() + 1).unwrap();
    stage.world.change(|chat| {
        let mut yard = chat.guilds[0].clone();
        (yard.id, yard.owner) = (other.number(), chat.named("sam").id);
        yard.roles = vec![GuildRole { id: other.number(), ..yard.roles[0].clone() }];
        yard.roles.push(GuildRole { id: role.number(), ..yard.roles[0].clone() });
        for member in &mut yard.members {
            member.roles = vec![role.number()];
        }
        chat.guilds.push(yard);
    });
    let set = || [role].into();
    let roles = Roles { linkers: set(), askers: set(), approvers: set(), ..Roles::default() };
    let was = stage.store.policy(other).await.unwrap();
    let entry = crate::contract::entry(AuditAction::SetPolicy, "roles");
    assert!(stage.store.set_policy(other, &was, &roles, entry).await.unwrap());

    let (serving, thread, claimed) = stage.under_way().await;
    let approval = stage.store.request(claimed.lease, "per_1", "run?", in_an_hour()).await.unwrap();
    // What comes from there names channel and thread of Maya's guild as its own.
    stage.world.change(|chat| {
        for channel in chat.channels.iter_mut().filter(|it| [garden, thread].contains(&it.id)) {
            channel.guild = other.number();
        }
    });
    for (channel, command, options, answer) in [
        (garden, "unlink", json!({}), "This channel is linked to no repository."),
        (garden, "new", json!({ "prompt": "push everything" }), "This channel is linked to no repository."),
        (garden, "model", json!({ "name": "evil/model" }), "This channel is linked to no repository."),
        (garden, "sessions", json!({}), "This channel is linked to no repository."),
        (thread, "abort", json!({}), "This is no thread of mine."),
        (thread, "queue", json!({}), "This is no thread of mine."),
    ] {
        let answered = stage.answer_to(stage.world.commands("sam", channel, command, &options)).await;
        assert!(answered.starts_with(answer), "{command}: {answered}");
    }
    for id in [format!("stop:{thread}"), format!("rule:{}:once", approval.id)] {
        let message = forged(&stage, thread, &id);
        let answered = stage.answer_to(stage.world.clicks("sam", thread, message, &id)).await;
        let refused = ["This is no thread of mine.", "This button is not good any more."];
        assert!(refused.iter().any(|words| answered.starts_with(words)), "{id}: {answered}");
    }
    stage.world.says("sam", thread, "push everything");
    stage.world.says("sam", garden, "@fro-bot push everything");
    stage.until_said(garden, 1).await;
    assert_eq!(stage.store.load(Timestamp::now()).await.unwrap(), (1, 0));
    let wish = stage.store.renew(claimed.lease, Timestamp::now(), crate::contract::LEASE).await.unwrap();
    assert_eq!(wish, fro_serve::Wish::None);
    assert_eq!(stage.store.verdict(approval.id, Timestamp::now()).await.unwrap(), fro_serve::Verdict::Open);
    let link = stage.store.link_of(stage.garden()).await.unwrap().unwrap();
    assert_eq!((link.guild, link.settings.model), (stage.guild(), None));
    serving.stop().await;
}

/// Puts a message of ours there whose button has this id, as if somebody had made it up.
fn forged(stage: &Stage, channel: u64, id: &str) -> u64 {
    stage.world.change(|chat| {
        let (said, bot) = (chat.next_id(), chat.application.id);
        let mut message = chat.messages[0].clone();
        (message.id, message.channel, message.author) = (said, channel, bot);
        message.components = vec![
            json!({ "type": 1, "components": [{ "type": 2, "custom_id": id, "label": "x", "style": 1 }] }),
        ];
        chat.messages.push(message);
        said
    })
}

#[tokio::test]
async fn a_button_is_good_in_its_own_thread_and_for_whoever_may() {
    let stage = Stage::new().await;
    let (serving, thread, claimed) = stage.under_way().await;
    let garden = stage.garden().number();
    let approval = stage.store.request(claimed.lease, "per_1", "run?", in_an_hour()).await.unwrap();
    for (name, channel, id, answer) in [
        ("maya", garden, format!("stop:{thread}"), "This is no thread of mine."),
        ("maya", garden, format!("rule:{}:once", approval.id), "This button is not good any more."),
        ("maya", thread, "rule:99:once".to_owned(), "This button is not good any more."),
        ("maya", thread, "eval:1".to_owned(), "This button is not good any more."),
        ("sam", thread, format!("stop:{thread}"), "I cannot do that: this needs a role"),
        ("rita", thread, format!("rule:{}:once", approval.id), "I cannot do that: this needs a role"),
    ] {
        let message = forged(&stage, channel, &id);
        let answered = stage.answer_to(stage.world.clicks(name, channel, message, &id)).await;
        assert!(answered.starts_with(answer), "{name} {id}: {answered}");
    }
    let wish = stage.store.renew(claimed.lease, Timestamp::now(), crate::contract::LEASE).await.unwrap();
    assert_eq!(wish, fro_serve::Wish::None);
    assert_eq!(stage.store.verdict(approval.id, Timestamp::now()).await.unwrap(), fro_serve::Verdict::Open);
    serving.stop().await;
}

#[tokio::test]
async fn of_two_who_approve_the_first_one_s_word_stands_and_is_shown() {
    let stage = Stage::new().await;
    let serving = stage.serve().await;
    let role = stage.guild().number() + 2;
    stage.world.gives_role("sam", stage.guild().number(), role);
    let thread = stage.says("maya", "@fro-bot one");
    let claimed = stage.claim().await;
    stage.until_thread(thread).await;
    let approval = stage.store.request(claimed.lease, "per_1", "run?", in_an_hour()).await.unwrap();
    let answers = ["once", "reject"].map(|answer| {
        let click = fro_core::chat::Click::Rule { approval: approval.id, answer: answer.to_owned() };
        click.button(answer, fro_core::chat::Style::Other)
    });
    let deed = fro_core::chat::Deed::Say {
        channel: claimed.turn.thread,
        text: "May I run `make`?".to_owned(),
        reply_to: None,
        buttons: answers.into(),
        menu: None,
        file: None,
        handed: Vec::new(),
        notify: fro_core::chat::Notify::Yes,
    };
    stage.store.say(claimed.lease, 0, &deed, Timestamp::now()).await.unwrap();
    stage.until_said(thread, 1).await;
    let message = stage.world.state(|chat| chat.messages_in(thread).last().unwrap().id);
    let [once, reject] = ["once", "reject"].map(|answer| format!("rule:{}:{answer}", approval.id));
    let first = stage.world.clicks("sam", thread, message, &once);
    let second = stage.world.clicks("maya", thread, message, &reject);
    let (first, second) = (stage.answer_to(first).await, stage.answer_to(second).await);
    assert_eq!(first, second, "both are told what stands");
    let verdict = stage.store.verdict(approval.id, Timestamp::now()).await.unwrap();
    let fro_serve::Verdict::Decided { by, answer } = verdict else { panic!("{verdict:?}") };
    assert_eq!(first, format!("May I run `make`?\n-# `{answer}` by <@{by}>"));
    assert_eq!(stage.said(thread), [first]);
    serving.stop().await;
}

fn in_an_hour() -> Timestamp {
    Timestamp::now() + jiff::SignedDuration::from_hours(1)
}
