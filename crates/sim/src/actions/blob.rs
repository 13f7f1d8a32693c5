//! The blobs behind the cache: what Azure's client asks of a block blob whose address is signed.

use std::{
    hash::{DefaultHasher, Hasher as _},
    ops::Range,
    sync::Arc,
};

use axum::{
    body::Bytes,
    extract::{Path, Query, State},
    http::{HeaderMap, HeaderName, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;

use crate::{
    hub::Hub,
    state::{CacheEntry, Upload, random_letters},
};

/// What stands behind the address of a blob.
#[derive(Deserialize)]
pub(super) struct Wanted {
    sig: Option<String>,
    comp: Option<String>,
    blockid: Option<String>,
}

/// `PUT /actions-cache/{blob}`: the whole at once, one block, or the list that makes blocks a whole.
pub(super) async fn upload(
    State(hub): State<Arc<Hub>>,
    Path(blob): Path<String>,
    Query(wanted): Query<Wanted>,
    body: Bytes,
) -> Response {
    hub.change(|state| {
        let signed = |entry: &&mut CacheEntry| {
            entry.blob == blob && wanted.sig.as_deref() == Some(&entry.write_signature)
        };
        let Some(entry) = state.caches.iter_mut().find(signed) else { return unsigned() };
        let Upload::Reserved { blocks, whole } = &mut entry.upload else {
            return refusal(
                StatusCode::CONFLICT,
                "BlobImmutableDueToPolicy",
                "This operation is not permitted as the blob is immutable due to a policy.",
            );
        };
        match (wanted.comp.as_deref(), wanted.blockid) {
            (None, _) => *whole = Some(body),
            (Some("block"), Some(id)) => drop(blocks.insert(id, body)),
            (Some("blocklist"), _) => {
                let list = String::from_utf8_lossy(&body).into_owned();
                let listed: Option<Vec<_>> = block_ids(&list).map(|id| blocks.get(id)).collect();
                let Some(listed) = listed else {
                    return refusal(
                        StatusCode::BAD_REQUEST,
                        "InvalidBlockList",
                        "The specified block list is invalid.",
                    );
                };
                *whole = Some(listed.into_iter().flatten().copied().collect());
            }
            _ => {
                return refusal(
                    StatusCode::BAD_REQUEST,
                    "InvalidQueryParameterValue",
                    "Value for one of the query parameters specified in the request URI is invalid.",
                );
            }
        }
        let length = whole.as_ref().map_or(0, Bytes::len);
        (StatusCode::CREATED, common(entry, length)).into_response()
    })
}

/// `GET /actions-cache/{blob}`, whole or a range; also answers `HEAD`.
pub(super) async fn download(
    State(hub): State<Arc<Hub>>,
    Path(blob): Path<String>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Response {
    let found = hub.read(|state| {
        let signed =
            |entry: &&CacheEntry| entry.blob == blob && wanted.sig.as_deref() == Some(&entry.read_signature);
        let entry = state.caches.iter().find(signed)?;
        let bytes = entry.bytes().cloned()?;
        Some((common(entry, bytes.len()), bytes))
    });
    let Some((common, bytes)) = found else { return unsigned() };
    let asked = headers.get("x-ms-range").or_else(|| headers.get(header::RANGE));
    let kind = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::ACCEPT_RANGES, "bytes"),
        (HeaderName::from_static("x-ms-blob-type"), "BlockBlob"),
    ];
    let Some(asked) = asked else { return (kind, common, bytes).into_response() };
    let range = asked.to_str().ok().and_then(|asked| range(asked, bytes.len()));
    let Some(range) = range else {
        let message = "The range specified is invalid for the current size of the resource.";
        return refusal(StatusCode::RANGE_NOT_SATISFIABLE, "InvalidRange", message);
    };
    let place = format!("bytes {}-{}/{}", range.start, range.end - 1, bytes.len());
    let place = [(header::CONTENT_RANGE, place)];
    (StatusCode::PARTIAL_CONTENT, kind, common, place, bytes.slice(range)).into_response()
}

/// Reads `bytes=FIRST-LAST` or `bytes=FIRST-`.
fn range(text: &str, length: usize) -> Option<Range<usize>> {
    let (first, last) = text.strip_prefix("bytes=")?.split_once('-')?;
    let first = first.parse().ok().filter(|first| *first < length)?;
    let end = if last.is_empty() { length } else { last.parse::<usize>().ok()?.checked_add(1)? };
    (first < end).then(|| first..end.min(length))
}

/// The ids in `<BlockList><Latest>ID</Latest>…</BlockList>`, in order.
fn block_ids(list: &str) -> impl Iterator<Item = &str> {
    list.split("<Latest>").skip(1).filter_map(|rest| Some(rest.split_once("</Latest>")?.0))
}

/// What every answer about a blob tells: a tag of its contents, and when they came.
fn common(entry: &CacheEntry, length: usize) -> [(HeaderName, String); 4] {
    // A blob is written once: its name and its length tell its contents.
    let mut hasher = DefaultHasher::new();
    hasher.write(entry.blob.as_bytes());
    hasher.write_usize(length);
    [
        (header::ETAG, format!("\"0x8D{:014X}\"", hasher.finish() >> 8)),
        (header::LAST_MODIFIED, entry.created_at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()),
        (HeaderName::from_static("x-ms-version"), "2025-11-05".to_owned()),
        (HeaderName::from_static("x-ms-request-id"), random_letters(36).to_lowercase()),
    ]
}

fn unsigned() -> Response {
    let message = "Server failed to authenticate the request. Make sure the value of Authorization header is formed \
                   correctly including the signature.";
    refusal(StatusCode::FORBIDDEN, "AuthenticationFailed", message)
}

/// A refusal in Azure's shape.
fn refusal(status: StatusCode, code: &'static str, message: &str) -> Response {
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>{code}</Code><Message>{message}</Message></Error>"
    );
    let kind =
        [(header::CONTENT_TYPE, "application/xml"), (HeaderName::from_static("x-ms-error-code"), code)];
    (status, kind, body).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_end_with_the_blob() {
        assert_eq!(range("bytes=0-3", 10), Some(0..4));
        assert_eq!(range("bytes=8-99", 10), Some(8..10));
        assert_eq!(range("bytes=4-", 10), Some(4..10));
        assert_eq!(range("bytes=10-12", 10), None);
        assert_eq!(range("bytes=5-4", 10), None);
    }
}
