//! Leaves a reaction where we were called, and takes it back.

use fro_core::{NodeId, Permit, Reaction, Target};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::json;

use crate::{
    act::{aim, number},
    client::GitHub,
    error::{Attempted, Cause, Error},
};

/// A reaction that stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReactionId {
    /// On what REST knows, by its database id.
    Rest(u64),
    /// On a discussion or in one, where the kind is enough.
    Node(Reaction),
}

#[derive(Deserialize)]
struct Left {
    id: u64,
}

impl GitHub {
    /// Leaves a reaction. One that is already there stays the only one of its kind.
    pub async fn react(&self, permit: &Permit, reaction: Reaction) -> Result<ReactionId, Error> {
        let deed = format!("leave the reaction `{}` {}", reaction.word(), whereabouts(permit));
        let aim = aim(&deed, permit);
        if let Target::Node(node) = permit.target() {
            let _: IgnoredAny = self
                .tell_again(include_str!("react.graphql"), input(node, reaction))
                .await
                .map_err(|cause| aim.missed(cause))?;
            return Ok(ReactionId::Node(reaction));
        }
        let path = reactions(permit, &aim)?;
        let request = self.post(&path).idempotent().json(&json!({ "content": reaction.word() }));
        let answer = request.send().await.map_err(|error| aim.missed(error))?;
        let left: Left = answer.json().map_err(|error| aim.missed(error))?;
        Ok(ReactionId::Rest(left.id))
    }

    /// Takes a reaction back. One that is gone already is as good.
    pub async fn unreact(&self, permit: &Permit, reaction: ReactionId) -> Result<(), Error> {
        let aim = aim(&format!("take back a reaction {}", whereabouts(permit)), permit);
        match (permit.target(), reaction) {
            (Target::Node(node), ReactionId::Node(reaction)) => {
                let told = self.tell_again(include_str!("unreact.graphql"), input(node, reaction)).await;
                told.map(|IgnoredAny| ()).map_err(|cause| aim.missed(cause))
            }
            (_, ReactionId::Node(_)) => Err(aim.missed(Cause::Unfit)),
            (_, ReactionId::Rest(id)) => {
                match self.delete(&format!("{}/{id}", reactions(permit, &aim)?)).send().await {
                    Err(error) if error.status() == Some(404) => Ok(()),
                    answer => answer.map(drop).map_err(|error| aim.missed(error)),
                }
            }
        }
    }
}

fn input(node: &NodeId, reaction: Reaction) -> serde_json::Value {
    json!({ "subject": node.as_str(), "content": reaction.word().to_uppercase() })
}

fn reactions(permit: &Permit, aim: &Attempted) -> Result<String, Error> {
    let repo = permit.repo();
    match permit.target() {
        Target::Comment(id) => Ok(format!("/repos/{repo}/issues/comments/{id}/reactions")),
        Target::ReviewComment(id) => Ok(format!("/repos/{repo}/pulls/comments/{id}/reactions")),
        // A pull request is reacted to as the issue that it also is.
        Target::Subject(_) => Ok(format!("/repos/{repo}/issues/{}/reactions", number(permit, aim)?)),
        Target::Review(_) | Target::Node(_) | Target::Nowhere => Err(aim.missed(Cause::Unfit)),
    }
}

fn whereabouts(permit: &Permit) -> String {
    match permit.target() {
        Target::Comment(id) => format!("on comment {id} of"),
        Target::ReviewComment(id) => format!("on review comment {id} of"),
        Target::Review(_) | Target::Subject(_) | Target::Node(_) | Target::Nowhere => "on".to_owned(),
    }
}
