//! Commands: what they answer, who may give them, and what is written down.

use fro_core::chat::{AuditAction, RoleId, Ruling, SlashCommand};
use jiff::Timestamp;
use serde_json::json;

use super::stage::Stage;

#[tokio::test]
async fn every_command_is_registered_and_answers() {
    let stage = Stage::new().await;
    let serving = stage.serve().await;
    let registered = stage.world.state(|chat| chat.application.commands.len());
    assert_eq!(registered, SlashCommand::ALL.len());
    let garden = stage.garden().number();
    let mut told = Vec::new();
    for command in SlashCommand::ALL {
        if matches!(command, SlashCommand::New | SlashCommand::Resume | SlashCommand::Unlink) {
            continue;
        }
        let options = match command {
            SlashCommand::Link => json!({ "repo": "octo/garden" }),
            _ => json!({}),
        };
        let asked = stage.world.commands("maya", garden, command.name(), &options);
        told.push(format!("/{}\n{}", command.name(), stage.answer_to(asked).await));
    }
    let ids = without_ids(&told.join("\n\n"));
    insta::assert_snapshot!(ids);
    serving.stop().await;
}

/// Ids and times differ from run to run.
fn without_ids(text: &str) -> String {
    let mut out = String::new();
    let mut digits = 0;
    for c in text.chars() {
        if c.is_ascii_digit() {
            digits += 1;
            if digits == 6 {
                out.truncate(out.len() - 5);
                out.push('N');
            }
            if digits >= 6 {
                continue;
            }
        } else {
            digits = 0;
        }
        out.push(c);
    }
    out
}

#[tokio::test]
async fn new_opens_a_thread_and_resume_goes_on_with_a_session() {
    let stage = Stage::new().await;
    let serving = stage.serve().await;
    let garden = stage.garden().number();
    stage.world.commands("maya", garden, "new", &json!({ "prompt": "why is the floor wet?" }));
    let claimed = stage.claim().await;
    assert_eq!(claimed.turn.words.text, "why is the floor wet?");
    let thread = claimed.turn.thread;
    stage.until_thread(thread.number()).await;
    stage.store.set_session(thread, Some("ses_5f3a")).await.unwrap();
    stage.finish(&claimed, "The hose.").await;
    assert_eq!(stage.until_said(thread.number(), 1).await, ["The hose."]);
    let options = json!({ "session": "ses_5f3a", "prompt": "and now?" });
    stage.world.commands("maya", garden, "resume", &options);
    let claimed = stage.claim().await;
    let thread = stage.store.thread(claimed.turn.thread).await.unwrap().unwrap();
    assert_eq!((thread.session.as_deref(), claimed.turn.words.text.as_str()), (Some("ses_5f3a"), "and now?"));
    stage.finish(&claimed, "Still the hose.").await;
    for bad in ["5f3a", "ses_", "ses_../x", "ses_a b"] {
        let asked = stage.world.commands("maya", garden, "resume", &json!({ "session": bad, "prompt": "x" }));
        assert!(stage.answer_to(asked).await.starts_with("That is no session"), "{bad}");
    }
    serving.stop().await;
}

#[tokio::test]
async fn the_owner_sets_the_first_roles_and_nobody_else_can() {
    let stage = Stage::unlinked().await;
    let serving = stage.serve().await;
    let garden = stage.garden().number();
    let readers = RoleId::new(stage.guild().number() + 3).unwrap();
    let wish = json!({ "may": "ask", "role": readers.to_string() });
    for name in ["maya", "sam"] {
        let asked = stage.world.commands(name, garden, "policy", &wish);
        let answer = stage.answer_to(asked).await;
        assert_eq!(answer, "I cannot do that: this needs a role that may link channels.", "{name}");
    }
    let asked = stage.world.commands("octo", garden, "policy", &wish);
    assert!(stage.answer_to(asked).await.contains(&format!("May talk to me: <@&{readers}>")));
    assert_eq!(stage.store.policy(stage.guild()).await.unwrap().roles.askers, [readers].into());
    let audited = stage.store.audited(stage.guild(), 9).await.unwrap();
    let told: Vec<_> =
        audited.iter().map(|it| (it.entry.action, it.entry.ruling == Ruling::Granted)).collect();
    let set = AuditAction::SetPolicy;
    assert_eq!(told, [(set, true), (set, false), (set, false)]);
    serving.stop().await;
}

#[tokio::test]
async fn a_channel_that_is_unlinked_in_the_middle_says_so_and_drops_what_waits() {
    let stage = Stage::new().await;
    let serving = stage.serve().await;
    let thread = stage.says("maya", "@fro-bot one");
    let claimed = stage.claim().await;
    stage.until_thread(thread).await;
    stage.world.says("maya", thread, "two");
    stage.until_said(thread, 1).await;
    let asked = stage.world.commands("maya", stage.garden().number(), "unlink", &json!({}));
    assert!(stage.answer_to(asked).await.starts_with("This channel is not linked to octo/garden any more."));
    let said = stage.until_said(thread, 2).await;
    assert!(said[1].starts_with("This thread was about octo/garden"), "{said:?}");
    stage.finish(&claimed, "Stopped.").await;
    assert_eq!(stage.store.load(Timestamp::now()).await.unwrap(), (0, 0));
    stage.world.says("maya", thread, "three");
    let said = stage.until_said(thread, 4).await;
    assert!(said[3].starts_with("This thread was about octo/garden"), "{said:?}");
    serving.stop().await;
}
