//! Commands: what they answer, who may give them, and what is written down.

use fro_core::{
    chat::{Approvals, AuditAction, RoleId, Roles, Ruling, SlashCommand, ToldSession, say::Verbosity},
    remembered::Audience,
};
use fro_serve::{Offered, Recollected};
use fro_sim::FaultKind;
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
        if matches!(
            command,
            SlashCommand::New | SlashCommand::Resume | SlashCommand::Fork | SlashCommand::Unlink
        ) {
            continue;
        }
        let options = match command {
            SlashCommand::Link => json!({ "repo": "octo/garden" }),
            _ => json!({}),
        };
        let asked = stage.world.commands("maya", garden, command.name(), &options);
        told.push(format!("/{}\n{}", command.name(), stage.answer_to(asked).await));
    }
    // Ids and times differ from run to run.
    insta::with_settings!({ filters => [(r"\d{6,}", "N")] }, { insta::assert_snapshot!(told.join("\n\n")) });
    serving.stop().await;
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
async fn the_operator_s_file_sets_the_first_roles_and_never_again() {
    let mut stage = Stage::unlinked().await;
    let [maintainers, readers] = [2, 3].map(|offset| RoleId::new(stage.guild().number() + offset).unwrap());
    let roles = |role| Roles { linkers: [role].into(), ..Roles::default() };
    let audited = async |stage: &Stage| {
        let audited = stage.store.audited(stage.guild(), 9).await.unwrap();
        audited.iter().map(|it| (it.entry.actor, it.entry.target.clone())).collect::<Vec<_>>()
    };
    stage.first_roles = vec![(stage.guild(), roles(maintainers))];
    let serving = stage.serve().await;
    assert_eq!(stage.store.policy(stage.guild()).await.unwrap().roles, roles(maintainers));
    assert_eq!(audited(&stage).await, [(None, "the operator's file".to_owned())]);
    let garden = stage.garden().number();
    let asked = stage.world.commands("maya", garden, "audit", &json!({}));
    let answer = stage.answer_to(asked).await;
    assert!(answer.contains("the operator set-policy `the operator's file`"), "{answer}");
    serving.stop().await;

    stage.first_roles = vec![(stage.guild(), roles(readers))];
    let serving = stage.serve().await;
    assert_eq!(stage.store.policy(stage.guild()).await.unwrap().roles, roles(maintainers));
    serving.stop().await;
}

#[tokio::test]
async fn a_channel_that_is_unlinked_in_the_middle_says_so_and_drops_what_waits() {
    let stage = Stage::new().await;
    let (serving, thread, claimed) = stage.under_way().await;
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

#[tokio::test]
async fn a_session_is_chosen_in_a_menu_and_a_copy_of_one_is_gone_on_with_in_a_new_thread() {
    let stage = Stage::new().await;
    let (serving, thread, claimed) = stage.under_way().await;
    stage.store.set_session(claimed.turn.thread, Some("ses_5f3a")).await.unwrap();
    stage.finish(&claimed, "The hose.").await;
    let garden = stage.garden().number();

    let asked = stage.world.commands("maya", garden, "resume", &json!({ "prompt": "and now?" }));
    // No worker is there, which is said as well.
    assert!(stage.answer_to(asked).await.starts_with("Choose the session to go on with:\n-# No worker"));
    let menu = stage
        .world
        .state(|chat| chat.messages.iter().find(|it| it.interaction == Some(asked)).map(|it| it.id).unwrap());
    // Nobody else's prompt is said, and no session of elsewhere is gone on with.
    let others = stage.world.chooses("octo", garden, menu, ("pick:session", &["ses_5f3a"]));
    assert_eq!(stage.answer_to(others).await, "This button is not good any more.");
    let chosen = stage.world.chooses("maya", garden, menu, ("pick:session", &["ses_5f3a"]));
    assert!(stage.answer_to(chosen).await.starts_with("I go on in <#"));
    let claimed = stage.claim().await;
    let resumed = stage.store.thread(claimed.turn.thread).await.unwrap().unwrap();
    assert_eq!(
        (resumed.session.as_deref(), claimed.turn.words.text.as_str()),
        (Some("ses_5f3a"), "and now?")
    );
    stage.finish(&claimed, "Still the hose.").await;
    // Two threads share the session now, and a menu has each choice once.
    let again = stage.world.commands("maya", garden, "resume", &json!({ "prompt": "and now?" }));
    stage.answer_to(again).await;
    assert_eq!(stage.offered_in(again), ["ses_5f3a"]);

    let asked = stage.world.commands("maya", thread, "fork", &json!({ "prompt": "what if not?" }));
    assert!(stage.answer_to(asked).await.starts_with("I go on in <#"));
    let claimed = stage.claim().await;
    let forked = stage.store.thread(claimed.turn.thread).await.unwrap().unwrap();
    assert_eq!((forked.session, forked.forked_from.as_deref()), (None, Some("ses_5f3a")));
    assert_eq!((forked.channel, claimed.turn.words.text.as_str()), (stage.garden(), "what if not?"));
    stage.until_thread(forked.id.number()).await;
    let nothing = stage.world.commands("maya", forked.id.number(), "fork", &json!({ "prompt": "again" }));
    assert!(stage.answer_to(nothing).await.starts_with("This thread has no session yet."));

    let search = |words: &str| stage.world.commands("maya", garden, "sessions", &json!({ "search": words }));
    let found = stage.answer_to(search("NOW")).await;
    assert!(
        found.contains(&format!("<#{}>", resumed.id)) && !found.contains(&format!("<#{thread}>")),
        "{found}"
    );
    // Neither a sign of the database's nor how it writes words down is looked for.
    for words in ["100%", "roles", "{"] {
        assert!(stage.answer_to(search(words)).await.starts_with("There is no session"), "{words}");
    }
    serving.stop().await;
}

/// A worker that lives is asked what the memory has; here the test is that worker.
#[tokio::test]
async fn sessions_of_runs_on_github_are_told_and_offered() {
    let stage = Stage::new().await;
    let serving = stage.serve().await;
    let garden = stage.garden().number();
    stage.store.greet("w", Timestamp::now()).await.unwrap();
    let told = async |told: Recollected| {
        loop {
            if let Some((id, question)) = stage.store.take_memory_question(Timestamp::now()).await.unwrap() {
                stage.store.tell_memory(id, &told).await.unwrap();
                return question;
            }
            tokio::task::yield_now().await;
        }
    };
    let on_issue = ToldSession {
        id: "ses_issue7".to_owned(),
        title: "why? `@everyone` (octo/garden#7)".to_owned(),
        updated: Timestamp::UNIX_EPOCH,
    };
    let asked = stage.world.commands("maya", garden, "sessions", &json!({ "search": "floor" }));
    let question = told(Recollected::Sessions(vec![on_issue.clone()])).await;
    let [wanted, repository] = ["floor", "octo/garden"];
    assert_eq!((question.words.as_str(), question.repository.to_string().as_str()), (wanted, repository));
    assert_eq!((question.place.as_str(), question.seen_by), ("discord", Audience::Everyone));
    let listed = "`ses_issue7` `why? ˋ@everyoneˋ (octo/garden#7)` <t:0:f>";
    assert_eq!(stage.answer_to(asked).await, listed);

    let asked = stage.world.commands("maya", garden, "resume", &json!({ "prompt": "and now?" }));
    told(Recollected::Sessions(vec![on_issue])).await;
    assert_eq!(stage.answer_to(asked).await, "Choose the session to go on with:");
    assert_eq!(stage.offered_in(asked), ["ses_issue7"]);
    let menu = stage
        .world
        .state(|chat| chat.messages.iter().find(|it| it.interaction == Some(asked)).map(|it| it.id).unwrap());
    stage.world.chooses("maya", garden, menu, ("pick:session", &["ses_issue7"]));
    let claimed = stage.claim().await;
    let thread = stage.store.thread(claimed.turn.thread).await.unwrap().unwrap();
    assert_eq!(thread.session.as_deref(), Some("ses_issue7"));
    stage.finish(&claimed, "As I said.").await;

    let asked = stage.world.commands("maya", garden, "sessions", &json!({}));
    told(Recollected::Unread).await;
    let answer = stage.answer_to(asked).await;
    assert!(
        answer.contains("<#") && answer.ends_with("sessions of runs on GitHub are missing here."),
        "{answer}"
    );
    serving.stop().await;
}

#[tokio::test]
async fn what_a_thread_came_to_is_shown_as_a_file() {
    let stage = Stage::new().await;
    let (serving, thread, claimed) = stage.under_way().await;
    let diff = |name: &str| stage.world.commands(name, thread, "diff", &json!({}));
    assert_eq!(stage.answer_to(diff("maya")).await, "The last turn in this thread changed no file.");
    let patch = "--- a/tap.rs\n+++ b/tap.rs\n+key planted-secret-value\n";
    stage.store.keep_diff(claimed.lease, Some(patch)).await.unwrap();
    stage.finish(&claimed, "The hose @everyone.").await;
    let [shown, shared] = [diff("maya"), stage.world.commands("maya", thread, "share", &json!({}))];
    let mut files = Vec::new();
    for asked in [shown, shared] {
        stage.answer_to(asked).await;
        files.push(stage.world.state(|chat| {
            let answer = chat.messages.iter().find(|it| it.interaction == Some(asked)).unwrap();
            let [file] = &answer.files[..] else { panic!("{answer:?}") };
            format!("{}\n{}", file.name, String::from_utf8_lossy(&file.bytes))
        }));
    }
    insta::with_settings!({ filters => [(r"\d{6,}", "N")] }, { insta::assert_snapshot!(files.join("\n")) });
    let refused = "I cannot do that: this needs a role that may talk to me.";
    assert_eq!(stage.answer_to(diff("sam")).await, refused);
    serving.stop().await;
}

#[tokio::test]
async fn models_and_agents_that_workers_offer_are_chosen_in_a_menu() {
    let stage = Stage::new().await;
    let models = ["sim/tulip", "sim/rose"].map(str::to_owned);
    stage.store.offer(Offered::Model, &models).await.unwrap();
    let serving = stage.serve().await;
    let garden = stage.garden().number();
    let asked = stage.world.commands("maya", garden, "model", &json!({}));
    stage.answer_to(asked).await;
    let menu = stage
        .world
        .state(|chat| chat.messages.iter().find(|it| it.interaction == Some(asked)).map(|it| it.id).unwrap());
    assert_eq!(stage.offered_in(asked), ["usual", "sim/rose", "sim/tulip"]);
    let choose = |name: &str, value: &str| stage.world.chooses(name, garden, menu, ("pick:model", &[value]));
    assert!(stage.answer_to(choose("sam", "sim/rose")).await.starts_with("I cannot do that"));
    assert!(stage.answer_to(choose("maya", "evil model")).await.starts_with("That is no name"));
    assert!(stage.answer_to(choose("maya", "sim/rose")).await.contains("Model: `sim/rose`."));
    let link = stage.store.link_of(stage.garden()).await.unwrap().unwrap();
    assert_eq!(link.settings.model.as_deref(), Some("sim/rose"));
    serving.stop().await;
}

#[tokio::test]
async fn how_much_is_shown_and_what_leave_is_asked_for_is_set_by_channel() {
    let stage = Stage::new().await;
    let serving = stage.serve().await;
    let garden = stage.garden().number();
    let set = |name: &str, command: &str, option: &str, value: &str| {
        stage.world.commands(name, garden, command, &json!({ option: value }))
    };
    assert!(stage.answer_to(set("sam", "verbosity", "show", "all")).await.starts_with("I cannot do that"));
    assert!(stage.answer_to(set("rita", "approvals", "ask", "rules")).await.starts_with("I cannot do that"));
    stage.answer_to(set("maya", "verbosity", "show", "all")).await;
    let told = stage.answer_to(set("maya", "approvals", "ask", "changes")).await;
    assert!(
        told.contains("Shown: words and every tool. I ask leave for what the engine's rules say, every"),
        "{told}"
    );
    let settings = stage.store.link_of(stage.garden()).await.unwrap().unwrap().settings;
    assert_eq!((settings.verbosity, settings.approvals), (Verbosity::All, Approvals::Changes));
    serving.stop().await;
}

#[tokio::test]
async fn an_answer_that_discord_refuses_is_told() {
    let stage = Stage::new().await;
    let serving = stage.serve().await;
    let answers = "PATCH /api/v10/webhooks/{application}/{token}/messages/{message}";
    let refused =
        FaultKind::Answer { status: 400, headers: Vec::new(), body: r#"{"code":50035}"#.to_owned() };
    stage.world.faults().on(answers, refused);
    let asked = stage.world.commands("maya", stage.garden().number(), "status", &json!({}));
    assert!(stage.answer_to(asked).await.starts_with("I have done what I could"));
    serving.stop().await;
}
