//! Which people have reviewed a pull request?

use fro_core::Login;
use serde::Deserialize;

use crate::{
    ask::rest::RestAccount,
    client::GitHub,
    error::{Attempted, Error},
};

#[derive(Deserialize)]
struct WireReviewers {
    user: Option<RestAccount>,
}

impl GitHub {
    /// Returns the people who gave a review, Apps left out. Who was asked and has not yet is told with the pull request.
    pub async fn reviewed_by(&self, pull: u64) -> Result<Vec<Login>, Error> {
        let aim =
            Attempted::new(format!("read the reviews of {}#{pull}", self.repo()), "pull-requests: read");
        let reviews: Vec<WireReviewers> = self.all_pages(&aim, &format!("pulls/{pull}/reviews")).await?;
        let people = reviews.into_iter().filter_map(|review| review.user);
        let mut people: Vec<Login> = people.filter(|user| !user.is_bot()).map(|user| user.login).collect();
        people.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        people.dedup();
        Ok(people)
    }
}
