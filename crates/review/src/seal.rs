//! The authentication tag of a block: whether it is ours, and meant for this pull request.
//!
//! A comment of `github-actions[bot]` may come from any workflow of the repository. With the operator's `state_key`,
//! each block carries an HMAC over all of its fields and over the pull request that it belongs to; a block that was
//! changed, made up or copied from elsewhere is then no block. Without a key the author of a comment is all there is.

use data_encoding::BASE64URL_NOPAD;
use fro_core::{RepoName, Secret};
use ring::hmac;
use serde_json::Value;

use crate::rmcoc::Fields;

/// The field of the tag.
const TAG: &str = "tag";

/// Seals blocks of one pull request, and tells which are sealed.
#[derive(Debug, Clone)]
pub struct Seal {
    scope: String,
    key: Option<hmac::Key>,
}

impl Seal {
    /// Seals with the operator's key, or not at all.
    pub fn new(repo: &RepoName, pull: u64, state_key: Option<&Secret>) -> Self {
        let key = state_key.map(|secret| hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes()));
        Self { scope: format!("{repo}#{pull}"), key }
    }

    /// Tells whether there is a key.
    pub fn is_keyed(&self) -> bool {
        self.key.is_some()
    }

    /// Adds the tag.
    pub(crate) fn sealed(&self, mut fields: Fields) -> Fields {
        fields.remove(TAG);
        if let Some(key) = &self.key {
            let tag = hmac::sign(key, &self.message(&fields));
            fields.insert(TAG.to_owned(), Value::String(BASE64URL_NOPAD.encode(tag.as_ref())));
        }
        fields
    }

    /// Tells whether a block counts.
    pub(crate) fn accepts(&self, fields: &Fields) -> bool {
        let Some(key) = &self.key else { return true };
        let tag = fields
            .get(TAG)
            .and_then(Value::as_str)
            .and_then(|tag| BASE64URL_NOPAD.decode(tag.as_bytes()).ok());
        tag.is_some_and(|tag| hmac::verify(key, &self.message(fields), &tag).is_ok())
    }

    /// Returns what the tag is about: the pull request, then every other field by its name.
    fn message(&self, fields: &Fields) -> Vec<u8> {
        let mut rest: Vec<(&String, &Value)> = fields.iter().filter(|(name, _)| *name != TAG).collect();
        rest.sort_by_key(|(name, _)| *name);
        serde_json::to_vec(&(&self.scope, rest)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn seal(pull: u64, key: Option<&str>) -> Seal {
        let repo = RepoName::parse("octo/garden").unwrap();
        Seal::new(&repo, pull, key.map(Secret::new).as_ref())
    }

    fn fields() -> Fields {
        json!({ "finding": "leak", "score": 7, "id": "a1" }).as_object().unwrap().clone()
    }

    #[test]
    fn what_is_sealed_is_accepted_here_and_nowhere_else() {
        let sealed = seal(7, Some("key")).sealed(fields());
        assert!(seal(7, Some("key")).accepts(&sealed));
        assert!(!seal(8, Some("key")).accepts(&sealed));
        assert!(!seal(7, Some("other")).accepts(&sealed));
        assert!(!seal(7, Some("key")).accepts(&fields()));
    }

    #[test]
    fn any_change_breaks_the_seal() {
        let here = seal(7, Some("key"));
        let sealed = here.sealed(fields());
        for (name, value) in
            [("score", json!(1)), ("status", json!("RESOLVED")), ("tag", json!("AAAA")), ("tag", json!(3))]
        {
            let mut changed = sealed.clone();
            changed.insert(name.to_owned(), value);
            assert!(!here.accepts(&changed), "{name}");
        }
        let again = here.sealed(sealed.clone());
        assert_eq!(again, sealed, "sealing twice is sealing once");
    }

    #[test]
    fn without_a_key_everything_counts() {
        assert!(seal(7, None).accepts(&fields()));
        assert_eq!(seal(7, None).sealed(fields()), fields());
    }
}
