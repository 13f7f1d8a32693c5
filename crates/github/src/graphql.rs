//! Asks GraphQL and tells its ways of saying no apart; all of them come with status 200.

use fro_http::Request;
use serde::{
    Deserialize, Serialize,
    de::{DeserializeOwned, IgnoredAny},
};

use crate::{client::GitHub, error::Cause};

/// The longest message of GitHub's that we pass on.
const LONGEST_MESSAGE: usize = 200;

#[derive(Serialize)]
struct Question<V> {
    query: &'static str,
    variables: V,
}

#[derive(Deserialize)]
struct Reply<T> {
    data: Option<T>,
    #[serde(default)]
    errors: Vec<Complaint>,
}

#[derive(Deserialize)]
struct Complaint {
    /// Absent when the query itself is wrong.
    #[serde(rename = "type")]
    kind: Option<String>,
    message: String,
    extensions: Option<Extensions>,
}

#[derive(Deserialize)]
struct Extensions {
    code: Option<String>,
}

impl GitHub {
    /// Asks one read-only question. An answer with gaps in it counts as none.
    pub(crate) async fn ask<T: DeserializeOwned>(
        &self,
        query: &'static str,
        variables: impl Serialize,
    ) -> Result<T, Cause> {
        Self::send_and_read(self.query().json(&Question { query, variables })).await
    }

    /// Does one deed, sent once: when the answer is lost, it may have been done.
    pub(crate) async fn tell<T: DeserializeOwned>(
        &self,
        mutation: &'static str,
        variables: impl Serialize,
    ) -> Result<T, Cause> {
        Self::send_and_read(self.mutation().json(&Question { query: mutation, variables })).await
    }

    /// Does one deed that does no harm when it is done twice.
    pub(crate) async fn tell_again<T: DeserializeOwned>(
        &self,
        mutation: &'static str,
        variables: impl Serialize,
    ) -> Result<T, Cause> {
        Self::send_and_read(self.mutation().idempotent().json(&Question { query: mutation, variables })).await
    }

    async fn send_and_read<T: DeserializeOwned>(request: Request) -> Result<T, Cause> {
        let answer = request.send().await?;
        let reply: Reply<IgnoredAny> = answer.json()?;
        if let Some(complaint) = reply.errors.into_iter().next() {
            return Err(complaint.into());
        }
        let reply: Reply<T> = answer.json()?;
        reply.data.ok_or_else(|| Cause::Failing("an answer without data".to_owned()))
    }
}

impl From<Complaint> for Cause {
    fn from(complaint: Complaint) -> Self {
        let line = complaint.message.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = line.chars().take(LONGEST_MESSAGE).collect();
        let code = complaint.extensions.and_then(|extensions| extensions.code);
        match (complaint.kind.as_deref(), code) {
            (Some("NOT_FOUND"), _) => Self::Missing(said),
            (Some("FORBIDDEN" | "INSUFFICIENT_SCOPES"), _) => Self::Forbidden(said),
            (None, Some(_)) => Self::BadQuery(said),
            (Some(_) | None, _) => Self::Failing(said),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(complaint: serde_json::Value, expect: &str) {
        let complaint: Complaint = serde_json::from_value(complaint).unwrap();
        assert_eq!(format!("{:?}", Cause::from(complaint)), expect);
    }

    #[test]
    fn each_way_of_saying_no_is_told_apart() {
        let missing =
            json!({ "type": "NOT_FOUND", "path": ["repository"], "message": "Could not\n resolve" });
        check(missing, r#"Missing("Could not resolve")"#);
        check(json!({ "type": "FORBIDDEN", "message": "No" }), r#"Forbidden("No")"#);
        check(json!({ "type": "INSUFFICIENT_SCOPES", "message": "No" }), r#"Forbidden("No")"#);
        check(json!({ "type": "RATE_LIMITED", "message": "Slow down" }), r#"Failing("Slow down")"#);
        check(json!({ "message": "Something went wrong" }), r#"Failing("Something went wrong")"#);
        let unknown = json!({ "extensions": { "code": "undefinedField" }, "message": "No field" });
        check(unknown, r#"BadQuery("No field")"#);
    }
}
