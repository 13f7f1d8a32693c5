//! A head that is gone, or was damaged, costs no save that lies there whole.

use std::fs;

use fro_core::remembered::Audience;
use fro_memory::{
    Advance, Flaw, Head, Keep, Kept, NewerSaves, Recall, RecallTarget, Repair, SessionSelection, Store,
    StoreSettings, Stores, keep, later, recall,
};

use crate::{
    bucket::Bucket,
    engine::{Engine, after, saved, say},
    github::GitHub,
};

/// Returns the heads of some saves, each with one session more.
fn saves(store: &Store, n: u32) -> Vec<Head> {
    let engine = Engine::with_sessions(0);
    let mut heads: Vec<Head> = Vec::new();
    for number in 0..n {
        say(&mut engine.connect(), number, "The hose leaks.");
        heads.push(saved(&keep(store, engine.data(), &after(heads.last())).unwrap()));
    }
    heads
}

#[track_caller]
fn goes_on_with(store: &Store, head: &Head, sessions: usize) {
    let engine = Engine::fresh();
    let recalled = recall(store, engine.data()).unwrap();
    let Recall::Warm { instead_of: Some(Flaw::Headless), .. } = &recalled else { panic!("{recalled:?}") };
    assert_eq!((recalled.head(), engine.remembers().len()), (Some(head), sessions));
}

#[test]
fn a_folder_whose_head_is_gone_is_recalled_and_saved_to() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::folder(place.path()).unwrap();
    let heads = saves(&store, 3);
    fs::remove_file(place.path().join("3/head.3")).unwrap();
    goes_on_with(&store, &heads[2], 3);

    // A run that was given nothing saves on top of it all the same.
    let engine = Engine::with_sessions(0);
    say(&mut engine.connect(), 9, "after the damage");
    let kept = keep(&store, engine.data(), &after(None)).unwrap();
    let Kept::Saved { sessions: 4, report, .. } = kept else { panic!("{kept:?}") };
    assert_eq!(report.damage.as_deref(), Some(&Flaw::Headless));
    let next = Engine::fresh();
    let recalled = recall(&store, next.data()).unwrap();
    assert!(matches!(recalled, Recall::Warm { sessions: 4, instead_of: None, .. }), "{recalled:?}");
}

#[test]
fn a_bucket_whose_head_is_gone_or_empty_is_recalled() {
    let bucket = Bucket::open();
    let store = bucket.store("octo/garden");
    let heads = saves(&store, 2);
    let head = bucket.files("octo/garden").join("3/head.3");
    fs::write(&head, "").unwrap();
    goes_on_with(&store, &heads[1], 2);
    fs::remove_file(&head).unwrap();
    goes_on_with(&store, &heads[1], 2);
}

/// A bucket knows the second in which something was stored, and so many saves may be made in one.
#[test]
fn of_the_saves_of_one_second_the_newest_is_found_though_those_between_are_damaged() {
    let bucket = Bucket::open();
    let store = bucket.store("octo/garden");
    let heads = saves(&store, 9);
    let files = bucket.files("octo/garden").join("3");
    let at = fs::metadata(files.join("head.3")).unwrap().modified().unwrap();
    for head in &heads {
        let path = files.join("manifests").join(head.as_str());
        fs::OpenOptions::new().write(true).open(path).unwrap().set_modified(at).unwrap();
    }
    for lost in heads[..8].iter().skip(1).step_by(2) {
        fs::write(files.join("manifests").join(lost.as_str()), "spoilt").unwrap();
    }
    fs::remove_file(files.join("head.3")).unwrap();
    goes_on_with(&store, &heads[8], 9);
}

/// What is copied or repaired is as young as its copy.
#[test]
fn an_old_save_that_was_stored_again_is_not_the_newest() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::folder(place.path()).unwrap();
    let heads = saves(&store, 3);
    let path = place.path().join("3/manifests").join(heads[0].as_str());
    let later = std::time::SystemTime::now() + std::time::Duration::from_mins(1);
    fs::OpenOptions::new().write(true).open(path).unwrap().set_modified(later).unwrap();
    fs::write(place.path().join("3/head.3"), "spoilt").unwrap();
    let engine = Engine::fresh();
    let recalled = recall(&store, engine.data()).unwrap();
    assert_eq!((recalled.head(), engine.remembers().len()), (Some(&heads[2]), 3), "{recalled:?}");
}

/// A memory that begins anew beside one that was set aside counts on from that.
#[test]
fn the_first_save_after_one_that_was_set_aside_is_newer_than_it() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::folder(place.path()).unwrap();
    saves(&store, 4);
    for pack in fs::read_dir(place.path().join("3/packs")).unwrap() {
        fs::write(pack.unwrap().path(), "spoilt").unwrap();
    }
    assert!(matches!(recall(&store, Engine::fresh().data()).unwrap(), Recall::Damaged { .. }));
    let engine = Engine::with_sessions(2);
    let head = saved(&Keep::new(engine.data(), after(None)).save(&store).unwrap());
    let manifest = fs::read(place.path().join("3/manifests").join(head.as_str())).unwrap();
    let manifest = zstd::decode_all(manifest.as_slice()).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(manifest["origin"]["generation"], "5");
    fs::remove_file(place.path().join("3/head.3")).unwrap();
    goes_on_with(&store, &head, 2);
}

#[test]
fn stores_tell_of_a_head_that_is_gone_and_repair_brings_it_back() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::folder(place.path()).unwrap();
    saves(&store, 2);
    fs::remove_file(place.path().join("3/head.3")).unwrap();
    let engine = Engine::fresh();
    let to = RecallTarget {
        engine_data: engine.data(),
        ledger: None,
        index: None,
        engine_version: None,
        audience: Audience::Insiders,
        given: SessionSelection::Everything,
    };
    let mut stores = Stores::open(&StoreSettings::folder(place.path()));
    let warnings = stores.recall(to, after(None).now).warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with("the newest memory in the folder is damaged: its head is gone;"),
        "{warnings:?}"
    );

    let told = stores.repair(after(None).now).remove(0).1.unwrap();
    assert!(matches!(told, Repair::PutBack { why: Flaw::Headless, sessions: 2, .. }), "{told:?}");
    assert_eq!(stores.repair(after(None).now).remove(0).1.unwrap(), Repair::Sound);
}

/// What was set aside, because nothing of it can be used, is no memory that lost its head.
#[test]
fn what_was_set_aside_is_not_found_again() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::folder(place.path()).unwrap();
    saves(&store, 2);
    for pack in fs::read_dir(place.path().join("3/packs")).unwrap() {
        fs::write(pack.unwrap().path(), "spoilt").unwrap();
    }
    let recalled = recall(&store, Engine::fresh().data()).unwrap();
    assert!(matches!(recalled, Recall::Damaged { .. }), "{recalled:?}");
    assert_eq!(recall(&store, Engine::fresh().data()).unwrap(), Recall::Cold);
    let engine = Engine::with_sessions(1);
    let kept = Keep::new(engine.data(), after(None)).save(&store).unwrap();
    assert!(matches!(kept, Kept::Saved { sessions: 1, .. }), "{kept:?}");
}

#[test]
fn a_damaged_head_in_the_cache_costs_no_save() {
    let github = GitHub::open();
    let heads = saves(&github.store(), 2);
    let (key, bytes) =
        github.entries().into_iter().rfind(|(key, _)| key.starts_with("opencode-storage-")).unwrap();
    let mut flipped = bytes.clone();
    flipped[7] ^= 2;
    github.replace(&key, &flipped);
    let engine = Engine::fresh();
    let recalled = recall(&github.store(), engine.data()).unwrap();
    assert!(matches!(recalled, Recall::Warm { instead_of: Some(_), .. }), "{recalled:?}");
    assert_eq!((recalled.head(), engine.remembers().len()), (Some(&heads[1]), 2));
}

#[test]
fn saves_after_the_head_are_counted() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::folder(place.path()).unwrap();
    let heads = saves(&store, 4);
    assert_eq!(later(&store).unwrap(), None);
    assert_eq!(store.advance(Some(&heads[3]), &heads[1]).unwrap(), Advance::Done);
    assert_eq!(later(&store).unwrap(), Some(NewerSaves { saves: 2, last: after(None).now }));
}
