//! What a workflow run talks to beside the API: the cache service, and the blobs behind it.

mod blob;
mod cache;

use crate::routes::Routes;

/// The routes of the cache.
pub(crate) fn routes() -> Routes {
    Routes::below("/twirp/github.actions.results.api.v1.CacheService")
        .on("POST /CreateCacheEntry", cache::create)
        .on("POST /FinalizeCacheEntryUpload", cache::finalize)
        .on("POST /GetCacheEntryDownloadURL", cache::find)
        .and(
            Routes::below("/actions-cache").on("GET /{blob}", blob::download).on("PUT /{blob}", blob::upload),
        )
}
