//! Mentions, threads, what waits, and what becomes of threads.

use fro_core::chat::{
    AuditAction, ChannelSettings, Deed, HandedFile, Listen, Notify, QuoteReason, RoleId, TextFile, UserId,
    say::interrupt,
};
use fro_serve::{GuildStanding, Wish};
use jiff::Timestamp;

use super::stage::Stage;
use crate::contract::{LEASE, entry, spent};

#[tokio::test]
async fn a_mention_opens_a_thread_in_which_it_is_answered_and_words_there_go_on() {
    let stage = Stage::new().await;
    let serving = stage.serve().await;
    let thread = stage.says("maya", "@fro-bot why is the floor wet?");
    assert_eq!(stage.work().await, "why is the floor wet?");
    stage.until_said(thread, 1).await;
    stage.world.says("maya", thread, "and the roof?");
    assert_eq!(stage.work().await, "and the roof?");
    let said = stage.until_said(thread, 2).await;
    assert_eq!(said, ["You asked: why is the floor wet?", "You asked: and the roof?"]);
    assert_eq!(stage.world.state(|chat| chat.channel(thread).unwrap().name.clone()), "why is the floor wet?");
    serving.stop().await;
}

#[tokio::test]
async fn where_everything_is_listened_to_plain_words_open_a_thread_too() {
    let stage = Stage::new().await;
    let settings = ChannelSettings { listen: Listen::Everything, ..ChannelSettings::default() };
    stage.store.set_settings(stage.garden(), &settings, &entry(AuditAction::Choose, "x")).await.unwrap();
    let serving = stage.serve().await;
    let thread = stage.says("maya", "why?");
    stage.until_thread(thread).await;
    assert_eq!(stage.work().await, "why?");
    serving.stop().await;
}

/// Bug: an answer that rings us without our name in it was not heard.
#[tokio::test]
async fn an_answer_to_a_message_of_ours_is_heard_and_so_is_the_role_that_came_with_us() {
    let stage = Stage::new().await;
    let serving = stage.serve().await;
    let garden = stage.garden().number();
    stage.says("maya", "@fro-bot");
    stage.until_said(garden, 1).await;
    let ours = stage.world.state(|chat| chat.messages_in(garden).last().unwrap().id);
    let thread = stage.world.replies("maya", garden, ours, "why is the floor wet?");
    let claimed = stage.claim().await;
    let quoted = claimed.turn.words.quoted.clone().unwrap();
    assert_eq!((claimed.turn.thread.number(), quoted.reason), (thread, QuoteReason::Answered));
    assert!(quoted.text.starts_with("What can I do for you?"), "{quoted:?}");
    stage.finish(&claimed, "It leaks.").await;

    // An answer to somebody else rings us only by our name.
    let hers = stage.says("rita", "It drips.");
    stage.world.replies("maya", garden, hers, "does it?");
    let asked = stage.world.replies("maya", garden, hers, "@fro-bot is that so?");
    let claimed = stage.claim().await;
    assert_eq!((claimed.turn.thread.number(), claimed.turn.words.text.as_str()), (asked, "is that so?"));
    assert_eq!(claimed.turn.words.quoted.as_ref().map(|it| it.text.as_str()), Some("It drips."));
    stage.finish(&claimed, "It is.").await;

    let role = stage.guild().number() + 1;
    stage.says("maya", &format!("<@&{role}> and the roof?"));
    assert_eq!(stage.work().await, "and the roof?");
    // A reply of ours rings nobody, whoever it answers.
    let rung = stage.world.state(|chat| {
        let ours = chat.messages.iter().filter(|it| it.author == chat.application.id);
        ours.map(|it| it.pings.users.len()).sum::<usize>()
    });
    assert_eq!(rung, 0);
    serving.stop().await;
}

#[tokio::test]
async fn what_comes_during_a_turn_waits_can_be_changed_and_the_button_ends_the_turn() {
    let stage = Stage::new().await;
    let serving = stage.serve().await;
    let thread = stage.says("maya", "@fro-bot one");
    let first = stage.claim().await;
    stage.until_thread(thread).await;
    let second = stage.world.says("maya", thread, "two");
    let notice = stage.until_said(thread, 1).await;
    assert!(notice[0].starts_with("Noted; I answer it after this turn."), "{notice:?}");
    stage.world.edits(thread, second, "two, really");
    let third = stage.world.says("maya", thread, "three");
    stage.until_said(thread, 2).await;
    stage.world.deletes(thread, third);
    let button =
        stage.world.state(|chat| chat.messages_in(thread).find(|it| !it.components.is_empty()).unwrap().id);
    let click = stage.world.clicks("maya", thread, button, &format!("stop:{thread}"));
    assert_eq!(
        stage.answer_to(click).await,
        "I am ending the turn that is under way. What waits comes next."
    );
    assert_eq!(stage.store.renew(first.lease, Timestamp::now(), LEASE).await.unwrap(), Wish::Stop);
    stage.finish(&first, "Stopped.").await;
    assert_eq!(stage.work().await, "two, really");
    assert_eq!(stage.store.load(Timestamp::now()).await.unwrap(), (0, 0), "the third was taken back");
    serving.stop().await;
}

/// Bug: Discord calls a message changed when a thread is opened on it, and a picture without words was taken back then.
#[tokio::test]
async fn a_picture_without_words_stays_a_question_when_it_is_called_changed() {
    let stage = Stage::new().await;
    let (serving, thread, claimed) = stage.under_way().await;
    let picture = stage.world.attaches("maya", thread, "", ("wet.png", "image/png", b"\x89PNG"));
    let gone = stage.world.says("maya", thread, "never mind");
    stage.until_said(thread, 2).await;
    stage.world.edits(thread, picture, "");
    stage.world.edits(thread, gone, "");
    // Edits are heard in their order, and the second one takes back.
    let waiting = async || stage.store.load(Timestamp::now()).await.unwrap().1;
    while waiting().await > 1 {
        tokio::task::yield_now().await;
    }
    assert_eq!(waiting().await, 1);
    stage.finish(&claimed, "Done.").await;
    assert_eq!(stage.claim().await.turn.source.number(), picture);
    serving.stop().await;
}

#[tokio::test]
async fn typing_is_shown_while_a_turn_is_under_way() {
    let stage = Stage::new().await;
    let (serving, thread, claimed) = stage.under_way().await;
    stage.until(|chat| chat.typing.iter().any(|(place, _)| *place == thread)).await;
    stage.finish(&claimed, "Done.").await;
    serving.stop().await;
}

#[tokio::test]
async fn an_answer_reaches_a_thread_that_was_put_away_and_renamed() {
    let stage = Stage::new().await;
    let (serving, thread, claimed) = stage.under_way().await;
    stage.world.renames(thread, "ours");
    stage.world.archives(thread, false);
    stage.finish(&claimed, "Done.").await;
    assert_eq!(stage.until_said(thread, 1).await, ["Done."]);
    assert_eq!(stage.world.state(|chat| chat.channel(thread).unwrap().name.clone()), "ours");
    serving.stop().await;
}

#[tokio::test]
async fn a_worker_is_told_the_roles_of_this_moment() {
    let stage = Stage::new().await;
    let serving = stage.serve().await;
    let (guild, maya) = (stage.guild(), stage.person("maya"));
    let maintainers = RoleId::new(guild.number() + 2).unwrap();
    let now = async |who| {
        let asked = stage.store.ask_standing(guild, who).await.unwrap();
        loop {
            if let Some(standing) = stage.store.standing(&asked).await.unwrap() {
                return standing;
            }
            tokio::task::yield_now().await;
        }
    };
    assert_eq!(now(maya).await, GuildStanding::Member(vec![maintainers]));
    stage.world.takes_role("maya", guild.number(), maintainers.number());
    assert_eq!(now(maya).await, GuildStanding::Member(Vec::new()));
    assert_eq!(now(UserId::new(4).unwrap()).await, GuildStanding::Gone);
    serving.stop().await;
}

#[tokio::test]
async fn a_thread_that_is_removed_ends_its_turns() {
    let stage = Stage::new().await;
    let (serving, thread, claimed) = stage.under_way().await;
    stage.world.says("maya", thread, "two");
    stage.until_said(thread, 1).await;
    stage.world.removes_channel(thread);
    while stage.store.renew(claimed.lease, Timestamp::now(), LEASE).await.unwrap() != Wish::Stop {
        tokio::task::yield_now().await;
    }
    stage.finish(&claimed, "Nobody hears this.").await;
    assert_eq!(stage.store.load(Timestamp::now()).await.unwrap(), (0, 0));
    let other = stage.says("maya", "@fro-bot three");
    stage.work().await;
    assert_eq!(stage.until_said(other, 1).await, ["You asked: three"]);
    serving.stop().await;
}

#[tokio::test]
async fn what_the_model_says_rings_nobody_and_has_no_secret() {
    let stage = Stage::new().await;
    let (serving, thread, claimed) = stage.under_way().await;
    let maya = stage.person("maya");
    stage.finish(&claimed, &format!("@everyone <@{maya}> planted-secret-value")).await;
    let said = stage.until_said(thread, 1).await;
    assert!(!said[0].contains("planted-secret-value"), "{said:?}");
    let rung = stage.world.state(|chat| {
        let pings = &chat.messages_in(thread).last().unwrap().pings;
        (pings.everyone, pings.users.len(), pings.roles.len())
    });
    assert_eq!(rung, (false, 0, 0));
    serving.stop().await;
}

#[tokio::test]
async fn files_that_the_agent_made_arrive_as_they_are_once_however_often_the_turn_is_begun() {
    let stage = Stage::new().await;
    let (serving, thread, claimed) = stage.under_way().await;
    let picture = HandedFile { name: "tap.png".to_owned(), bytes: b"\x89PNG\0\xff".to_vec() };
    let mut deed = Deed::say(claimed.turn.thread, "-# `tap.png`");
    if let Deed::Say { handed, .. } = &mut deed {
        *handed = vec![picture.clone()];
    }
    for _ in 0..2 {
        stage.store.say(claimed.lease, 0, &deed, Timestamp::now()).await.unwrap();
    }
    stage.store.finish(claimed.lease, &spent(), Timestamp::now()).await.unwrap();
    stage.until_said(thread, 1).await;
    let files = stage.world.state(|chat| {
        let messages = chat.messages_in(thread).filter(|it| it.content == "-# `tap.png`");
        messages
            .flat_map(|it| it.files.clone())
            .map(|file| (file.name, file.bytes.to_vec()))
            .collect::<Vec<_>>()
    });
    assert_eq!(files, [(picture.name, picture.bytes)]);
    serving.stop().await;
}

#[tokio::test]
async fn a_piece_that_is_said_again_has_the_file_and_the_buttons_of_what_it_says_now() {
    let stage = Stage::new().await;
    let (serving, thread, claimed) = stage.under_way().await;
    let channel = claimed.turn.thread;
    let long = Deed::Say {
        channel,
        text: "long".to_owned(),
        reply_to: None,
        buttons: vec![interrupt(channel)],
        menu: None,
        file: Some(TextFile { name: "answer.md".to_owned(), text: "x".to_owned() }),
        handed: Vec::new(),
        notify: Notify::No,
    };
    for (deed, text, files) in [
        (Deed::say(channel, "short"), "short", 0),
        (long, "long", 1),
        (Deed::say(channel, "back"), "back", 0),
    ] {
        stage.store.say(claimed.lease, 0, &deed, Timestamp::now()).await.unwrap();
        stage.until(|chat| chat.messages_in(thread).any(|it| it.content == text)).await;
        let shown = stage.world.state(|chat| {
            let message = chat.messages_in(thread).last().unwrap();
            (message.files.len(), message.components.len())
        });
        assert_eq!(shown, (files, files), "{text}");
    }
    stage.finish(&claimed, "back").await;
    serving.stop().await;
}
