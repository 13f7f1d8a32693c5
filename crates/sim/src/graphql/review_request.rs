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
enum RequestedReviewer {
    User(User),
    Bot(Bot),
    Team(Team),
}

impl ReviewRequest {
    pub(super) fn new(asked: &Asked, login: &str) -> Self {
        let requested_reviewer = match Actor::find(&asked.state, &asked.address, login) {
            Some(Actor::User(user)) => Some(RequestedReviewer::User(user)),
            Some(Actor::Bot(bot)) => Some(RequestedReviewer::Bot(bot)),
            None => None,
        };
        Self { requested_reviewer }
    }
}
