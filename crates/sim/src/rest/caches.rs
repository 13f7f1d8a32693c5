//! What workflows have put into the Actions cache, listed and deleted.

use axum::{Json, body::Bytes, http::StatusCode, response::Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{
        address::{Path, Query},
        paging::Paging,
        timestamp,
        visit::Visit,
    },
    state::{CacheEntry, Role},
};

/// `{cache}` in an address.
#[derive(Deserialize)]
pub(super) struct OneCache {
    cache: u64,
}

/// Which entries are asked for, and in which order.
#[derive(Deserialize)]
pub(super) struct CacheFilter {
    /// What the key begins with; of a deletion, the whole key.
    key: Option<String>,
    #[serde(rename = "ref")]
    scope: Option<String>,
    sort: Option<String>,
    direction: Option<String>,
}

/// `GET /repos/{owner}/{repo}/actions/caches`
pub(super) async fn list(
    visit: Visit,
    Query(filter): Query<CacheFilter>,
    paging: Paging,
) -> Result<Response, Problem> {
    let mut found = entries(&visit, |entry| {
        filter.key.as_ref().is_none_or(|key| entry.key.starts_with(key))
            && filter.scope.as_ref().is_none_or(|scope| *scope == entry.scope)
    })?;
    match filter.sort.as_deref() {
        Some("size_in_bytes") => found.sort_by_key(size),
        _ => found.sort_by_key(|entry| (entry.created_at, entry.id)),
    }
    if filter.direction.as_deref() != Some("asc") {
        found.reverse();
    }
    Ok(paging.counted_with("actions_caches", found.iter().map(drawn).collect(), json!({})))
}

/// `GET /repos/{owner}/{repo}/actions/cache/usage`
pub(super) async fn usage(visit: Visit) -> Result<Json<Value>, Problem> {
    let all = entries(&visit, |_| true)?;
    Ok(Json(json!({
        "full_name": visit.full_name,
        "active_caches_size_in_bytes": all.iter().map(size).sum::<usize>(),
        "active_caches_count": all.len(),
    })))
}

/// `DELETE /repos/{owner}/{repo}/actions/caches?key={key}`
pub(super) async fn delete_by_key(
    visit: Visit,
    Query(filter): Query<CacheFilter>,
) -> Result<Json<Value>, Problem> {
    let key = filter.key.ok_or_else(|| Problem::not_supplied("key"))?;
    let gone = delete(&visit, |entry| {
        entry.key == key && filter.scope.as_ref().is_none_or(|scope| *scope == entry.scope)
    })?;
    let drawn: Vec<_> = gone.iter().map(drawn).collect();
    Ok(Json(json!({ "total_count": drawn.len(), "actions_caches": drawn })))
}

/// `DELETE /repos/{owner}/{repo}/actions/caches/{cache}`
pub(super) async fn delete_one(
    visit: Visit,
    Path(OneCache { cache: id }): Path<OneCache>,
) -> Result<StatusCode, Problem> {
    delete(&visit, |entry| entry.id == id)?;
    Ok(StatusCode::NO_CONTENT)
}

/// The finished entries of the repository that are meant.
fn entries(visit: &Visit, meant: impl Fn(&CacheEntry) -> bool) -> Result<Vec<CacheEntry>, Problem> {
    visit.show(|shape, repo| {
        let own =
            shape.state.caches.iter().filter(|entry| entry.repo.eq_ignore_ascii_case(&repo.full_name()));
        Ok(own.filter(|entry| entry.bytes().is_some() && meant(entry)).cloned().collect())
    })
}

/// Deletes what is meant, of which there must be something.
fn delete(visit: &Visit, meant: impl Fn(&CacheEntry) -> bool) -> Result<Vec<CacheEntry>, Problem> {
    visit.login()?;
    let may = visit.show(|_, repo| Ok(visit.caller.has(Role::Write, repo)))?;
    if !may {
        return Err(Problem::forbidden("Must have admin rights to Repository."));
    }
    let gone = entries(visit, meant)?;
    if gone.is_empty() {
        return Err(Problem::not_found());
    }
    visit.change(|state| {
        state.caches.retain(|entry| gone.iter().all(|own| own.id != entry.id));
        Ok(gone)
    })
}

fn size(entry: &CacheEntry) -> usize {
    entry.bytes().map_or(0, Bytes::len)
}

fn drawn(entry: &CacheEntry) -> Value {
    json!({
        "id": entry.id,
        "ref": entry.scope,
        "key": entry.key,
        "version": entry.version,
        "last_accessed_at": timestamp(entry.created_at),
        "created_at": timestamp(entry.created_at),
        "size_in_bytes": size(entry),
    })
}
