//! A reader made from `docs/memory-format.md` alone gets the same memory.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;

use fro_memory::{Store, keep, recall};

use crate::engine::{Engine, after, saved, say};

#[test]
fn a_memory_can_be_read_without_our_code() {
    let store = tempfile::tempdir().unwrap();
    let folder = Store::folder(store.path()).unwrap();
    let first = Engine::with_sessions(20);
    first.write("session_diff/ses_00000001.json", "[]");
    first.write("large", "a hose, ".repeat(1_000_000));
    first.write("empty", "");
    let head = saved(&keep(&folder, first.data(), &after(None)).unwrap());
    let second = Engine::fresh();
    recall(&folder, second.data()).unwrap();
    say(&mut second.connect(), 99, "It still leaks.");
    saved(&keep(&folder, second.data(), &after(Some(&head))).unwrap());
    let third = Engine::fresh();
    recall(&folder, third.data()).unwrap();

    let read = read_memory(store.path());

    assert_eq!(
        read.keys().collect::<Vec<_>>(),
        ["opencode.db", "storage/empty", "storage/large", "storage/session_diff/ses_00000001.json"]
    );
    for (path, content) in read {
        assert!(fs::read(third.home().join(&path)).unwrap() == content, "{path}");
    }
}

fn read_memory(store: &Path) -> BTreeMap<String, Vec<u8>> {
    let head = fs::read_to_string(store.join("head.2")).unwrap();
    let manifest = fs::read(store.join("manifests").join(&head)).unwrap();
    assert_eq!(blake3::hash(&manifest).to_hex().as_str(), head);
    let manifest: Value = serde_json::from_slice(&zstd::decode_all(manifest.as_slice()).unwrap()).unwrap();
    assert_eq!(manifest["format"], 2);
    let packs: Vec<_> = list(&manifest["packs"]).iter().map(|pack| read_pack(store, pack)).collect();
    assert!(packs.len() > 1, "one pack tests too little");
    let chunks = |runs: &Value| -> Vec<Vec<u8>> {
        let run = |run: &Value| {
            let [pack, first, count] = [0, 1, 2].map(|place| number(&run[place]));
            packs[pack][first..first + count].to_vec()
        };
        list(runs).iter().flat_map(run).collect()
    };
    let mut files = BTreeMap::new();
    for (name, pages) in manifest["databases"].as_object().unwrap() {
        let content = chunks(&pages["chunks"]).concat();
        assert_eq!(content.len(), number(&pages["bytes"]));
        files.insert(name.clone(), content);
    }
    let mut rest = chunks(&manifest["file_chunks"]).into_iter();
    for file in list(&manifest["files"]) {
        let content: Vec<_> = rest.by_ref().take(number(&file[1]).div_ceil(4 << 20)).flatten().collect();
        files.insert(file[0].as_str().unwrap().to_owned(), content);
    }
    files
}

fn read_pack(store: &Path, note: &Value) -> Vec<Vec<u8>> {
    let name = note["name"].as_str().unwrap();
    let bytes = fs::read(store.join("packs").join(name)).unwrap();
    assert_eq!((bytes.len(), &bytes[..8]), (number(&note["size"]), &b"FROPACK2"[..]));
    let (body, index) = bytes.split_at(bytes.len() - 4 - 36 * number(&note["chunks"]));
    assert_eq!(blake3::hash(index).to_hex().as_str(), note["index"]);
    let mut rest = zstd::decode_all(&body[8..]).unwrap();
    assert_eq!(rest.len(), number(&note["bytes"]));
    let entries = index[..index.len() - 4].chunks(36);
    entries
        .map(|entry| {
            let length = u32::from_le_bytes(entry[32..].try_into().unwrap()) as usize;
            let chunk: Vec<u8> = rest.drain(..length).collect();
            assert_eq!(blake3::hash(&chunk).as_bytes(), &entry[..32]);
            chunk
        })
        .collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}
