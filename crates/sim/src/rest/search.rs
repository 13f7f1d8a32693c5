//! Searching issues and pull requests.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use serde::Deserialize;
use serde_json::json;

use crate::{
    auth::Caller,
    hub::Hub,
    problem::Problem,
    rest::{address::Query, paging::Paging},
    search::Question,
    state::{Issue, Repo},
};

/// What is looked for, and in which order it is told.
#[derive(Deserialize)]
pub(super) struct Wanted {
    q: Option<String>,
    sort: Option<String>,
    order: Option<String>,
}

/// `GET /search/issues`
pub(super) async fn issues(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Query(wanted): Query<Wanted>,
    paging: Paging,
) -> Result<Response, Problem> {
    let missing = || Problem::invalid(json!({ "resource": "Search", "field": "q", "code": "missing" }));
    let text = wanted.q.as_deref().filter(|text| !text.trim().is_empty()).ok_or_else(missing)?;
    let strange = |name: String| {
        let message = format!("the simulated search does not obey `{name}`");
        Problem::invalid(json!({ "resource": "Search", "field": "q", "code": "invalid", "message": message }))
    };
    let question = Question::read(text, &caller).map_err(strange)?;
    hub.read(|state| {
        if question.looks_nowhere(state) {
            let message = "The listed users and repositories cannot be searched either because the resources do not \
                           exist or you do not have permission to view them.";
            let error = json!({ "message": message, "resource": "Search", "field": "q", "code": "invalid" });
            return Err(Problem::invalid(error));
        }
        let mut found = question.found(state);
        wanted.arrange(&mut found);
        let shape = hub.shape(state);
        let items = found.into_iter().map(|(repo, issue)| {
            let mut item = shape.issue(repo, issue);
            item["score"] = 1.into();
            // Nothing said is left out here, where an issue by itself says null.
            if let Some(fields) = item.as_object_mut().filter(|fields| fields["body"].is_null()) {
                fields.remove("body");
            }
            item
        });
        Ok(paging.counted_with(
            "items",
            items.collect(),
            json!({ "incomplete_results": false, "search_type": "lexical" }),
        ))
    })
}

impl Wanted {
    /// Newest first, unless something else is said.
    fn arrange(&self, found: &mut [(&Repo, &Issue)]) {
        match self.sort.as_deref() {
            Some("updated") => found.sort_by_key(|(_, issue)| issue.updated_at),
            Some("comments") => found.sort_by_key(|(_, issue)| issue.comments.len()),
            Some("created") => found.sort_by_key(|(_, issue)| issue.created_at),
            _ => return,
        }
        if self.order.as_deref() != Some("asc") {
            found.reverse();
        }
    }
}
