//! A store does not grow for ever: old packs are packed again, and what no save needs is deleted in time.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use fro_memory::{Collected, Keep, Recall, Store, collect_garbage, keep, recall};
use jiff::{SignedDuration, Timestamp};

use crate::engine::{Engine, NOON, add_message, after, saved};

const GRACE: SignedDuration = SignedDuration::from_hours(72);

#[test]
fn many_saves_stay_few_packs_and_what_is_dead_goes_after_a_while() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let engine = Engine::with_sessions(3);
    let mut head = saved(&keep(&folder, engine.data(), &after(None)).unwrap());
    for number in 0..45 {
        let id = format!("msg_{number:03}");
        add_message(
            &engine.connect(),
            "ses_00000001",
            &id,
            NOON + number,
            &format!("{number} ").repeat(3000),
        );
        head = saved(&keep(&folder, engine.data(), &after(Some(&head))).unwrap());
    }
    let count = |kind: &str| fs::read_dir(store.path().join("3").join(kind)).unwrap().count();
    let (manifests, packs) = (count("manifests"), count("packs"));
    assert_eq!((manifests, packs), (46, 46));

    assert_eq!(collect_garbage(&folder, Timestamp::now(), GRACE).unwrap(), Collected::default());
    let collected =
        collect_garbage(&folder, Timestamp::now() + SignedDuration::from_hours(73), GRACE).unwrap();

    assert_eq!(count("manifests"), 1 + 3, "the newest save and the three that may stand in for it");
    assert!(count("packs") <= 33 + 3, "{} packs", count("packs"));
    let gone = manifests + packs - count("manifests") - count("packs");
    assert_eq!((collected.objects as usize, collected.bytes > 0), (gone, true));
    let next = Engine::fresh();
    recall(&folder, next.data()).unwrap();
    assert_eq!(next.remembers(), engine.remembers());
}

#[test]
fn what_a_run_started_from_stays_while_it_runs() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let engine = Engine::with_sessions(1);
    let base = saved(&keep(&folder, engine.data(), &after(None)).unwrap());
    let pack = fs::read_dir(store.path().join("3/packs")).unwrap().next().unwrap().unwrap().path();
    // The pack is old, but the manifest that needs it is young: its run may still be under way.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(1_000_000);
    fs::File::options().write(true).open(&pack).unwrap().set_modified(old).unwrap();
    let other = Engine::with_sessions(0);
    folder.set_aside(&base).unwrap();
    saved(&keep(&folder, other.data(), &after(None)).unwrap());

    collect_garbage(&folder, Timestamp::now(), GRACE).unwrap();

    assert!(pack.exists());
    let late = keep(&folder, engine.data(), &after(Some(&base))).unwrap();
    assert!(late.head().is_some(), "{late:?}");
}

#[test]
fn a_memory_that_was_set_aside_is_not_collected_with_the_old_saves() {
    for what in ["packs", "manifests"] {
        let store = tempfile::tempdir().unwrap();
        let folder = Store::folder(store.path()).unwrap();
        let engine = Engine::with_sessions(20);
        saved(&keep(&folder, engine.data(), &after(None)).unwrap());
        let damaged = objects(store.path());
        spoil(&damaged, what);
        age(&damaged, 10);

        // The next run begins anew and saves, again and again.
        assert!(matches!(recall(&folder, Engine::fresh().data()).unwrap(), Recall::Damaged { .. }));
        let next = Engine::with_sessions(1);
        let mut head = saved(&keep(&folder, next.data(), &after(None)).unwrap());
        for number in 0..6 {
            add_message(
                &next.connect(),
                "ses_00000000",
                &format!("msg_{number}_x"),
                NOON + number,
                "on it goes",
            );
            head = saved(&keep(&folder, next.data(), &after(Some(&head))).unwrap());
        }
        collect_garbage(&folder, Timestamp::now() + SignedDuration::from_hours(24), GRACE).unwrap();

        for path in &damaged {
            assert!(path.exists(), "{what}: {} is gone", path.display());
        }
        // A hundred days later nobody asked for it.
        collect_garbage(&folder, Timestamp::now() + SignedDuration::from_hours(100 * 24), GRACE).unwrap();
        assert!(damaged.iter().all(|path| !path.exists()));
    }
}

#[test]
fn what_is_forgotten_is_not_kept_by_what_was_set_aside() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let engine = Engine::with_sessions(2);
    saved(&keep(&folder, engine.data(), &after(None)).unwrap());
    let damaged = objects(store.path());
    spoil(&damaged, "packs");
    recall(&folder, Engine::fresh().data()).unwrap();
    let next = Engine::with_sessions(2);
    let head = saved(&keep(&folder, next.data(), &after(None)).unwrap());

    let forgetting = Keep::new(next.data(), after(Some(&head))).forgetting(["ses_00000001".to_owned()]);
    saved(&forgetting.save(&folder).unwrap());
    collect_garbage(&folder, Timestamp::now() + SignedDuration::from_hours(1), SignedDuration::ZERO).unwrap();

    assert!(damaged.iter().all(|path| !path.exists()));
    assert_eq!(objects(store.path()).len(), 2, "one manifest and one pack are left");
}

fn objects(store: &Path) -> Vec<PathBuf> {
    let kinds = ["manifests", "packs"].into_iter();
    kinds
        .flat_map(|kind| fs::read_dir(store.join("3").join(kind)).unwrap().map(|entry| entry.unwrap().path()))
        .collect()
}

/// Overwrites each object of a kind.
fn spoil(objects: &[PathBuf], kind: &str) {
    for path in objects.iter().filter(|path| path.parent().unwrap().ends_with(kind)) {
        let length = fs::metadata(path).unwrap().len();
        fs::write(path, vec![0xa5; usize::try_from(length).unwrap()]).unwrap();
    }
}

fn age(objects: &[PathBuf], days: u64) {
    let then = SystemTime::now() - Duration::from_secs(days * 24 * 3600);
    for path in objects {
        fs::File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
    }
}
