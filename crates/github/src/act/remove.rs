//! Takes a comment of ours away.

use fro_core::{Permit, Target};

use crate::{
    act::{aim, number},
    client::GitHub,
    error::{Cause, Error},
};

impl GitHub {
    /// Removes a comment on the permit's subject. One that is gone already is as good.
    pub async fn remove_comment(&self, permit: &Permit, target: &Target) -> Result<(), Error> {
        let aim = aim("remove a comment on", permit);
        let Target::Comment(id) = target else { return Err(aim.missed(Cause::Unfit)) };
        // GitHub would take any comment of the repository, but a permit is good for one subject.
        if self.comment(*id).await?.number != number(permit, &aim)? {
            return Err(aim.missed(Cause::Elsewhere(format!("comment {id}"))));
        }
        let path = format!("/repos/{}/issues/comments/{id}", permit.repo());
        match self.delete(&path).send().await {
            Ok(_) => Ok(()),
            Err(error) if error.status() == Some(404) => Ok(()),
            Err(error) => Err(aim.missed(error)),
        }
    }
}
