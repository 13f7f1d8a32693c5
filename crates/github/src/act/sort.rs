//! Labels, assigns, closes and reopens the permit's subject.

use fro_core::{Permit, sorting::Sorting};
use serde_json::json;

use crate::{
    act::{aim, number},
    client::{GitHub, segment},
    error::{Attempted, Cause, Error},
};

impl GitHub {
    /// Does it. A label that the repository does not have is not made.
    pub async fn sort(&self, permit: &Permit, sorting: &Sorting) -> Result<(), Error> {
        let aim = aim("sort", permit);
        let path = format!("/repos/{}/issues/{}", permit.repo(), number(permit, &aim)?);
        let labels = format!("{path}/labels");
        let assignees = format!("{path}/assignees");
        let request = match sorting {
            Sorting::Label(names) => {
                self.have_labels(permit, names, &aim).await?;
                self.post(&labels).idempotent().json(&json!({ "labels": names }))
            }
            Sorting::Unlabel(names) => return self.take_off(&labels, names, &aim).await,
            Sorting::Assign(names) => self.post(&assignees).idempotent().json(&json!({ "assignees": names })),
            Sorting::Unassign(names) => self.delete(&assignees).json(&json!({ "assignees": names })),
            Sorting::Close(None) => self.patch(&path).idempotent().json(&json!({ "state": "closed" })),
            Sorting::Close(Some(reason)) => {
                let body = json!({ "state": "closed", "state_reason": reason.word() });
                self.patch(&path).idempotent().json(&body)
            }
            Sorting::Reopen => self.patch(&path).idempotent().json(&json!({ "state": "open" })),
        };
        request.send().await.map(drop).map_err(|error| aim.missed(error))
    }

    /// Sees that the repository has all of the labels: GitHub would make those that it does not know.
    async fn have_labels(&self, permit: &Permit, names: &[String], aim: &Attempted) -> Result<(), Error> {
        for name in names {
            let path = format!("/repos/{}/labels/{}", permit.repo(), segment(name));
            match self.get(&path).send().await {
                Err(error) if error.status() == Some(404) => {
                    return Err(aim.missed(Cause::Missing(format!("there is no label `{name}`"))));
                }
                answer => answer.map_err(|error| aim.missed(error))?,
            };
        }
        Ok(())
    }

    async fn take_off(&self, labels: &str, names: &[String], aim: &Attempted) -> Result<(), Error> {
        for name in names {
            match self.delete(&format!("{labels}/{}", segment(name))).send().await {
                Err(error) if error.status() == Some(404) => {}
                answer => answer.map(drop).map_err(|error| aim.missed(error))?,
            }
        }
        Ok(())
    }
}
