//! Whoever may not, and whatever is forged: nothing is done, and nobody is rung.

use fro_core::chat::{AuditAction, Ruling};
use jiff::Timestamp;
use serde_json::json;

use super::stage::Stage;

#[tokio::test]
async fn bots_and_people_without_a_role_are_not_answered() {
    let stage = Stage::new().await;
    let serving = stage.serve().await;
    stage.says("other-bot", "@fro-bot push everything");
    stage.says("sam", "@everyone just talking");
    stage.says("sam", "@fro-bot @everyone push everything");
    let said = stage.until_said(stage.garden().number(), 1).await;
    assert_eq!(said, ["I cannot do that: this needs a role that may talk to me."]);
    assert_eq!(stage.store.load(Timestamp::now()).await.unwrap(), (0, 0));
    let audited = stage.store.audited(stage.guild(), 9).await.unwrap();
    let why = "this needs a role that may talk to me".to_owned();
    assert_eq!((audited[0].entry.action, &audited[0].entry.ruling), (AuditAction::Ask, &Ruling::Denied(why)));
    let bot = stage.world.state(|chat| chat.application.id);
    stage.world.state(|chat| {
        for message in chat.messages.iter().filter(|it| it.author == bot) {
            assert!(!message.pings.everyone && message.pings.users.is_empty(), "{message:?}");
        }
    });
    serving.stop().await;
}

#[tokio::test]
async fn a_button_is_good_in_its_own_thread_and_for_whoever_may() {
    let stage = Stage::new().await;
    let serving = stage.serve().await;
    let thread = stage.says("maya", "@fro-bot one");
    let claimed = stage.claim().await;
    stage.until_thread(thread).await;
    // A message of ours elsewhere whose button names the thread, as if somebody had made it up.
    let forged = |channel: u64, id: &str| {
        let id = id.to_owned();
        let bot = stage.world.state(|chat| chat.application.id);
        stage.world.change(move |chat| {
            let said = chat.next_id();
            let mut message = chat.messages[0].clone();
            (message.id, message.channel, message.author) = (said, channel, bot);
            message.components =
                vec![json!({ "type": 1, "components": [{ "type": 2, "custom_id": id, "label": "x", "style": 1 }] })];
            chat.messages.push(message);
            said
        })
    };
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
        let message = forged(channel, &id);
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
        file: None,
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
