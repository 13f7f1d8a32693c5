//! Each command with each set of roles, as people see it, held against a table that shares nothing with the code that decides.

use fro_core::chat::{AuditAction, RoleId, Roles, Ruling, SlashCommand};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::stage::Stage;
use crate::contract::entry;

const LINK: u64 = 101;
const ASK: u64 = 102;
const APPROVE: u64 = 103;
const BARRED: u64 = 104;

/// Where a command is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Where {
    Channel,
    Thread,
}

/// Each command, whose letters are the roles of which one is needed: `L`ink, `A`sk, a`P`prove; `o` is the owner, `*` is everybody.
fn table() -> Vec<(SlashCommand, Where, Value, &'static str)> {
    use SlashCommand as C;
    use Where::{Channel, Thread};
    let go_on = || json!({ "session": "ses_5f3a", "prompt": "x" });
    vec![
        (C::Help, Channel, json!({}), "*"),
        (C::Links, Channel, json!({}), "AL"),
        (C::Status, Channel, json!({}), "AL"),
        (C::Sessions, Channel, json!({}), "AL"),
        (C::Account, Channel, json!({}), "AL"),
        (C::Account, Channel, json!({ "do": "forget" }), "AL"),
        (C::Audit, Channel, json!({}), "L"),
        (C::Policy, Channel, json!({}), "oAL"),
        (C::Policy, Channel, json!({ "may": "ask", "role": "199" }), "oL"),
        (C::Link, Channel, json!({ "repo": "octo/cellar" }), "L"),
        (C::Listen, Channel, json!({ "to": "everything" }), "L"),
        (C::Model, Channel, json!({ "name": "sim/rose" }), "AL"),
        (C::Agent, Channel, json!({ "name": "plan" }), "AL"),
        (C::Verbosity, Channel, json!({ "show": "all" }), "AL"),
        (C::Approvals, Channel, json!({ "ask": "rules" }), "P"),
        (C::Queue, Thread, json!({}), "AL"),
        (C::Diff, Thread, json!({}), "AL"),
        (C::Share, Thread, json!({}), "AL"),
        (C::Abort, Thread, json!({}), "PL"),
        (C::New, Channel, json!({ "prompt": "x" }), "AL"),
        (C::Resume, Channel, go_on(), "AL"),
        (C::Fork, Thread, go_on(), "AL"),
        // The last one, since nothing is linked afterwards.
        (C::Unlink, Channel, json!({}), "L"),
    ]
}

/// Says by the letters alone whether somebody may.
fn oracle(letters: &str, roles: &[u64], owner: bool) -> bool {
    let has = |letter| match letter {
        '*' => true,
        'o' => owner,
        'L' => roles.contains(&LINK),
        'A' => roles.contains(&ASK),
        _ => roles.contains(&APPROVE),
    };
    let unlocked = !roles.contains(&BARRED) || letters == "*" || (owner && letters.contains('o'));
    unlocked && letters.chars().any(has)
}

#[tokio::test]
async fn every_command_does_for_every_set_of_roles_what_the_table_says() {
    let told: std::collections::BTreeSet<_> = table().iter().map(|row| row.0.name()).collect();
    assert_eq!(told.len(), SlashCommand::ALL.len(), "each command has its row");
    let member: [&[u64]; 9] = [
        &[],
        &[199],
        &[LINK],
        &[ASK],
        &[APPROVE],
        &[ASK, APPROVE],
        &[LINK, ASK, APPROVE],
        &[BARRED],
        &[LINK, ASK, APPROVE, BARRED],
    ];
    for roles in member {
        holds("sam", roles).await;
    }
    for roles in [&[][..], &[BARRED]] {
        holds("octo", roles).await;
    }
}

/// Gives every command as somebody with these roles.
async fn holds(name: &str, roles: &[u64]) {
    let stage = Stage::new().await;
    let guild = stage.guild();
    for role in roles {
        stage.world.gives_role(name, guild.number(), *role);
    }
    let set = |number: u64| [RoleId::new(number).unwrap()].into();
    let asked = Roles { linkers: set(LINK), askers: set(ASK), approvers: set(APPROVE), barred: set(BARRED) };
    // Maya's turn is under way before her role is worth nothing any more.
    let (serving, thread, _claimed) = stage.under_way().await;
    let was = stage.store.policy(guild).await.unwrap();
    assert!(stage.store.set_policy(guild, &was, &asked, entry(AuditAction::SetPolicy, "x")).await.unwrap());
    for (command, place, options, letters) in table() {
        let before = (links(&stage).await, stage.store.policy(guild).await.unwrap(), load(&stage).await);
        let channel = if place == Where::Thread { thread } else { stage.garden().number() };
        let answer = stage.answer_to(stage.world.commands(name, channel, command.name(), &options)).await;
        let refused = answer.starts_with("I cannot do that: ");
        let about = format!("{name} with {roles:?}: /{} {options}: {answer}", command.name());
        assert_eq!(!refused, oracle(letters, roles, name == "octo"), "{about}");
        if refused {
            let now = (links(&stage).await, stage.store.policy(guild).await.unwrap(), load(&stage).await);
            assert_eq!(now, before, "nothing is done: {about}");
            let audited = stage.store.audited(guild, 1).await.unwrap().pop().unwrap().entry;
            assert_eq!(audited.actor, Some(stage.person(name)), "{about}");
            assert!(matches!(audited.ruling, Ruling::Denied(_)), "{about}");
        }
    }
    serving.stop().await;
}

async fn links(stage: &Stage) -> Vec<fro_core::chat::ChannelLink> {
    stage.store.links(stage.guild()).await.unwrap()
}

async fn load(stage: &Stage) -> (i64, i64) {
    stage.store.load(Timestamp::now()).await.unwrap()
}

#[tokio::test]
async fn who_may_only_ask_stops_their_own_turn_and_nobody_else_s() {
    let stage = Stage::new().await;
    let role = stage.guild().number() + 3;
    let was = stage.store.policy(stage.guild()).await.unwrap();
    let roles = Roles { askers: [RoleId::new(role).unwrap()].into(), ..was.roles.clone() };
    let set = entry(AuditAction::SetPolicy, "x");
    assert!(stage.store.set_policy(stage.guild(), &was, &roles, set).await.unwrap());
    let (serving, of_maya, _turn) = stage.under_way().await;
    let of_rita = stage.says("rita", "@fro-bot two");
    stage.claim().await;
    stage.until_thread(of_rita).await;
    let abort = |thread| stage.world.commands("rita", thread, "abort", &json!({}));
    let refused = stage.answer_to(abort(of_maya)).await;
    assert!(refused.starts_with("I cannot do that: this needs a role"), "{refused}");
    let stopped = stage.answer_to(abort(of_rita)).await;
    assert!(stopped.starts_with("I am ending the turn"), "{stopped}");
    serving.stop().await;
}
