//! What a workflow run talks to beside the API: the cache service, and the blobs behind it.

mod blob;
mod cache;

use std::sync::Arc;

use axum::{
    Router,
    routing::{get, post},
};

use crate::hub::Hub;

/// The routes of the cache.
pub(crate) fn routes() -> Router<Arc<Hub>> {
    const SERVICE: &str = "/twirp/github.actions.results.api.v1.CacheService";
    let method = |name: &str| format!("{SERVICE}/{name}");
    Router::new()
        .route(&method("CreateCacheEntry"), post(cache::create))
        .route(&method("FinalizeCacheEntryUpload"), post(cache::finalize))
        .route(&method("GetCacheEntryDownloadURL"), post(cache::find))
        .route("/actions-cache/{blob}", get(blob::download).put(blob::upload))
}
