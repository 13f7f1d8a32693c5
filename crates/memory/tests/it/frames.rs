//! A flipped bit in each kind of frame: what it costs, and whether the save after it leaves something damaged behind.
//!
//! Short chunks share frames, so that a flip in one of the ledger takes the others of its save along. All sessions need the
//! schema (`common`), which lies there once.

use std::{
    collections::HashMap,
    fmt::Write as _,
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

use fro_memory::{Keep, Ledger, Repair, Retention, StoreSettings, Stores};
use serde_json::Value;

use crate::{
    engine::{Engine, NOON, add_message, after, open_session, saved},
    soak::{Home, speak},
    sparse::run,
};

const SESSIONS: u32 = 16;
const RUNS: u32 = 60;

/// Where the frame of each chunk lies; of a chunk that several packs have, in the last.
type Frames = HashMap<String, (PathBuf, Range<usize>)>;

/// A memory of many sessions and runs, in a first save, with a few small saves after it.
fn memory(home: &Home) {
    let engine = Engine::with_sessions(0);
    let connection = engine.connect();
    for number in 0..SESSIONS {
        let (id, at) = (format!("ses_{:08}", 1_000 + number), NOON + i64::from(number));
        open_session(&connection, &id, at);
        let noise: String =
            (0..300).map(|n| blake3::hash(format!("{number} {n}").as_bytes()).to_string()).collect();
        add_message(&connection, &id, &format!("msg_{number:08}_"), at, &noise);
    }
    let ledger = engine.data().join("ledger.db");
    let runs = Ledger::open(&ledger).unwrap();
    (0..RUNS).for_each(|number| runs.record(&run(1_000 + number)).unwrap());
    drop(runs);
    let index = engine.data().join("none.db");
    let keep = Keep::new(engine.data(), after(None)).pruning(Retention::EVERYTHING);
    saved(&keep.with_ledger(&ledger).with_index(&index).save(&home.store()).unwrap());
    let mut turn = 0;
    for subject in 0..3 {
        speak(home, subject, &mut turn, 0);
    }
}

fn manifest(home: &Home) -> Value {
    let head = fs::read_to_string(home.files().join("3/head.3")).unwrap();
    let bytes = fs::read(home.files().join("3/manifests").join(head)).unwrap();
    serde_json::from_slice(&zstd::decode_all(bytes.as_slice()).unwrap()).unwrap()
}

/// Reads the indexes of the packs of a save, and returns the chunks of each pack in order too.
fn frames(home: &Home, manifest: &Value) -> (Frames, Vec<Vec<String>>) {
    let (mut frames, mut packs) = (Frames::new(), Vec::new());
    for note in manifest["packs"].as_array().unwrap() {
        let path = home.files().join("3/packs").join(note["name"].as_str().unwrap());
        let bytes = fs::read(&path).unwrap();
        let (body, count) = bytes.split_last_chunk::<4>().unwrap();
        let index = &body[body.len() - 40 * u32::from_le_bytes(*count) as usize..];
        let (mut at, mut frame, mut chunks) = (8, 0..0, Vec::new());
        for entry in index.chunks(40) {
            let size = u32::from_le_bytes(entry[36..].try_into().unwrap()) as usize;
            if size > 0 {
                (frame, at) = (at..at + size, at + size);
            }
            let hash = blake3::Hash::from_slice(&entry[..32]).unwrap().to_string();
            frames.insert(hash.clone(), (path.clone(), frame.clone()));
            chunks.push(hash);
        }
        packs.push(chunks);
    }
    (frames, packs)
}

/// Returns a chunk in the middle of some runs.
fn in_runs(runs: &Value, packs: &[Vec<String>]) -> String {
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let all: Vec<String> = runs
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|run| {
            let (pack, first, count) = (number(&run[0]), number(&run[1]), number(&run[2]));
            packs[pack][first..first + count].to_vec()
        })
        .collect();
    all[all.len() / 2].clone()
}

/// Returns a chunk of a kind.
fn chunk_of(kind: &str, home: &Home) -> String {
    let manifest = manifest(home);
    let (frames, packs) = frames(home, &manifest);
    match kind {
        "leaf" => in_runs(&manifest["leaves"][0]["chunks"], &packs),
        "ledger" => in_runs(&manifest["databases"]["ledger.db"]["chunks"], &packs),
        "index" => in_runs(&manifest["databases"]["index.db"]["chunks"], &packs),
        "common" => in_runs(&manifest["levels"][manifest["level"].as_str().unwrap()]["common"], &packs),
        _ => {
            let leaf = in_runs(&manifest["leaves"][0]["chunks"], &packs);
            let (path, range) = &frames[&leaf];
            let plain = zstd::decode_all(&fs::read(path).unwrap()[range.clone()]).unwrap();
            let text = String::from_utf8_lossy(&plain).into_owned();
            let at = text.find("\"ses_00001007\"").unwrap();
            let rows = at + text[at..].find("\"rows\":[\"").unwrap() + 9;
            text[rows..rows + 64].to_owned()
        }
    }
}

fn flip(home: &Home, kind: &str) {
    let chunk = chunk_of(kind, home);
    let (frames, _) = frames(home, &manifest(home));
    let (path, range) = &frames[&chunk];
    let mut bytes = fs::read(path).unwrap();
    bytes[usize::midpoint(range.start, range.end)] ^= 1;
    fs::write(path, bytes).unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

fn rows(home: &Home) -> usize {
    home.ledger().len()
}

#[test]
fn a_flip_in_any_kind_of_frame_costs_what_lay_in_it() {
    let mut told = String::new();
    let sound = Home::folder();
    memory(&sound);
    let before = (sound.words().len(), rows(&sound));
    for kind in ["rows", "leaf", "ledger", "index", "common"] {
        for way in ["a run", "repair"] {
            let home = Home::folder();
            copy(&sound.files(), &home.files());
            flip(&home, kind);
            let mut turn = 100;
            let warnings = if way == "repair" {
                let stores = Stores::open(&StoreSettings::folder(home.files()));
                stores.repair(after(None).now).remove(0).1.unwrap();
                0
            } else {
                let (recollection, _, warnings) = speak(&home, 1, &mut turn, 0);
                recollection.warnings.len() + warnings.len()
            };
            let after = (home.words().len(), rows(&home));
            let stores = Stores::open(&StoreSettings::folder(home.files()));
            let done = stores.repair("2026-11-15T12:00:00Z".parse().unwrap()).remove(0).1.unwrap();
            let left = if done == Repair::Sound { "sound" } else { "damaged" };
            writeln!(
                told,
                "{kind:7} {way:7} sessions lost {}, rows of the ledger lost {}, warnings {warnings}, then {left}",
                before.0 - after.0.min(before.0),
                before.1 - after.1.min(before.1),
            )
            .unwrap();
        }
    }
    insta::assert_snapshot!(told);
}
