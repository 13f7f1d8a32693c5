//! The stores that can hold a memory, and what each of them promises.
//!
//! A store holds immutable objects named by their content and one head that names the newest manifest. Invariant: a
//! name is a hash and nothing else, so no name can lead out of a store.

pub(crate) mod cache;
pub(crate) mod folder;
pub(crate) mod s3;
pub(crate) mod wire;

use std::{fmt, io::Read, path::Path};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::error::{Error, Flaw};
use cache::{ActionsCache, CacheSettings};
use folder::Folder;
use s3::{S3, S3Settings};
use wire::Patience;

/// A place that keeps memory between runs. The contract is tested by `tests/it/contract.rs`.
///
/// Every call blocks. What comes out is unverified bytes, because a remote store streams: the reader holds each of
/// them against a hash that it knows. What fails for good is an `Error`; a store retries on its own what may pass.
#[derive(Debug)]
pub enum Store {
    /// A folder of this machine.
    Folder(Folder),
    /// The cache of GitHub Actions.
    ActionsCache(Box<ActionsCache>),
    /// A bucket of S3 or its kin.
    S3(Box<S3>),
}

/// Which kind of store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A folder of this machine.
    Folder,
    /// The cache of GitHub Actions.
    ActionsCache,
    /// A bucket of S3 or its kin.
    S3,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Folder => "the folder",
            Self::ActionsCache => "the Actions cache",
            Self::S3 => "S3",
        })
    }
}

/// Calls the method of the same name, whichever store it is.
macro_rules! pass_on {
    ($store:ident.$method:ident($($argument:expr),*)) => {
        match $store {
            Store::Folder(store) => store.$method($($argument),*),
            Store::ActionsCache(store) => store.$method($($argument),*),
            Store::S3(store) => store.$method($($argument),*),
        }
    };
}

impl Store {
    /// Opens the store in this folder, made if need be.
    pub fn folder(root: impl AsRef<Path>) -> Result<Self, Error> {
        Folder::open(root).map(Self::Folder)
    }

    /// Prepares the cache of GitHub Actions; nothing is asked of it yet.
    pub fn actions_cache(settings: &CacheSettings) -> Result<Self, Error> {
        Ok(Self::ActionsCache(Box::new(ActionsCache::open(settings)?)))
    }

    /// Prepares a bucket; nothing is asked of it yet.
    pub fn s3(settings: &S3Settings) -> Result<Self, Error> {
        Ok(Self::S3(Box::new(S3::open(settings)?)))
    }

    /// Returns which kind of store it is.
    pub fn place(&self) -> Place {
        match self {
            Self::Folder(_) => Place::Folder,
            Self::ActionsCache(_) => Place::ActionsCache,
            Self::S3(_) => Place::S3,
        }
    }

    /// Returns what a release of the former format has in the same place, if that has a head.
    pub(crate) fn former(&self) -> Result<Option<Self>, Error> {
        let former = match self {
            Self::Folder(folder) => folder.former().map(Self::Folder),
            Self::ActionsCache(cache) => Some(Self::ActionsCache(Box::new(cache.former()))),
            Self::S3(bucket) => Some(Self::S3(Box::new(bucket.former()))),
        };
        let Some(former) = former else { return Ok(None) };
        Ok(former.head()?.is_some().then_some(former))
    }

    /// Returns what the head says, if there is one.
    pub fn head(&self) -> Result<Option<Head>, Error> {
        pass_on!(self.head())
    }

    /// Points the head at `next`, unless it no longer says what `expected` does.
    ///
    /// Of several callers with the same expectation at most one gets `Done`. A store that cannot compare and set at
    /// once (the Actions cache) comes as near as it can, and says in its own description what is left open.
    pub fn advance(&self, expected: Option<&Head>, next: &Head) -> Result<Advance, Error> {
        pass_on!(self.advance(expected, next))
    }

    /// Takes a head that leads to damage out of the way, unless it moved meanwhile.
    ///
    /// Nothing is deleted: what it pointed at stays for a person to look at.
    pub fn set_aside(&self, bad: &Head) -> Result<(), Error> {
        pass_on!(self.set_aside(bad))
    }

    /// Writes down that a head leads to damage, and leaves it where it is: for a head that is about to be moved on.
    pub fn note_aside(&self, bad: &Head) -> Result<(), Error> {
        pass_on!(self.note_aside(bad))
    }

    /// Returns the heads that were set aside; a store that cannot list has none to tell of.
    pub fn asides(&self) -> Result<Vec<DamagedHead>, Error> {
        pass_on!(self.asides())
    }

    /// Lets go of a head that was set aside, so that what only it leads to may be collected.
    pub fn drop_aside(&self, bad: &Head) -> Result<(), Error> {
        pass_on!(self.drop_aside(bad))
    }

    /// Returns a head for every save that is listed, with the time when it was stored, newest first; none where nothing
    /// can be listed.
    pub(crate) fn manifests(&self) -> Result<Vec<(Timestamp, Head)>, Error> {
        let Listing::Known(mut listed) = self.list()? else { return Ok(Vec::new()) };
        listed.sort_by_key(|listed| std::cmp::Reverse(listed.stored_at));
        let manifests = listed.into_iter().filter_map(|listed| match listed.object {
            Object::Manifest(name) => Some((listed.stored_at, Head::from(name))),
            Object::Pack(_) => None,
        });
        Ok(manifests.collect())
    }

    /// Returns a part of an object, shorter if the object is; a missing one is `Flaw::Missing`.
    pub fn get(&self, object: Object, part: Part) -> Result<Box<dyn Read + Send>, Error> {
        pass_on!(self.get(object, part))
    }

    /// Stores a file under its name and returns how many bytes had to travel: none if it was there already.
    ///
    /// It is there whole or not at all, and no reader sees it before it is whole.
    pub fn put(&self, object: Object, content: &Path) -> Result<u64, Error> {
        pass_on!(self.put(object, content))
    }

    /// Returns what is stored, or that this store cannot tell.
    pub fn list(&self) -> Result<Listing, Error> {
        pass_on!(self.list())
    }

    /// Deletes an object; one that is gone already is no error.
    pub fn delete(&self, object: Object) -> Result<(), Error> {
        pass_on!(self.delete(object))
    }

    /// Tells whether an object is there.
    pub fn has(&self, object: Object) -> Result<bool, Error> {
        pass_on!(self.has(object))
    }

    /// Finds out whether this run may write here at all, as far as that can be known without writing.
    pub fn may_write(&self) -> Result<(), Error> {
        match self {
            Self::Folder(_) | Self::S3(_) => Ok(()),
            Self::ActionsCache(cache) => cache.may_write(),
        }
    }

    /// Says that this run may only read the store, as far as that is known without asking.
    pub(crate) fn is_writable(&self) -> Result<(), Error> {
        match self {
            Self::Folder(_) | Self::S3(_) => Ok(()),
            Self::ActionsCache(cache) => cache.is_writable(),
        }
    }

    /// Returns how many packs a save may consist of here before it is packed anew.
    pub(crate) fn most_packs(&self) -> usize {
        match self {
            Self::Folder(_) | Self::S3(_) => 32,
            // Each costs two requests, and one that was evicted spoils them all.
            Self::ActionsCache(_) => 8,
        }
    }
}

/// The BLAKE3 hash of an object's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ObjectName(blake3::Hash);

impl ObjectName {
    /// Reads a name: 64 lower-case hexadecimal digits, in this one spelling.
    pub fn parse(text: &str) -> Option<Self> {
        let hash = blake3::Hash::from_hex(text).ok()?;
        (hash.to_hex().as_str() == text).then_some(Self(hash))
    }

    /// Returns the hash.
    pub(crate) fn hash(self) -> blake3::Hash {
        self.0
    }
}

impl From<blake3::Hash> for ObjectName {
    fn from(hash: blake3::Hash) -> Self {
        Self(hash)
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

impl fmt::Debug for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectName({self})")
    }
}

impl Serialize for ObjectName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ObjectName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("not the name of an object"))
    }
}

/// One thing in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Object {
    /// What one save consists of.
    Manifest(ObjectName),
    /// The chunks that were new in one save.
    Pack(ObjectName),
}

impl Object {
    /// Returns the hash of its bytes.
    pub fn name(self) -> ObjectName {
        match self {
            Self::Manifest(name) | Self::Pack(name) => name,
        }
    }

    /// Reads the key that `Display` writes.
    pub fn parse(key: &str) -> Option<Self> {
        match key.split_once('/')? {
            ("manifests", name) => ObjectName::parse(name).map(Self::Manifest),
            ("packs", name) => ObjectName::parse(name).map(Self::Pack),
            _ => None,
        }
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manifest(name) => write!(f, "manifests/{name}"),
            Self::Pack(name) => write!(f, "packs/{name}"),
        }
    }
}

/// Which bytes of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of them.
    Whole,
    /// `length` bytes from the byte `from` on.
    Slice {
        /// The first byte.
        from: u64,
        /// How many.
        length: u64,
    },
}

/// What a store's head says, as it stands there.
///
/// It may be garbage: only `manifest` tells. Comparing heads is comparing texts, so that a garbled head can be
/// set aside as safely as a good one is advanced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head(String);

impl Head {
    /// Takes in what a store holds in the place of its head.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text, for a store to write.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name under which it is set aside: it may be garbage, so it is no name itself.
    pub(crate) fn aside_name(&self) -> ObjectName {
        ObjectName::from(blake3::hash(self.0.as_bytes()))
    }

    /// Returns the manifest it points at.
    pub fn manifest(&self) -> Result<ObjectName, Flaw> {
        ObjectName::parse(&self.0).ok_or(Flaw::Head)
    }
}

impl From<ObjectName> for Head {
    fn from(name: ObjectName) -> Self {
        Self(name.to_string())
    }
}

/// A head that led to damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedHead {
    /// What it says.
    pub head: Head,
    /// When it was set aside, by the store's clock.
    pub since: Timestamp,
}

/// The end of an attempt to move the head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advance {
    /// The head is where we wanted it.
    Done,
    /// Somebody moved it first; it was not touched.
    Moved {
        /// Where it stands.
        now: Option<Head>,
    },
}

/// What a store knows of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listing {
    /// Everything that is there, in no order.
    Known(Vec<Listed>),
    /// This store cannot list or delete; it forgets by itself.
    Unavailable,
}

/// An object with its age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    /// What it is.
    pub object: Object,
    /// How large it is.
    pub bytes: u64,
    /// When it was stored, by the store's clock.
    pub stored_at: Timestamp,
}
