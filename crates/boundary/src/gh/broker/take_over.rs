//! Requests of `gh` that the harness carries out itself instead of passing them on.

use fro_core::{RepoName, sorting::Sorting};
use serde_json::{Value, json};

use crate::{
    gh::{
        broker::{Answered, BrokerState, GhFailure, LARGEST, to_the_end},
        deed::{About, Deed, Reply, WantedDeed},
        policy::GhRefusal,
    },
    serve::respond_with,
};

impl BrokerState {
    /// Has the harness do what `gh` asks for, and answers in GitHub's place.
    pub(super) async fn take_over(&self, wish: &WantedDeed) -> Result<Answered<'_>, GhFailure> {
        self.see_what_it_is_about(&wish.about).await?;
        let deed = self.by_name(wish).await?;
        let done = (self.deeds)(deed).await.map_err(GhRefusal::Undone)?;
        let status = match &wish.reply {
            Reply::Rest => 201,
            Reply::GraphQl(..) => 200,
        };
        let what = match &wish.deed {
            Deed::Sort(sorting) => sorting.describe(),
            Deed::Say(_) | Deed::Propose { .. } => done.url.clone(),
        };
        Ok((respond_with(status, &wish.answer(&done)), format!("taken over: {what}"), &self.done))
    }

    /// Returns the deed with the names of labels where it has their ids, which have to be ones that GitHub named.
    async fn by_name(&self, wish: &WantedDeed) -> Result<Deed, GhFailure> {
        let (sorted, ids): (fn(Vec<String>) -> Sorting, _) = match (&wish.deed, &wish.reply) {
            (Deed::Sort(Sorting::Label(ids)), Reply::GraphQl(..)) => (Sorting::Label, ids),
            (Deed::Sort(Sorting::Unlabel(ids)), Reply::GraphQl(..)) => (Sorting::Unlabel, ids),
            (deed, _) => return Ok(deed.clone()),
        };
        if let Some(unknown) = ids.iter().find(|id| !self.known_ids.holds(id)) {
            return Err(GhRefusal::Unknown(unknown.chars().take(100).collect()).into());
        }
        let answer = self.ask(include_str!("../label_names.graphql"), json!({ "ids": ids })).await?;
        let nodes = answer["data"]["nodes"].as_array().cloned().unwrap_or_default();
        let names: Option<Vec<_>> =
            nodes.iter().map(|node| node["name"].as_str().map(str::to_owned)).collect();
        match names.filter(|names| names.len() == ids.len()) {
            Some(names) => Ok(Deed::Sort(sorted(names))),
            None => Err(GhRefusal::Unclear("GitHub does not say which labels these are").into()),
        }
    }

    async fn ask(&self, query: &str, variables: Value) -> Result<Value, GhFailure> {
        let question = json!({ "query": query, "variables": variables });
        let request = self.client.post(&self.upstream.graphql).idempotent().json(&question);
        let answer = request.bearer(&self.upstream.token).relay().await?;
        let (bytes, _) = to_the_end(answer, LARGEST).await?;
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// Refuses to speak on anything but the run's own subject.
    async fn see_what_it_is_about(&self, about: &About) -> Result<(), GhFailure> {
        let (repo, subject) = (&self.upstream.repo, self.upstream.subject);
        let own = subject.map_or("nothing that can be spoken on".to_owned(), |number| format!("#{number}"));
        let named = match about {
            About::Repository => return Ok(()),
            About::Number(number) => Some(*number),
            About::Node(id) => self.number_of(id, repo).await?,
        };
        match named {
            Some(_) if named == subject => Ok(()),
            _ => Err(GhRefusal::OtherSubject(own).into()),
        }
    }

    /// Asks GitHub which number something of this repository has.
    async fn number_of(&self, id: &str, repo: &RepoName) -> Result<Option<u64>, GhFailure> {
        let answer = self.ask(include_str!("../number.graphql"), json!({ "id": id })).await?;
        if answer["data"].is_null() {
            return Err(GhRefusal::Unclear("GitHub does not say what it is about").into());
        }
        let node = &answer["data"]["node"];
        let is_here = node["repository"]["nameWithOwner"].as_str() == Some(&repo.to_string());
        Ok(node["number"].as_u64().filter(|_| is_here))
    }
}
