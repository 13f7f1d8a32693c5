//! A memory that was damaged or put back: the last whole save stands in for it, and nothing that could be used is lost.

use std::{fs, path::Path};

use fro_core::{Secret, remembered::Audience};
use fro_memory::{
    Advance, Flaw, Head, Keep, Kept, Object, ObjectName, Recall, RecallTarget, Repair, Report,
    SessionSelection, Store, StoreSettings, Stores, audit, collect_garbage, keep, recall,
};
use jiff::{SignedDuration, Timestamp};

use crate::{
    bucket::Bucket,
    engine::{Engine, NOON, add_message, after, saved, say},
    github::GitHub,
};

#[test]
fn the_last_whole_save_stands_in_for_a_damaged_one() {
    let world = World::new();
    let heads = world.saves(4);
    world.lose_pack_of(&heads[3]);
    world.spoil_manifest(&heads[2]);

    let engine = Engine::fresh();
    let recalled = recall(&world.folder, engine.data()).unwrap();
    let Recall::Warm { head, sessions, instead_of: Some(Flaw::Missing(_)), .. } = &recalled else {
        panic!("{recalled:?}")
    };
    assert_eq!((head, *sessions), (&heads[1], 2));

    // Its run saves on top of what it had, and the damaged head is out of the way.
    say(&mut engine.connect(), 50, "after the damage");
    let report = world.keep(&engine, Some(&heads[1]));
    assert!(matches!(report.damage.as_deref(), Some(Flaw::Missing(_))), "{report:?}");
    let next = Engine::fresh();
    let recalled = recall(&world.folder, next.data()).unwrap();
    assert!(matches!(recalled, Recall::Warm { sessions: 3, instead_of: None, .. }), "{recalled:?}");
    assert_eq!(next.words("ses_00000050"), ["after the damage"]);
}

/// What a run started from may be much older than the save that it is merged with.
#[test]
fn what_came_between_stands_in_before_what_the_run_started_from() {
    let world = World::new();
    let heads = world.saves(1);
    let late = world.recalled();
    let engine = world.recalled();
    let mut before = heads[0].clone();
    for turn in 1..4 {
        let id = format!("msg_turn_{turn}");
        add_message(&engine.connect(), "ses_00000000", &id, NOON + turn, &format!("turn {turn}"));
        before = world.keep_at(&engine, &before);
    }
    say(&mut late.connect(), 9, "said by a run that began before all of them");
    let head = world.keep_at(&late, &heads[0]);
    world.lose_pack_of(&head);
    world.spoil_manifest(&before);

    let words = world.recalled().words("ses_00000000");
    assert_eq!(words.last().map(String::as_str), Some("turn 2"), "{words:?}");
}

#[test]
fn every_store_falls_back() {
    let (bucket, github) = (Bucket::open(), GitHub::open());
    for store in [bucket.store("octo/garden"), github.store()] {
        let engine = Engine::with_sessions(1);
        let first = saved(&keep(&store, engine.data(), &after(None)).unwrap());
        // A head that names nothing has no parents either.
        let nothing = Head::from(ObjectName::from(blake3::hash(b"nothing")));
        assert_eq!(store.advance(Some(&first), &nothing).unwrap(), Advance::Done);
        let recalled = recall(&store, Engine::fresh().data()).unwrap();
        assert_eq!(recalled.head(), Some(&first), "{}: {recalled:?}", store.place());
        assert!(matches!(recalled, Recall::Warm { instead_of: Some(Flaw::Missing(_)), .. }), "{recalled:?}");
    }
}

#[test]
fn a_head_that_is_garbage_is_no_reason_to_begin_anew() {
    let world = World::new();
    let heads = world.saves(2);
    fs::write(world.place.path().join("3/head.3"), "garbage").unwrap();
    let recalled = recall(&world.folder, Engine::fresh().data()).unwrap();
    assert_eq!(recalled.head(), Some(&heads[1]), "{recalled:?}");
}

#[test]
fn what_was_forgotten_does_not_come_back_with_an_older_save() {
    let world = World::new();
    let heads = world.saves(3);
    let engine = world.recalled();
    let forgetting = Keep::new(engine.data(), after(Some(&heads[2]))).forgetting(["ses_00000001".to_owned()]);
    let forgot = saved(&forgetting.save(&world.folder).unwrap());
    world.lose_pack_of(&forgot);

    let next = world.recalled();
    let words = ["ses_00000000", "ses_00000001", "ses_00000002"].map(|session| next.words(session).len());
    assert_eq!(words, [1, 0, 1]);
    world.keep(&next, Some(&heads[2]));
    assert_eq!(world.recalled().words("ses_00000001"), Vec::<String>::new());
}

#[test]
fn damage_that_shows_only_while_merging_does_not_stop_a_save() {
    let world = World::new();
    let heads = world.saves(2);
    let ours = world.recalled();
    let theirs = world.recalled();
    say(&mut theirs.connect(), 60, "theirs");
    let other = world.keep_at(&theirs, &heads[1]);
    say(&mut ours.connect(), 61, "ours");
    world.spoil_body_of(&other);

    let report = world.keep(&ours, Some(&heads[1]));
    assert!(report.damage.is_some(), "{report:?}");
    assert_eq!(world.recalled().words("ses_00000061"), ["ours"]);
}

#[test]
fn a_head_that_was_put_back_deletes_nothing_of_a_run_that_began_before() {
    let world = World::new();
    let heads = world.saves(4);
    let engine = world.recalled();
    say(&mut engine.connect(), 70, "late");
    assert_eq!(world.folder.advance(Some(&heads[3]), &heads[0]).unwrap(), Advance::Done);

    let report = world.keep(&engine, Some(&heads[3]));
    assert!(report.went_back, "{report:?}");
    let next = world.recalled();
    for session in [0, 1, 2, 3, 70] {
        assert_eq!(next.words(&format!("ses_{session:08}")).len(), 1, "session {session}");
    }
}

#[test]
fn saving_an_older_run_again_does_not_undo_what_another_did_later() {
    let world = World::new();
    let heads = world.saves(1);
    let first = world.recalled();
    first.change("UPDATE session SET title = 'of the first run' WHERE id = 'ses_00000000'");
    add_message(&first.connect(), "ses_00000000", "msg_first", NOON + 9, "said by the first run");
    world.keep(&first, Some(&heads[0]));
    let second = world.recalled();
    second.change("UPDATE session SET title = 'renamed by another' WHERE id = 'ses_00000000'");
    let renamed = world.folder.head().unwrap().unwrap();
    world.keep(&second, Some(&renamed));

    world.keep(&first, Some(&heads[0]));
    let title: String = world
        .recalled()
        .connect()
        .query_one("SELECT title FROM session WHERE id = 'ses_00000000'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(title, "renamed by another");
}

#[test]
fn a_copy_in_another_store_is_better_than_an_older_save() {
    let (second, bucket) = (tempfile::tempdir().unwrap(), Bucket::open());
    let settings = StoreSettings {
        folder: Some(second.path().to_owned()),
        s3: Some(bucket.settings("octo/garden")),
        ..StoreSettings::default()
    };
    let engine = Engine::with_sessions(3);
    let mut stores = Stores::open(&settings);
    let head = saved(stores.keep(&Keep::new(engine.data(), after(None))).kept.as_ref().unwrap());
    spoil_bodies(second.path());

    let mut stores = Stores::open(&StoreSettings { s3: None, ..settings.clone() });
    assert!(matches!(recalled_from(&mut stores).recall, Recall::Damaged { .. }));
    // It was set aside; put it back as it was, and let the other store help.
    Store::folder(second.path()).unwrap().advance(None, &head).unwrap();
    let stores = Stores::open(&settings);
    let told: Vec<_> =
        stores.repair(after(None).now).into_iter().map(|(place, done)| (place, done.unwrap())).collect();
    assert!(matches!(told.as_slice(), [(_, Repair::Sound), (_, Repair::Mended { .. })]), "{told:?}");
    let recalled = recall(&Store::folder(second.path()).unwrap(), Engine::fresh().data()).unwrap();
    assert_eq!(recalled.head(), Some(&head));
}

#[test]
fn repairing_goes_back_to_the_last_whole_save_or_sets_aside() {
    let world = World::new();
    let heads = world.saves(3);
    world.lose_pack_of(&heads[2]);
    let stores = Stores::open(&StoreSettings::folder(world.place.path()));
    let told = stores.repair(after(None).now).remove(0).1.unwrap();
    assert!(matches!(told, Repair::PutBack { sessions: 2, .. }), "{told:?}");
    assert_eq!(stores.repair(after(None).now).remove(0).1.unwrap(), Repair::Sound);
    assert_eq!(world.recalled().remembers().len(), 2);

    spoil_bodies(world.place.path());
    let told = stores.repair(after(None).now).remove(0).1.unwrap();
    assert!(matches!(told, Repair::SetAside { .. }), "{told:?}");
    assert_eq!(stores.repair(after(None).now).remove(0).1.unwrap(), Repair::Empty);
}

#[test]
fn a_row_that_points_at_nothing_does_not_stop_later_saves() {
    let world = World::new();
    let heads = world.saves(1);
    let (ours, theirs) = (world.recalled(), world.recalled());
    ours.change(
        "PRAGMA foreign_keys = OFF; INSERT INTO part VALUES ('prt_lost', 'msg_lost', 'ses_lost', 1, 1, '{}')",
    );
    say(&mut ours.connect(), 80, "with a stray row");
    world.keep(&ours, Some(&heads[0]));
    say(&mut theirs.connect(), 81, "merged");
    world.keep(&theirs, Some(&heads[0]));
    assert_eq!(world.recalled().words("ses_00000081"), ["merged"]);
}

#[test]
fn a_database_without_its_migrations_is_not_kept() {
    let world = World::new();
    let engine = Engine::with_sessions(1);
    engine.change("DELETE FROM migration");
    let refused = keep(&world.folder, engine.data(), &after(None)).unwrap_err();
    assert_eq!(refused.to_string(), "the database is not sound: it lacks migrations");
}

#[test]
fn what_was_attached_is_not_kept_however_the_run_ended() {
    let world = World::new();
    let engine = Engine::with_sessions(2);
    for (id, data) in [
        ("prt_file", r#"{"type":"file","mime":"text/plain","url":"data:text/plain;base64,aG9zZQ=="}"#),
        ("prt_made", r#"{"type":"text","synthetic":true,"text":"what the file says"}"#),
        ("prt_said", r#"{"type":"text","text":"look at this"}"#),
    ] {
        let sql = "INSERT INTO part VALUES (?1, 'msg_00000000', 'ses_00000000', 1, 1, ?2)";
        engine.connect().execute(sql, [id, data]).unwrap();
    }
    world.keep(&engine, None);
    let mut words = world.recalled().words("ses_00000000");
    words.sort();
    assert_eq!(words, ["The hose leaks.", "look at this"]);
}

#[test]
fn a_value_that_is_known_to_be_secret_later_leaves_the_packs_too() {
    let world = World::new();
    let engine = Engine::with_sessions(40);
    let value = "hunter2-hunter2-hunter2";
    say(&mut engine.connect(), 90, &format!("the value is {value}"));
    let head = saved(&keep(&world.folder, engine.data(), &after(None)).unwrap());
    let secret = [Secret::new(value)];
    assert!(!audit(&world.folder, &secret).unwrap().found.is_empty());

    let next = world.recalled();
    say(&mut next.connect(), 91, "another run");
    saved(&Keep::new(next.data(), after(Some(&head))).without(secret.clone()).save(&world.folder).unwrap());
    collect_garbage(
        &world.folder,
        Timestamp::now() + SignedDuration::from_hours(100),
        SignedDuration::from_hours(72),
    )
    .unwrap();
    let audit = audit(&world.folder, &secret).unwrap();
    assert_eq!((audit.found, audit.flaws), (Vec::new(), Vec::new()));
}

/// Long sessions have frames of their own, so that damage to one is damage to no other.
#[test]
fn damage_costs_the_sessions_that_it_hit_and_no_others() {
    let world = World::new();
    let engine = Engine::with_sessions(0);
    for number in 0..6 {
        let noise: Vec<_> =
            (0..900).map(|n| blake3::hash(format!("{number} {n}").as_bytes()).to_string()).collect();
        say(&mut engine.connect(), number, &noise.join(" "));
    }
    let head = saved(&keep(&world.folder, engine.data(), &after(None)).unwrap());
    let pack = world.own_packs(&head).remove(0);
    let mut bytes = fs::read(&pack).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&pack, bytes).unwrap();

    let next = world.recalled();
    assert_eq!(next.remembers().len(), 5);
    say(&mut next.connect(), 50, "after the damage");
    let mut stores = Stores::open(&StoreSettings::folder(world.place.path()));
    let keeping = stores.keep(&Keep::new(next.data(), after(Some(&head))).only(["ses_00000050".to_owned()]));
    let [warning] = keeping.warnings.as_slice() else { panic!("{keeping:?}") };
    assert!(warning.ends_with("without 1 session that nothing has any more"), "{warning}");
    assert_eq!(stores.repair(after(None).now).remove(0).1.unwrap(), Repair::Sound);
    assert_eq!(world.recalled().remembers().len(), 6);
}

/// A folder with saves, each with one session more than the one before.
struct World {
    folder: Store,
    place: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        Self { folder: Store::folder(place.path()).unwrap(), place }
    }

    fn saves(&self, n: u32) -> Vec<Head> {
        let engine = Engine::with_sessions(0);
        let mut heads: Vec<Head> = Vec::new();
        for number in 0..n {
            say(&mut engine.connect(), number, "The hose leaks.");
            heads.push(saved(&keep(&self.folder, engine.data(), &after(heads.last())).unwrap()));
        }
        heads
    }

    fn recalled(&self) -> Engine {
        let engine = Engine::fresh();
        let recalled = recall(&self.folder, engine.data()).unwrap();
        assert!(matches!(recalled, Recall::Warm { .. }), "{recalled:?}");
        engine
    }

    fn keep(&self, engine: &Engine, parent: Option<&Head>) -> Report {
        let kept = keep(&self.folder, engine.data(), &after(parent)).unwrap();
        let Kept::Saved { report, .. } = kept else { panic!("{kept:?}") };
        report
    }

    fn keep_at(&self, engine: &Engine, parent: &Head) -> Head {
        saved(&keep(&self.folder, engine.data(), &after(Some(parent))).unwrap())
    }

    /// Returns the packs that no save but this one has.
    fn own_packs(&self, head: &Head) -> Vec<std::path::PathBuf> {
        let packs = |name: &str| -> Vec<String> {
            let bytes = fs::read(self.place.path().join("3/manifests").join(name)).unwrap();
            let Ok(text) = zstd::decode_all(bytes.as_slice()) else { return Vec::new() };
            let manifest: serde_json::Value = serde_json::from_slice(&text).unwrap();
            let packs = manifest["packs"].as_array().unwrap().iter();
            packs.map(|pack| pack["name"].as_str().unwrap().to_owned()).collect()
        };
        let others: Vec<_> = fs::read_dir(self.place.path().join("3/manifests"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != head.as_str())
            .flat_map(|name| packs(&name))
            .collect();
        let own = packs(head.as_str()).into_iter().filter(|pack| !others.contains(pack));
        let own: Vec<_> = own.map(|pack| self.place.path().join("3/packs").join(pack)).collect();
        assert!(!own.is_empty());
        own
    }

    fn lose_pack_of(&self, head: &Head) {
        self.own_packs(head).iter().for_each(|pack| fs::remove_file(pack).unwrap());
    }

    /// Spoils all chunks and leaves the last index as it is, so that only whoever unpacks them notices.
    fn spoil_body_of(&self, head: &Head) {
        self.own_packs(head).iter().for_each(|pack| spoil_body(pack));
    }

    fn spoil_manifest(&self, head: &Head) {
        let name = Object::Manifest(head.manifest().unwrap()).to_string();
        fs::write(self.place.path().join("3").join(name), "spoilt").unwrap();
    }
}

fn spoil_bodies(store: &Path) {
    for entry in fs::read_dir(store.join("3/packs")).unwrap() {
        spoil_body(&entry.unwrap().path());
    }
}

fn spoil_body(pack: &Path) {
    let mut bytes = fs::read(pack).unwrap();
    let (_, count) = bytes.split_last_chunk::<4>().unwrap();
    let index = 40 * u32::from_le_bytes(*count) as usize + 4;
    // From the first frame to the end of the last one that is there again.
    let end = bytes.len() - index;
    bytes[20..end].fill(0xa5);
    fs::write(pack, bytes).unwrap();
}

fn recalled_from(stores: &mut Stores) -> fro_memory::Recollection {
    let engine = Engine::fresh();
    let to = RecallTarget {
        engine_data: engine.data(),
        ledger: None,
        index: None,
        engine_version: None,
        audience: Audience::Insiders,
        given: SessionSelection::Everything,
    };
    stores.recall(to, after(None).now)
}
