//! Where memory lies, and what every such place promises.
//!
//! A store holds immutable objects named by their content and one head that names the newest manifest. Invariant: a
//! name is a hash and nothing else, so no name can lead out of a store.

pub(crate) mod folder;

use std::{fmt, io::Read, path::Path};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::error::{Error, Flaw};

/// A place that keeps memory between runs. The contract is tested by `tests/it/contract.rs`.
///
/// Every call blocks. What comes out is unverified bytes, because a remote store streams: the reader holds each of
/// them against a hash that it knows. What fails for good is an `Error`; a store retries on its own what may pass.
pub trait Store: Send + Sync {
    /// Returns what the head says, if there is one.
    fn head(&self) -> Result<Option<Head>, Error>;

    /// Points the head at `next`, unless it no longer says what `expected` does.
    ///
    /// Of several callers with the same expectation at most one gets `Done`. A store that cannot compare and set at
    /// once (the Actions cache) comes as near as it can, and says in its own description what is left open.
    fn advance(&self, expected: Option<&Head>, next: &Head) -> Result<Advance, Error>;

    /// Takes a head that leads to damage out of the way, unless it moved meanwhile.
    ///
    /// Nothing is deleted: what it pointed at stays for a person to look at.
    fn set_aside(&self, bad: &Head) -> Result<(), Error>;

    /// Returns a part of an object, shorter if the object is; a missing one is `Flaw::Missing`.
    fn get(&self, object: Object, part: Part) -> Result<Box<dyn Read + Send>, Error>;

    /// Stores a file under its name and returns how many bytes had to travel: none if it was there already.
    ///
    /// It is there whole or not at all, and no reader sees it before it is whole.
    fn put(&self, object: Object, content: &Path) -> Result<u64, Error>;

    /// Returns what is stored, or that this store cannot tell.
    fn list(&self) -> Result<Listing, Error>;

    /// Deletes an object; one that is gone already is no error.
    fn delete(&self, object: Object) -> Result<(), Error>;
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
