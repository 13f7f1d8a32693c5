//! The parts of an address and what is asked behind it; what does not fit is refused as GitHub does, in JSON.

use std::sync::Arc;

use axum::{
    extract::{self, FromRequestParts},
    http::request::Parts,
};
use serde::de::DeserializeOwned;

use crate::{hub::Hub, problem::Problem};

/// The parts of the path. A word where a number belongs leads nowhere, like a route that is not known.
pub(super) struct Path<T>(pub(super) T);

/// What stands behind the question mark.
pub(super) struct Query<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<Hub>> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, Problem> {
        let Ok(extract::Path(value)) = extract::Path::from_request_parts(parts, hub).await else {
            hub.unknown().push(format!("{} {}", parts.method, parts.uri.path()));
            return Err(Problem::not_found());
        };
        Ok(Self(value))
    }
}

impl<T: DeserializeOwned> FromRequestParts<Arc<Hub>> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Hub>) -> Result<Self, Problem> {
        let read = extract::Query::try_from_uri(&parts.uri);
        let extract::Query(value) = read.map_err(|_| Problem::unprocessable("Validation Failed"))?;
        Ok(Self(value))
    }
}
