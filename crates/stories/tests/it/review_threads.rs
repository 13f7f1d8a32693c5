//! Threads of the reviewer that are out of the ordinary: about files that a change leaves alone, and left half done by a run
//! that was killed.

use std::time::Duration;

use fro_sim::{FaultKind, state::Level};
use fro_stories::{Mention, REPO, Sim};
use insta::assert_snapshot;
use serde_json::json;

use crate::{
    reviewer::{
        PULL, SWELLS, answers, finding, finish_without_refusal, posts, pushed, replied, reviewer,
        seen_writes, shown, shown_by, submits_all, tap, thread,
    },
    second_reviews::{granted, heard, looking, resolves},
};

const OLD_PLAN: &str = "`README.md` still tells how to order rubber seals.";

#[tokio::test]
async fn a_finding_about_a_file_that_the_change_leaves_alone_is_kept_until_it_is_settled() {
    let sim = Sim::new().await;
    posts(&sim, finding("README.md", 1, OLD_PLAN, 9));
    submits_all(&sim, 1..=4);
    let first = pushed(&sim, "opened").await;
    assert_eq!(first.code, Some(5), "{first}");
    assert_eq!(seen_writes(&sim), ["POST octo/garden/pulls/2/reviews"], "it is part of the one review");
    let plan = thread(&sim, OLD_PLAN);

    // Something else is pushed: it is not said again, and the check stays red.
    sim.publish("new-seal", "bed.rs", "fn dig() {}\n").await;
    posts(&sim, finding("README.md", 1, "How rubber seals are ordered is still told by `README.md`.", 9));
    submits_all(&sim, 1..=4);
    let second = pushed(&sim, "synchronize").await;
    assert_eq!(second.code, Some(5), "{second}");
    assert!(heard(&sim).contains("says the same and is open"), "{}", heard(&sim));
    assert_eq!(seen_writes(&sim).len(), 1, "{:?}", seen_writes(&sim));

    // People can answer it as any other.
    answers(&sim, plan, "The garden still orders them.", false);
    let judged = replied(&sim, plan, "maya", "Nobody orders rubber any more.").await;
    assert_eq!(judged.code, Some(5), "{judged}");

    // Its own file is mended; a reason that names nothing new would not do.
    sim.publish("new-seal", "README.md", "# Garden\n\nOrder silicone seals.\n").await;
    sim.model().calls("github_get_run_state", json!({}));
    sim.model().calls(
        "github_resolve_thread",
        json!({ "thread_id": plan.to_string(), "reason": "README.md tells of silicone now." }),
    );
    submits_all(&sim, 1..=4);
    let third = pushed(&sim, "synchronize").await;
    assert_eq!(third.code, Some(0), "{third}");
    assert!(heard(&sim).contains("\"file\": \"README.md\""), "{}", heard(&sim));
    assert_snapshot!(shown(&sim));
    finish_without_refusal(sim).await;
}

/// Where a reply in a thread is posted.
const REPLIES: &str = "POST /repos/{owner}/{repo}/pulls/{number}/comments/{comment}/replies";

/// Tells whether our thread is resolved, and how many comments it has.
fn our_thread(sim: &Sim) -> (bool, usize) {
    sim.world().state(|state| {
        let pull = state.issue(REPO, PULL).and_then(|issue| issue.pull.as_ref()).expect("it is there");
        let ours = pull.threads.iter().find(|thread| thread.comments[0].author == BOT);
        ours.map(|thread| (thread.resolved, thread.comments.len())).expect("it was begun")
    })
}

/// An App, whose threads nobody else resolves in its name: with a person's token that cannot be told.
const BOT: &str = "garden-helper[bot]";

/// Lets the App look at a push.
fn looking_as_app<'a>(sim: &'a Sim, action: &str, token: &str) -> Mention<'a> {
    looking(sim, action).with("github-token", token)
}

/// Kills a run once it has resolved a thread and waits for its reply to be taken.
async fn killed_before_it_said_so(sim: &Sim, running: Mention<'_>) {
    sim.world().faults().on(REPLIES, FaultKind::Delay(Duration::from_mins(10)));
    let running = running.start();
    sim.world().faults().wait_until_held().await;
    fro_stories::signal(running.pid(), fro_stories::Signal::KILL);
    running.end().await;
}

#[tokio::test]
async fn a_run_that_was_killed_between_resolving_a_thread_and_saying_so_is_made_up_for_once() {
    let sim = Sim::new().await;
    let token = granted(&sim, BOT, Level::Write);
    posts(&sim, finding("tap.rs", 7, SWELLS, 9));
    submits_all(&sim, 1..=4);
    looking_as_app(&sim, "opened", &token).run().await;
    let swells = thread(&sim, SWELLS);
    sim.publish("new-seal", "tap.rs", &tap("", "let seal = hot_water_seal();")).await;
    resolves(&sim, swells);
    submits_all(&sim, 1..=4);
    killed_before_it_said_so(&sim, looking_as_app(&sim, "synchronize", &token)).await;
    assert_eq!(our_thread(&sim), (true, 1));
    looking_as_app(&sim, "synchronize", &token).post().run().await;

    // The same event again, and once more: what was fixed is said to be, once, and not raised again.
    for _ in 0..2 {
        resolves(&sim, swells);
        posts(&sim, finding("tap.rs", 7, "Silicone swells in hot water, which `open` ignores.", 9));
        submits_all(&sim, 1..=4);
        let again = looking_as_app(&sim, "synchronize", &token).run().await;
        assert_eq!(again.code, Some(0), "{again}");
        assert!(heard(&sim).contains("is resolved already"), "{}", heard(&sim));
        assert!(heard(&sim).contains("it was resolved as fixed"), "{}", heard(&sim));
    }
    let resolved = |write: &&String| *write == "resolveReviewThread";
    assert_eq!(seen_writes(&sim).iter().filter(resolved).count(), 1, "{:?}", seen_writes(&sim));
    assert_eq!(our_thread(&sim), (true, 2), "{}", shown_by(&sim, BOT));
    assert_snapshot!(shown_by(&sim, BOT));
    sim.finish().await;
}

#[tokio::test]
async fn a_concession_that_was_killed_before_it_was_said_is_said_once_and_not_judged_again() {
    let sim = Sim::new().await;
    let token = granted(&sim, BOT, Level::Write);
    posts(&sim, finding("tap.rs", 7, SWELLS, 9));
    submits_all(&sim, 1..=4);
    looking_as_app(&sim, "opened", &token).run().await;
    let swells = thread(&sim, SWELLS);
    let reply = sim.world().change(|state| state.reply_in_thread(REPO, swells, "maya", "It is cold water."));
    let event = sim.world().review_comment_event(REPO, reply.expect("it is there"));
    let judging = || reviewer(&sim, "pull_request_review_comment", &event).with("github-token", &token);
    answers(&sim, swells, "Right, cold water.", true);
    killed_before_it_said_so(&sim, judging()).await;
    assert_eq!(our_thread(&sim), (true, 2));
    judging().post().run().await;

    let asked = sim.model().seen().len();
    for _ in 0..2 {
        let again = judging().run().await;
        assert_eq!((again.code, sim.model().seen().len()), (Some(0), asked), "{again}");
        assert_eq!(our_thread(&sim), (true, 3), "{}", shown_by(&sim, BOT));
    }
    // What was conceded is not raised again either.
    sim.publish("new-seal", "bed.rs", "fn dig() {}\n").await;
    posts(&sim, finding("tap.rs", 7, "Silicone swells in hot water, which `open` ignores.", 9));
    submits_all(&sim, 1..=4);
    let next = looking_as_app(&sim, "synchronize", &token).run().await;
    assert_eq!(next.code, Some(0), "{next}");
    assert!(heard(&sim).contains("the point was conceded"), "{}", heard(&sim));
    assert_eq!(our_thread(&sim), (true, 3), "{}", shown_by(&sim, BOT));
    sim.finish().await;
}
