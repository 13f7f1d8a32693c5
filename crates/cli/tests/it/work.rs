//! The worker: turns that wait in the store are answered by the real engine, and what is said waits in the outbox.

pub(crate) mod stage;

use fro_core::{
    chat::{Approvals, AuditAction, Ruling, UserId},
    remembered::Audience,
};
use fro_sim::model::Reply;
use serde_json::json;

use self::stage::{MAYA, SAM, Stage, entry};

#[tokio::test]
async fn a_thread_is_answered_and_goes_on_in_its_session() {
    let stage = Stage::open().await;
    let model = stage.world.model();
    model.calls("bash", json!({ "command": "cat tap.rs", "description": "look at the tap" }));
    model.says("The hose leaks at `tap.rs:12`.");
    stage.asks(42, 1, MAYA, "Why is the floor wet?").await;
    stage.work().await;
    insta::assert_snapshot!(stage.said(42).await);
    let first = stage.thread(42).await.session.unwrap();

    model.says("Since Tuesday.");
    stage.asks(42, 2, MAYA, "And since when?").await;
    stage.work().await;
    insta::assert_snapshot!(stage.said(42).await);
    assert_eq!(stage.thread(42).await.session, Some(first));
    let seen = json!(model.seen().last().unwrap().body).to_string();
    assert!(seen.contains("The hose leaks at"), "it does not know what was said: {seen}");
    stage.leaves_nothing();
}

#[tokio::test]
async fn who_has_a_role_but_no_account_is_answered_and_pushes_nothing() {
    let stage = Stage::open().await;
    let model = stage.world.model();
    model.calls("bash", json!({ "command": "git push origin HEAD:refs/heads/sam", "description": "push" }));
    model.says("I may not push.");
    stage.asks(42, 1, SAM, "fix the tap").await;
    stage.work().await;
    let told = model.seen().last().unwrap().tool_results().join("\n");
    assert!(told.contains("@discord:8 may ask questions here but not push"), "{told}");
    let said = stage.said(42).await;
    assert!(said.contains("I may not push."), "{said}");
}

#[tokio::test]
async fn who_may_push_gets_a_pull_request_from_a_branch_of_the_thread() {
    let stage = Stage::open().await;
    let model = stage.world.model();
    let command = "echo '// mended' >> tap.rs && git commit -qam 'Mend the tap' && git push origin HEAD 2>&1";
    model.calls("bash", json!({ "command": command, "description": "mend" }));
    model.says("Mended.");
    stage.asks(42, 1, MAYA, "fix the tap").await;
    stage.work().await;
    let opened = stage.world.state(|state| {
        let issues = &state.repo("octo/garden").unwrap().issues;
        let opened = issues.iter().find(|issue| issue.number > 3).unwrap();
        (opened.body.clone(), opened.pull.clone().unwrap().head_ref)
    });
    assert_eq!(opened.0, "Asked for by @maya.");
    assert!(opened.1.starts_with("opencode/thread42-20"), "{}", opened.1);
    let said = stage.said(42).await;
    assert!(said.contains(&format!("octo/garden · `{}` · ", opened.1)), "{said}");
    assert!(said.contains("/octo/garden/pull/4>)"), "{said}");
}

#[tokio::test]
async fn what_a_turn_changed_is_kept_until_the_next_one_changes_something_else() {
    let stage = Stage::open().await;
    let model = stage.world.model();
    let command = "echo '// mended' >> tap.rs && git commit -qam 'Mend the tap' && git push origin HEAD 2>&1; echo new > hose.rs";
    model.calls("bash", json!({ "command": command, "description": "mend" }));
    model.says("Mended.");
    stage.asks(42, 1, MAYA, "fix the tap").await;
    stage.work().await;
    let diff = stage.store.diff(stage::channel(42)).await.unwrap().unwrap();
    assert!(diff.contains("+// mended") && diff.contains("+++ b/hose.rs"), "{diff}");
    model.says("Nothing.");
    stage.asks(42, 2, MAYA, "anything else?").await;
    stage.work().await;
    assert_eq!(stage.store.diff(stage::channel(42)).await.unwrap(), None);
}

#[tokio::test]
async fn what_the_agent_asks_leave_for_is_done_if_people_say_yes_and_not_if_they_say_no_or_nothing() {
    let stage = Stage::open().await;
    stage.asks_leave(Approvals::Changes).await;
    let model = stage.world.model();
    for (source, answer, done) in [(1, Some("once"), true), (2, Some("reject"), false), (3, None, false)] {
        model.calls("bash", json!({ "command": "echo watered", "description": "water" }));
        model.says("All right.");
        stage.asks(42, source, MAYA, "Water the tulips.").await;
        let people = async {
            if let Some(answer) = answer {
                let asked = stage.rules(answer).await;
                assert!(asked.starts_with("**May I?** `bash: echo watered"), "{asked}");
            }
        };
        tokio::join!(stage.work(), people);
        let told = model.seen().last().unwrap().tool_results().pop().unwrap();
        assert_eq!(told.trim() == "watered", done, "{answer:?}: {told}");
        assert_eq!(told.contains("said no, or nobody said anything in time"), !done, "{told}");
        let said = stage.said(42).await;
        assert!(said.contains("All right."), "{said}");
        assert_eq!(said.contains("Nobody answered in time"), answer.is_none(), "{said}");
    }
    stage.leaves_nothing();
}

#[tokio::test]
async fn a_question_of_the_agent_is_answered_by_a_choice() {
    let stage = Stage::open().await;
    stage.asks_leave(Approvals::Rules).await;
    let model = stage.world.model();
    let options =
        json!([{ "label": "Tulips", "description": "red" }, { "label": "Roses", "description": "white" }]);
    let question = json!({ "question": "Which ones?", "header": "Flowers", "options": options });
    model.calls("question", json!({ "questions": [question] }));
    model.says("Roses it is.");
    stage.asks(42, 1, MAYA, "Water the flowers.").await;
    let people = async {
        let asked = stage.rules("Roses").await;
        assert!(asked.starts_with("**A question:** `Which ones?`"), "{asked}");
        assert!(asked.ends_with("Some([\"Tulips\", \"Roses\"])"), "{asked}");
    };
    tokio::join!(stage.work(), people);
    let told = model.seen().last().unwrap().tool_results().pop().unwrap();
    assert!(told.contains("Roses") && !told.contains("Tulips"), "{told}");
}

#[tokio::test]
async fn a_copy_of_a_session_goes_on_by_itself() {
    let stage = Stage::open().await;
    let model = stage.world.model();
    model.says("The hose leaks.");
    stage.asks(42, 1, MAYA, "Why is the floor wet?").await;
    stage.work().await;
    let original = stage.thread(42).await.session.unwrap();

    model.says("Then it is the tap.");
    stage.asks_in_copy(43, 2, &original, "What if not?").await;
    stage.work().await;
    let seen = json!(model.seen().last().unwrap().body).to_string();
    assert!(seen.contains("The hose leaks."), "it does not know what was said: {seen}");
    let copy = stage.thread(43).await.session.unwrap();
    assert_ne!(copy, original);

    model.says("Yes.");
    stage.asks(42, 3, MAYA, "Are you sure?").await;
    stage.work().await;
    let seen = json!(model.seen().last().unwrap().body).to_string();
    assert!(!seen.contains("Then it is the tap."), "the original grew: {seen}");
    assert_eq!(stage.thread(42).await.session, Some(original));
}

#[tokio::test]
async fn who_lost_the_role_meanwhile_is_refused_and_that_is_written_down() {
    let stage = Stage::open().await;
    stage.asks(42, 1, SAM, "Why is the floor wet?").await;
    stage.bar_everybody().await;
    stage.work().await;
    let refused = "say (No) 1001: I cannot do that: this needs a role that may talk to me.";
    assert_eq!(stage.said(42).await, refused);
    assert!(stage.world.model().seen().is_empty(), "a model was asked");
    let last = stage.last_decision().await;
    assert_eq!(last.ruling, Ruling::Denied("this needs a role that may talk to me".to_owned()));
}

#[tokio::test]
async fn whose_role_was_taken_away_while_the_words_waited_is_refused_and_who_has_it_is_not() {
    let stage = Stage::open().await;
    stage.asked_long_ago(42, 1, SAM, "Why is the floor wet?").await;
    stage.world.model().says("The hose leaks.");
    stage.work().await;
    let said = stage.said(42).await;
    assert!(said.contains("The hose leaks."), "{said}");
    stage.asked_long_ago(42, 2, SAM, "And now?").await;
    stage.strip_everybody();
    stage.work().await;
    let refused = "say (No) 1001: I cannot do that: this needs a role that may talk to me.";
    assert_eq!(stage.said(42).await, refused);
    assert_eq!(stage.last_decision().await.actor, UserId::new(SAM));
}

#[tokio::test]
async fn a_turn_that_somebody_stops_ends_and_says_so() {
    let stage = Stage::open().await;
    let model = stage.world.model();
    model.plays(Reply::stall());
    stage.asks(42, 1, MAYA, "Count all the tulips.").await;
    let stop = async {
        model.wait_for_calls(1).await;
        stage.store.stop(stage::channel(42), &entry(AuditAction::Abort)).await.unwrap();
    };
    tokio::join!(stage.work(), stop);
    let said = stage.said(42).await;
    assert!(said.contains("The work was stopped before it was done."), "{said}");
    model.says("Of course.");
    stage.asks(42, 2, MAYA, "Go on, please.").await;
    stage.work().await;
    let said = stage.said(42).await;
    assert!(said.contains("Of course."), "{said}");
    stage.leaves_nothing();
}

#[tokio::test]
async fn the_turn_of_a_killed_worker_is_answered_once_by_another() {
    let stage = Stage::open().await;
    let model = stage.world.model();
    model.plays(Reply::tool("bash", json!({ "command": "true", "description": "begin" })));
    model.plays(Reply::stall());
    stage.asks(42, 1, MAYA, "Why is the floor wet?").await;
    let mut killed = stage.started("first");
    model.wait_for_calls(2).await;
    stage.waits_for_words().await;
    killed.kill().unwrap();
    killed.wait().unwrap();
    // What `serve` does when its worker has ended.
    assert_eq!(stage.store.abandon("first").await.unwrap(), 1);
    model.says("The hose leaks.");
    stage.work().await;
    insta::assert_snapshot!(stage.said(42).await);
}

#[tokio::test]
async fn what_a_thread_learned_is_recalled_on_github_unless_its_channel_is_hidden() {
    for (seen_by, private, recalled) in [
        (Audience::Everyone, false, true),
        (Audience::Insiders, false, false),
        (Audience::Everyone, true, true),
        // Who can read the repository need not be in the channel.
        (Audience::Insiders, true, false),
    ] {
        let stage = Stage::open().await;
        stage.world.change(|state| state.repo_mut("octo/garden").unwrap().private = private);
        let model = stage.world.model();
        model.says("The brass coupling of the greenhouse hose is cracked.");
        stage.asks_before(seen_by, 42, 1, "Why does the greenhouse coupling drip?").await;
        stage.work().await;
        model.says("See the coupling.");
        stage.mention("@fro-bot does the greenhouse coupling still drip?").await;
        let prompt = model.seen().last().unwrap().last_user();
        assert_eq!(prompt.contains("The brass coupling"), recalled, "{seen_by:?}, {private}: {prompt}");
    }
}

/// What people can choose from is what the place may hear: sessions of runs on GitHub, and its own.
#[tokio::test]
async fn a_channel_is_told_of_sessions_on_github_and_of_no_hidden_channel_s() {
    const OPEN: (&str, Audience) = ("discord", Audience::Everyone);
    const HIDDEN: (&str, Audience) = ("discord:1", Audience::Insiders);
    let stage = Stage::open().await;
    assert_eq!(stage.recollects(OPEN, "").await, [""; 0], "nothing was said yet");
    let model = stage.world.model();
    model.says("The valve was turned the wrong way.");
    stage.mention("@fro-bot why is the floor wet?").await;
    model.says("Do not tell.");
    stage.asks_before(Audience::Insiders, 42, 1, "Where is the spare key?").await;
    stage.work().await;

    let [issue, hidden] =
        ["The floor is wet every morning (octo/garden#1)", "Where is the spare key? (octo/garden/thread/42)"];
    assert_eq!(stage.recollects(OPEN, "").await, [issue]);
    assert_eq!(stage.recollects(HIDDEN, "").await, [hidden, issue]);
    assert_eq!(stage.recollects(HIDDEN, "spare key").await, [hidden]);
    assert_eq!(stage.recollects(OPEN, "spare key").await, [""; 0]);
    assert_eq!(stage.recollects(OPEN, "valve").await, [issue]);
    assert_eq!(stage.recollects(("discord:2", Audience::Insiders), "").await, [issue]);
    stage.world.change(|state| state.repo_mut("octo/garden").unwrap().private = true);
    assert_eq!(stage.recollects(OPEN, "").await, [issue]);
    stage.leaves_nothing();
}

#[tokio::test]
async fn a_thread_goes_on_with_what_was_said_on_github() {
    let stage = Stage::open().await;
    let model = stage.world.model();
    model.says("The valve was turned the wrong way.");
    stage.mention("@fro-bot why is the floor wet?").await;
    let session = stage.last_session();
    stage.asks(42, 1, MAYA, "How do I turn it back?").await;
    stage.store.set_session(stage::channel(42), Some(&session)).await.unwrap();
    model.says("Clockwise.");
    stage.work().await;
    let seen = json!(model.seen().last().unwrap().body).to_string();
    assert!(seen.contains("turned the wrong way"), "it does not know what was said: {seen}");
    assert_eq!(stage.thread(42).await.session, Some(session));

    // And back: what was added in the thread is known on the issue.
    model.says("As I said.");
    stage.mention("@fro-bot and how is it turned back?").await;
    let seen = json!(model.seen().last().unwrap().body).to_string();
    assert!(seen.contains("Clockwise."), "the issue does not know of the thread: {seen}");
}

#[tokio::test]
async fn a_worker_that_lost_its_turn_writes_nothing_and_remembers_nothing() {
    let stage = Stage::open().await;
    let model = stage.world.model();
    model.plays(Reply::stall());
    stage.asks(42, 1, MAYA, "Why is the floor wet?").await;
    let meanwhile = async {
        model.wait_for_calls(1).await;
        stage.is_answered_elsewhere("Somebody else says this.").await;
    };
    tokio::join!(stage.work(), meanwhile);
    assert_eq!(stage.said(42).await, "say (Yes) 1001: Somebody else says this.");
    assert_eq!(stage.thread(42).await.session, None);
    assert!(!stage.remembers_anything(), "the lost turn was saved");
    stage.leaves_nothing();
}

#[tokio::test]
async fn an_engine_that_dies_is_told_and_the_thread_goes_on() {
    let stage = Stage::open().await;
    let model = stage.world.model();
    model.plays(Reply::stall());
    stage.asks(42, 1, MAYA, "Why is the floor wet?").await;
    let death = async {
        model.wait_for_calls(1).await;
        stage.kill_engine();
    };
    tokio::join!(stage.work(), death);
    let said = stage.said(42).await;
    assert!(said.contains("The engine ended in the middle of the work."), "{said}");
    model.says("Here I am.");
    stage.asks(42, 2, MAYA, "Are you there?").await;
    stage.work().await;
    let said = stage.said(42).await;
    assert!(said.contains("Here I am."), "{said}");
    stage.leaves_nothing();
}

#[tokio::test]
async fn files_that_the_agent_makes_come_with_its_answer_without_secrets() {
    let stage = Stage::open().await;
    let (model, token) = (stage.world.model(), stage.world.token("fro-bot"));
    let command = format!(
        "mkdir out && printf '\\377PNG' > out/tap.png && printf 'key {token}' > log.txt && printf '{token}' | gzip > log.gz \
         && ln -s /proc/self/environ link.txt && mkfifo pipe && head -c 6000000 /dev/zero > large.bin"
    );
    model.calls("bash", json!({ "command": command, "description": "draw" }));
    for path in ["out/tap.png", "log.txt", "log.gz", "link.txt", "large.bin"] {
        model.calls("files_attach", json!({ "path": path }));
    }
    model.calls("files_attach", json!({ "path": "one-too-many.txt" }));
    model.says("Here they are.");
    stage.asks(42, 1, MAYA, "Draw the tap.").await;
    stage.work().await;
    let told = model.seen().last().unwrap().tool_results().pop().unwrap();
    assert!(told.contains("5 files are the most"), "{told}");
    let said = stage.said(42).await;
    assert!(!said.contains(&token), "{said}");
    assert!(said.contains("-# 📎 `tap.png` 1 kB · `log.txt` 1 kB"), "{said}");
    assert!(said.contains("[tap.png: \u{fffd}PNG] [log.txt: key "), "{said}");
    for refused in [
        "Not attached: `log.gz`: there is something packed in it that looks like a secret",
        "Not attached: `link.txt`: ",
        "Not attached: `large.bin`: ",
    ] {
        assert!(said.contains(refused), "no `{refused}` in {said}");
    }
    stage.leaves_nothing();
}

#[tokio::test]
async fn an_engine_that_takes_too_much_memory_is_ended_and_the_next_turn_has_another() {
    let mut stage = Stage::open().await;
    let model = stage.world.model();
    // The engine may be ended before it asks the model: then this is left for the next turn, or for none.
    for _ in 0..2 {
        model.plays(Reply::answering(|seen| {
            if seen.last_user().contains("tulips") { Reply::stall() } else { Reply::text("Here I am.") }
        }));
    }
    stage.engine_memory = Some(1);
    stage.asks(42, 1, MAYA, "Count all the tulips.").await;
    stage.work().await;
    let said = stage.said(42).await;
    assert!(said.contains("My engine needed more than 1 kB, so I ended it."), "{said}");
    stage.engine_memory = Some(8_000_000_000);
    stage.asks(42, 2, MAYA, "Are you there?").await;
    stage.work().await;
    let said = stage.said(42).await;
    assert!(said.contains("Here I am."), "{said}");
    stage.leaves_nothing();
}

#[tokio::test]
async fn a_file_that_came_with_the_words_arrives_at_the_model() {
    let stage = Stage::open().await;
    let model = stage.world.model();
    model.says("It drips.");
    stage.asks_with_file("What is this?", ("drip.txt", "text/plain", b"drip drip drip")).await;
    stage.work().await;
    let seen = json!(model.seen().last().unwrap().body).to_string();
    assert!(seen.contains("drip drip drip"), "{seen}");
    assert!(seen.contains("`@drip.txt`: text/plain, 14 bytes, with this message"), "{seen}");
}
