//! Opens a pull request for delegated work.

use fro_core::{Clean, Permit, delegation::Commission};
use serde::Deserialize;
use serde_json::json;

use crate::{
    client::GitHub,
    error::{Attempted, Cause, Error},
};

/// A pull request that stands.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct OpenedPull {
    /// Its number.
    pub number: u64,
    /// Where people read it.
    #[serde(rename = "html_url")]
    pub url: String,
}

/// What is asked to be merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The title, on one line.
    pub title: Clean,
    /// The description.
    pub body: Clean,
    /// The branch with the change.
    pub head: String,
    /// The branch that it goes into.
    pub base: String,
}

impl GitHub {
    /// Opens a pull request from a branch of the commission. It is sent once.
    pub async fn open_pull(
        &self,
        permit: &Permit,
        commission: &Commission,
        proposal: &Proposal,
    ) -> Result<OpenedPull, Error> {
        let Proposal { title, body, head, base } = proposal;
        let aim = Attempted::new(
            format!("open a pull request from `{head}` on {}", permit.repo()),
            "pull-requests: write",
        );
        if !head.starts_with(commission.prefix()) {
            return Err(aim.missed(Cause::Elsewhere(format!("`{head}`"))));
        }
        let path = format!("/repos/{}/pulls", permit.repo());
        let wish = json!({ "title": title.as_str(), "body": body.as_str(), "head": head, "base": base });
        let answer = self.post(&path).json(&wish).send().await;
        answer.and_then(|answer| answer.json()).map_err(|error| aim.missed(error))
    }
}
