//! The small object that the head names: what was kept, when, by which engine, and what came before.

use std::io::{self, Read};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Flaw},
    store::{Head, ObjectName},
};

/// The format that this release writes and reads.
pub(crate) const FORMAT: u64 = 1;

const MAX_MANIFEST: u64 = 1 << 20;

/// One save.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) format: u64,
    /// The version of the engine whose database it is.
    pub(crate) engine: String,
    pub(crate) saved_at: Timestamp,
    pub(crate) sessions: u32,
    /// The size of the database when unpacked.
    pub(crate) bytes: u64,
    /// The database, compressed with zstd.
    pub(crate) database: ObjectName,
    /// The save that the engine started from.
    pub(crate) parent: Option<Head>,
}

impl Manifest {
    /// Writes it as JSON.
    pub(crate) fn to_json(&self) -> io::Result<Vec<u8>> {
        Ok(serde_json::to_vec(self)?)
    }

    /// Reads one of our own format.
    pub(crate) fn read(object: impl Read) -> Result<Self, Error> {
        let mut json = Vec::new();
        object.take(MAX_MANIFEST + 1).read_to_end(&mut json)?;
        if json.len() as u64 > MAX_MANIFEST {
            return Err(Flaw::TooLarge { what: "the manifest".to_owned(), limit: MAX_MANIFEST }.into());
        }
        let unreadable = |error: serde_json::Error| Flaw::Manifest(error.to_string());
        // Another format may look different in everything but its number.
        let Numbered { format } = serde_json::from_slice(&json).map_err(unreadable)?;
        if format != FORMAT {
            return Err(Flaw::Format { found: format, readable: FORMAT }.into());
        }
        Ok(serde_json::from_slice(&json).map_err(unreadable)?)
    }
}

#[derive(Deserialize)]
struct Numbered {
    format: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT_1: &str = r#"{"format":1,"engine":"1.18.33","saved_at":"2026-11-15T12:00:00Z","sessions":3,"bytes":4096,"database":"af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262","parent":null}"#;

    #[test]
    fn format_1_is_written_as_it_always_was_and_read_back() {
        let manifest = Manifest::read(FORMAT_1.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(manifest.to_json().unwrap()).unwrap(), FORMAT_1);
    }

    #[test]
    fn what_is_not_a_manifest_of_ours_is_a_flaw() {
        let hostile = FORMAT_1.replace("af1349b9", "../../..");
        let huge = " ".repeat(1 << 21);
        let inputs = ["", "[]", r#"{"format":2,"else":true}"#, r#"{"format":1}"#, &hostile, &huge];
        let flaws: Vec<_> =
            inputs.map(|text| Manifest::read(text.as_bytes()).unwrap_err().to_string()).into();
        insta::assert_debug_snapshot!(flaws, @r#"
        [
            "the manifest cannot be read: EOF while parsing a value at line 1 column 0",
            "the manifest cannot be read: invalid length 0, expected struct Numbered with 1 element at line 1 column 2",
            "the memory has format 2, this release reads format 1",
            "the manifest cannot be read: missing field `engine` at line 1 column 12",
            "the manifest cannot be read: not the name of an object at line 1 column 168",
            "the manifest is larger than 1048576 bytes",
        ]
        "#);
    }
}
