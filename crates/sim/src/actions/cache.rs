//! The cache service v2, spoken in Twirp: reserve a key, finish an upload, find an entry.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Json,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, header::HOST},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    auth,
    hub::Hub,
    state::{self, CacheEntry, Run, Upload, random_letters},
};

type Answer = Result<Json<Value>, (StatusCode, Json<Value>)>;

#[derive(Deserialize)]
struct Reservation {
    key: String,
    version: String,
}

#[derive(Deserialize)]
struct Finish {
    key: String,
    version: String,
    /// A 64-bit number, which JSON has as a string.
    size_bytes: Value,
}

#[derive(Deserialize)]
struct Wanted {
    key: String,
    #[serde(default)]
    restore_keys: Vec<String>,
    version: String,
}

/// `CreateCacheEntry`: takes a key and says where to put its contents.
pub(super) async fn create(State(hub): State<Arc<Hub>>, headers: HeaderMap, body: Bytes) -> Answer {
    hub.change(|state| {
        let run = run_of(state, &headers)?;
        let Reservation { key, version } = parsed(&body)?;
        let Some(scope) = run.scopes.first().filter(|_| run.cache.writes()).cloned() else {
            // The client takes nothing but a 200 for a denial; a 403 it would take for a race.
            let message = "cache write denied: token has no writable scopes";
            return Ok(Json(json!({ "ok": false, "signed_upload_url": "", "message": message })));
        };
        let same = |entry: &&CacheEntry| {
            entry.repo == run.repo && entry.scope == scope && entry.key == key && entry.version == version
        };
        if state.caches.iter().any(|entry| same(&entry)) {
            let message = "cache entry with the same key, version, and scope already exists";
            return Err(refusal(StatusCode::CONFLICT, "already_exists", message));
        }
        let entry = CacheEntry {
            id: state.next_id(),
            repo: run.repo,
            scope,
            key,
            version,
            created_at: state.clock.now(),
            upload: Upload::Reserved { blocks: BTreeMap::new(), whole: None },
            blob: random_letters(24),
            write_signature: random_letters(32),
            read_signature: random_letters(32),
        };
        let url = signed(&headers, &entry.blob, "cw", &entry.write_signature);
        state.caches.push(entry);
        Ok(Json(json!({ "ok": true, "signed_upload_url": url, "message": "" })))
    })
}

/// `FinalizeCacheEntryUpload`: makes an entry findable, and unchangeable.
pub(super) async fn finalize(State(hub): State<Arc<Hub>>, headers: HeaderMap, body: Bytes) -> Answer {
    hub.change(|state| {
        let run = run_of(state, &headers)?;
        let Finish { key, version, size_bytes } = parsed(&body)?;
        let reserved = state.caches.iter_mut().find_map(|entry| {
            let own = entry.repo == run.repo && run.scopes.first() == Some(&entry.scope);
            if !own || entry.key != key || entry.version != version {
                return None;
            }
            match entry.upload.clone() {
                Upload::Reserved { whole, .. } => Some((entry, whole)),
                Upload::Finished(_) => None,
            }
        });
        let missing = || refusal(StatusCode::NOT_FOUND, "not_found", "cache reservation not found");
        let (entry, whole) = reserved.ok_or_else(missing)?;
        let size = size_bytes.as_str().map_or_else(|| size_bytes.to_string(), str::to_owned);
        let whole = whole.filter(|whole| whole.len().to_string() == size).ok_or_else(|| {
            let message = "the size is not that of the uploaded blob";
            refusal(StatusCode::BAD_REQUEST, "invalid_argument", message)
        })?;
        entry.upload = Upload::Finished(whole);
        Ok(Json(json!({ "ok": true, "entry_id": entry.id.to_string(), "message": "" })))
    })
}

/// `GetCacheEntryDownloadURL`: finds the entry that fits best.
pub(super) async fn find(State(hub): State<Arc<Hub>>, headers: HeaderMap, body: Bytes) -> Answer {
    hub.read(|state| {
        let run = run_of(state, &headers)?;
        let wanted = parsed(&body)?;
        if !run.cache.reads() {
            let message = "cache read denied: token has no readable scopes";
            return Err(refusal(StatusCode::FORBIDDEN, "permission_denied", message));
        }
        let found = run.scopes.iter().find_map(|scope| best(state, &run.repo, scope, &wanted));
        Ok(Json(match found {
            None => json!({ "ok": false, "signed_download_url": "", "matched_key": "" }),
            Some(entry) => json!({
                "ok": true,
                "signed_download_url": signed(&headers, &entry.blob, "r", &entry.read_signature),
                "matched_key": entry.key,
            }),
        }))
    })
}

/// The best of one scope: the key itself, then what begins with it, then each further beginning; the newest wins.
fn best<'a>(state: &'a state::State, repo: &str, scope: &str, wanted: &Wanted) -> Option<&'a CacheEntry> {
    let finished = || {
        let newest_first = state.caches.iter().rev();
        newest_first.filter(|entry| {
            entry.repo == repo
                && entry.scope == scope
                && entry.version == wanted.version
                && entry.bytes().is_some()
        })
    };
    let beginnings = [&wanted.key].into_iter().chain(&wanted.restore_keys);
    finished().find(|entry| entry.key == wanted.key).or_else(|| {
        beginnings.into_iter().find_map(|key| finished().find(|entry| entry.key.starts_with(key)))
    })
}

/// The run whose token came with a request.
fn run_of(state: &state::State, headers: &HeaderMap) -> Result<Run, (StatusCode, Json<Value>)> {
    let run = auth::bearer(headers).and_then(|token| state.runs.iter().find(|run| run.token == token));
    run.cloned().ok_or_else(|| refusal(StatusCode::UNAUTHORIZED, "unauthenticated", "invalid token"))
}

fn parsed<T: DeserializeOwned>(body: &Bytes) -> Result<T, (StatusCode, Json<Value>)> {
    serde_json::from_slice(body)
        .map_err(|error| refusal(StatusCode::BAD_REQUEST, "malformed", &error.to_string()))
}

fn refusal(status: StatusCode, code: &str, message: &str) -> (StatusCode, Json<Value>) {
    (status, Json(json!({ "code": code, "msg": message })))
}

/// The address of a blob for whoever holds it, under the name that the client called us by.
fn signed(headers: &HeaderMap, blob: &str, may: &str, signature: &str) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    format!("http://{host}/actions-cache/{blob}?sp={may}&sr=b&sv=2025-11-05&sig={signature}")
}
