//! A memory of the former format is read and carried over, and stays where it is for a release that goes back to it.

use std::{fs, path::Path};

use serde_json::json;

use fro_memory::{Keep, Recall, Retention, Store, keep, look, recall};

use crate::engine::{Engine, after, saved, say};

/// Writes a memory as the former release did: every page of the database a chunk, all of them in one frame.
fn save_in_format_2(place: &Path, engine: &Engine, files: &[(&str, &str)]) -> String {
    engine.change("DELETE FROM event; PRAGMA journal_mode = DELETE");
    let pages = fs::read(engine.database()).unwrap();
    let mut chunks: Vec<&[u8]> = pages.chunks(4096).collect();
    let count = chunks.len();
    chunks.extend(files.iter().map(|(_, content)| content.as_bytes()));
    let mut index = Vec::new();
    for chunk in &chunks {
        index.extend(blake3::hash(chunk).as_bytes());
        index.extend(u32::try_from(chunk.len()).unwrap().to_le_bytes());
    }
    index.extend(u32::try_from(chunks.len()).unwrap().to_le_bytes());
    let body = zstd::encode_all(chunks.concat().as_slice(), 3).unwrap();
    let pack = [&b"FROPACK2"[..], &body, &index].concat();
    let sessions = engine.remembers().len();
    let manifest = json!({
        "format": 2, "engine": "1.18.33", "saved_at": "2026-11-14T12:00:00Z", "parents": [],
        "origin": { "run": "42" },
        "packs": [{ "name": name(&pack), "size": pack.len(), "chunks": chunks.len(),
            "bytes": chunks.concat().len(), "index": name(&index) }],
        "databases": { "opencode.db": { "bytes": pages.len(), "chunk": 4096, "chunks": [[0, 0, count]] } },
        "files": files.iter().map(|(path, content)| json!([path, content.len()])).collect::<Vec<_>>(),
        "file_chunks": [[0, count, files.len()]],
        "migrations": [], "sessions": {}, "gone": {},
        "statistics": { "sessions": sessions, "bytes": pages.len(), "free": 0, "fresh": 0 },
    });
    let manifest = zstd::encode_all(manifest.to_string().as_bytes(), 3).unwrap();
    for kind in ["packs", "manifests", "aside", "scratch"] {
        fs::create_dir(place.join(kind)).unwrap();
    }
    for (kind, bytes) in [("packs", &pack), ("manifests", &manifest)] {
        fs::write(place.join(kind).join(name(bytes)), bytes).unwrap();
    }
    fs::write(place.join("head.2"), name(&manifest)).unwrap();
    name(&manifest)
}

fn name(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Returns everything of the former format that lies in a place.
fn former(place: &Path) -> Vec<(String, blake3::Hash)> {
    let objects = ["packs", "manifests"]
        .into_iter()
        .flat_map(|kind| fs::read_dir(place.join(kind)).unwrap())
        .map(|entry| entry.unwrap().path());
    let all = objects.chain([place.join("head.2")]).filter(|path| path.exists());
    all.map(|path| (path.display().to_string(), blake3::hash(&fs::read(&path).unwrap()))).collect()
}

const FILES: &[(&str, &str)] =
    &[("storage/rules.md", "be kind"), ("storage/session_diff/ses_00000001.json", "[1]")];

#[test]
fn a_former_memory_is_carried_over_and_stays_where_it_is() {
    let place = tempfile::tempdir().unwrap();
    let old = Engine::with_sessions(30);
    let head = save_in_format_2(place.path(), &old, FILES);
    let before = former(place.path());
    let store = Store::folder(place.path()).unwrap();
    let told = look(&store).unwrap();
    assert!(
        matches!(&told, Recall::Warm { sessions: 30, head: known, .. } if known.as_str() == head),
        "{told:?}"
    );

    let engine = Engine::fresh();
    let recalled = recall(&store, engine.data()).unwrap();
    assert!(matches!(recalled, Recall::Warm { sessions: 30, .. }), "{recalled:?}");
    assert_eq!(engine.remembers(), old.remembers());
    assert_eq!(engine.read("rules.md"), "be kind");
    assert_eq!(engine.read("session_diff/ses_00000001.json"), "[1]");

    say(&mut engine.connect(), 77, "said later");
    saved(&keep(&store, engine.data(), &after(recalled.head())).unwrap());
    let next = Engine::fresh();
    recall(&store, next.data()).unwrap();
    assert_eq!(next.remembers().len(), 31);
    assert_eq!(former(place.path()), before, "the former release goes back to what it had");
}

#[test]
fn a_damaged_former_memory_is_no_reason_to_fail() {
    let place = tempfile::tempdir().unwrap();
    save_in_format_2(place.path(), &Engine::with_sessions(3), FILES);
    let pack = fs::read_dir(place.path().join("packs")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&pack).unwrap();
    bytes[40] ^= 1;
    fs::write(&pack, bytes).unwrap();
    let store = Store::folder(place.path()).unwrap();
    assert_eq!(recall(&store, Engine::fresh().data()).unwrap(), Recall::Cold);
    saved(&keep(&store, Engine::with_sessions(1).data(), &after(None)).unwrap());
}

#[test]
fn what_is_forgotten_leaves_the_former_memory_too() {
    let place = tempfile::tempdir().unwrap();
    save_in_format_2(place.path(), &Engine::with_sessions(3), FILES);
    let store = Store::folder(place.path()).unwrap();
    let engine = Engine::fresh();
    let recalled = recall(&store, engine.data()).unwrap();
    let keep = Keep::new(engine.data(), after(recalled.head())).pruning(Retention::EVERYTHING);
    saved(&keep.forgetting(["ses_00000001".to_owned()]).save(&store).unwrap());
    assert_eq!(former(place.path()), Vec::new());
    let next = Engine::fresh();
    recall(&store, next.data()).unwrap();
    assert_eq!(next.remembers().len(), 2);
}
