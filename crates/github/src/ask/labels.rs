//! Does a subject wear a label?

use fro_core::{Permit, Subject};

use crate::{
    act::label::Label,
    ask::list::Named,
    client::GitHub,
    error::{Attempted, Error},
};

impl GitHub {
    /// Tells whether the permit's subject wears a label. The repository itself wears none.
    pub async fn wears(&self, permit: &Permit, label: &Label) -> Result<bool, Error> {
        let repo = self.repo();
        let names: Vec<String> = match permit.subject() {
            Subject::Issue(number) | Subject::PullRequest(number) => {
                let aim = Attempted::new(format!("read the labels of {repo}#{number}"), "issues: read");
                // Nothing wears more than a hundred.
                let path = format!("/repos/{repo}/issues/{number}/labels?per_page=100");
                let answer = self.get(&path).send().await.map_err(|error| aim.missed(error))?;
                let worn: Vec<Named> = answer.json().map_err(|error| aim.missed(error))?;
                worn.into_iter().map(|label| label.name).collect()
            }
            Subject::Discussion(number) => self.discussion(number).await?.told.labels,
            Subject::Repository | Subject::Thread(_) => Vec::new(),
        };
        Ok(names.iter().any(|name| name.eq_ignore_ascii_case(label.name)))
    }
}
