//! Damage at random, and runs all the while: none fails, and none makes worse what the damage left.
//!
//! `FRO_SOAK=1000 cargo test -p fro-memory --test it soak -- --nocapture` tries so many seeds and prints the counts.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
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
    engine::{Engine, NOON, add_message, after, open_session},
    sparse::run,
};

/// So many subjects are spoken about.
const SUBJECTS: u32 = 24;

/// So often each seed runs, and so often something breaks before.
const RUNS: u32 = 10;

/// Every so many seeds the memory is in a bucket.
const IN_A_BUCKET: u64 = 4;

/// For each session, what was said in it.
type Words = BTreeMap<String, BTreeSet<String>>;

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

    /// Returns the runs that the ledger knows of.
    pub(crate) fn ledger(&self) -> BTreeSet<String> {
        let (engine, private) = (Engine::fresh(), tempfile::tempdir().unwrap());
        let ledger = private.path().join("ledger.db");
        let to = RecallTarget { ledger: Some(&ledger), ..everything(engine.data()) };
        peek(&self.store(), to).unwrap();
        let runs = Ledger::open(&ledger).unwrap().newest(u32::MAX).unwrap();
        runs.into_iter().map(|run| run.id).collect()
    }

    /// Returns all that can be read of the sessions, without changing anything.
    pub(crate) fn words(&self) -> Words {
        words(&self.store())
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
struct Counts {
    runs: u32,
    damages: u32,
    /// Runs that were told of damage, when they began or when they saved.
    told: u32,
    /// Runs that began without a memory although there was one.
    cold: u32,
    /// Sessions that damage took, of all that were there.
    lost: usize,
    sessions: usize,
    /// Rows of the ledger that damage took, of all that were there.
    rows_lost: usize,
    rows: usize,
}

#[test]
fn whatever_breaks_no_run_fails_and_none_makes_it_worse() {
    let seeds = std::env::var("FRO_SOAK").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(12);
    let mut counts = Counts::default();
    (0..seeds).for_each(|seed| one_seed(seed, &mut counts));
    println!("{seeds} seeds: {counts:?}");
    assert_eq!(counts.runs, RUNS * u32::try_from(seeds).unwrap());
    assert!(counts.told > 0 && counts.damages > 0, "nothing was tried: {counts:?}");
    assert_eq!(counts.cold, 0, "a run began without a memory that could be read");
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
    for _ in 0..RUNS {
        let (whole, runs) = (home.words(), home.ledger());
        let mut damaged = None;
        if chance.below(2) == 0 {
            damaged = Some(damage(&home.files(), &mut chance));
            counts.damages += 1;
        }
        let (before, known) = (home.words(), home.ledger());
        if damaged.is_some_and(|damage| damage.is_harmless) {
            assert_eq!(
                (&before, &known),
                (&whole, &runs),
                "seed {seed}, turn {turn}: nothing that is in use broke"
            );
        }
        counts.sessions += whole.len();
        counts.lost += whole.keys().filter(|id| !before.contains_key(*id)).count();
        counts.rows += runs.len();
        counts.rows_lost += runs.difference(&known).count();
        let subject = u32::try_from(chance.below(u64::from(SUBJECTS))).unwrap();
        let (recollection, said, warnings) = speak(&home, subject, &mut turn, seed);
        counts.runs += 1;
        counts.told += u32::from(!warnings.is_empty() || !recollection.warnings.is_empty());
        counts.cold += u32::from(!before.is_empty() && !matches!(recollection.recall, Recall::Warm { .. }));
        let after = home.words();
        for (id, texts) in &before {
            let has = after.get(id).cloned().unwrap_or_default();
            assert!(has.is_superset(texts), "seed {seed}, turn {turn}: {id} had {texts:?} and has {has:?}");
        }
        assert!(after.values().any(|texts| texts.contains(&said)), "seed {seed}: `{said}` is not there");
        let kept = home.ledger();
        assert!(kept.is_superset(&known), "seed {seed}, turn {turn}: {known:?} became {kept:?}");
        assert!(kept.contains(&run(subject).id), "seed {seed}, turn {turn}: the run is not in the ledger");
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

fn words(store: &Store) -> Words {
    let engine = Engine::fresh();
    let recalled = peek(store, everything(engine.data())).unwrap();
    if !matches!(recalled, Recall::Warm { .. }) {
        return Words::new();
    }
    let connection: Connection = engine.connect();
    let sql = "SELECT session_id, data ->> '$.text' FROM part WHERE data ->> '$.text' IS NOT NULL";
    let mut statement = connection.prepare(sql).unwrap();
    let rows =
        statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).unwrap();
    let mut words = Words::new();
    for row in rows {
        let (id, text) = row.unwrap();
        words.entry(id).or_default().insert(text);
    }
    words
}

/// What was broken.
struct Damage {
    /// No byte of the newest save was hit, so that nothing may be lost, whoever reads it.
    is_harmless: bool,
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
    let is_harmless = in_use.is_some_and(|names| !names.contains(&name));
    match chance.below(6) {
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
    Damage { is_harmless }
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
