//! A value that is known to be secret only later leaves a memory that is too large to be looked over by one save.

use std::{collections::BTreeSet, fs, path::Path};

use fro_core::Secret;
use fro_memory::{
    Head, Keep, Kept, RecallTarget, Retention, SessionSelection, Store, StoreSettings, Stores, audit,
    collect_garbage, recall_to,
};
use jiff::{SignedDuration, Timestamp};
use tempfile::TempDir;

use crate::{
    bucket::Bucket,
    engine::{Engine, after, saved, say},
};

const VALUE: &str = "correct-horse-battery-staple";
const KEY: &str = "a-key-that-all-runs-have-42";

/// A store with many sessions, in the last of which the value stands.
struct World {
    place: TempDir,
    folder: Store,
    head: Head,
}

impl World {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let folder = Store::folder(place.path()).unwrap();
        let engine = Engine::with_sessions(0);
        for number in 0..60 {
            let noise: Vec<_> =
                (0..160).map(|n| blake3::hash(format!("{number} {n}").as_bytes()).to_string()).collect();
            say(&mut engine.connect(), number, &noise.join(" "));
        }
        say(&mut engine.connect(), 99, &format!("{} {VALUE}", "some words ".repeat(900)));
        let keep = Keep::new(engine.data(), after(None)).pruning(Retention::EVERYTHING);
        let head = saved(&keep.without([Secret::new(KEY)]).save(&folder).unwrap());
        Self { place, folder, head }
    }

    /// Saves a run that is given no session and begins one.
    fn run(&mut self, number: u32, with: impl for<'a> FnOnce(Keep<'a>) -> Keep<'a>) -> u64 {
        let engine = Engine::fresh();
        let to = RecallTarget {
            engine_data: engine.data(),
            ledger: None,
            index: None,
            engine_version: None,
            audience: fro_core::remembered::Audience::Insiders,
            given: SessionSelection::About("octo/garden#1"),
        };
        recall_to(&self.folder, to).unwrap();
        if !engine.database().exists() {
            drop(engine.begin());
        }
        say(&mut engine.connect(), number, "another run");
        let keep = Keep::new(engine.data(), after(Some(&self.head))).pruning(Retention::EVERYTHING);
        let kept =
            with(keep.without([Secret::new(KEY)]).only([format!("ses_{number:08}")])).save(&self.folder);
        let Kept::Saved { head, uploaded, .. } = kept.unwrap() else { panic!("not saved") };
        self.head = head;
        uploaded
    }

    fn has_value(&self) -> bool {
        let (now, grace) =
            (Timestamp::now() + SignedDuration::from_hours(100), SignedDuration::from_hours(72));
        collect_garbage(&self.folder, now, grace).unwrap();
        let audit = audit(&self.folder, &[Secret::new(VALUE)]).unwrap();
        assert_eq!(audit.flaws, Vec::<String>::new());
        !audit.found.is_empty()
    }

    /// Returns the marks of values that each pack of the newest save was searched for.
    fn marks(&self) -> Vec<BTreeSet<String>> {
        marks(self.place.path(), &self.head)
    }
}

fn marks(place: &Path, head: &Head) -> Vec<BTreeSet<String>> {
    let name = place.join("3/manifests").join(head.as_str());
    let json = zstd::decode_all(fs::read(name).unwrap().as_slice()).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let noted = manifest["origin"]["searched for"].as_str().unwrap().to_owned();
    let packs = noted.split(' ').skip(1).map(|pack| pack.split_once(':').unwrap());
    let packs = packs.filter(|(pack, _)| *pack != "seen").map(|(_, marks)| marks);
    packs.map(|marks| marks.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn a_value_that_becomes_known_later_leaves_all_packs_with_the_next_save() {
    let mut world = World::new();
    world.run(100, |keep| keep);
    assert!(world.has_value(), "nobody knew that it is one");
    let before = world.marks();
    assert!(before.iter().all(|marks| marks.len() == 1), "{before:?}");

    world.run(101, |keep| keep.without([Secret::new(VALUE)]));
    assert!(!world.has_value());
    let after = world.marks();
    assert!(after.iter().all(|marks| marks.len() == 2), "{after:?}");
    assert!(world.run(102, |keep| keep.without([Secret::new(VALUE)])) < 20_000, "once is enough");
}

#[test]
fn a_value_that_may_be_of_one_run_alone_is_looked_for_when_it_comes_again() {
    let mut world = World::new();
    world.run(100, |keep| keep.without_passing([Secret::new(VALUE)]));
    assert!(world.has_value());
    world.run(101, |keep| keep.without_passing([Secret::new("of-that-run-alone-1234")]));
    assert!(world.has_value());
    world.run(102, |keep| keep.without_passing([Secret::new(VALUE)]));
    assert!(!world.has_value());
}

/// What a run wrote that did not know a value was never searched for it.
#[test]
fn what_was_written_without_knowing_a_value_is_searched_later() {
    let mut world = World::new();
    world.run(100, |keep| keep.without([Secret::new(VALUE)]));
    assert!(!world.has_value());
    world.run(101, |keep| keep);
    let marks = world.marks();
    assert_eq!(marks.iter().map(BTreeSet::len).min(), Some(1), "{marks:?}");
    world.run(102, |keep| keep.without([Secret::new(VALUE)]));
    let marks = world.marks();
    assert!(marks.iter().all(|marks| marks.len() == 2), "{marks:?}");
}

/// What was brought to another store need not be searched there for what it was searched for before.
#[test]
fn a_memory_that_moves_keeps_what_it_was_searched_for() {
    let (world, bucket) = (World::new(), Bucket::open());
    let s3 = Some(bucket.settings("octo/garden"));
    let both = StoreSettings { s3, ..StoreSettings::folder(world.place.path()) };
    let engine = Engine::fresh();
    let to = RecallTarget {
        engine_data: engine.data(),
        ledger: None,
        index: None,
        engine_version: None,
        audience: fro_core::remembered::Audience::Insiders,
        given: SessionSelection::About("octo/garden#1"),
    };
    let recollection = Stores::open(&both).recall(to, after(None).now);
    let marks = marks(&bucket.files("octo/garden"), recollection.recall.head().unwrap());
    assert_eq!(marks, world.marks());
}
