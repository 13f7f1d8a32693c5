//! Shows by a label that we are at work. REST knows those of issues and pull requests, GraphQL those of discussions.

use fro_core::{NodeId, Permit, Surface};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::json;

use crate::{
    act::{aim, number},
    client::{GitHub, segment},
    error::{Attempted, Error},
};

/// A label as a repository knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Label {
    /// What it says.
    pub name: &'static str,
    /// Six hexadecimal digits.
    pub color: &'static str,
    /// What it means, in at most 100 characters.
    pub description: &'static str,
}

#[derive(Deserialize)]
struct Known {
    node_id: String,
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    errors: Vec<Problem>,
}

#[derive(Deserialize)]
struct Problem {
    code: Option<String>,
}

impl Label {
    /// What a subject wears while we work on it.
    pub const WORKING: Self =
        Self { name: "agent: working", color: "fbca04", description: "An agent is working on this" };
}

impl GitHub {
    /// Makes sure that the repository has the label.
    ///
    /// A label that is put on a subject without it would come into being too, but grey and unexplained.
    pub async fn ensure_label(&self, permit: &Permit, label: &Label) -> Result<(), Error> {
        let aim =
            Attempted::new(format!("make the label `{}` in {}", label.name, permit.repo()), "issues: write");
        let path = format!("/repos/{}/labels", permit.repo());
        match self.get(&format!("{path}/{}", segment(label.name))).send().await {
            Err(error) if error.status() == Some(404) => {}
            answer => return answer.map(drop).map_err(|error| aim.missed(error)),
        }
        match self.post(&path).idempotent().json(label).send().await {
            Err(error) if already_exists(&error) => Ok(()),
            answer => answer.map(drop).map_err(|error| aim.missed(error)),
        }
    }

    /// Puts the label on the permit's subject.
    pub async fn add_label(&self, permit: &Permit, label: &Label) -> Result<(), Error> {
        let aim = aim(&format!("put the label `{}` on", label.name), permit);
        if let Surface::Discussion { id, .. } = permit.surface() {
            return self.relabel(include_str!("label.graphql"), permit, (id, label), &aim).await;
        }
        let path = labels(permit, &aim)?;
        let request = self.post(&path).idempotent().json(&json!({ "labels": [label.name] }));
        request.send().await.map(drop).map_err(|error| aim.missed(error))
    }

    /// Takes the label off the permit's subject. One that is gone already is as good.
    pub async fn remove_label(&self, permit: &Permit, label: &Label) -> Result<(), Error> {
        let aim = aim(&format!("take the label `{}` off", label.name), permit);
        if let Surface::Discussion { id, .. } = permit.surface() {
            return self.relabel(include_str!("unlabel.graphql"), permit, (id, label), &aim).await;
        }
        let path = labels(permit, &aim)?;
        match self.delete(&format!("{path}/{}", segment(label.name))).send().await {
            Err(error) if error.status() == Some(404) => Ok(()),
            answer => answer.map(drop).map_err(|error| aim.missed(error)),
        }
    }

    /// Changes the labels of a discussion, where a label goes by its node.
    async fn relabel(
        &self,
        mutation: &'static str,
        permit: &Permit,
        (discussion, label): (&NodeId, &Label),
        aim: &Attempted,
    ) -> Result<(), Error> {
        let path = format!("/repos/{}/labels/{}", permit.repo(), segment(label.name));
        let answer = self.get(&path).send().await.map_err(|error| aim.missed(error))?;
        let known: Known = answer.json().map_err(|error| aim.missed(error))?;
        let variables = json!({ "subject": discussion.as_str(), "label": known.node_id });
        let told = self.tell_again(mutation, variables).await;
        told.map(|IgnoredAny| ()).map_err(|cause| aim.missed(cause))
    }
}

/// Tells whether somebody else made it between our look and our deed.
fn already_exists(error: &fro_http::Error) -> bool {
    let problems = error.refusal_body().map_or_else(Vec::new, |refusal: Refusal| refusal.errors);
    error.status() == Some(422)
        && problems.iter().any(|problem| problem.code.as_deref() == Some("already_exists"))
}

fn labels(permit: &Permit, aim: &Attempted) -> Result<String, Error> {
    Ok(format!("/repos/{}/issues/{}/labels", permit.repo(), number(permit, aim)?))
}
