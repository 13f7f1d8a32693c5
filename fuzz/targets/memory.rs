//! A memory in a store that somebody else writes to, every hash made right: restored or refused, and nothing of it lies
//! anywhere but in the engine's folder. What was restored can be saved, and that can be restored again.
//!
//! The first byte says how the rest is meant. From 4 on it is format 3: a manifest, a zero byte, and chunks with the byte
//! 255 between them, which no JSON has. `@n@` in the manifest and in later chunks stands for the name of a chunk.

#![no_main]

use std::{
    fs,
    path::{Path, PathBuf},
};

use fro_memory::{Kept, Provenance, Recall, Store, keep, recall};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

/// Chunks are cut to the smallest page of a database.
const CHUNK: usize = 512;

/// Where a story takes place: a store, the engine's data folder and nothing else.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        for name in ["store/manifests", "store/packs", "store/3/manifests", "store/3/packs", "data"] {
            fs::create_dir_all(folder.path().join(name)).expect("the folder is new");
        }
        Self { folder }
    }

    fn put(&self, kind: &str, bytes: &[u8]) -> String {
        let name = blake3::hash(bytes).to_hex().to_string();
        fs::write(self.folder.path().join("store").join(kind).join(&name), bytes).expect("there is room");
        name
    }

    fn store(&self) -> Store {
        Store::folder(self.folder.path().join("store")).expect("the store opens")
    }

    /// Restores into a folder and makes sure that nothing lies anywhere else, and nothing half done.
    fn recall(&self, data: &Path) -> Option<Recall> {
        let recalled = recall(&self.store(), data).ok();
        let mut names = names(self.folder.path());
        names.retain(|name| !["store", "data", "again"].contains(&name.as_str()));
        assert!(names.is_empty(), "{names:?} should not be there");
        let expected: &[&str] = match recalled {
            Some(Recall::Warm { .. }) => &["opencode.db", "storage"],
            Some(Recall::Cold | Recall::Newer { .. } | Recall::Damaged { .. }) | None => &[],
        };
        for path in files(&data.join("opencode")) {
            let inside = path.strip_prefix(data.join("opencode")).expect("it was found there");
            let first = inside.iter().next().and_then(|name| name.to_str()).unwrap_or_default();
            assert!(expected.contains(&first) && !inside.ends_with("auth.json"), "{}", path.display());
        }
        recalled
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Returns everything below a folder that is no folder itself; links are refused.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let kind = entry.file_type().expect("it is there");
        assert!(kind.is_dir() || kind.is_file(), "{} is a link", entry.path().display());
        if kind.is_dir() { found.extend(files(&entry.path())) } else { found.push(entry.path()) }
    }
    found
}

/// Packs bytes as they ought to be packed; returns the pack, its index and how many chunks it has.
fn packed(bytes: &[u8]) -> (Vec<u8>, Vec<u8>, usize) {
    let chunks: Vec<&[u8]> = bytes.chunks(CHUNK).collect();
    let mut index = Vec::new();
    for chunk in &chunks {
        index.extend_from_slice(blake3::hash(chunk).as_bytes());
        index.extend_from_slice(&u32::try_from(chunk.len()).expect("chunks are short").to_le_bytes());
    }
    index.extend_from_slice(&u32::try_from(chunks.len()).expect("inputs are short").to_le_bytes());
    let frame = zstd::encode_all(bytes, 1).expect("bytes can be packed");
    ([&b"FROPACK2"[..], &frame, &index].concat(), index, chunks.len())
}

/// Writes the names of chunks where they are meant.
fn with_names(text: &[u8], names: &[String]) -> Vec<u8> {
    let mut text = String::from_utf8_lossy(text).into_owned();
    for (number, name) in names.iter().enumerate() {
        text = text.replace(&format!("@{number}@"), name);
    }
    text.into_bytes()
}

/// Puts a memory of format 3 into the store, each chunk in a frame of its own.
fn describe_rows(place: &Place, kind: u8, text: &[u8], body: &[u8]) -> Option<()> {
    let (mut names, mut frames, mut index, mut bytes) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for chunk in body.split(|byte| *byte == 255).filter(|chunk| !chunk.is_empty()) {
        let chunk = with_names(chunk, &names);
        let (hash, frame) = (blake3::hash(&chunk), zstd::bulk::compress(&chunk, 1).ok()?);
        index.extend_from_slice(hash.as_bytes());
        index.extend_from_slice(&u32::try_from(chunk.len()).ok()?.to_le_bytes());
        index.extend_from_slice(&u32::try_from(frame.len()).ok()?.to_le_bytes());
        frames.extend(frame);
        names.push(hash.to_hex().to_string());
        bytes += chunk.len();
    }
    index.extend_from_slice(&u32::try_from(names.len()).ok()?.to_le_bytes());
    let pack = [&b"FROPACK3"[..], &frames, &index].concat();
    let name = place.put("3/packs", &pack);
    let text = with_names(text, &names);
    let manifest = match serde_json::from_slice::<Value>(&text) {
        Ok(mut manifest) if kind % 2 == 0 => {
            manifest["packs"] = json!([{ "name": name, "size": pack.len(), "chunks": names.len(), "bytes": bytes,
                "index": blake3::hash(&index).to_hex().as_str() }]);
            manifest.to_string().into_bytes()
        }
        _ => text,
    };
    let head = place.put("3/manifests", &zstd::encode_all(manifest.as_slice(), 1).ok()?);
    fs::write(place.folder.path().join("store/3/head.3"), head).ok()
}

/// Puts what the input describes into the store, and the head before it.
fn describe(place: &Place, data: &[u8]) -> Option<()> {
    let (kind, rest) = data.split_first()?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    let (text, body) = (&rest[..end], &rest[end + 1..]);
    if kind % 8 >= 4 {
        return describe_rows(place, *kind, text, body);
    }
    let (pack, index, chunks) = match kind % 4 {
        // The pack as it comes.
        3 => (body.to_vec(), body.get(body.len().saturating_sub(40)..)?.to_vec(), 1),
        _ => packed(body),
    };
    let name = place.put("packs", &pack);
    let manifest = match (kind % 4, serde_json::from_slice::<Value>(text)) {
        (2, _) => text.to_vec(),
        (kind, Ok(mut manifest)) => {
            let note = json!({ "name": name, "size": pack.len(), "chunks": chunks, "bytes": body.len(),
                "index": blake3::hash(&index).to_hex().as_str() });
            for known in manifest["packs"].as_array_mut().into_iter().flatten().filter(|_| kind != 1) {
                *known = note.clone();
            }
            zstd::encode_all(manifest.to_string().as_bytes(), 1).ok()?
        }
        (_, Err(_)) => zstd::encode_all(text, 1).ok()?,
    };
    let head = place.put("manifests", &manifest);
    fs::write(place.folder.path().join("store/head.2"), head).ok()
}

fuzz_target!(|data: &[u8]| {
    let place = Place::new();
    if describe(&place, data).is_none() {
        return;
    }
    let folder = place.folder.path().join("data");
    let Some(Recall::Warm { head, .. }) = place.recall(&folder) else { return };
    let now = jiff::Timestamp::UNIX_EPOCH;
    let provenance = Provenance { now, engine_version: "1.18.33".to_owned(), parent: Some(head) };
    if let Ok(Kept::Saved { .. }) = keep(&place.store(), &folder, &provenance) {
        let again = place.recall(&place.folder.path().join("again"));
        assert!(matches!(again, Some(Recall::Warm { .. })), "what was saved is not there: {again:?}");
    }
});
