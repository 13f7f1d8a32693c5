//! Whatever a store does to us: a run goes on, what was good stays good, and what is told is true.

use std::{collections::BTreeMap, fs, thread};

use fro_memory::{Kept, Recall, Store, keep, recall};
use jiff::Timestamp;

use crate::{
    breakable::{Breakable, BrokenBucket, BrokenCache, BrokenFolder},
    bucket::{Bucket, Fault, files},
    engine::{Engine, after, saved, say},
    github::GitHub,
};

const PREFIX: &str = "octo/garden";

const FAULTS: [(&str, Fault); 8] = [
    ("hangs", Fault::Hang),
    ("403", Fault::Status(403)),
    ("409", Fault::Status(409)),
    ("412", Fault::Status(412)),
    ("500", Fault::Status(500)),
    ("503", Fault::Status(503)),
    ("cut", Fault::Cut),
    ("lost", Fault::Lose),
];

#[test]
fn every_operation_of_a_bucket_may_fail_in_every_way() {
    insta::assert_snapshot!(table::<BrokenBucket>(&FAULTS));
}

#[test]
fn every_operation_of_the_cache_may_fail_in_every_way() {
    insta::assert_snapshot!(table::<BrokenCache>(&FAULTS));
}

#[test]
fn every_operation_of_a_folder_may_fail() {
    insta::assert_snapshot!(table::<BrokenFolder>(&[("fails", Fault::Status(500))]));
}

/// Saves once, then breaks one thing at a time while a run recalls and saves.
#[expect(clippy::print_stdout, reason = "the table is for people too")]
fn table<B: Breakable>(faults: &'static [(&'static str, Fault)]) -> String {
    let rows = thread::scope(|scope| {
        let rows = B::OPERATIONS.iter().map(|operation| {
            scope.spawn(move || {
                let cells = faults.iter().map(|(name, fault)| {
                    format!("{:16} {name:6} {}\n", operation.0, one_run::<B>(operation.1, *fault))
                });
                cells.collect::<String>()
            })
        });
        let rows: Vec<_> = rows.collect();
        rows.into_iter().map(|row| row.join().unwrap()).collect::<String>()
    });
    println!("{rows}");
    rows
}

/// Returns what a run tells when requests like this fail: what it recalled, and whether it saved.
fn one_run<B: Breakable>(operation: &str, fault: Fault) -> String {
    let place = B::open();
    let good = place.store();
    let first = Engine::with_sessions(2);
    let head = saved(&keep(&good, first.data(), &after(None)).unwrap());

    let store = if fault == Fault::Hang { place.hasty_store(operation) } else { place.store() };
    place.fail(operation, fault);
    let engine = Engine::fresh();
    let recalled = recall(&store, engine.data());
    let told = match &recalled {
        Ok(Recall::Warm { .. }) => "recalled".to_owned(),
        Ok(Recall::Cold) => "nothing there".to_owned(),
        Ok(Recall::Newer { why } | Recall::Damaged { why }) => format!("damaged: {why}"),
        Err(error) => format!("recall: {error}"),
    };
    if recalled.is_err() {
        // A run whose memory cannot be read works all the same.
        fs::remove_dir_all(engine.home()).ok();
    }
    let engine = if matches!(recalled, Ok(Recall::Warm { .. })) { engine } else { Engine::with_sessions(0) };
    say(&mut engine.connect(), 9, "said meanwhile");
    let parent = recalled.ok().and_then(|recalled| recalled.head().cloned());
    let kept = keep(&store, engine.data(), &after(parent.as_ref()));
    place.mend();

    let next = Engine::fresh();
    recall(&good, next.data()).unwrap();
    for session in ["ses_00000000", "ses_00000001"] {
        assert_eq!(next.words(session), ["The hose leaks."], "what was good is gone: {operation} {fault:?}");
    }
    let is_there = next.words("ses_00000009") == ["said meanwhile"];
    match kept {
        Ok(Kept::Saved { .. }) => {
            assert!(is_there, "it was called saved and is not there: {operation} {fault:?}");
            format!("{told}; saved")
        }
        Ok(kept) => panic!("{kept:?}"),
        Err(error) => {
            assert!(!is_there, "it was called lost and is there: {operation} {fault:?}");
            assert_eq!(good.head().unwrap(), Some(head));
            format!("{told}; save: {error}")
        }
    }
}

/// Flips one bit in each place of each object, a few at a time, and looks what a run makes of it. The sessions are short, so
/// that all that there is lies there twice.
#[test]
fn a_flipped_bit_in_a_bucket_costs_nothing_wherever_it_is() {
    let bucket = Bucket::open();
    let store = bucket.store(PREFIX);
    let engine = Engine::with_sessions(2);
    let head = saved(&keep(&store, engine.data(), &after(None)).unwrap());
    let objects = files(&bucket.files(PREFIX));
    assert_eq!(objects.len(), 3, "{objects:?}");
    let mut dice = Dice(1);
    let mut told = BTreeMap::<String, u32>::new();
    for path in objects.iter().cycle().take(90) {
        let mut bytes = fs::read(path).unwrap();
        dice.flip(&mut bytes);
        fs::write(path, &bytes).unwrap();
        let what = outcome(&store, &engine);
        let kind = path.parent().and_then(|folder| folder.file_name()).unwrap().to_str().unwrap();
        *told.entry(format!("{kind}: {what}")).or_default() += 1;

        for object in files(&bucket.files(PREFIX)) {
            fs::remove_file(object).unwrap();
        }
        let again = saved(&keep(&store, engine.data(), &after(None)).unwrap());
        assert_eq!(again, head, "saving the same again must give the same names");
    }
    insta::assert_debug_snapshot!(told);
}

/// The same in the cache, whose entries nobody can take away: the next save is found before them.
#[test]
fn a_flipped_bit_in_the_cache_costs_nothing_wherever_it_is() {
    let github = GitHub::open();
    let engine = Engine::with_sessions(2);
    saved(&keep(&github.store(), engine.data(), &after(None)).unwrap());
    let entries = github.entries();
    assert_eq!(entries.len(), 3, "{entries:?}");
    let mut dice = Dice(2);
    let mut told = BTreeMap::<String, u32>::new();
    for (key, bytes) in entries.iter().cycle().take(60) {
        let mut flipped = bytes.clone();
        dice.flip(&mut flipped);
        github.replace(key, &flipped);
        let store = github.store();
        let what = outcome(&store, &engine);
        let kind = key.split('-').take(3).collect::<Vec<_>>().join("-");
        *told.entry(format!("{kind}: {what}")).or_default() += 1;

        let number = github.count();
        saved(&keep(&store, engine.data(), &after(None)).unwrap());
        let next = Engine::fresh();
        recall(&github.store(), next.data()).unwrap();
        assert_eq!(next.remembers(), engine.remembers(), "a save after the damage is found: {key}");
        github.forget_after(number);
        github.replace(key, bytes);
    }
    insta::assert_debug_snapshot!(told);
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn flip(&mut self, bytes: &mut [u8]) {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let place = usize::try_from(self.0 >> 33).unwrap() % bytes.len();
        bytes[place] ^= 1 << (self.0 % 8);
    }
}

fn outcome(store: &Store, engine: &Engine) -> String {
    let next = Engine::fresh();
    match recall(store, next.data()).unwrap() {
        Recall::Warm { instead_of, .. } => {
            assert_eq!(next.remembers(), engine.remembers(), "a changed memory was taken for a good one");
            if instead_of.is_some() { "noticed, and healed".to_owned() } else { "harmless".to_owned() }
        }
        Recall::Newer { .. } | Recall::Damaged { .. } => {
            assert_eq!(store.head().unwrap(), None, "it is set aside once");
            assert_eq!(next.files(), Vec::<String>::new(), "nothing of it was put in place");
            "damaged, set aside".to_owned()
        }
        Recall::Cold => "not seen any more".to_owned(),
    }
}
/// A run that is killed between its upload and the head leaves nothing that hurts the next one.
#[test]
fn a_run_killed_before_the_head_moved_is_as_if_it_had_not_been() {
    let bucket = Bucket::open();
    let store = bucket.store(PREFIX);
    let first = Engine::with_sessions(1);
    let head = saved(&keep(&store, first.data(), &after(None)).unwrap());
    bucket.fail("PUT /head.3", Fault::Status(500));
    say(&mut first.connect(), 7, "lost with its run");
    keep(&store, first.data(), &after(Some(&head))).unwrap_err();
    bucket.mend();

    let next = Engine::fresh();
    recall(&store, next.data()).unwrap();
    say(&mut next.connect(), 8, "said after");
    saved(&keep(&store, next.data(), &after(Some(&head))).unwrap());
    let last = Engine::fresh();
    recall(&store, last.data()).unwrap();
    assert_eq!(last.words("ses_00000007"), Vec::<String>::new());
    assert_eq!(last.words("ses_00000008"), ["said after"]);
    let day_after = Timestamp::now() + jiff::SignedDuration::from_hours(100);
    let collected =
        fro_memory::collect_garbage(&store, day_after, jiff::SignedDuration::from_hours(72)).unwrap();
    assert!(collected.objects >= 2, "what the killed run had uploaded is collected in time: {collected:?}");
}
