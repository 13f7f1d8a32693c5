//! What is tried a second time, once: open things to do, a full session, an answer that broke off.

use fro_sim::model::Reply;
use fro_stories::Sim;
use serde_json::json;

#[tokio::test]
async fn a_model_that_left_things_undone_is_reminded_once() {
    let sim = Sim::new().await;
    let todos =
        json!({ "todos": [{ "content": "Look at the tap", "status": "pending", "priority": "high" }] });
    sim.model().calls("todowrite", todos);
    sim.model().says("I am on it.");
    sim.model().says("The tap drips.");
    let run = sim.mention("@fro-bot why?").run().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.only_comment().contains("The tap drips."), "{run}");
    let seen = sim.model().seen();
    assert_eq!(seen.len(), 3);
    assert!(seen[2].last_user().starts_with("Your list of things to do still has open items."), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn a_full_session_is_begun_anew_once() {
    let sim = Sim::new().await;
    let full = || {
        Reply::status(400)
            .body("{\"error\": {\"code\": \"context_length_exceeded\", \"message\": \"too long\"}}")
    };
    // The engine tries to summarise by itself before it gives up.
    sim.model().plays(full());
    sim.model().plays(full());
    sim.model().says("It is the seal.");
    let run = sim.mention("@fro-bot why?").run().await;
    assert_eq!(run.code, Some(0), "{run}");
    let comment = run.only_comment();
    assert!(comment.contains("It is the seal."), "{run}");
    assert!(comment.contains("the session was full, so this run began a new one"), "{comment}");
    let seen = sim.model().seen();
    assert_eq!(seen[0].last_user(), seen.last().unwrap().last_user());
    let (listed, _) = sim.command(&["sessions", "list", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let put_away: Vec<_> = listed.as_array().unwrap().iter().map(|one| one["is_archived"] == true).collect();
    assert_eq!(put_away, [false, true], "{listed}");
    sim.finish().await;
}

#[tokio::test]
async fn an_answer_that_broke_off_is_asked_for_again_once() {
    let sim = Sim::new().await;
    sim.model().plays(Reply::garbage());
    sim.model().says("It is the seal.");
    let run = sim.mention("@fro-bot why?").run().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.only_comment().contains("It is the seal."), "{run}");
    assert!(sim.model().seen()[1].last_user().starts_with("Your answer did not arrive whole."));

    sim.model().plays(Reply::garbage());
    sim.model().plays(Reply::garbage());
    let run = sim.mention("@fro-bot why?").run().await;
    assert_eq!(run.code, Some(4), "{run}");
    assert!(run.answers[1].contains("(`engine`)"), "{run}");
    sim.finish().await;
}

#[tokio::test]
async fn a_model_that_does_not_stop_is_stopped_after_its_steps() {
    let sim = Sim::new().await;
    for n in 0..2 {
        let look = json!({ "command": format!("echo {n}"), "description": "look" });
        sim.model().calls("bash", look);
    }
    // The engine may be quicker than we are.
    sim.model().plays(Reply::stall());
    let run = sim.mention("@fro-bot why?").with("max-steps", "2").run().await;
    assert_eq!(run.code, Some(4), "{run}");
    assert!(run.only_comment().contains("(`run_steps`)"), "{run}");
    sim.finish_early().await;
}
