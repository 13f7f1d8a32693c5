//! Resolves a review thread.

use fro_core::{NodeId, Permit};
use serde::de::IgnoredAny;
use serde_json::json;

use crate::{
    client::GitHub,
    error::{Attempted, Error},
};

impl GitHub {
    /// Resolves a thread. One that is resolved already is as good.
    ///
    /// GitHub asks for `contents: write` here, although nothing of the code is touched.
    pub async fn resolve_thread(&self, permit: &Permit, thread: &NodeId) -> Result<(), Error> {
        let what = format!("resolve a review thread of {}{}", permit.repo(), permit.subject().mark());
        let aim = Attempted::new(what, "contents: write");
        let about = json!({ "thread": thread.as_str() });
        let told = self.tell_again(include_str!("resolve.graphql"), about).await;
        told.map(|IgnoredAny| ()).map_err(|cause| aim.missed(cause))
    }
}
