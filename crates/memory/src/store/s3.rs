//! A store in a bucket of S3 or its kin.
//!
//! ```text
//! <prefix>/3/manifests/<hash>   <prefix>/3/packs/<hash>   content, never changed
//! <prefix>/3/head.3                                       the hash of the newest manifest, or nothing
//! <prefix>/3/aside/<hash>                                 heads that led to damage
//! ```
//!
//! The head is written with `If-Match` or `If-None-Match`, so that of several writers one wins. A head is taken away by
//! writing nothing into it: deleting knows no condition.

mod client;
mod rights;

use std::{
    io::{self, Read},
    ops::Range,
    path::Path,
    sync::Arc,
};

use blake3::Hasher;
use bytes::Bytes;
use fs_err::File;
use futures::{StreamExt as _, TryStreamExt as _};
use jiff::Timestamp;
use object_store::{
    GetOptions, GetRange, ObjectMeta, ObjectStore as _, ObjectStoreExt as _, PutMode, PutOptions, PutPayload,
    UpdateVersion, WriteMultipart, aws::AmazonS3, path::Path as Key,
};

pub use client::{Encryption, Endpoint, S3Settings};
pub use rights::{Right, RightVerdict, Trial};

use super::{
    Advance, DamagedHead, Head, Listed, Listing, Object, ObjectName, Part, Patience, Place,
    wire::{RANGE, Reader, Wire, side_by_side},
};
use crate::{
    error::{Error, Flaw, Refusal},
    snapshot::{former::FORMER, manifest::FORMAT},
};
use client::trouble;

const MAX_HEAD: u64 = 256;

/// Larger files go up in parts of this size, a few at a time.
const PIECE: usize = 8 << 20;
const PIECES_AT_ONCE: usize = 3;

/// A memory kept in a bucket.
#[derive(Debug)]
pub struct S3 {
    wire: Arc<Wire>,
    bucket: Arc<AmazonS3>,
    /// Lists without naming the bucket's owner, whose header would not be signed there.
    lister: AmazonS3,
    prefix: String,
    patience: Patience,
    /// The format whose head it has.
    format: u64,
}

/// The head as it stands, with what is needed to change it.
struct FoundObject {
    head: Option<Head>,
    version: Option<UpdateVersion>,
}

impl S3 {
    /// Prepares a bucket; nothing is asked of it yet.
    pub(crate) fn open(settings: &S3Settings) -> Result<Self, Error> {
        let (bucket, lister) = client::clients(settings)?;
        Ok(Self {
            wire: Wire::new()?,
            bucket: Arc::new(bucket),
            lister,
            prefix: settings.prefix.trim_matches('/').to_owned(),
            patience: settings.patience.clone(),
            format: FORMAT,
        })
    }

    /// Returns what a release of the former format has here, if anything.
    pub(crate) fn former(&self) -> Self {
        Self {
            wire: Arc::clone(&self.wire),
            bucket: Arc::clone(&self.bucket),
            lister: self.lister.clone(),
            prefix: self.prefix.clone(),
            patience: self.patience.clone(),
            format: FORMER,
        }
    }

    pub(crate) fn head(&self) -> Result<Option<Head>, Error> {
        Ok(self.wire.wait(self.find_head())?.head)
    }

    pub(crate) fn advance(&self, expected: Option<&Head>, next: &Head) -> Result<Advance, Error> {
        self.wire.wait(async {
            let found = self.find_head().await?;
            if found.head.as_ref() != expected {
                return Ok(Advance::Moved { now: found.head });
            }
            let written = self.replace_head(found.version, next.as_str()).await;
            if let Ok(true) = written {
                return Ok(Advance::Done);
            }
            // An answer may be lost though the head was written: only the head itself can tell.
            let now = self.find_head().await?.head;
            if now.as_ref() == Some(next) {
                return Ok(Advance::Done);
            }
            written?;
            if now.as_ref() == expected {
                let deed = format!("move the head in {}, which nobody else moved", Place::S3);
                return Err(Error::Remote { deed, why: Refusal::Failing, source: None });
            }
            Ok(Advance::Moved { now })
        })
    }

    pub(crate) fn set_aside(&self, bad: &Head) -> Result<(), Error> {
        self.wire.wait(async {
            let found = self.find_head().await?;
            if found.head.as_ref() == Some(bad) {
                self.write_aside(bad).await?;
                self.replace_head(found.version, "").await?;
            }
            Ok(())
        })
    }

    pub(crate) fn note_aside(&self, bad: &Head) -> Result<(), Error> {
        self.wire.wait(async {
            if self.find_head().await?.head.as_ref() == Some(bad) {
                self.write_aside(bad).await?;
            }
            Ok(())
        })
    }

    pub(crate) fn asides(&self) -> Result<Vec<DamagedHead>, Error> {
        let prefix = self.key("aside");
        self.wire.wait(async {
            let all: Vec<ObjectMeta> = self
                .lister
                .list(Some(&prefix))
                .try_collect()
                .await
                .map_err(trouble("list what was set aside"))?;
            let mut asides = Vec::new();
            for about in all {
                let range = 0..about.size.min(MAX_HEAD);
                let text = fetch(&self.bucket, &about.location, range).await;
                let text = text.map_err(trouble("read what was set aside"))?;
                let since = Timestamp::from_second(about.last_modified.timestamp()).unwrap_or(Timestamp::MAX);
                asides.push(DamagedHead { head: Head::new(String::from_utf8_lossy(&text)), since });
            }
            Ok(asides)
        })
    }

    pub(crate) fn drop_aside(&self, bad: &Head) -> Result<(), Error> {
        self.remove(&self.aside_key(bad))
    }

    pub(crate) fn get(&self, object: Object, part: Part) -> Result<Box<dyn Read + Send>, Error> {
        let key = self.key(&object.to_string());
        let pieces = match part {
            Part::Slice { from, length } if length > RANGE => {
                let (bucket, key) = (Arc::clone(&self.bucket), key.clone());
                side_by_side(from..from.saturating_add(length), move |range| {
                    let (bucket, key) = (Arc::clone(&bucket), key.clone());
                    async move { fetch(&bucket, &key, range).await.map_err(cut_off) }
                })
            }
            Part::Slice { from, length } => {
                let range = from..from.saturating_add(length);
                let bytes = self.wire.wait(fetch(&self.bucket, &key, range));
                let bytes = bytes.map_err(|error| missing(error, object))?;
                futures::stream::iter([Ok(bytes)]).boxed()
            }
            Part::Whole => {
                let got = self.wire.wait(self.bucket.get(&key)).map_err(|error| missing(error, object))?;
                got.into_stream().map_err(cut_off).boxed()
            }
        };
        let (wire, patience) = (Arc::clone(&self.wire), self.patience.answer);
        Ok(Box::new(Reader { wire, pieces, patience, piece: Bytes::new(), place: Place::S3 }))
    }

    pub(crate) fn has(&self, object: Object) -> Result<bool, Error> {
        Ok(self.size(object)?.is_some())
    }

    pub(crate) fn put(&self, object: Object, content: &Path) -> Result<u64, Error> {
        let key = self.key(&object.to_string());
        let bytes = fs_err::metadata(content)?.len();
        if self.size(object)? == Some(bytes) && self.is_whole(object)? {
            return Ok(0);
        }
        let fail = trouble("write an object");
        if bytes <= PIECE as u64 {
            let payload = PutPayload::from(fs_err::read(content)?);
            self.wire.wait(self.bucket.put(&key, payload)).map_err(fail)?;
        } else {
            self.wire.wait(self.put_in_parts(&key, content))?;
        }
        Ok(bytes)
    }

    pub(crate) fn list(&self) -> Result<Listing, Error> {
        let prefix = self.key("");
        let all: Vec<ObjectMeta> = self
            .wire
            .wait(self.lister.list(Some(&prefix)).try_collect())
            .map_err(trouble("list the objects"))?;
        let listed = all.into_iter().filter_map(|about| {
            let key = about.location.as_ref().strip_prefix(prefix.as_ref())?.trim_start_matches('/');
            let stored_at = Timestamp::from_second(about.last_modified.timestamp()).ok()?;
            Some(Listed { object: Object::parse(key)?, bytes: about.size, stored_at })
        });
        Ok(Listing::Known(listed.collect()))
    }

    pub(crate) fn delete(&self, object: Object) -> Result<(), Error> {
        self.remove(&self.key(&object.to_string()))
    }

    fn remove(&self, key: &Key) -> Result<(), Error> {
        match self.wire.wait(self.bucket.delete(key)) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(trouble("delete an object")(error)),
        }
    }

    fn size(&self, object: Object) -> Result<Option<u64>, Error> {
        match self.wire.wait(self.bucket.head(&self.key(&object.to_string()))) {
            Ok(about) => Ok(Some(about.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(trouble("look an object up")(error)),
        }
    }

    /// Each format has a folder of its own, so that another release neither finds nor deletes what is in it; the
    /// former one had none.
    fn key(&self, name: &str) -> Key {
        match self.format {
            FORMER => Key::from(format!("{}/{name}", self.prefix)),
            format => Key::from(format!("{}/{format}/{name}", self.prefix)),
        }
    }

    fn aside_key(&self, bad: &Head) -> Key {
        self.key(&format!("aside/{}", bad.aside_name()))
    }

    async fn write_aside(&self, bad: &Head) -> Result<(), Error> {
        let text = PutPayload::from(bad.as_str().as_bytes().to_vec());
        let written = self.bucket.put(&self.aside_key(bad), text).await;
        written.map(drop).map_err(trouble("set the damaged memory aside"))
    }

    /// An older release has a head of its own, so that going back to it finds what it can read.
    fn head_key(&self) -> Key {
        self.key(&format!("head.{}", self.format))
    }

    async fn find_head(&self) -> Result<FoundObject, Error> {
        let options = GetOptions { range: Some(GetRange::Bounded(0..MAX_HEAD)), ..GetOptions::default() };
        let got = match self.bucket.get_opts(&self.head_key(), options).await {
            Ok(got) => got,
            Err(object_store::Error::NotFound { .. }) => {
                return Ok(FoundObject { head: None, version: None });
            }
            Err(error) => return self.empty_head(error).await,
        };
        let version = UpdateVersion { e_tag: got.meta.e_tag.clone(), version: got.meta.version.clone() };
        let text = got.bytes().await.map_err(trouble("read the head"))?;
        Ok(FoundObject { head: Some(Head::new(String::from_utf8_lossy(&text))), version: Some(version) })
    }

    /// No range fits into a head that was taken away, which servers call an error.
    async fn empty_head(&self, error: object_store::Error) -> Result<FoundObject, Error> {
        match self.bucket.head(&self.head_key()).await {
            Ok(about) if about.size == 0 => {
                let version = UpdateVersion { e_tag: about.e_tag, version: about.version };
                Ok(FoundObject { head: None, version: Some(version) })
            }
            Ok(_) | Err(_) => Err(trouble("read the head")(error)),
        }
    }

    /// Writes the head if it is still that version; false if it is not.
    async fn replace_head(&self, version: Option<UpdateVersion>, text: &str) -> Result<bool, Error> {
        let mode = version.map_or(PutMode::Create, PutMode::Update);
        let payload = PutPayload::from(text.as_bytes().to_vec());
        match self.bucket.put_opts(&self.head_key(), payload, PutOptions::from(mode)).await {
            Ok(_) => Ok(true),
            Err(
                object_store::Error::AlreadyExists { .. }
                | object_store::Error::Precondition { .. }
                | object_store::Error::NotFound { .. },
            ) => Ok(false),
            Err(error) => Err(trouble("move the head")(error)),
        }
    }

    /// Compares a stored object with its name: one that was damaged is stored again.
    fn is_whole(&self, object: Object) -> Result<bool, Error> {
        let mut hasher = Hasher::new();
        hasher.update_reader(self.get(object, Part::Whole)?)?;
        Ok(ObjectName::from(hasher.finalize()) == object.name())
    }

    async fn put_in_parts(&self, key: &Key, content: &Path) -> Result<(), Error> {
        let fail = trouble("write an object");
        let upload = self.bucket.put_multipart(key).await.map_err(&fail)?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, PIECE);
        let mut file = File::open(content)?;
        let mut buffer = vec![0; PIECE];
        loop {
            let length = match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) => {
                    drop(upload.abort().await);
                    return Err(error.into());
                }
            };
            if let Err(error) = upload.wait_for_capacity(PIECES_AT_ONCE).await {
                drop(upload.abort().await);
                return Err(fail(error));
            }
            upload.write(&buffer[..length]);
        }
        upload.finish().await.map_err(fail)?;
        Ok(())
    }
}

/// Fetches a range, shorter if the object is.
async fn fetch(bucket: &AmazonS3, key: &Key, range: Range<u64>) -> object_store::Result<Bytes> {
    match bucket.get_range(key, range.clone()).await {
        Err(error @ object_store::Error::NotFound { .. }) => Err(error),
        Err(error) => match bucket.head(key).await {
            Ok(about) if about.size <= range.start => Ok(Bytes::new()),
            Ok(_) | Err(_) => Err(error),
        },
        fetched => fetched,
    }
}

/// Says through `Read` that the store failed.
fn cut_off(error: object_store::Error) -> io::Error {
    io::Error::other(trouble("read an object")(error))
}

fn missing(error: object_store::Error, object: Object) -> Error {
    match error {
        object_store::Error::NotFound { .. } => Flaw::Missing(object.name()).into(),
        error => trouble("read an object")(error),
    }
}
