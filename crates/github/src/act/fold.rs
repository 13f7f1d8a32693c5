//! Folds an outdated comment or review: GitHub calls it minimizing.

use fro_core::{NodeId, Permit};
use serde::de::IgnoredAny;
use serde_json::json;

use crate::{act::aim, client::GitHub, error::Error};

impl GitHub {
    /// Folds a comment or a review away as outdated. One that is folded already is as good.
    pub async fn fold(&self, permit: &Permit, note: &NodeId) -> Result<(), Error> {
        let aim = aim("fold an outdated answer on", permit);
        let told = self.tell_again(include_str!("fold.graphql"), json!({ "subject": note.as_str() })).await;
        told.map(|IgnoredAny| ()).map_err(|cause| aim.missed(cause))
    }
}
