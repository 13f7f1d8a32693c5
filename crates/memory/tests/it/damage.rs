//! Whatever happens to the stored bytes, the start is clean and the next save works.

use std::{
    fs,
    path::{Path, PathBuf},
};

use proptest::{
    prelude::{ProptestConfig, any, proptest},
    sample::Index,
};
use tempfile::TempDir;

use fro_memory::{Error, Flaw, Folder, Recall, keep, recall};

use crate::engine::{Engine, after, saved};

/// Leaves every page readable and the content wrong.
const BROKEN_RULE: &str = "PRAGMA writable_schema = ON; \
    UPDATE sqlite_schema SET sql = replace(sql, 'owner_id text', 'owner_id text NOT NULL')";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn one_flipped_bit_anywhere_is_damage(file in 0..3_usize, place in any::<Index>(), bit in 0..8_u8) {
        let store = kept();
        spoil(&files(store.path())[file], |bytes| {
            let byte = place.get_mut(bytes);
            *byte ^= 1 << bit;
        });
        starts_clean(store.path());
    }

    #[test]
    fn a_cut_file_is_damage(file in 0..3_usize, place in any::<Index>()) {
        let store = kept();
        spoil(&files(store.path())[file], |bytes| bytes.truncate(place.index(bytes.len())));
        starts_clean(store.path());
    }
}

#[test]
fn a_missing_object_is_damage() {
    for file in 0..2 {
        let store = kept();
        fs::remove_file(&files(store.path())[file]).unwrap();
        let why = starts_clean(store.path());
        assert!(matches!(why, Flaw::Missing(_)), "{why:?}");
    }
}

#[test]
fn a_head_that_leads_elsewhere_is_damage() {
    for text in ["", "../../../etc/passwd", "\u{0}", "head", &"a".repeat(100_000)] {
        let store = kept();
        fs::write(store.path().join("head"), text).unwrap();
        assert_eq!(starts_clean(store.path()), Flaw::Head);
    }
}

#[test]
fn a_memory_of_another_release_is_set_aside_and_not_lost() {
    let store = kept();
    let folder = Folder::open(store.path()).unwrap();
    let before = folder.head().unwrap().unwrap();
    let newer = folder.put(&br#"{"format":2,"tree":"of another shape"}"#[..]).unwrap().name;
    folder.advance(Some(&before), newer).unwrap();

    assert_eq!(starts_clean(store.path()), Flaw::Format { found: 2, readable: 1 });
    let aside: Vec<_> =
        fs::read_dir(store.path().join("aside")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(
        aside.iter().map(|path| fs::read_to_string(path).unwrap()).collect::<Vec<_>>(),
        [newer.to_string()]
    );
}

#[test]
fn a_hostile_memory_with_right_hashes_is_damage() {
    let bomb = packed(&vec![0; 50_000_000]);
    let cases = [
        ("a bomb", forged(&bomb, 4096, 1)),
        ("too large a claim", forged(&bomb, u64::MAX, 1)),
        ("not zstd", forged(b"not zstd", 8, 1)),
        ("not SQLite", forged(&packed(b"not a database"), 14, 1)),
        ("wrong count", forged_from("", 9)),
        (
            "trigger",
            forged_from("CREATE TRIGGER t AFTER INSERT ON message BEGIN DELETE FROM session; END", 1),
        ),
        ("view", forged_from("CREATE VIEW v AS SELECT 1", 1)),
        ("virtual table", forged_from("CREATE VIRTUAL TABLE f USING fts5(x)", 1)),
        ("rows that break a rule", forged_from(BROKEN_RULE, 1)),
        ("no sessions", forged_from("DROP TABLE session", 0)),
    ];
    let told: Vec<_> =
        cases.iter().map(|(what, store)| format!("{what}: {}", starts_clean(store.path()))).collect();
    insta::assert_debug_snapshot!(told, @r#"
    [
        "a bomb: the database does not match its manifest: it does not have 4096 bytes",
        "too large a claim: the database is larger than 4294967296 bytes",
        "not zstd: the database does not match its manifest: Unknown frame descriptor",
        "not SQLite: the database is not sound: file is not a database",
        "wrong count: the database does not match its manifest: it has 1 sessions",
        "trigger: the database is not sound: the engine makes no trigger t",
        "view: the database is not sound: the engine makes no view v",
        "virtual table: the database is not sound: the engine makes no virtual table f",
        "rows that break a rule: the database is not sound: NULL value in event_sequence.owner_id",
        "no sessions: the database is not sound: no such table: session",
    ]
    "#);
}

#[test]
fn a_damaged_database_of_the_engine_is_not_kept() {
    let store = tempfile::tempdir().unwrap();
    let folder = Folder::open(store.path()).unwrap();
    let engine = Engine::with_sessions(500);
    let good = saved(&keep(&folder, engine.data(), &after(None)).unwrap());
    engine.connect().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    spoil(&engine.database(), |bytes| bytes[4096 * 4..4096 * 20].fill(0x5a));

    let refused = keep(&folder, engine.data(), &after(Some(&good))).unwrap_err();
    assert!(matches!(refused, Error::Flawed(Flaw::Unsound(_))), "{refused:?}");
    assert_eq!(folder.head().unwrap(), Some(good));
}

/// Recalls from a damaged store, makes sure that nothing was restored and that memory works again, and returns
/// what was said about the damage.
#[track_caller]
fn starts_clean(store: &Path) -> Flaw {
    let folder = Folder::open(store).unwrap();
    let engine = Engine::fresh();
    let recalled = recall(&folder, engine.data()).unwrap();
    let Recall::Damaged { why } = recalled else { panic!("{recalled:?}") };
    assert_eq!(engine.files(), Vec::<String>::new());

    let next = Engine::with_sessions(1);
    assert_eq!(recall(&folder, next.data()).unwrap(), Recall::Cold);
    saved(&keep(&folder, next.data(), &after(None)).unwrap());
    assert!(matches!(recall(&folder, Engine::fresh().data()).unwrap(), Recall::Warm { sessions: 1, .. }));
    why
}

/// Returns a store with one save.
fn kept() -> TempDir {
    let store = tempfile::tempdir().unwrap();
    let folder = Folder::open(store.path()).unwrap();
    saved(&keep(&folder, Engine::with_sessions(2).data(), &after(None)).unwrap());
    store
}

/// Returns a store whose head leads to these bytes by hashes that are all right.
fn forged(object: &[u8], bytes: u64, sessions: u32) -> TempDir {
    let store = tempfile::tempdir().unwrap();
    let folder = Folder::open(store.path()).unwrap();
    let manifest = serde_json::json!({
        "format": 1, "engine": "1.18.33", "saved_at": "2026-11-15T12:00:00Z", "parent": null,
        "sessions": sessions, "bytes": bytes, "database": folder.put(object).unwrap().name,
    });
    let name = folder.put(manifest.to_string().as_bytes()).unwrap().name;
    folder.advance(None, name).unwrap();
    store
}

/// Returns a store with a database of one session that was changed by this SQL.
fn forged_from(sql: &str, sessions: u32) -> TempDir {
    let engine = Engine::with_sessions(1);
    engine
        .connect()
        .execute_batch(&format!("PRAGMA foreign_keys = OFF; {sql}; PRAGMA journal_mode = DELETE"))
        .unwrap();
    let bytes = fs::read(engine.database()).unwrap();
    forged(&packed(&bytes), bytes.len() as u64, sessions)
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

/// Returns the objects, then the head.
fn files(store: &Path) -> Vec<PathBuf> {
    let objects = fs::read_dir(store.join("objects")).unwrap().map(|entry| entry.unwrap().path());
    objects.chain([store.join("head")]).collect()
}

fn spoil(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}
