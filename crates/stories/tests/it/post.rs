//! A run that was killed is finished by the step after it.

use fro_sim::model::Reply;
use fro_stories::{Signal, Sim, signal};

fn output(sim: &Sim) -> String {
    fs_err::read_to_string(sim.folder().join("output")).unwrap_or_default()
}

#[tokio::test]
async fn a_killed_run_is_saved_and_the_next_one_goes_on() {
    let sim = Sim::new().await;
    sim.model().plays(Reply::stall());
    let run = sim.mention("@fro-bot is it the brass coupling?").start();
    sim.model().wait_for_calls(1).await;
    signal(run.pid(), Signal::KILL);
    let killed = run.end().await;
    assert_eq!((killed.code, killed.reactions.as_slice()), (None, ["fro-bot: eyes".to_owned()].as_slice()));
    assert!(!output(&sim).contains("memory-saved"), "{}", output(&sim));

    let post = sim.mention("").again(killed.comment).post().run().await;
    assert_eq!((post.code, post.reactions.len(), post.answers.len()), (Some(0), 0, 0), "{post}");
    assert_eq!(sim.labels(), ["bug"]);
    assert!(post.log.contains("memory saved: 1 sessions"), "{post}");
    let again = sim.mention("").again(killed.comment).post().run().await;
    assert_eq!((again.code, again.told().as_str()), (Some(0), ""));

    sim.model().says("It is.");
    let next = sim.mention("@fro-bot well?").variable("GITHUB_RUN_ID", "43").run().await;
    assert_eq!(next.code, Some(0), "{next}");
    let seen = sim.model().seen();
    assert_eq!(seen[0].session, seen[1].session);
    assert!(seen[1].render().contains("is it the brass coupling?"), "{}", seen[1].render());
    let output = output(&sim);
    assert!(output.contains("session-id=ses_") && output.contains("cache-status=hit\n"), "{output}");
    assert!(output.contains("memory-saved=true\n") && output.contains("comment-url=http"), "{output}");
    sim.finish().await;
}
