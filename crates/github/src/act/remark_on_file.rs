//! Says something about a whole file of a pull request: a review cannot hold such a remark.

use fro_core::{Clean, Permit};
use serde_json::json;

use crate::{
    act::{aim, number},
    ask::{answer::Answer, review_comment::WireReviewComment},
    client::GitHub,
    error::Error,
};

impl GitHub {
    /// Begins a thread on a changed file as a whole. It is sent once.
    pub async fn remark_on_file(
        &self,
        permit: &Permit,
        (commit, path): (&str, &str),
        body: &Clean,
    ) -> Result<Answer, Error> {
        let aim = aim(&format!("remark on `{path}` in"), permit);
        let address = format!("/repos/{}/pulls/{}/comments", permit.repo(), number(permit, &aim)?);
        let remark =
            json!({ "commit_id": commit, "path": path, "subject_type": "file", "body": body.as_str() });
        let answer = self.post(&address).json(&remark).send().await.map_err(|error| aim.missed(error))?;
        let wire: WireReviewComment = answer.json().map_err(|error| aim.missed(error))?;
        Ok(wire.answer())
    }
}
