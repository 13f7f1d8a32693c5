//! A reader made from `docs/memory-format.md` alone gets the same memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use rusqlite::types::Value as Cell;
use serde_json::Value;

use fro_memory::{Store, keep, recall};

use crate::engine::{Engine, after, saved, say};

/// Rows as text, by table and columns.
type Database = BTreeMap<String, BTreeSet<String>>;

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
    say(&mut second.connect(), 99, &"It still leaks. ".repeat(4_000));
    saved(&keep(&folder, second.data(), &after(Some(&head))).unwrap());
    let third = Engine::fresh();
    recall(&folder, third.data()).unwrap();

    let (rows, files) = read_memory(&store.path().join("3"));

    let expected = rows_of(&third);
    assert_eq!(expected["session"].len(), 21);
    assert_eq!(rows, expected);
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        ["storage/empty", "storage/large", "storage/session_diff/ses_00000001.json"]
    );
    for (path, content) in files {
        assert!(fs::read(third.home().join(&path)).unwrap() == content, "{path}");
    }
}

fn read_memory(store: &Path) -> (Database, BTreeMap<String, Vec<u8>>) {
    let head = fs::read_to_string(store.join("head.3")).unwrap();
    let manifest = fs::read(store.join("manifests").join(&head)).unwrap();
    assert_eq!(blake3::hash(&manifest).to_hex().as_str(), head);
    let manifest: Value = serde_json::from_slice(&zstd::decode_all(manifest.as_slice()).unwrap()).unwrap();
    assert_eq!(manifest["format"], 3);
    let packs: Vec<_> = list(&manifest["packs"]).iter().map(|pack| read_pack(store, pack)).collect();
    assert!(packs.len() > 1, "one pack tests too little");
    let chunks = |runs: &Value| -> Vec<Vec<u8>> {
        let run = |run: &Value| {
            let [pack, first, count] = [0, 1, 2].map(|place| number(&run[place]));
            packs[pack][first..first + count].to_vec()
        };
        list(runs).iter().flat_map(run).collect()
    };
    let by_name: BTreeMap<String, &Vec<u8>> =
        packs.iter().flatten().map(|chunk| (blake3::hash(chunk).to_hex().to_string(), chunk)).collect();
    let named = |names: &Value| -> Vec<u8> {
        list(names).iter().flat_map(|name| by_name[name.as_str().unwrap()].clone()).collect()
    };
    let level = &manifest["levels"][manifest["level"].as_str().unwrap()];
    let common: Value = serde_json::from_slice(&chunks(&level["common"]).concat()).unwrap();
    let mut database = Database::new();
    take_in(&mut database, &common["rows"]);
    let mut files = BTreeMap::new();
    for leaf in list(&manifest["leaves"]) {
        let leaf: Value = serde_json::from_slice(&chunks(&leaf["chunks"]).concat()).unwrap();
        for session in leaf.as_object().unwrap().values() {
            take_in(&mut database, &serde_json::from_slice(&named(&session["rows"])).unwrap());
            for file in session["files"].as_array().into_iter().flatten() {
                files.insert(file[0].as_str().unwrap().to_owned(), named(&file[2]));
            }
        }
    }
    let mut rest = chunks(&manifest["file_chunks"]).into_iter();
    for file in list(&manifest["files"]) {
        let content: Vec<_> = rest.by_ref().take(number(&file[1]).div_ceil(4 << 20)).flatten().collect();
        files.insert(file[0].as_str().unwrap().to_owned(), content);
    }
    (database, files)
}

fn take_in(database: &mut Database, rows: &Value) {
    for (table, content) in rows.as_object().unwrap() {
        for row in list(&content["rows"]) {
            database.entry(table.clone()).or_default().insert(format!("{}{row}", content["columns"]));
        }
    }
}

/// Returns the rows of a database in the words of the format.
fn rows_of(engine: &Engine) -> Database {
    let connection = engine.connect();
    let mut statement = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let tables: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut database = Database::new();
    for table in tables {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let cells = (0..columns.len()).map(|place| match row.get::<_, Cell>(place).unwrap() {
                Cell::Null => Value::Null,
                Cell::Integer(number) => number.into(),
                Cell::Text(text) => text.into(),
                Cell::Real(number) => serde_json::json!({ "real": format!("{:016x}", number.to_bits()) }),
                Cell::Blob(_) => panic!("the engine stores no bytes"),
            });
            let (columns, cells) = (serde_json::json!(columns), cells.collect::<Value>());
            database.entry(table.clone()).or_default().insert(format!("{columns}{cells}"));
        }
    }
    database
}

/// Returns the chunks of a pack.
fn read_pack(store: &Path, note: &Value) -> Vec<Vec<u8>> {
    let name = note["name"].as_str().unwrap();
    let bytes = fs::read(store.join("packs").join(name)).unwrap();
    assert_eq!((bytes.len(), &bytes[..8]), (number(&note["size"]), &b"FROPACK3"[..]));
    let (body, index) = bytes.split_at(bytes.len() - 4 - 40 * number(&note["chunks"]));
    assert_eq!(blake3::hash(index).to_hex().as_str(), note["index"]);
    let (mut at, mut frame) = (8, Vec::new());
    let entries = index[..index.len() - 4].chunks(40);
    entries
        .map(|entry| {
            let [length, size] =
                [32, 36].map(|from| u32::from_le_bytes(entry[from..from + 4].try_into().unwrap()) as usize);
            // The highest bit says that the frame lies there a second time.
            let size = size & 0x7fff_ffff;
            if size > 0 {
                frame = zstd::decode_all(&body[at..at + size]).unwrap();
                at += size;
            }
            let chunk: Vec<u8> = frame.drain(..length).collect();
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
