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

use crate::{hub::Hub, problem::Problem, rest::by_id::numbered};

/// Which page is asked for, and where.
pub(super) struct Paging {
    page: usize,
    size: usize,
    uri: Uri,
    /// Where the list is, by the number of its repository.
    address: String,
}

/// Words that are no numbers are taken for nothing said.
#[derive(Deserialize)]
struct Wanted {
    page: Option<String>,
    per_page: Option<String>,
}

impl FromRequestParts<Arc<Hub>> for Paging {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, Problem> {
        let Query(wanted) = Query::<Wanted>::try_from_uri(&parts.uri).map_err(|_| Problem::not_found())?;
        let number = |word: Option<String>| word.and_then(|word| word.parse::<usize>().ok());
        Ok(Self {
            page: number(wanted.page).unwrap_or(1).max(1),
            size: number(wanted.per_page).unwrap_or(30).clamp(1, 100),
            uri: parts.uri.clone(),
            address: format!("{}{}", hub.address, numbered(hub, parts.uri.path())),
        })
    }
}

impl Paging {
    /// Answers with one page of the whole list.
    pub(super) fn answer(&self, whole: Vec<Value>) -> Response {
        let total = whole.len();
        self.linked(total, Json(self.cut(whole)).into_response())
    }

    /// Answers with one page of the whole list under its name, beside how long the whole is and further fields.
    pub(super) fn counted_with(&self, name: &str, whole: Vec<Value>, mut more: Value) -> Response {
        let total = whole.len();
        more["total_count"] = total.into();
        more[name] = self.cut(whole).into();
        self.linked(total, Json(more).into_response())
    }

    /// The entries of this page.
    pub(super) fn cut<T>(&self, whole: Vec<T>) -> Vec<T> {
        whole.into_iter().skip((self.page - 1).saturating_mul(self.size)).take(self.size).collect()
    }

    /// Puts the header on that leads to the other pages of so many entries.
    pub(super) fn linked(&self, total: usize, mut response: Response) -> Response {
        let last = total.div_ceil(self.size).max(1);
        let mut links = Vec::new();
        if self.page > 1 {
            links.extend([("prev", self.page - 1), ("first", 1)]);
        }
        if self.page < last {
            links.extend([("next", self.page + 1), ("last", last)]);
        }
        let link =
            |(relation, page)| format!("<{}?{}>; rel=\"{relation}\"", self.address, to_page(&self.uri, page));
        let header = links.into_iter().map(link).collect::<Vec<_>>().join(", ");
        if let Ok(header) = HeaderValue::try_from(header)
            && !header.is_empty()
        {
            response.headers_mut().insert(LINK, header);
        }
        response
    }
}

/// What stands behind the question mark for another page.
fn to_page(uri: &Uri, page: usize) -> String {
    let others = uri.query().unwrap_or_default().split('&');
    let mut query: Vec<_> = others.filter(|pair| !pair.is_empty() && !pair.starts_with("page=")).collect();
    let page = format!("page={page}");
    query.push(&page);
    query.join("&")
}
