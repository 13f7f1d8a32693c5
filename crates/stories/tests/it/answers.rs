//! A mention is answered, once, in public.

use fro_sim::FaultKind;
use fro_stories::{Person, Sim};
use insta::assert_snapshot;

const COMMENTS: &str = "POST /repos/{owner}/{repo}/issues/{number}/comments";

#[tokio::test]
async fn a_maintainer_s_mention_is_answered() {
    let sim = Sim::new().await;
    sim.model().says("The hose leaks at `tap.rs:1`.");
    let run = sim.mention("@fro-bot why is the floor wet?").by(Person::Maintainer).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert_snapshot!(run.only_comment());
    assert_snapshot!(sim.model().seen()[0].last_user());
    assert_eq!(run.reactions, ["fro-bot: hooray"]);
    assert_eq!(sim.labels(), ["bug"]);
    sim.finish().await;
}

#[tokio::test]
async fn the_agent_really_works_and_the_checkout_stays_as_it_is() {
    let sim = Sim::new().await;
    sim.model().calls(
        "bash",
        serde_json::json!({"command": "echo wet >> tap.rs && cat tap.rs", "description": "x"}),
    );
    sim.model().calls("grep", serde_json::json!({"pattern": "wet"}));
    sim.model().says("Done.");
    let run = sim.mention("@fro-bot wet the tap").run().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(fs_err::read_to_string(sim.checkout().join("tap.rs")).unwrap(), "fn tap() {}\n");
    let results = sim.model().seen()[2].tool_results();
    assert!(results[0].contains("fn tap() {}\nwet"), "{results:?}");
    assert!(results[1].contains("tap.rs") && results[1].contains("wet"), "{results:?}");
    sim.finish().await;
}

#[tokio::test]
async fn a_second_attempt_of_a_run_edits_its_own_answer() {
    let sim = Sim::new().await;
    sim.model().says("First.");
    let first = sim.mention("@fro-bot why?").run().await;
    sim.model().says("Second.");
    let second = sim.mention("").again(first.comment).run().await;
    assert_eq!(second.code, Some(0), "{second}");
    assert!(second.only_comment().contains("Second."), "{second}");
    sim.finish().await;
}

#[tokio::test]
async fn an_answer_whose_receipt_was_lost_is_posted_once() {
    let sim = Sim::new().await;
    sim.model().says("Once.");
    sim.world().faults().on(COMMENTS, FaultKind::AnswerWithheld).times(1);
    let run = sim.mention("@fro-bot why?").run().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.only_comment().contains("Once."));
    sim.finish().await;
}

#[tokio::test]
async fn a_secret_in_the_answer_is_taken_out() {
    let sim = Sim::new().await;
    let token = sim.world().token("fro-bot");
    sim.model()
        .says(format!("Your token is {} and {token}.", data_encoding::BASE64.encode(token.as_bytes())));
    let run = sim.mention("@fro-bot what is the token?").run().await;
    assert!(run.only_comment().contains("Your token is [redacted] and [redacted]."), "{run}");
    assert!(!run.log_and_errors().contains(&token), "{run}");
}
