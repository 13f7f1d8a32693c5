//! Many runs on one repository at the same time: every turn of every run is there once, in order.
//!
//! Written for any store, so that `examples/many_runs.rs` can try it on servers that are not in this process.

use std::thread;

use fro_memory::{Keep, Kept, Provenance, Retention, Store, keep, recall};
use jiff::SignedDuration;

use super::engine::{Engine, NOON, add_message, after, saved, say};

/// The session that all runs continue.
const SHARED: &str = "ses_00000000";

/// Tries everything that can go wrong between so many runs, each on a store of its own opening.
pub(crate) fn go_well(runs: u32, open: impl Fn(&str) -> Store + Sync) {
    different_sessions(runs, &|| open("different"));
    one_session(runs, &|| open("same"));
    one_prunes(&|| open("pruned"));
}

/// Starts so many runs from the same memory, lets each speak, and saves all at once.
fn at_once(runs: u32, open: &(dyn Fn() -> Store + Sync), speak: &(dyn Fn(&Engine, u32) + Sync)) -> Engine {
    let base = saved(&keep(&open(), Engine::with_sessions(2).data(), &after(None)).unwrap());
    let engines: Vec<_> = (0..runs)
        .map(|number| {
            let engine = Engine::fresh();
            recall(&open(), engine.data()).unwrap();
            speak(&engine, number);
            engine
        })
        .collect();
    thread::scope(|scope| {
        for engine in &engines {
            let base = &base;
            scope.spawn(move || {
                let kept = keep(&open(), engine.data(), &after(Some(base))).unwrap();
                assert!(matches!(kept, Kept::Saved { .. }), "{kept:?}");
            });
        }
    });
    let last = Engine::fresh();
    recall(&open(), last.data()).unwrap();
    last
}

fn different_sessions(runs: u32, open: &(dyn Fn() -> Store + Sync)) {
    let last = at_once(runs, open, &|engine, number| {
        say(&mut engine.connect(), 100 + number, &format!("run {number}"));
    });
    for number in 0..runs {
        assert_eq!(last.words(&format!("ses_{:08}", 100 + number)), [format!("run {number}")]);
    }
    assert_eq!(last.words(SHARED), ["The hose leaks."]);
}

fn one_session(runs: u32, open: &(dyn Fn() -> Store + Sync)) {
    let last = at_once(runs, open, &|engine, number| {
        for turn in 0..3 {
            let id = format!("msg_{number:04}_{turn}");
            let at = NOON + 1000 * i64::from(turn + 1);
            add_message(&engine.connect(), SHARED, &id, at, &format!("run {number} turn {turn}"));
        }
    });
    let words = last.words(SHARED);
    assert_eq!(words.len(), 1 + 3 * runs as usize, "{words:?}");
    // The turns of a run stand together and in order, whoever came first.
    let mut runs_seen: Vec<_> = Vec::new();
    for turns in words[1..].chunks(3) {
        let run = turns[0].strip_suffix(" turn 0").unwrap_or_else(|| panic!("{words:?}"));
        assert_eq!(turns, [0, 1, 2].map(|turn| format!("{run} turn {turn}")));
        runs_seen.push(run.to_owned());
    }
    runs_seen.sort();
    runs_seen.dedup();
    assert_eq!(runs_seen.len(), runs as usize);
}

/// One run lets go of old sessions while another continues the oldest of them.
fn one_prunes(open: &(dyn Fn() -> Store + Sync)) {
    let base = saved(&keep(&open(), Engine::with_sessions(5).data(), &after(None)).unwrap());
    let [pruning, continuing] = [(), ()].map(|()| {
        let engine = Engine::fresh();
        recall(&open(), engine.data()).unwrap();
        engine
    });
    add_message(&continuing.connect(), SHARED, "msg_more", NOON + 9_000, "still here");
    continuing.change(&format!("UPDATE session SET time_updated = {} WHERE id = '{SHARED}'", NOON + 9_000));
    thread::scope(|scope| {
        scope.spawn(|| {
            let few = Retention { sessions: 2, age: SignedDuration::ZERO, bytes: None };
            let tomorrow = after(None).now + SignedDuration::from_hours(24);
            let provenance = Provenance { now: tomorrow, ..after(Some(&base)) };
            Keep::new(pruning.data(), provenance).pruning(few).save(&open()).unwrap();
        });
        scope.spawn(|| keep(&open(), continuing.data(), &after(Some(&base))).unwrap());
    });
    let last = Engine::fresh();
    recall(&open(), last.data()).unwrap();
    assert_eq!(last.words(SHARED), ["The hose leaks.", "still here"], "what was continued stays");
    assert_eq!(last.words("ses_00000001"), Vec::<String>::new(), "what was pruned stays away");
}
