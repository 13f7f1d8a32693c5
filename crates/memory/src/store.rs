//! Where memory lies: immutable objects named by their content, and one head that names the newest manifest.
//!
//! Invariant: a name is a hash and nothing else, so no name can lead out of a store.

pub(crate) mod folder;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::error::Flaw;

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

/// What a store's head says, as it stands there.
///
/// It may be garbage: only `manifest` tells. Comparing heads is comparing texts, so that a garbled head can be
/// set aside as safely as a good one is advanced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head(String);

impl Head {
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
    Done(Head),
    /// Somebody moved it first; it was not touched.
    Moved {
        /// Where it stands.
        now: Option<Head>,
    },
}

/// An object that is in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    /// Its name.
    pub name: ObjectName,
    /// How many bytes had to be written: none when it was there already.
    pub written: u64,
}
