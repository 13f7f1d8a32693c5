//! The cache service, second version: Twirp in JSON, and blobs in blocks behind signed addresses.

use std::{fmt, io::Read as _, ops::Range, path::Path, time::Duration};

use bytes::{Bytes, BytesMut};
use fro_core::Secret;
use fro_http::{Answer, Client, ClientSettings, Request, Retry, Url};
use fs_err::File;
use futures::{StreamExt as _, stream};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::Keys;
use crate::{
    error::{Error, Refusal},
    snapshot::manifest::FORMAT,
    store::{Patience, Place},
};

const SERVICE: &str = "/twirp/github.actions.results.api.v1.CacheService/";

/// Larger files go up in blocks of this size, a few at a time.
const BLOCK: usize = 8 << 20;
const BLOCKS_AT_ONCE: usize = 3;

/// Answers of the service are small; the rest is ranges of blobs.
const LARGEST: usize = 16 << 20;

/// A client of the service.
#[derive(Debug, Clone)]
pub(super) struct Service {
    client: Client,
    origin: Url,
    token: Secret,
    patience: Patience,
    /// What sets our entries apart from everybody else's.
    version: String,
}

/// What became of a reservation.
pub(super) enum Reservation {
    /// The key is ours; contents go to this address.
    Ours(Address),
    /// Somebody else has it.
    Taken,
}

/// The signed address of a blob; whoever has it may use it, so it is not printed.
#[derive(Clone)]
pub(super) struct Address(String);

/// An entry that was found.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) address: Address,
}

#[derive(Deserialize)]
struct Created {
    ok: bool,
    #[serde(default)]
    signed_upload_url: String,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
struct Finished {
    ok: bool,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
struct LookupReply {
    ok: bool,
    #[serde(default)]
    signed_download_url: String,
    #[serde(default)]
    matched_key: String,
}

#[derive(Deserialize)]
struct Complaint {
    #[serde(default)]
    msg: String,
}

impl Service {
    pub(super) fn open(
        client: &ClientSettings,
        url: &str,
        token: &Secret,
        patience: &Patience,
    ) -> Result<Self, Error> {
        let wrong = |why: String| Error::Settings { place: Place::ActionsCache, why };
        let settings = ClientSettings {
            connect_timeout: patience.connect,
            timeout: patience.answer,
            max_body: LARGEST,
            // A service that is not there must not cost more than one attempt; the rest is retried below.
            retry: Retry::never(),
            ..client.clone()
        };
        let origin =
            Url::parse(url).map_err(|error| wrong(format!("its address cannot be read: {error}")))?;
        let client = Client::new(settings).map_err(|error| wrong(error.to_string()))?;
        let version = Keys::version(FORMAT);
        Ok(Self { client, origin, token: token.clone(), patience: patience.clone(), version })
    }

    /// Returns the same service with the entries of another format.
    pub(super) fn of_format(&self, format: u64) -> Self {
        Self { version: Keys::version(format), ..self.clone() }
    }

    /// Reserves a key.
    pub(super) async fn reserve(&self, key: &str) -> Result<Reservation, Error> {
        let body = json!({ "key": key, "version": self.version });
        let created: Created = match self.call("CreateCacheEntry", &body, self.patience.answer).await {
            Err(error) if error.status() == Some(409) => return Ok(Reservation::Taken),
            answer => answer.map_err(trouble("reserve an entry"))?,
        };
        if created.ok {
            return Ok(Reservation::Ours(Address(created.signed_upload_url)));
        }
        Err(refused("reserve an entry", &created.message))
    }

    /// Makes an uploaded entry visible.
    pub(super) async fn finish(&self, key: &str, bytes: u64) -> Result<(), Error> {
        let body = json!({ "key": key, "size_bytes": bytes.to_string(), "version": self.version });
        let finished: Finished = self
            .call("FinalizeCacheEntryUpload", &body, self.patience.answer)
            .await
            .map_err(trouble("finish an entry"))?;
        if finished.ok { Ok(()) } else { Err(refused("finish an entry", &finished.message)) }
    }

    /// Finds the newest entry whose key begins like the first of these, else like the next.
    pub(super) async fn find(&self, beginnings: &[&str]) -> Result<Option<Entry>, Error> {
        let [first, others @ ..] = beginnings else { return Ok(None) };
        let body = json!({ "key": first, "restore_keys": others, "version": self.version });
        let found: LookupReply = self
            .call("GetCacheEntryDownloadURL", &body, self.patience.lookup)
            .await
            .map_err(trouble("look an entry up"))?;
        let fits = beginnings.iter().any(|beginning| found.matched_key.starts_with(beginning));
        let entry = Entry { key: found.matched_key, address: Address(found.signed_download_url) };
        Ok((found.ok && fits).then_some(entry))
    }

    /// Uploads a file, in blocks if it is large.
    pub(super) async fn upload(&self, to: &Address, content: &Path) -> Result<u64, Error> {
        let bytes = fs_err::metadata(content)?.len();
        if bytes <= BLOCK as u64 {
            self.put(&to.0, "application/octet-stream", fs_err::read(content)?.into()).await?;
            return Ok(bytes);
        }
        let mut file = File::open(content)?;
        let blocks = stream::iter(0..bytes.div_ceil(BLOCK as u64)).map(|number| {
            let mut block = Vec::with_capacity(BLOCK);
            let read = (&mut file).take(BLOCK as u64).read_to_end(&mut block);
            async move {
                read?;
                let id = block_id(number);
                let url = format!("{}&comp=block&blockid={}", to.0, id.replace('=', "%3D"));
                self.put(&url, "application/octet-stream", block.into()).await?;
                Ok::<_, Error>(id)
            }
        });
        let mut list = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>");
        let mut blocks = blocks.buffered(BLOCKS_AT_ONCE);
        while let Some(id) = blocks.next().await {
            list.extend(["<Latest>", &id?, "</Latest>"]);
        }
        list.push_str("</BlockList>");
        self.put(&format!("{}&comp=blocklist", to.0), "application/xml", list.into()).await?;
        Ok(bytes)
    }

    /// Downloads a range, shorter if the blob is.
    pub(super) async fn download(&self, from: &Address, range: Range<u64>) -> Result<Bytes, Error> {
        for pause in &self.patience.pauses {
            match self.download_once(from, &range).await {
                Err(error) if error.refusal() == Some(Refusal::Failing) => tokio::time::sleep(*pause).await,
                downloaded => return downloaded,
            }
        }
        self.download_once(from, &range).await
    }

    async fn download_once(&self, from: &Address, range: &Range<u64>) -> Result<Bytes, Error> {
        const DEED: &str = "download an entry";
        let refuse = |why, said: String| Error::Remote {
            deed: format!("{DEED} from {}", Place::ActionsCache),
            why,
            source: Some(said.into()),
        };
        let asked = format!("bytes={}-{}", range.start, range.end.saturating_sub(1));
        let request = self.client.get(&from.0).header("x-ms-range", &asked).header("range", &asked);
        let mut incoming = request.timeout(self.patience.answer).relay().await.map_err(trouble(DEED))?;
        match incoming.status() {
            206 => {}
            // A server that knows no ranges sends all, which is right only from the start.
            200 if range.start == 0 => {}
            416 => return Ok(Bytes::new()),
            status @ (401 | 403) => return Err(refuse(Refusal::Denied, format!("answered {status}"))),
            status => return Err(refuse(Refusal::Failing, format!("answered {status}"))),
        }
        let most = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let mut body = BytesMut::new();
        loop {
            let piece = timeout(self.patience.answer, incoming.chunk()).await;
            let piece = piece.map_err(|_| refuse(Refusal::Unreachable, "it fell silent".to_owned()))?;
            let Some(piece) = piece.map_err(trouble(DEED))? else { return Ok(body.freeze()) };
            body.extend_from_slice(&piece[..piece.len().min(most - body.len())]);
            if body.len() == most {
                return Ok(body.freeze());
            }
        }
    }

    async fn put(&self, url: &str, kind: &str, body: Bytes) -> Result<(), Error> {
        let sent = self.again(|| {
            let request = self.client.put(url).header("content-type", kind).body(body.clone());
            let request = request.header("x-ms-blob-type", "BlockBlob").header("x-ms-version", "2025-11-05");
            request.timeout(self.slow())
        });
        sent.await.map(drop).map_err(trouble("upload an entry"))
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        body: &Value,
        patience: Duration,
    ) -> Result<T, fro_http::Error> {
        let mut url = self.origin.clone();
        url.set_path(&format!("{SERVICE}{method}"));
        url.set_query(None);
        // Asking twice for the same key finds it taken by ourselves, which costs a turn and nothing more.
        let request = || self.client.post(&url).bearer(&self.token).json(body).idempotent().timeout(patience);
        self.again(request).await?.json()
    }

    /// Sends a request until it is answered or has failed too often.
    async fn again(&self, request: impl Fn() -> Request + Send + Sync) -> Result<Answer, fro_http::Error> {
        for pause in &self.patience.pauses {
            match request().send().await {
                Err(error) if error.retryable() && !error.unanswered() => {
                    tokio::time::sleep(error.wait().unwrap_or(*pause).min(self.patience.answer)).await;
                }
                answer => return answer,
            }
        }
        request().send().await
    }

    /// A block takes longer than a question.
    fn slow(&self) -> Duration {
        self.patience.answer * 8
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[signed address]")
    }
}

/// Ids of one blob must have the same length.
fn block_id(number: u64) -> String {
    data_encoding::BASE64.encode(format!("fro-bot-{number:06}").as_bytes())
}

fn refused(deed: &str, message: &str) -> Error {
    let why = if message.contains("write denied") {
        Refusal::ReadOnly
    } else if message.contains("insufficient usage") {
        Refusal::Full
    } else {
        Refusal::Failing
    };
    let source = (!message.is_empty()).then(|| message.to_owned().into());
    Error::Remote { deed: format!("{deed} in {}", Place::ActionsCache), why, source }
}

fn trouble(deed: &'static str) -> impl Fn(fro_http::Error) -> Error {
    move |error| {
        let said = error.refusal_body::<Complaint>().map(|complaint| complaint.msg).unwrap_or_default();
        let why = match error.status() {
            _ if error.unanswered() => Refusal::Unreachable,
            _ if said.contains("write denied") => Refusal::ReadOnly,
            _ if said.contains("insufficient usage") => Refusal::Full,
            Some(401 | 403) => Refusal::Denied,
            _ => Refusal::Failing,
        };
        Error::Remote { deed: format!("{deed} in {}", Place::ActionsCache), why, source: Some(error.into()) }
    }
}
