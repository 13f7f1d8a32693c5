//! Damage at random, and runs all the while: none fails, and none makes worse what the damage left.
//!
//! `cargo run --release -p fro-memory --example soak -- 1000` tries so many seeds and prints the counts.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use fro_core::remembered::Audience;
use fro_memory::{
    Keep, Kept, Ledger, Recall, RecallTarget, Recollection, Retention, SessionSelection, Store,
    StoreSettings, Stores, peek,
};
use rusqlite::Connection;

use crate::{
    bucket::Bucket,
    engine::{Engine, NOON, add_message, after, open_session, run},
};

/// So many subjects are spoken about.
const SUBJECTS: u32 = 24;

/// So often each seed runs, and so often something breaks before.
const RUNS: u32 = 10;

/// Every so many seeds the memory is in a bucket.
const IN_A_BUCKET: u64 = 4;

/// Where the memory of a seed is.
pub(crate) enum Home {
    Folder(TempDir),
    Bucket(Bucket),
}

impl Home {
    pub(crate) fn folder() -> Self {
        Self::Folder(tempfile::tempdir().unwrap())
    }

    /// Returns the folder in which its files lie.
    pub(crate) fn files(&self) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.path().to_owned(),
            Self::Bucket(bucket) => bucket.files(PREFIX),
        }
    }

    fn settings(&self) -> StoreSettings {
        match self {
            Self::Folder(folder) => StoreSettings::folder(folder.path()),
            Self::Bucket(bucket) => {
                StoreSettings { s3: Some(bucket.settings(PREFIX)), ..StoreSettings::default() }
            }
        }
    }

    pub(crate) fn store(&self) -> Store {
        match self {
            Self::Folder(folder) => Store::folder(folder.path()).unwrap(),
            Self::Bucket(bucket) => bucket.store(PREFIX),
        }
    }

    /// Returns all that can be read of it, without changing anything.
    pub(crate) fn known(&self) -> Known {
        let (engine, private) = (Engine::fresh(), tempfile::tempdir().unwrap());
        let ledger = private.path().join("ledger.db");
        let to = RecallTarget { ledger: Some(&ledger), ..everything(engine.data()) };
        if !matches!(peek(&self.store(), to).unwrap(), Recall::Warm { .. }) {
            return Known::default();
        }
        let runs = Ledger::open(&ledger).unwrap().newest(u32::MAX).unwrap();
        Known { words: words(&engine.connect()), runs: runs.into_iter().map(|run| run.id).collect() }
    }
}

/// What a memory knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// For each session, what was said in it.
    pub(crate) words: BTreeMap<String, BTreeSet<String>>,
    /// The runs in the ledger.
    pub(crate) runs: BTreeSet<String>,
}

impl Known {
    /// Returns how many sessions and how many runs of the ledger another one has lost or knows less of.
    pub(crate) fn lost_in(&self, other: &Self) -> (usize, usize) {
        let is_less = |(id, texts): &(&String, &BTreeSet<String>)| {
            !other.words.get(*id).is_some_and(|others| others.is_superset(texts))
        };
        let runs = self.runs.difference(&other.runs).count();
        (self.words.iter().filter(is_less).count(), runs)
    }
}

const PREFIX: &str = "octo/garden";

fn everything(engine_data: &Path) -> RecallTarget<'_> {
    RecallTarget {
        engine_data,
        ledger: None,
        index: None,
        engine_version: None,
        audience: Audience::Insiders,
        given: SessionSelection::Everything,
    }
}

/// Numbers that look like chance, the same for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// What happened over all seeds.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    runs: u32,
    damages: u32,
    /// Runs that were told of damage, when they began or when they saved.
    told: u32,
    /// Runs that began without a memory although there was one.
    cold: u32,
    /// Sessions that damage took or set back, of all that were there.
    lost: usize,
    sessions: usize,
    /// Rows of the ledger that damage took, of all that were there.
    rows_lost: usize,
    rows: usize,
    /// Single bits that were flipped, and how many of them cost a session something.
    bits: u32,
    bits_that_cost: u32,
}

#[test]
fn whatever_breaks_no_run_fails_and_none_makes_it_worse() {
    println!("{:?}", play(0..8));
}

/// Tries some seeds, and returns what came of them.
pub(crate) fn play(seeds: Range<u64>) -> Counts {
    let mut counts = Counts::default();
    let all = u32::try_from(seeds.end - seeds.start).unwrap();
    seeds.for_each(|seed| one_seed(seed, &mut counts));
    assert_eq!(counts.runs, RUNS * all);
    assert!(counts.told > 0 && counts.damages > 0, "nothing was tried: {counts:?}");
    assert_eq!(counts.cold, 0, "a run began without a memory that could be read");
    counts
}

fn one_seed(seed: u64, counts: &mut Counts) {
    let home = match seed % IN_A_BUCKET {
        0 => Home::Bucket(Bucket::open()),
        _ => Home::folder(),
    };
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut turn = 0;
    for subject in 0..4 {
        speak(&home, subject, &mut turn, seed);
    }
    let mut whole = home.known();
    for _ in 0..RUNS {
        let before = if chance.below(2) == 0 {
            let damage = damage(&home.files(), &mut chance);
            let before = home.known();
            judge(&damage, (&whole, &before), counts, &format!("seed {seed}, turn {turn}"));
            before
        } else {
            whole.clone()
        };
        counts.sessions += whole.words.len();
        counts.rows += whole.runs.len();
        let subject = u32::try_from(chance.below(u64::from(SUBJECTS))).unwrap();
        let (recollection, said, warnings) = speak(&home, subject, &mut turn, seed);
        counts.runs += 1;
        counts.told += u32::from(!warnings.is_empty() || !recollection.warnings.is_empty());
        let is_warm = matches!(recollection.recall, Recall::Warm { .. });
        counts.cold += u32::from(!before.words.is_empty() && !is_warm);
        let after = home.known();
        assert_eq!(before.lost_in(&after), (0, 0), "seed {seed}, turn {turn}: {before:?} became {after:?}");
        let is_there = after.words.values().any(|texts| texts.contains(&said));
        assert!(is_there, "seed {seed}: `{said}` is not there");
        assert!(
            after.runs.contains(&run(subject).id),
            "seed {seed}, turn {turn}: the run is not in the ledger"
        );
        whole = after;
    }
}

/// Compares what was known before something broke and after.
fn judge(damage: &Damage, (whole, left): (&Known, &Known), counts: &mut Counts, when: &str) {
    let (sessions, rows) = whole.lost_in(left);
    counts.damages += 1;
    counts.lost += sessions;
    counts.rows_lost += rows;
    if damage.is_harmless {
        assert_eq!((sessions, rows), (0, 0), "{when}: nothing that is in use broke, but {}", damage.what);
    }
    if damage.is_one_bit {
        counts.bits += 1;
        counts.bits_that_cost += u32::from(sessions > 0);
        assert!(
            sessions <= 1 && rows == 0,
            "{when}: one bit cost {sessions} sessions and {rows} rows: {}",
            damage.what
        );
    }
}

/// One run: is given its subject's session, says something there, and saves.
pub(crate) fn speak(
    home: &Home,
    subject: u32,
    turn: &mut u32,
    seed: u64,
) -> (Recollection, String, Vec<String>) {
    *turn += 1;
    let (engine, private) = (Engine::fresh(), tempfile::tempdir().unwrap());
    let [ledger, index] = ["ledger.db", "index.db"].map(|name| private.path().join(name));
    let about = format!("octo/garden#{subject}");
    let to = RecallTarget {
        engine_data: engine.data(),
        ledger: Some(&ledger),
        index: Some(&index),
        engine_version: None,
        audience: Audience::Insiders,
        given: SessionSelection::About(&about),
    };
    let mut stores = Stores::open(&home.settings());
    let recollection = stores.recall(to, after(None).now);
    let id = format!("ses_{subject:08}");
    // Long sessions have frames of their own, short ones share them.
    let said = format!(
        "turn {turn} of seed {seed}, {}",
        "words ".repeat(if subject.is_multiple_of(2) { 60 } else { 2_000 })
    );
    let connection = if engine.database().exists() { engine.connect() } else { engine.begin() };
    let is_given = connection.prepare("SELECT 1 FROM session WHERE id = ?1").unwrap().exists([&id]).unwrap();
    if !is_given {
        open_session(&connection, &id, NOON);
    }
    add_message(&connection, &id, &format!("msg_{turn:08}"), NOON + i64::from(*turn), &said);
    drop(connection);
    Ledger::open(&ledger).unwrap().record(&run(subject)).unwrap();
    let keep = Keep::new(engine.data(), after(recollection.recall.head())).only([id]);
    let keep = keep.with_ledger(&ledger).with_index(&index).pruning(Retention::EVERYTHING);
    let keeping = stores.keep(&keep);
    assert!(matches!(keeping.kept, Some(Kept::Saved { .. })), "seed {seed}, turn {turn}: {keeping:?}");
    (recollection, said, keeping.warnings)
}

fn words(connection: &Connection) -> BTreeMap<String, BTreeSet<String>> {
    let sql = "SELECT session_id, data ->> '$.text' FROM part WHERE data ->> '$.text' IS NOT NULL";
    let mut statement = connection.prepare(sql).unwrap();
    let rows =
        statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).unwrap();
    let mut words: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in rows {
        let (id, text) = row.unwrap();
        words.entry(id).or_default().insert(text);
    }
    words
}

/// What was broken.
struct Damage {
    /// Which file, and how.
    what: String,
    /// No byte of the newest save was hit, so that nothing may be lost, whoever reads it.
    is_harmless: bool,
    /// One bit of a memory that was whole was flipped.
    is_one_bit: bool,
}

/// Breaks something.
fn damage(place: &Path, chance: &mut Chance) -> Damage {
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in ["3/packs", "3/manifests"] {
        files.extend(fs::read_dir(place.join(folder)).unwrap().map(|entry| entry.unwrap().path()));
    }
    files.sort();
    files.push(place.join("3/head.3"));
    let in_use = in_use(place);
    let pick = |chance: &mut Chance| usize::try_from(chance.below(files.len() as u64)).unwrap();
    let (one, other) = (pick(chance), pick(chance));
    let mut bytes = fs::read(&files[one]).unwrap_or_default();
    let at = usize::try_from(chance.below(bytes.len().max(1) as u64)).unwrap();
    let name = files[one].file_name().unwrap().to_str().unwrap().to_owned();
    // A head that is gone or garbage leads nowhere, and the newest save is found all the same.
    let is_harmless = in_use.as_ref().is_some_and(|names| !names.contains(&name));
    let kind = chance.below(6);
    let is_one_bit = kind > 3 && in_use.is_some() && !bytes.is_empty();
    match kind {
        0 => fs::remove_file(&files[one]).unwrap_or_default(),
        1 if name == "head.3" => fs::write(&files[one], "").unwrap(),
        kind => {
            match kind {
                1 => bytes.truncate(at.max(1)),
                2 => bytes = fs::read(&files[other]).unwrap_or_default(),
                3 => bytes[at..].iter_mut().take(200).for_each(|byte| *byte = 0),
                _ if bytes.is_empty() => {}
                _ => bytes[at] ^= 1 << chance.below(8),
            }
            fs::write(&files[one], bytes).unwrap();
        }
    }
    Damage { what: format!("{name}, kind {kind}, byte {at}"), is_harmless, is_one_bit }
}

/// Returns the names of the objects of the newest save, as the format's description says; nothing if that is damaged.
fn in_use(place: &Path) -> Option<BTreeSet<String>> {
    let head = fs::read_to_string(place.join("3/head.3")).ok()?;
    let bytes = fs::read(place.join("3/manifests").join(&head)).ok()?;
    let manifest: serde_json::Value =
        serde_json::from_slice(&zstd::decode_all(bytes.as_slice()).ok()?).ok()?;
    let packs = manifest["packs"].as_array()?.iter();
    let packs = packs.filter_map(|pack| pack["name"].as_str().map(str::to_owned));
    let names: BTreeSet<String> = packs.chain([head]).collect();
    // What is used in the place of something damaged has to be whole, and what is not is not known here.
    let is_whole = |name: &String| {
        let pack = place.join("3/packs").join(name);
        fs::read(&pack).is_ok_and(|bytes| blake3::hash(&bytes).to_string() == *name)
    };
    let are_whole = names.iter().filter(|name| !place.join("3/manifests").join(name).exists()).all(is_whole);
    are_whole.then_some(names)
}
