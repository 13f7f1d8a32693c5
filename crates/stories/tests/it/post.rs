//! A run that was killed is finished by the step after it.

use fro_sim::{model::Reply, state::CacheAccess};
use fro_stories::{Mention, REPO, Signal, Sim, signal};

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
    assert!(post.log.contains("memory saved: 1 session"), "{post}");
    let again = sim.mention("").again(killed.comment).post().run().await;
    assert_eq!((again.code, again.log_and_errors().as_str()), (Some(0), ""));

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

/// Lets a run of a workflow on `main` keep its memory in the Actions cache, and nowhere else.
fn cached<'a>(sim: &Sim, mention: Mention<'a>) -> Mention<'a> {
    cached_as(sim, mention, CacheAccess::Write)
}

fn cached_as<'a>(sim: &Sim, mention: Mention<'a>, access: CacheAccess) -> Mention<'a> {
    let world = sim.world();
    let token = world.change(|state| state.start_run(REPO, &["refs/heads/main"], access));
    mention
        .variable("FRO_MEMORY", "")
        .variable("ACTIONS_RESULTS_URL", world.actions_url())
        .variable("ACTIONS_RUNTIME_TOKEN", token)
        .variable("ACTIONS_CACHE_SERVICE_V2", "True")
        .variable("GITHUB_SERVER_URL", "https://github.com")
}

#[tokio::test]
async fn what_a_killed_run_s_post_puts_into_the_cache_is_found_by_the_next_run() {
    let sim = Sim::new().await;
    sim.model().plays(Reply::stall());
    let run = cached(&sim, sim.mention("@fro-bot is it the brass coupling?")).start();
    sim.model().wait_for_calls(1).await;
    signal(run.pid(), Signal::KILL);
    let killed = run.end().await;
    let post = cached(&sim, sim.mention("").again(killed.comment).post()).run().await;
    assert!(post.log.contains("memory saved: 1 session"), "{post}");

    sim.model().says("It is.");
    let next = cached(&sim, sim.mention("@fro-bot well?")).variable("GITHUB_RUN_ID", "43").run().await;
    assert_eq!(next.code, Some(0), "{next}");
    let seen = sim.model().seen();
    assert_eq!(seen[0].session, seen[1].session);
    assert!(seen[1].render().contains("is it the brass coupling?"), "{}", seen[1].render());
    let keys: Vec<String> = sim.world().state(|state| {
        let finished = state.caches.iter().filter(|entry| entry.bytes().is_some());
        finished.map(|entry| entry.key.clone()).filter(|key| key.starts_with("opencode-storage")).collect()
    });
    assert_eq!(
        keys,
        [
            "opencode-storage-github-octo/garden-main-Linux-1-42-1",
            "opencode-storage-github-octo/garden-main-Linux-2-43-1"
        ]
    );
    sim.finish().await;
}

#[tokio::test]
async fn a_killed_run_s_memory_is_stamped_with_the_engine_that_ran() {
    const OLDER: &str = "1.17.19";
    let sim = Sim::new().await;
    sim.model().plays(Reply::stall());
    let run = sim.mention("@fro-bot is it the brass coupling?").with("opencode-version", OLDER).start();
    sim.model().wait_for_calls(1).await;
    signal(run.pid(), Signal::KILL);
    let killed = run.end().await;
    // The step after it is not told of the older engine.
    let post = sim.mention("").again(killed.comment).post().run().await;
    assert!(post.log.contains("memory saved: 1 session"), "{post}");

    sim.model().says("It is.");
    let next = sim.mention("@fro-bot well?").with("opencode-version", OLDER);
    let next = next.variable("GITHUB_RUN_ID", "43").run().await;
    assert!(next.only_comment().contains("| Memory | hit, 1 session"), "{next}");
    sim.finish().await;
}

#[tokio::test]
async fn that_nothing_could_be_saved_stands_in_the_answer_s_summary() {
    let sim = Sim::new().await;
    // The first run finds out when it saves, the second one is told by the runner before.
    for (run, mode) in [("42", ""), ("43", "read")] {
        sim.model().says("It is the seal.");
        let mention =
            sim.mention("@fro-bot why?").variable("GITHUB_RUN_ID", run).variable("ACTIONS_CACHE_MODE", mode);
        let run = cached_as(&sim, mention, CacheAccess::ReadOnly).run().await;
        assert_eq!(run.code, Some(0), "{run}");
        let (answer, saved) =
            (run.answers.last().unwrap(), "> ⚠️ the memory was not saved to the Actions cache");
        assert_eq!(answer.matches(saved).count(), 1, "{answer}");
        assert!(answer.trim_end().ends_with("</details>"), "{answer}");
        assert_eq!(run.log_and_errors().matches("the memory was not saved to").count(), 1, "{run}");
    }
    let edits = sim.world().traffic().into_iter().filter(|call| call.method == "PATCH").count();
    assert_eq!(edits, 1, "what is known before is written at once");
    sim.finish().await;
}
