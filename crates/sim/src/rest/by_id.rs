//! Repositories by their numbers, as the `Link` headers of GitHub name them.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{Uri, uri::PathAndQuery},
    middleware::Next,
    response::Response,
};

use crate::hub::Hub;

/// Where a repository is by its number.
const BY_ID: &str = "/repositories/";

/// Leads from `/repositories/{id}/…` to `/repos/{owner}/{repo}/…`, so that every route is there under both names.
pub(crate) async fn by_id(State(hub): State<Arc<Hub>>, mut request: Request, next: Next) -> Response {
    if let Some(uri) = by_name(&hub, request.uri()) {
        *request.uri_mut() = uri;
    }
    next.run(request).await
}

fn by_name(hub: &Hub, uri: &Uri) -> Option<Uri> {
    let (id, rest) = split(uri.path_and_query()?.as_str().strip_prefix(BY_ID)?);
    let named = |id: u64| hub.read(|state| Some(state.repos.iter().find(|repo| repo.id == id)?.full_name()));
    // A number that nothing has leads to a repository that is not there, which its route says.
    let name = id.parse().ok().and_then(named).unwrap_or_else(|| format!("repositories/{id}"));
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = PathAndQuery::try_from(format!("/repos/{name}{rest}")).ok();
    Uri::from_parts(parts).ok()
}

/// The same address with the number instead of the names; others stay as they are.
pub(super) fn numbered(hub: &Hub, path: &str) -> String {
    let by_number = path.strip_prefix("/repos/").and_then(|rest| {
        let (owner, rest) = split(rest);
        let (name, rest) = split(rest.strip_prefix('/')?);
        let id = hub.read(|state| Some(state.repo(&format!("{owner}/{name}"))?.id))?;
        Some(format!("{BY_ID}{id}{rest}"))
    });
    by_number.unwrap_or_else(|| path.to_owned())
}

/// Splits off the first segment.
fn split(path: &str) -> (&str, &str) {
    path.split_at(path.find(['/', '?']).unwrap_or(path.len()))
}
