//! Whatever happens to the stored bytes, the start is clean and the next save works.

use std::{
    fs,
    path::{Path, PathBuf},
};

use proptest::{
    prelude::{ProptestConfig, any, proptest},
    sample::Index,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use fro_memory::{Error, Flaw, Head, Keep, Ledger, Object, ObjectName, Part, Recall, Store, keep, recall};

use crate::{
    contract::{get, put},
    engine::{Engine, after, saved},
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// All that there is, of sessions as short as these, lies there twice.
    #[test]
    fn one_flipped_bit_in_an_object_costs_nothing(file in 0..2_usize, place in any::<Index>(), bit in 0..8_u8) {
        let store = kept();
        spoil(&files(store.path())[file], |bytes| {
            let byte = place.get_mut(bytes);
            *byte ^= 1 << bit;
        });
        assert_eq!(outcome(store.path()), None);
    }

    #[test]
    fn one_flipped_bit_in_the_head_is_damage(place in any::<Index>(), bit in 0..8_u8) {
        let store = kept();
        spoil(&files(store.path())[2], |bytes| {
            let byte = place.get_mut(bytes);
            *byte ^= 1 << bit;
        });
        starts_clean(store.path());
    }

    #[test]
    fn a_cut_file_is_damage_unless_a_copy_is_left(file in 0..3_usize, place in any::<Index>()) {
        let store = kept();
        let mut whole = 0;
        let mut left = 0;
        spoil(&files(store.path())[file], |bytes| {
            whole = bytes.len();
            left = place.index(bytes.len());
            bytes.truncate(left);
        });
        let is_damaged = outcome(store.path()).is_some();
        assert!(is_damaged || left * 2 > whole, "{left} bytes of {whole} in file {file}");
    }

    /// Hashes are right, so only the readers stand between these bytes and the disk.
    #[test]
    fn a_manifest_of_any_bytes_is_refused_or_read(places in proptest::collection::vec((any::<Index>(), any::<u8>()), 1..6)) {
        let store = kept();
        let mut text = manifest(store.path()).to_string().into_bytes();
        for (place, byte) in places {
            *place.get_mut(&mut text) = byte;
        }
        forge(store.path(), &zstd::encode_all(text.as_slice(), 1).unwrap());
        let folder = Store::folder(store.path()).unwrap();
        let engine = Engine::fresh();
        recall(&folder, engine.data()).unwrap();
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
        fs::write(store.path().join("3/head.3"), text).unwrap();
        assert_eq!(starts_clean(store.path()), Flaw::Head);
    }
}

#[test]
fn a_memory_of_another_format_is_set_aside_and_not_lost() {
    let store = kept();
    let newer =
        forge(store.path(), &zstd::encode_all(&br#"{"format":4,"tree":"of another shape"}"#[..], 1).unwrap());

    assert_eq!(starts_clean(store.path()), Flaw::Format { found: 4, readable: 3 });
    let aside: Vec<_> =
        fs::read_dir(store.path().join("3/aside")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let aside: Vec<_> = aside.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    assert_eq!(aside, [newer.to_string()]);
}

/// What is wrong, where in the manifest, and what stands there.
fn hostile_manifests() -> Vec<(&'static str, &'static str, Value)> {
    let pages = json!({ "bytes": 4096, "chunk": 4096, "chunks": [[0, 0, 1]] });
    vec![
        ("a file outside", "/files/0/0", json!("storage/../../../tmp/x")),
        ("an absolute file", "/files/0/0", json!("/tmp/x")),
        ("a credential", "/files/0/0", json!("storage/auth.json")),
        ("the database as a file", "/files/0/0", json!("opencode.db")),
        ("a file twice", "/files", json!([["storage/a", 1], ["storage/a", 0]])),
        ("another database", "/databases/..", pages),
        ("a huge database", "/databases/ledger.db/bytes", json!(u64::MAX)),
        ("a database of no chunks", "/databases/ledger.db/chunks", json!([])),
        ("odd chunks", "/databases/ledger.db/chunk", json!(0)),
        ("a run without end", "/databases/ledger.db/chunks/0/2", json!(u32::MAX)),
        ("a run beyond the pack", "/databases/ledger.db/chunks/0/1", json!(u32::MAX)),
        ("a run of no pack", "/databases/ledger.db/chunks/0/0", json!(7)),
        ("huge packs", "/packs/0/bytes", json!(u64::MAX)),
        ("countless chunks", "/packs/0/chunks", json!(u32::MAX)),
        ("a smaller pack", "/packs/0/size", json!(3)),
        ("another index", "/packs/0/index", json!(blake3::hash(b"").to_hex().as_str())),
        ("an unknown field", "/tree", json!(1)),
    ]
}

#[test]
fn a_hostile_manifest_with_right_hashes_is_damage() {
    let mut told: Vec<_> = hostile_manifests()
        .into_iter()
        .map(|(what, place, value)| {
            let store = kept();
            let mut manifest = manifest(store.path());
            let (parent, key) = place.rsplit_once('/').unwrap();
            match manifest.pointer_mut(parent).unwrap() {
                Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
                parent => parent[key] = value,
            }
            forge(store.path(), &zstd::encode_all(manifest.to_string().as_bytes(), 1).unwrap());
            format!("{what}: {}", plain(&starts_clean(store.path())))
        })
        .collect();
    let store = kept();
    forge(store.path(), &zstd::encode_all(vec![b' '; 80 << 20].as_slice(), 1).unwrap());
    told.push(format!("a bomb: {}", starts_clean(store.path())));
    insta::assert_debug_snapshot!(told, @r#"
    [
        "a file outside: the manifest cannot be read: a file outside of `storage/`",
        "an absolute file: the manifest cannot be read: a file outside of `storage/`",
        "a credential: the manifest cannot be read: a file outside of `storage/`",
        "the database as a file: the manifest cannot be read: a file outside of `storage/`",
        "a file twice: the manifest cannot be read: its files are not in order",
        "another database: the manifest cannot be read: it has a database that is none of ours",
        "a huge database: the manifest cannot be read: it would unpack 18446744073709551615 bytes from [size]",
        "a database of no chunks: the manifest cannot be read: the pages of a database do not add up",
        "odd chunks: the manifest cannot be read: the pages of a database do not add up",
        "a run without end: the manifest cannot be read: it speaks of a chunk that no pack has",
        "a run beyond the pack: the manifest cannot be read: it speaks of a chunk that no pack has",
        "a run of no pack: the manifest cannot be read: it speaks of a chunk that no pack has",
        "huge packs: the manifest cannot be read: its packs hold more than it could need",
        "countless chunks: the manifest cannot be read: a pack counts too many chunks",
        "a smaller pack: the object [hash] is not what its name says",
        "another index: the object [hash] is not what its name says",
        "an unknown field: the manifest cannot be read: unknown field `tree`, expected one of `format`, `engine`, `saved_at`, `parents`, `earlier`, `origin`, `packs`, `databases`, `files`, `file_chunks`, `level`, `levels`, `leaves`, `gone`, `statistics`",
        "a bomb: the manifest is larger than 67108864 bytes",
    ]
    "#);
}

#[test]
fn sessions_that_a_manifest_counts_and_does_not_have_cost_none_of_the_others() {
    let store = kept();
    let mut manifest = manifest(store.path());
    manifest["statistics"]["sessions"] = json!(9);
    forge(store.path(), &zstd::encode_all(manifest.to_string().as_bytes(), 1).unwrap());
    forget_other_saves(store.path());
    let engine = Engine::fresh();
    let recalled = recall(&Store::folder(store.path()).unwrap(), engine.data()).unwrap();
    let Recall::Warm { sessions: 2, instead_of: Some(why), .. } = recalled else { panic!("{recalled:?}") };
    assert_eq!(why.to_string(), "the manifest cannot be read: it has 2 sessions");
    assert_eq!(engine.remembers().len(), 2);
}

#[test]
fn a_few_bytes_that_would_fill_the_disk_are_damage() {
    let store = kept();
    let mut manifest = manifest(store.path());
    let pages = vec![[0, 0, 1]; (2 << 30) / 4096];
    manifest["databases"]["ledger.db"] = json!({ "bytes": 2_u64 << 30, "chunk": 4096, "chunks": pages });
    forge(store.path(), &zstd::encode_all(manifest.to_string().as_bytes(), 1).unwrap());
    let recalled = recall(&Store::folder(store.path()).unwrap(), Engine::fresh().data()).unwrap();
    // The save before it is whole.
    let Recall::Warm { instead_of: Some(Flaw::Manifest(why)), .. } = &recalled else {
        panic!("{recalled:?}")
    };
    assert!(why.starts_with("it would unpack 2147483656 bytes from "), "{why}");
}

#[test]
fn a_hostile_schema_with_right_hashes_is_damage() {
    let cases = [
        ("a trigger", json!("CREATE TRIGGER t AFTER INSERT ON message BEGIN DELETE FROM session; END")),
        ("a view", json!("CREATE VIEW v AS SELECT 1")),
        ("a virtual table", json!("CREATE VIRTUAL TABLE f USING fts5(x)")),
        ("a table out of a question", json!("CREATE TABLE t AS SELECT 1")),
        ("two statements", json!("CREATE TABLE t (x); DROP TABLE session")),
        ("no statement", json!(7)),
    ];
    let mut told = Vec::new();
    for (what, sql) in cases {
        let store = swapped(|common| common["schema"].as_array_mut().unwrap().push(sql));
        told.push(format!("{what}: {}", plain(&starts_clean(store.path()))));
    }
    let store = swapped(|common| common["schema"] = json!([]));
    told.push(format!("no tables: {}", starts_clean(store.path())));
    let store = swapped(|common| common["rows"]["migration"] = json!({ "columns": ["id"], "rows": [] }));
    told.push(format!("no migrations: {}", starts_clean(store.path())));
    let store = swapped(|common| common["rows"]["migration"]["rows"][0] = json!([]));
    told.push(format!("a short row: {}", starts_clean(store.path())));
    insta::assert_debug_snapshot!(told, @r#"
    [
        "a trigger: the database is not sound: the engine makes no trigger t",
        "a view: the database is not sound: the engine makes no view v",
        "a virtual table: the database is not sound: the engine makes no virtual table",
        "a table out of a question: the database is not sound: the engine makes no table t",
        "two statements: the database is not sound: Multiple statements provided",
        "no statement: the rows of a session cannot be read: invalid type: integer `7`, expected a string",
        "no tables: the database is not sound: no such table: session",
        "no migrations: the database is not sound: it lacks migrations",
        "a short row: the rows of a session cannot be read: a row has other columns than its table",
    ]
    "#);
}

#[test]
fn a_ledger_whose_pages_changed_places_is_damage() {
    let store = kept();
    let mut manifest = manifest(store.path());
    let runs: Vec<[u64; 3]> =
        serde_json::from_value(manifest["databases"]["ledger.db"]["chunks"].take()).unwrap();
    let mut chunks: Vec<_> = runs
        .iter()
        .flat_map(|[pack, first, count]| (*first..first + count).map(|at| [*pack, at, 1]))
        .collect();
    chunks.swap(1, 2);
    manifest["databases"]["ledger.db"]["chunks"] = json!(chunks);
    forge(store.path(), &zstd::encode_all(manifest.to_string().as_bytes(), 1).unwrap());
    let why = starts_clean(store.path());
    assert!(matches!(why, Flaw::Unsound(_)), "{why:?}");
}

#[test]
fn a_damaged_ledger_is_not_kept() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let engine = Engine::with_sessions(1);
    let good = saved(&keep(&folder, engine.data(), &after(None)).unwrap());
    let ledger = Ledger::open(engine.data().join("ledger.db")).unwrap().path().to_owned();
    // The chain of free blocks on the second page leads nowhere.
    spoil(&ledger, |bytes| bytes[4097..4099].copy_from_slice(&[0x0f, 0xf0]));

    let save = Keep::new(engine.data(), after(Some(&good))).with_ledger(&ledger);
    let refused = save.save(&folder).unwrap_err();
    assert!(matches!(refused, Error::Flawed(Flaw::Unsound(_))), "{refused:?}");
    assert_eq!(folder.head().unwrap(), Some(good));
}

#[test]
fn a_damaged_database_of_the_engine_is_not_kept() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let engine = Engine::with_sessions(500);
    let good = saved(&keep(&folder, engine.data(), &after(None)).unwrap());
    engine.change("PRAGMA wal_checkpoint(TRUNCATE)");
    spoil(&engine.database(), |bytes| bytes[4096 * 30..4096 * 60].fill(0x5a));

    let refused = keep(&folder, engine.data(), &after(Some(&good))).unwrap_err();
    assert!(matches!(refused, Error::Flawed(Flaw::Unsound(_))), "{refused:?}");
    assert_eq!(folder.head().unwrap(), Some(good));
}

/// Recalls from a damaged store, makes sure that nothing was restored and that memory works again, and returns
/// what was said about the damage.
#[track_caller]
fn starts_clean(store: &Path) -> Flaw {
    outcome(store).unwrap()
}

/// Returns nothing if all is there that was saved.
#[track_caller]
fn outcome(store: &Path) -> Option<Flaw> {
    let folder = Store::folder(store).unwrap();
    forget_other_saves(store);
    let engine = Engine::fresh();
    let why = match recall(&folder, engine.data()).unwrap() {
        Recall::Damaged { why } => why,
        Recall::Warm { sessions: 2, .. } => {
            assert_eq!(engine.remembers().len(), 2);
            return None;
        }
        recalled => panic!("{recalled:?}"),
    };
    assert_eq!(engine.files(), Vec::<String>::new());

    let next = Engine::with_sessions(1);
    assert_eq!(recall(&folder, next.data()).unwrap(), Recall::Cold);
    saved(&keep(&folder, next.data(), &after(None)).unwrap());
    assert!(matches!(recall(&folder, Engine::fresh().data()).unwrap(), Recall::Warm { sessions: 1, .. }));
    Some(why)
}

/// Removes every manifest but that of the head, so that nothing can stand in for it.
fn forget_other_saves(store: &Path) {
    let head = fs::read_to_string(store.join("3/head.3")).unwrap_or_default();
    for entry in fs::read_dir(store.join("3/manifests")).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_str() != Some(&head) {
            fs::remove_file(path).unwrap();
        }
    }
}

/// Returns a store with one save: a manifest, a pack, a head.
fn kept() -> TempDir {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let engine = Engine::with_sessions(2);
    engine.write("session_diff/ses_00000001.json", "[]");
    engine.write("rules.md", "Be kind.");
    let ledger = engine.data().join("ledger.db");
    drop(Ledger::open(&ledger).unwrap());
    saved(&Keep::new(engine.data(), after(None)).with_ledger(&ledger).save(&folder).unwrap());
    store
}

/// Returns a store in which what belongs to no session was exchanged, all hashes right.
fn swapped(change: impl FnOnce(&mut Value)) -> TempDir {
    let store = kept();
    let folder = Store::folder(store.path()).unwrap();
    let mut manifest = manifest(store.path());
    let note = manifest["packs"][0].clone();
    let name = ObjectName::parse(note["name"].as_str().unwrap()).unwrap();
    let pack = get(&folder, Object::Pack(name), Part::Whole);
    let index = &pack[pack.len() - 4 - 40 * usize::try_from(note["chunks"].as_u64().unwrap()).unwrap()..];
    let mut body = zstd::decode_all(&pack[8..pack.len() - index.len()]).unwrap();
    let level = manifest["level"].as_str().unwrap().to_owned();
    let first = usize::try_from(manifest["levels"][&level]["common"][0][1].as_u64().unwrap()).unwrap();
    let length = |at: usize| u32::from_le_bytes(index[40 * at + 32..][..4].try_into().unwrap()) as usize;
    let start: usize = (0..first).map(length).sum();
    let common: Vec<u8> = body.drain(..start + length(first)).skip(start).collect();
    let mut common: Value = serde_json::from_slice(&common).unwrap();
    change(&mut common);
    let number = manifest["packs"].as_array().unwrap().len();
    manifest["packs"].as_array_mut().unwrap().push(put_pack(&folder, common.to_string().as_bytes()));
    manifest["levels"][&level]["common"] = json!([[number, 0, 1]]);
    forge(store.path(), &zstd::encode_all(manifest.to_string().as_bytes(), 1).unwrap());
    store
}

/// Puts a pack of one chunk into a store, and returns what a manifest says of it.
fn put_pack(store: &Store, chunk: &[u8]) -> Value {
    let frame = zstd::encode_all(chunk, 1).unwrap();
    let index = [&blake3::hash(chunk).as_bytes()[..], &length(chunk.len()), &length(frame.len()), &length(1)]
        .concat();
    let pack = [&b"FROPACK3"[..], &frame, &index].concat();
    let name = blake3::hash(&pack);
    put(store, Object::Pack(name.into()), &pack);
    json!({ "name": name.to_hex().as_str(), "size": pack.len(), "chunks": 1, "bytes": chunk.len(),
        "index": blake3::hash(&index).to_hex().as_str() })
}

fn length(n: usize) -> [u8; 4] {
    u32::try_from(n).unwrap().to_le_bytes()
}

/// Returns the manifest of the head as JSON.
fn manifest(store: &Path) -> Value {
    let folder = Store::folder(store).unwrap();
    let name = folder.head().unwrap().unwrap().manifest().unwrap();
    let bytes = get(&folder, Object::Manifest(name), Part::Whole);
    serde_json::from_slice(&zstd::decode_all(bytes.as_slice()).unwrap()).unwrap()
}

/// Puts a manifest of these bytes at the head.
fn forge(store: &Path, bytes: &[u8]) -> ObjectName {
    let folder = Store::folder(store).unwrap();
    let name = ObjectName::from(blake3::hash(bytes));
    put(&folder, Object::Manifest(name), bytes);
    folder.advance(folder.head().unwrap().as_ref(), &Head::from(name)).unwrap();
    name
}

/// Takes hashes and places out of a text.
fn plain(flaw: &Flaw) -> String {
    let text = flaw.to_string();
    let words = text.split(' ').map(|word| if ObjectName::parse(word).is_some() { "[hash]" } else { word });
    let text = words.collect::<Vec<_>>().join(" ");
    let text = text.split(" at line").next().unwrap();
    match text.split_once(" bytes from ") {
        Some((before, _)) => format!("{before} bytes from [size]"),
        None => text.to_owned(),
    }
}

/// Returns the manifest, the pack, then the head.
fn files(store: &Path) -> Vec<PathBuf> {
    let folders = ["manifests", "packs"].map(|kind| fs::read_dir(store.join("3").join(kind)).unwrap());
    let objects = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    objects.chain([store.join("3/head.3")]).collect()
}

fn spoil(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}
