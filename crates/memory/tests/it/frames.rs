//! A flipped bit in each kind of frame: what it costs, and whether the save after it leaves something damaged behind.
//!
//! Short chunks share frames, of which there are two copies, as there are of each manifest and each pack's index. So no
//! damaged byte costs more than the one session whose rows it stood in.

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
    engine::{Engine, NOON, add_message, after, open_session, run, saved},
    soak::{Home, speak},
};

const SESSIONS: u32 = 16;
const RUNS: u32 = 60;

/// Where the frame of each chunk lies; of a chunk that several packs have, in the last.
type Frames = HashMap<String, (PathBuf, Range<usize>)>;

/// A memory of many sessions and runs, in a first save, with a few small saves after it.
fn memory(home: &Home) {
    first_save(home, SESSIONS, 300);
    let mut turn = 0;
    for subject in 0..3 {
        speak(home, subject, &mut turn, 0);
    }
}

/// Saves so many sessions of so many lines once.
fn first_save(home: &Home, sessions: u32, lines: u32) {
    let engine = Engine::with_sessions(0);
    let connection = engine.connect();
    for number in 0..sessions {
        let (id, at) = (format!("ses_{:08}", 1_000 + number), NOON + i64::from(number));
        open_session(&connection, &id, at);
        let noise: String =
            (0..lines).map(|n| blake3::hash(format!("{number} {n}").as_bytes()).to_string()).collect();
        add_message(&connection, &id, &format!("msg_{number:08}_"), at, &noise);
    }
    let ledger = engine.data().join("ledger.db");
    let runs = Ledger::open(&ledger).unwrap();
    (0..RUNS).for_each(|number| runs.record(&run(1_000 + number)).unwrap());
    drop(runs);
    let index = engine.data().join("none.db");
    let keep = Keep::new(engine.data(), after(None)).pruning(Retention::EVERYTHING);
    saved(&keep.with_ledger(&ledger).with_index(&index).save(&home.store()).unwrap());
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
            // The highest bit says that the frame lies there a second time.
            let size = u32::from_le_bytes(entry[36..].try_into().unwrap()) & 0x7fff_ffff;
            let size = size as usize;
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

#[test]
fn a_flip_in_any_kind_of_frame_costs_what_lay_in_it() {
    let mut told = String::new();
    let sound = Home::folder();
    memory(&sound);
    let before = sound.known();
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
            let after = home.known();
            let stores = Stores::open(&StoreSettings::folder(home.files()));
            let done = stores.repair("2026-11-15T12:00:00Z".parse().unwrap()).remove(0).1.unwrap();
            let left = match done {
                Repair::Sound => "sound",
                Repair::Renewed { .. } => "one copy was left",
                Repair::Empty | Repair::Mended { .. } | Repair::PutBack { .. } | Repair::SetAside { .. } => {
                    "damaged"
                }
            };
            writeln!(
                told,
                "{kind:7} {way:7} sessions lost {}, rows of the ledger lost {}, warnings {warnings}, then {left}",
                before.words.len() - after.words.len().min(before.words.len()),
                before.runs.len() - after.runs.len().min(before.runs.len()),
            )
            .unwrap();
        }
    }
    insta::assert_snapshot!(told);
}

/// All that there is lies in one save, so that nothing can be taken from an earlier one.
#[test]
fn no_single_byte_costs_more_than_one_session() {
    let home = Home::folder();
    first_save(&home, 5, 150);
    let before = home.known();
    assert_eq!((before.words.len(), before.runs.len()), (5, RUNS as usize));
    let (mut flips, mut costly) = (0, 0);
    for kind in ["manifests", "packs"] {
        let entry = fs::read_dir(home.files().join("3").join(kind)).unwrap().next().unwrap();
        let path = entry.unwrap().path();
        let sound = fs::read(&path).unwrap();
        // The ends, where indexes and copies lie, and some bytes of all the rest.
        let ends = (0..40).chain(sound.len() - 40..sound.len());
        for at in ends.step_by(8).chain((0..sound.len()).step_by(sound.len() / 60)) {
            let mut bytes = sound.clone();
            bytes[at] ^= 0x10;
            fs::write(&path, bytes).unwrap();
            let (sessions, rows) = before.lost_in(&home.known());
            assert!(sessions <= 1 && rows == 0, "byte {at} of {kind} cost {sessions} sessions, {rows} rows");
            (flips, costly) = (flips + 1, costly + sessions);
        }
        fs::write(&path, sound).unwrap();
    }
    println!("{flips} bytes were changed one by one; {costly} of them cost a session");
    assert!(costly > 0, "rows of sessions lie there once");
}

/// One byte in what lies there twice, in either copy: told by nobody, made whole by the next save or on a person's word.
#[test]
fn a_damaged_copy_is_made_whole_again() {
    let sound = Home::folder();
    first_save(&sound, 5, 150);
    let note = manifest(&sound)["packs"][0].clone();
    let number = |field: &str| usize::try_from(note[field].as_u64().unwrap()).unwrap();
    let index = 40 * number("chunks") + 4;
    let copies = number("size") - index - number("repeated");
    let pack = Path::new("3/packs").join(note["name"].as_str().unwrap());
    let head = fs::read_to_string(sound.files().join("3/head.3")).unwrap();
    let save = Path::new("3/manifests").join(head);
    let length = fs::read(sound.files().join(&save)).unwrap().len();
    let places = [
        ("a frame", &pack, copies - index - 20),
        ("its copy", &pack, copies + number("repeated") - 12),
        ("the first index", &pack, copies - 9),
        ("the last index", &pack, number("size") - 9),
        ("the manifest", &save, length / 4),
        ("its copy", &save, length * 3 / 4),
    ];
    for (name, object, at) in places {
        let home = Home::folder();
        copy(&sound.files(), &home.files());
        let path = home.files().join(object);
        let mut bytes = fs::read(&path).unwrap();
        let whole = bytes.clone();
        bytes[at] ^= 1;
        fs::write(&path, bytes).unwrap();
        assert_eq!(sound.known().lost_in(&home.known()), (0, 0), "{name}");
        let stores = Stores::open(&StoreSettings::folder(home.files()));
        let repair = || stores.repair("2026-11-15T12:00:00Z".parse().unwrap()).remove(0).1.unwrap();
        assert_eq!(repair(), Repair::Renewed { objects: 1 }, "{name}");
        assert_eq!(repair(), Repair::Sound, "{name}");
        assert!(fs::read(&path).unwrap() == whole, "{name} is as it was");
    }
}
