//! A store in the cache of GitHub Actions.
//!
//! Entries there never change and cannot be deleted with a run's token; they go by themselves when nobody asked for them
//! for a week, or when the repository's caches are full. So a head is an entry too, and the newest is the head. Writers
//! take turns by reserving a key with the head's number, which the service grants once. What is left open: a writer that
//! stalls for longer than `Patience::settle` between looking at the head and finishing its own counts as dead, and if it
//! then goes on, one of the two saves is not found until the next merge of its session.

mod files;
mod keys;
mod service;

use std::{
    collections::HashMap,
    io::{self, Read},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use blake3::Hasher;
use bytes::Bytes;
use fro_core::Secret;
use fro_http::ClientSettings;
use futures::StreamExt as _;
use tokio::time::Instant;

use super::{
    Advance, DamagedHead, Head, Listing, Object, ObjectName, Part, Patience, Place,
    wire::{RANGE, Reader, Wire, side_by_side},
};
use crate::{
    error::{Error, Flaw, Refusal},
    snapshot::former::FORMER,
};
pub use files::CacheFiles;
use keys::Keys;
use service::{Address, Entry, Reservation, Service};

const MAX_HEAD: u64 = 256;

/// No object in the cache is larger.
const MAX_OBJECT: u64 = 16 << 30;

/// So many writers that died in their turn are passed by.
const TURNS: u64 = 8;

/// So many heads before the newest are asked for when that leads nowhere.
const HEADS_BACK: u64 = 8;

/// So often it is looked whether another writer is done.
const LOOK: Duration = Duration::from_millis(100);

/// How the cache is reached, and under which names.
#[derive(Debug, Clone)]
pub struct CacheSettings {
    /// How requests travel.
    pub client: ClientSettings,
    /// The service's address (`ACTIONS_RESULTS_URL`).
    pub url: String,
    /// The run's token for it (`ACTIONS_RUNTIME_TOKEN`).
    pub token: Secret,
    /// What this run may do with it (`ACTIONS_CACHE_MODE`).
    pub mode: CacheMode,
    /// What the names of entries are made of.
    pub names: EntryNames,
    /// How long it may take.
    pub patience: Patience,
}

/// What a run may do with the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CacheMode {
    /// Read and write, as far as the token goes.
    #[default]
    Full,
    /// Only read.
    Read,
    /// Only write.
    Write,
    /// Nothing.
    None,
}

impl CacheMode {
    /// Reads the value of `ACTIONS_CACHE_MODE`; whatever is not known forbids nothing.
    pub fn parse(text: &str) -> Self {
        match text {
            "read" => Self::Read,
            "write-only" => Self::Write,
            "none" => Self::None,
            _ => Self::Full,
        }
    }
}

/// What the names of entries are made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryNames {
    /// `github`, or another surface.
    pub identity: String,
    /// Such as `octo/garden`.
    pub repo: String,
    /// The branch or tag of the run.
    pub branch: String,
    /// The runner's system, such as `Linux`.
    pub os: String,
    /// The run's id.
    pub run: String,
    /// Which attempt of it.
    pub attempt: u32,
}

/// A memory kept in the cache of GitHub Actions.
#[derive(Debug)]
pub struct ActionsCache {
    wire: Arc<Wire>,
    service: Service,
    keys: Keys,
    mode: CacheMode,
    patience: Patience,
    /// Where objects were found; each costs a request otherwise.
    found: Mutex<HashMap<Object, Address>>,
    /// A head that led to damage: it cannot be taken away, but the next save is found before it.
    aside: Mutex<Option<Head>>,
}

/// The head as it stands.
struct Newest {
    head: Option<Head>,
    number: u64,
}

impl ActionsCache {
    /// Prepares the cache; nothing is asked of it yet.
    pub(crate) fn open(settings: &CacheSettings) -> Result<Self, Error> {
        let CacheSettings { client, url, token, mode, names, patience } = settings;
        Ok(Self {
            wire: Wire::new()?,
            service: Service::open(client, url, token, patience)?,
            keys: Keys::new(names.clone()),
            mode: *mode,
            patience: patience.clone(),
            found: Mutex::default(),
            aside: Mutex::default(),
        })
    }

    /// Returns what a release of the former format has here, if anything.
    pub(crate) fn former(&self) -> Self {
        Self {
            wire: Arc::clone(&self.wire),
            service: self.service.of_format(FORMER),
            keys: self.keys.clone(),
            mode: self.mode,
            patience: self.patience.clone(),
            found: Mutex::default(),
            aside: Mutex::default(),
        }
    }

    /// Says that this run may only read, as far as that is known without asking.
    pub(crate) fn is_writable(&self) -> Result<(), Error> {
        match self.mode {
            CacheMode::Read | CacheMode::None => {
                let deed = format!("save in {} (`ACTIONS_CACHE_MODE`)", Place::ActionsCache);
                Err(Error::Remote { deed, why: Refusal::ReadOnly, source: None })
            }
            CacheMode::Full | CacheMode::Write => Ok(()),
        }
    }

    /// Finds out whether this run may write at all, before anything is packed.
    pub(crate) fn may_write(&self) -> Result<(), Error> {
        self.is_writable()?;
        self.wire.wait(self.service.reserve(&self.keys.probe())).map(drop)
    }

    pub(crate) fn head(&self) -> Result<Option<Head>, Error> {
        if matches!(self.mode, CacheMode::Write | CacheMode::None) {
            return Ok(None);
        }
        Ok(self.wire.wait(self.newest())?.head)
    }

    pub(crate) fn advance(&self, expected: Option<&Head>, next: &Head) -> Result<Advance, Error> {
        let file = tempfile::NamedTempFile::new()?;
        fs_err::write(file.path(), next.as_str())?;
        self.wire.wait(async {
            let newest = self.newest().await?;
            if newest.head.as_ref() != expected {
                return Ok(Advance::Moved { now: newest.head });
            }
            let mut number = newest.number + 1;
            while let Reservation::Taken = self.service.reserve(&self.keys.turn(number)).await? {
                if number > newest.number + TURNS {
                    let deed = format!("get a turn in {}", Place::ActionsCache);
                    return Err(Error::Remote { deed, why: Refusal::Failing, source: None });
                }
                if let Some(now) = self.wait_for_other(newest.number).await? {
                    return Ok(Advance::Moved { now });
                }
                number += 1;
            }
            let key = self.keys.head(number);
            let Reservation::Ours(address) = self.service.reserve(&key).await? else {
                return Ok(Advance::Moved { now: self.newest().await?.head });
            };
            let bytes = self.service.upload(&address, file.path()).await?;
            let now = self.newest().await?;
            if now.number != newest.number {
                return Ok(Advance::Moved { now: now.head });
            }
            match self.service.finish(&key, bytes).await {
                Ok(()) => Ok(Advance::Done),
                // An answer may be lost though the head is there: only the head itself can tell.
                Err(_) if self.newest().await?.head.as_ref() == Some(next) => Ok(Advance::Done),
                Err(error) => Err(error),
            }
        })
    }

    pub(crate) fn set_aside(&self, bad: &Head) -> Result<(), Error> {
        if self.head()?.as_ref() == Some(bad) {
            *self.aside.lock().unwrap_or_else(PoisonError::into_inner) = Some(bad.clone());
        }
        Ok(())
    }

    /// Returns the save that the newest head named, if that was damaged, and the heads before it, as far as they were not
    /// evicted.
    pub(crate) fn other_heads(&self) -> Result<Vec<Head>, Error> {
        if matches!(self.mode, CacheMode::Write | CacheMode::None) {
            return Ok(Vec::new());
        }
        self.wire.wait(async {
            let newest = self.newest().await?.number;
            let mut heads: Vec<Head> = self.same_run().await?.into_iter().collect();
            for number in (newest.saturating_sub(HEADS_BACK)..newest).rev() {
                if let Some(entry) = self.service.find(&[&self.keys.numbered(number)]).await? {
                    let text = self.service.download(&entry.address, 0..MAX_HEAD).await?;
                    heads.push(Head::new(String::from_utf8_lossy(&text)));
                }
            }
            Ok(heads)
        })
    }

    /// Returns the newest save, if the run made it that wrote the newest head: others of this repository may have a memory
    /// of their own here.
    async fn same_run(&self) -> Result<Option<Head>, Error> {
        let beginnings = self.keys.heads();
        let beginnings: Vec<&str> = beginnings.iter().map(String::as_str).collect();
        let head = self.service.find(&beginnings).await?;
        let manifest = self.service.find(&[Keys::MANIFESTS]).await?;
        Ok(head.zip(manifest).and_then(|(head, manifest)| Keys::manifest_of(&manifest.key, &head.key)))
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "every store has the same methods")]
    pub(crate) fn note_aside(&self, _bad: &Head) -> Result<(), Error> {
        Ok(())
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "every store has the same methods")]
    pub(crate) fn asides(&self) -> Result<Vec<DamagedHead>, Error> {
        Ok(Vec::new())
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "every store has the same methods")]
    pub(crate) fn drop_aside(&self, _bad: &Head) -> Result<(), Error> {
        Ok(())
    }

    pub(crate) fn get(&self, object: Object, part: Part) -> Result<Box<dyn Read + Send>, Error> {
        let address = self.wire.wait(self.address(object))?;
        let (from, length) = match part {
            Part::Whole => (0, MAX_OBJECT),
            Part::Slice { from, length } => (from, length),
        };
        // The first piece tells whether the address still holds, and often it is all.
        let first = from..from.saturating_add(length.min(RANGE));
        let piece = match self.wire.wait(self.service.download(&address, first.clone())) {
            Err(Error::Remote { why: Refusal::Denied, .. }) => {
                self.found.lock().unwrap_or_else(PoisonError::into_inner).remove(&object);
                let address = self.wire.wait(self.address(object))?;
                self.wire.wait(self.service.download(&address, first.clone()))?
            }
            piece => piece?,
        };
        let is_all = (piece.len() as u64) < RANGE;
        let rest = if is_all { first.end..first.end } else { first.end..from.saturating_add(length) };
        Ok(Box::new(self.reader(address, piece, rest)))
    }

    pub(crate) fn has(&self, object: Object) -> Result<bool, Error> {
        match self.wire.wait(self.address(object)) {
            Ok(_) => Ok(true),
            Err(Error::Flawed(Flaw::Missing(_))) => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn put(&self, object: Object, content: &Path) -> Result<u64, Error> {
        match self.get(object, Part::Whole) {
            Ok(mut stored) => {
                let mut hasher = Hasher::new();
                hasher.update_reader(&mut stored)?;
                if ObjectName::from(hasher.finalize()) == object.name() {
                    return Ok(0);
                }
            }
            Err(Error::Flawed(Flaw::Missing(_))) => {}
            Err(error) => return Err(error),
        }
        let key = self.keys.new_object(object);
        self.wire.wait(async {
            let Reservation::Ours(address) = self.service.reserve(&key).await? else {
                let deed =
                    format!("reserve an entry in {}, whose key nobody else can have", Place::ActionsCache);
                return Err(Error::Remote { deed, why: Refusal::Failing, source: None });
            };
            let bytes = self.service.upload(&address, content).await?;
            self.service.finish(&key, bytes).await?;
            // One that was damaged is found before the new one no more.
            self.found.lock().unwrap_or_else(PoisonError::into_inner).remove(&object);
            Ok(bytes)
        })
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "every store has the same methods")]
    pub(crate) fn list(&self) -> Result<Listing, Error> {
        Ok(Listing::Unavailable)
    }

    #[expect(clippy::unused_self, reason = "every store has the same methods")]
    pub(crate) fn delete(&self, object: Object) -> Result<(), Error> {
        let deed = format!("delete `{object}` in {}, whose entries go by themselves", Place::ActionsCache);
        Err(Error::Remote { deed, why: Refusal::Denied, source: None })
    }

    async fn newest(&self) -> Result<Newest, Error> {
        let beginnings = self.keys.heads();
        let beginnings: Vec<&str> = beginnings.iter().map(String::as_str).collect();
        let Some(Entry { key, address }) = self.service.find(&beginnings).await? else {
            return Ok(Newest { head: None, number: 0 });
        };
        let text = self.service.download(&address, 0..MAX_HEAD).await?;
        let head = Head::new(String::from_utf8_lossy(&text));
        let aside = self.aside.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // Another branch counts for itself; the first save here starts a count of its own.
        let is_here = key.starts_with(beginnings[0]);
        let number = Keys::number(&key).filter(|_| is_here).unwrap_or(0);
        Ok(Newest { head: Some(head).filter(|head| Some(head) != aside.as_ref()), number })
    }

    /// Waits until the head has moved on from `number`; nothing if it does not.
    async fn wait_for_other(&self, number: u64) -> Result<Option<Option<Head>>, Error> {
        let end = Instant::now() + self.patience.settle;
        while Instant::now() < end {
            let newest = self.newest().await?;
            if newest.number != number {
                return Ok(Some(newest.head));
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(None)
    }

    async fn address(&self, object: Object) -> Result<Address, Error> {
        let known = self.found.lock().unwrap_or_else(PoisonError::into_inner).get(&object).cloned();
        if let Some(address) = known {
            return Ok(address);
        }
        let found = self.service.find(&[&Keys::object(object)]).await?;
        let Entry { address, .. } = found.ok_or(Flaw::Missing(object.name()))?;
        self.found.lock().unwrap_or_else(PoisonError::into_inner).insert(object, address.clone());
        Ok(address)
    }

    /// Reads a piece that is here and then the rest, as far as there is one.
    fn reader(&self, address: Address, piece: Bytes, rest: std::ops::Range<u64>) -> Reader {
        let service = self.service.clone();
        let pieces = side_by_side(rest, move |range| {
            let (service, address) = (service.clone(), address.clone());
            async move { service.download(&address, range).await.map_err(io::Error::other) }
        });
        // Beyond the end every range is empty.
        let pieces = pieces.take_while(|piece| {
            let goes_on = !matches!(piece, Ok(piece) if piece.is_empty());
            futures::future::ready(goes_on)
        });
        let (wire, patience) = (Arc::clone(&self.wire), self.patience.answer * 8);
        Reader { wire, pieces: pieces.boxed(), patience, piece, place: Place::ActionsCache }
    }
}
