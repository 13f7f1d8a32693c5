//! Who was asked for a review.

use async_graphql::{SimpleObject, Union};

use crate::graphql::{
    Asked,
    absent::Team,
    actor::{Actor, Bot, User},
};

#[derive(SimpleObject)]
pub(super) struct ReviewRequest {
    requested_reviewer: Option<RequestedReviewer>,
}

#[derive(Union)]
pub(super) enum RequestedReviewer {
    User(User),
    Bot(Bot),
    Team(Team),
}

impl ReviewRequest {
    pub(super) fn new(asked: &Asked, login: &str) -> Self {
        Self { requested_reviewer: Self::reviewer(asked, login) }
    }

    /// Who was asked, as long as there is such an account.
    pub(super) fn reviewer(asked: &Asked, login: &str) -> Option<RequestedReviewer> {
        Some(match Actor::find(&asked.state, &asked.address, login)? {
            Actor::User(user) => RequestedReviewer::User(user),
            Actor::Bot(bot) => RequestedReviewer::Bot(bot),
        })
    }
}
