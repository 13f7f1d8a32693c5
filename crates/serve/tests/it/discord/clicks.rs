//! Clicks and menus: Discord waits three seconds for the first word on them, however long the rest takes.

use std::time::Duration;

use fro_core::chat::{Click, Deed, Menu, Notify, Style};
use fro_sim::FaultKind;
use jiff::{SignedDuration, Timestamp};

use super::stage::Stage;

#[tokio::test]
async fn a_click_is_acknowledged_before_anything_is_looked_up() {
    for by_menu in [false, true] {
        let stage = Stage::new().await;
        let (serving, thread, claimed) = stage.under_way().await;
        let deadline = Timestamp::now() + SignedDuration::from_hours(1);
        let request = stage.store.request(claimed.lease, "per_1", "run?", deadline).await.unwrap().id;
        let button = Click::Rule { approval: request, answer: "once".to_owned() };
        let (button, menu) = (button.button("Yes", Style::Usual), format!("answer:{request}"));
        let deed = Deed::Say {
            channel: claimed.turn.thread,
            text: "May I?".to_owned(),
            reply_to: None,
            buttons: vec![button.clone()],
            menu: Some(Menu { id: menu.clone(), choices: vec!["once".to_owned()] }),
            file: None,
            handed: Vec::new(),
            notify: Notify::Yes,
        };
        stage.store.say(claimed.lease, 0, &deed, Timestamp::now()).await.unwrap();
        stage.until_said(thread, 1).await;
        let message = stage.world.state(|chat| chat.messages_in(thread).last().unwrap().id);

        let slow = FaultKind::Delay(Duration::from_millis(200));
        stage.world.faults().on("GET /api/v10/channels/{channel}/messages/{message}", slow);
        let asked = if by_menu {
            stage.world.chooses("maya", thread, message, (&menu, &["once"]))
        } else {
            stage.world.clicks("maya", thread, message, &button.id)
        };
        stage.world.faults().wait_until_held().await;
        stage.world.change(|chat| chat.pass(Duration::from_secs(4)));
        let answer = stage.answer_to(asked).await;
        assert!(answer.starts_with("May I?\n-# `once` by"), "{answer}");
        serving.stop().await;
    }
}
