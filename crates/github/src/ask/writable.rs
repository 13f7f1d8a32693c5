//! Which kinds of things may our token write?

use serde_json::json;

use crate::{
    client::GitHub,
    error::{Attempted, Error},
};

/// A kind of thing that a run may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writable {
    /// Comments, labels and reactions.
    Issues,
    /// Pull requests and reviews.
    PullRequests,
    /// Branches and commits.
    Contents,
}

impl Writable {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Issues, Self::PullRequests, Self::Contents];

    /// Returns the permission as a workflow writes it.
    pub fn permission(self) -> &'static str {
        match self {
            Self::Issues => "issues: write",
            Self::PullRequests => "pull-requests: write",
            Self::Contents => "contents: write",
        }
    }

    /// Returns where such a thing is made.
    fn path(self) -> &'static str {
        match self {
            Self::Issues => "issues",
            Self::PullRequests => "pulls",
            Self::Contents => "git/refs",
        }
    }
}

impl GitHub {
    /// Tells whether our token may make such a thing, without making one.
    ///
    /// GitHub has no question for this. The request leaves out what it must have (a title, a name), so that the best it
    /// can get is 422; a token without the permission gets 403, or 404 where it cannot even see the repository. That GitHub
    /// looks at permissions first is what people see, and documented nowhere: a yes is a good sign, not a proof.
    pub async fn may_write(&self, what: Writable) -> Result<bool, Error> {
        let aim = Attempted::new(format!("ask whether {} is granted", what.permission()), what.permission());
        let path = format!("/repos/{}/{}", self.repo(), what.path());
        match self.post(&path).once().json(&json!({})).send().await {
            Err(error) if error.status() == Some(422) => Ok(true),
            Err(error) if matches!(error.status(), Some(403 | 404)) && !error.limited() => Ok(false),
            Err(error) => Err(aim.missed(error)),
            // It was taken although it cannot have been: whatever it is, the token may write.
            Ok(_) => Ok(true),
        }
    }
}
