//! Reads every byte that a store holds, packed and unpacked, and changes nothing.
//!
//! Older packs count too: whoever can read the store can unpack them.

use std::{
    collections::BTreeSet,
    io::{self, Read, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

use aho_corasick::AhoCorasick;
use fro_core::{Secret, remembered::Audience};
use fs_err::File;
use tempfile::TempDir;
use zstd::stream::read::Decoder;

use crate::{
    copy::EMPTIED,
    database::{self, judge},
    error::{Error, Flaw},
    normalize::Normalizer,
    recall::{Recall, RecallTarget, SessionSelection, peek},
    secrets::{SHORTEST, forms},
    snapshot::{
        manifest::{MAX_WINDOW, Manifest},
        pack,
    },
    store::{Listing, Object, ObjectName, Part, Store},
};

/// So much is looked at at a time.
const BUFFER: usize = 1 << 20;

/// What was found in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// The newest memory, restored and checked.
    pub recall: Recall,
    /// How many objects were read.
    pub objects: u32,
    /// How many bytes they have.
    pub bytes: u64,
    /// What is wrong, in words.
    pub flaws: Vec<String>,
    /// Where a value was found: its number, counted from one, and the place.
    pub found: Vec<(usize, String)>,
}

/// Reads all objects of a store, restores the newest memory, and looks for these values in all of it.
pub fn audit(store: &Store, values: &[Secret]) -> Result<Audit, Error> {
    let needles = Needles::learn(values)?;
    let folder = tempfile::tempdir()?;
    let mut audit =
        Audit { recall: Recall::Cold, objects: 0, bytes: 0, flaws: Vec::new(), found: Vec::new() };
    for object in objects(store)? {
        audit.read(store, object, &needles, folder.path())?;
    }
    audit.restore(store, &needles, &folder)?;
    Ok(audit)
}

impl Audit {
    /// Reads one object as it lies there and as it is unpacked.
    fn read(&mut self, store: &Store, object: Object, needles: &Needles, folder: &Path) -> Result<(), Error> {
        let file = folder.join("object");
        let mut content = match store.get(object, Part::Whole) {
            Ok(content) => content,
            Err(Error::Flawed(flaw)) => {
                self.flaws.push(flaw.to_string());
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        self.bytes += io::copy(&mut content, &mut File::create(&file)?)?;
        self.objects += 1;
        let hash = blake3::Hasher::new().update_reader(File::open(&file)?)?.finalize();
        if ObjectName::from(hash) != object.name() {
            self.flaws.push(Flaw::Altered(object.name()).to_string());
        }
        let mut numbers = BTreeSet::new();
        needles.search(&mut File::open(&file)?, &mut numbers)?;
        if unpacked(&file, object).and_then(|mut inside| needles.search(&mut inside, &mut numbers)).is_err() {
            self.flaws.push(format!("the object {} cannot be unpacked", object.name()));
        }
        self.found.extend(numbers.into_iter().map(|number| (number, object.to_string())));
        Ok(())
    }

    /// Restores the newest memory, in which a value may stand that is cut in two in the packs.
    fn restore(&mut self, store: &Store, needles: &Needles, folder: &TempDir) -> Result<(), Error> {
        let (engine_data, ledger) = (folder.path().join("data"), folder.path().join("ledger.db"));
        let audience = Audience::Insiders;
        let to = RecallTarget {
            engine_data: &engine_data,
            ledger: Some(&ledger),
            index: None,
            engine_version: None,
            audience,
            given: SessionSelection::Everything,
        };
        self.recall = peek(store, to)?;
        match &self.recall {
            Recall::Cold => return Ok(()),
            Recall::Newer { why } | Recall::Damaged { why } => {
                self.flaws.push(why.to_string());
                return Ok(());
            }
            Recall::Warm { instead_of, .. } => {
                self.flaws.extend(instead_of.as_ref().map(|why| format!("the newest save: {why}")));
            }
        }
        self.flaws.extend(filled(&engine_data)?);
        for file in files(&engine_data)?.into_iter().chain([ledger].into_iter().filter(|file| file.exists()))
        {
            let mut numbers = BTreeSet::new();
            needles.search(&mut File::open(&file)?, &mut numbers)?;
            let name = file.strip_prefix(folder.path()).unwrap_or(&file).display().to_string();
            self.found.extend(numbers.into_iter().map(|number| (number, format!("{name}, restored"))));
        }
        Ok(())
    }
}

/// Returns all objects of a store, or, where it cannot tell, those that the head leads to.
fn objects(store: &Store) -> Result<Vec<Object>, Error> {
    if let Listing::Known(listed) = store.list()? {
        return Ok(listed.into_iter().map(|listed| listed.object).collect());
    }
    let mut objects = Vec::new();
    let head = store.head()?.and_then(|head| head.manifest().ok());
    let mut next: Vec<ObjectName> = head.into_iter().collect();
    while let Some(name) = next.pop() {
        let object = Object::Manifest(name);
        if objects.contains(&object) || (Some(name) != head && !store.has(object)?) {
            continue;
        }
        objects.push(object);
        match Manifest::fetch(store, name) {
            Ok(manifest) => {
                objects.extend(manifest.packs.iter().map(|pack| Object::Pack(pack.name)));
                next.extend(manifest.parents.into_iter().chain(manifest.earlier));
            }
            // It is read once more, and then told.
            Err(Error::Flawed(_)) => {}
            Err(error) => return Err(error),
        }
    }
    let mut seen = BTreeSet::new();
    objects.retain(|object| seen.insert(object.to_string()));
    Ok(objects)
}

/// Returns what an object says when it is unpacked: all frames of a pack, one after the other.
fn unpacked(file: &Path, object: Object) -> io::Result<impl Read> {
    let mut packed = File::open(file)?;
    let size = packed.metadata()?.len();
    let frames = match object {
        Object::Manifest(_) => 0..size,
        Object::Pack(_) => {
            let mut count = [0; 4];
            packed.seek(SeekFrom::End(-4))?;
            packed.read_exact(&mut count)?;
            pack::BODY..pack::last_index(size, u32::from_le_bytes(count)).ok_or(io::ErrorKind::InvalidData)?
        }
    };
    packed.seek(SeekFrom::Start(frames.start))?;
    let mut decoder = Decoder::new(packed.take(frames.end - frames.start))?;
    decoder.window_log_max(MAX_WINDOW)?;
    Ok(decoder)
}

/// Returns complaints about tables that must be empty in a memory.
fn filled(engine_data: &Path) -> Result<Vec<String>, Error> {
    let Some(database) = database::find(engine_data)? else { return Ok(Vec::new()) };
    let connection = database::open(&database)?;
    let fail = judge("look for credentials in the database");
    let mut flaws = Vec::new();
    for table in EMPTIED {
        if connection.table_exists(None, table).map_err(&fail)? {
            let rows: u32 = connection
                .query_one(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))
                .map_err(&fail)?;
            flaws.extend((rows > 0).then(|| format!("the table `{table}` is not empty")));
        }
    }
    Ok(flaws)
}

/// Returns every file below a folder that was restored a moment ago.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            files.extend(self::files(&entry.path())?);
        } else {
            files.push(entry.path());
        }
    }
    Ok(files)
}

/// What is looked for.
struct Needles {
    plain: Patterns,
    /// In text without spaces and line breaks, in which a value may be broken.
    folded: Patterns,
}

impl Needles {
    fn learn(values: &[Secret]) -> Result<Self, Error> {
        let forms = |number: usize, value: &Secret| {
            let forms = forms(value.expose()).into_iter().filter(|form| !form.is_empty());
            forms.map(|form| (number, form.into_bytes())).collect::<Vec<_>>()
        };
        let plain: Vec<_> = (1..).zip(values).flat_map(|(number, value)| forms(number, value)).collect();
        let folded = plain.iter().map(|(number, form)| (*number, Normalizer::normalize(form)));
        let folded = folded.filter(|(_, form)| form.len() >= SHORTEST).collect();
        Ok(Self { plain: Patterns::compile(plain)?, folded: Patterns::compile(folded)? })
    }

    /// Adds the numbers of the values that stand in a stream.
    fn search(&self, stream: &mut impl Read, numbers: &mut BTreeSet<usize>) -> io::Result<()> {
        let (mut plain, mut folded) = (Vec::with_capacity(2 * BUFFER), Vec::with_capacity(2 * BUFFER));
        let mut fold = Normalizer::default();
        loop {
            let known = plain.len();
            if stream.by_ref().take(BUFFER as u64).read_to_end(&mut plain)? == 0 {
                return Ok(());
            }
            fold.add(&plain[known..], &mut folded);
            self.plain.search(&mut plain, numbers);
            self.folded.search(&mut folded, numbers);
        }
    }
}

/// Forms of the values, each with the number of its value.
struct Patterns {
    finder: AhoCorasick,
    owners: Vec<usize>,
    longest: usize,
}

impl Patterns {
    fn compile(forms: Vec<(usize, Vec<u8>)>) -> Result<Self, Error> {
        let (owners, patterns): (Vec<usize>, Vec<Vec<u8>>) = forms.into_iter().unzip();
        let longest = patterns.iter().map(Vec::len).max().unwrap_or_default();
        let finder = AhoCorasick::new(&patterns).map_err(io::Error::other)?;
        Ok(Self { finder, owners, longest })
    }

    /// Looks at a window and forgets all of it but what may be the beginning of a form.
    fn search(&self, window: &mut Vec<u8>, numbers: &mut BTreeSet<usize>) {
        let hits = self.finder.find_overlapping_iter(window.as_slice());
        numbers.extend(hits.map(|hit| self.owners[hit.pattern().as_usize()]));
        window.drain(..window.len().saturating_sub(self.longest.saturating_sub(1)));
    }
}
