//! Ten thousand histories that nobody lived: what the comments say at the end is what happened.

use fro_core::{RepoName, Secret};
use fro_review::{
    Seal,
    eval::{
        histories::{History, Rebuilt, read},
        plot::Plot,
    },
    state::{State, Status},
};

const HISTORIES: u64 = 10_000;

#[test]
fn what_the_comments_say_is_what_happened() {
    let histories: Vec<History> = (1..=HISTORIES).map(History::played).collect();
    let rebuilt = Rebuilt::count(&histories);
    println!(
        "{} histories, {} comments, {} threads of ours, wrong: {:?}",
        rebuilt.histories,
        rebuilt.comments,
        rebuilt.threads,
        rebuilt.wrong.len()
    );
    let long = histories.iter().filter(|history| history.comments.len() > 100).count();
    assert!(long >= 50, "{long}");
    let statuses: Vec<Status> =
        histories.iter().flat_map(|history| history.expect.values().copied()).collect();
    for status in [Status::Pending, Status::Resolved, Status::Disputed, Status::Escalated] {
        assert!(statuses.iter().filter(|known| **known == status).count() > 1_000, "{status:?}");
    }
    if let Some(wrong) = rebuilt.wrong.first() {
        let history = &histories[wrong - 1];
        panic!("history {wrong}: {}", serde_json::to_string_pretty(history).unwrap());
    }
}

/// Not only the status: also why a thread is settled, and who waits for an answer.
#[test]
fn why_a_thread_is_settled_and_who_waits_is_read_too() {
    for seed in 1..=2_000 {
        let (plot, history) = (Plot::make(seed), History::played(seed));
        let key = history.key.as_ref().map(Secret::new);
        let seal = Seal::new(&RepoName::parse(&history.repo).unwrap(), history.pull, key.as_ref());
        let state = State::rebuild(&history.own, &seal, &history.comments, &history.threads);
        let ids: Vec<u64> = (100..10_000).collect();
        assert_eq!(Plot::as_read(&state, &ids), plot.outcomes, "seed {seed}: {:#?}", plot.deeds);
    }
}

/// The same shape that `fro-bot eval state` reads.
#[test]
fn a_history_survives_being_written_down() {
    let line = serde_json::to_string(&History::played(6)).unwrap();
    assert_eq!(read(&line).unwrap(), [History::played(6)]);
}
