//! Leaves a reaction where we were called, and takes it back.

use fro_core::{Permit, Reaction, Spot};
use serde::Deserialize;
use serde_json::json;

use crate::{act::aim, client::GitHub, error::Error};

/// A reaction that stands, by its database id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct ReactionId(u64);

#[derive(Deserialize)]
struct Left {
    id: ReactionId,
}

impl GitHub {
    /// Leaves a reaction. One that is already there stays the only one of its kind.
    pub async fn react(&self, permit: &Permit, reaction: Reaction) -> Result<ReactionId, Error> {
        let deed = format!("leave the reaction `{}` {}", reaction.word(), whereabouts(permit));
        let aim = aim(&deed, permit);
        let request = self.post(&reactions(permit)).idempotent().json(&json!({ "content": reaction.word() }));
        let answer = request.send().await.map_err(|error| aim.missed(error))?;
        let left: Left = answer.json().map_err(|error| aim.missed(error))?;
        Ok(left.id)
    }

    /// Takes a reaction back. One that is gone already is as good.
    pub async fn unreact(&self, permit: &Permit, ReactionId(id): ReactionId) -> Result<(), Error> {
        let aim = aim(&format!("take back reaction {id} {}", whereabouts(permit)), permit);
        match self.delete(&format!("{}/{id}", reactions(permit))).send().await {
            Err(error) if error.status() == Some(404) => Ok(()),
            answer => answer.map(drop).map_err(|error| aim.missed(error)),
        }
    }
}

fn reactions(permit: &Permit) -> String {
    let repo = permit.repo();
    match permit.spot() {
        Spot::Comment(id) => format!("/repos/{repo}/issues/comments/{id}/reactions"),
        // A pull request is reacted to as the issue that it also is.
        Spot::Subject(subject) => format!("/repos/{repo}/issues/{}/reactions", subject.number()),
    }
}

fn whereabouts(permit: &Permit) -> String {
    match permit.spot() {
        Spot::Comment(id) => format!("on comment {id} of"),
        Spot::Subject(_) => "on".to_owned(),
    }
}
