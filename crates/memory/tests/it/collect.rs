//! A store does not grow for ever: old packs are packed again, and what no save needs is deleted in time.

use std::fs;

use fro_memory::{Collected, Store, collect, keep, recall};
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
    let count = |kind: &str| fs::read_dir(store.path().join(kind)).unwrap().count();
    let (manifests, packs) = (count("manifests"), count("packs"));
    assert_eq!((manifests, packs), (46, 46));

    assert_eq!(collect(&folder, Timestamp::now(), GRACE).unwrap(), Collected::default());
    let collected = collect(&folder, Timestamp::now() + SignedDuration::from_hours(73), GRACE).unwrap();

    assert_eq!(count("manifests"), 1);
    assert!(count("packs") <= 33, "{} packs", count("packs"));
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
    let pack = fs::read_dir(store.path().join("packs")).unwrap().next().unwrap().unwrap().path();
    // The pack is old, but the manifest that needs it is young: its run may still be under way.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(1_000_000);
    fs::File::options().write(true).open(&pack).unwrap().set_modified(old).unwrap();
    let other = Engine::with_sessions(0);
    folder.set_aside(&base).unwrap();
    saved(&keep(&folder, other.data(), &after(None)).unwrap());

    collect(&folder, Timestamp::now(), GRACE).unwrap();

    assert!(pack.exists());
    let late = keep(&folder, engine.data(), &after(Some(&base))).unwrap();
    assert!(late.head().is_some(), "{late:?}");
}
