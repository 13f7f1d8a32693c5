//! Pages of a list, and the `Link` header that leads from one to the next.

use std::sync::Arc;

use axum::{
    Json,
    extract::{FromRequestParts, Query},
    http::{HeaderValue, Uri, header::LINK, request::Parts},
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;
use serde_json::Value;

use crate::{hub::Hub, problem::Problem};

/// Which page is asked for, and where.
pub(super) struct Paging {
    page: usize,
    size: usize,
    uri: Uri,
    address: String,
}

#[derive(Deserialize)]
struct Wanted {
    page: Option<usize>,
    per_page: Option<usize>,
}

impl FromRequestParts<Arc<Hub>> for Paging {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, Problem> {
        let Query(wanted) = Query::<Wanted>::try_from_uri(&parts.uri).map_err(|_| Problem::not_found())?;
        Ok(Self {
            page: wanted.page.unwrap_or(1).max(1),
            size: wanted.per_page.unwrap_or(30).clamp(1, 100),
            uri: parts.uri.clone(),
            address: hub.address.clone(),
        })
    }
}

impl Paging {
    /// Answers with one page of the whole list.
    pub(super) fn answer(&self, whole: Vec<Value>) -> Response {
        let last = whole.len().div_ceil(self.size).max(1);
        let items: Vec<_> = whole.into_iter().skip((self.page - 1) * self.size).take(self.size).collect();
        let mut response = Json(items).into_response();
        let mut links = Vec::new();
        if self.page > 1 {
            links.extend([("prev", self.page - 1), ("first", 1)]);
        }
        if self.page < last {
            links.extend([("next", self.page + 1), ("last", last)]);
        }
        let link =
            |(relation, page)| format!("<{}{}>; rel=\"{relation}\"", self.address, to_page(&self.uri, page));
        let header = links.into_iter().map(link).collect::<Vec<_>>().join(", ");
        if let Ok(header) = HeaderValue::try_from(header)
            && !header.is_empty()
        {
            response.headers_mut().insert(LINK, header);
        }
        response
    }
}

/// The same question for another page.
fn to_page(uri: &Uri, page: usize) -> String {
    let others = uri.query().unwrap_or_default().split('&');
    let mut query: Vec<_> = others.filter(|pair| !pair.is_empty() && !pair.starts_with("page=")).collect();
    let page = format!("page={page}");
    query.push(&page);
    format!("{}?{}", uri.path(), query.join("&"))
}
