//! What does a review say, how many remarks came with it, and what does the pull request change?

use fro_core::Target;
use jiff::Timestamp;
use serde::{Deserialize, de::IgnoredAny};

use crate::{
    ask::{answer::Answer, rest::RestUser},
    client::GitHub,
    error::{Attempted, Cause, Error},
};

const NEEDS: &str = "pull-requests: read";

/// GitHub tells of three thousand files at most.
const MOST_PAGES: usize = 30;

#[derive(Deserialize)]
pub(crate) struct WireReview {
    id: u64,
    user: Option<RestUser>,
    #[serde(default)]
    body: String,
    html_url: String,
    /// Nothing while it is pending, and only its author sees it then.
    submitted_at: Option<Timestamp>,
}

/// A changed file with its hunks.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ChangedFile {
    /// Where it is now, or was last.
    #[serde(rename = "filename")]
    pub path: String,
    /// Where it was before it was moved.
    #[serde(rename = "previous_filename")]
    pub moved_from: Option<String>,
    /// Its hunks; nothing if it is binary or too large.
    pub patch: Option<String>,
}

#[derive(Deserialize)]
struct PullHead {
    head: Head,
}

#[derive(Deserialize)]
struct Head {
    sha: String,
}

impl WireReview {
    pub(crate) fn answer(self) -> Answer {
        Answer {
            target: Target::Review(self.id),
            author: self.user.map(|author| author.login),
            at: self.submitted_at.unwrap_or_default(),
            body: self.body,
            url: self.html_url,
        }
    }
}

impl GitHub {
    /// Reads one review.
    pub(crate) async fn review(&self, pull: u64, id: u64) -> Result<Answer, Error> {
        let aim = Attempted::new(format!("read review {id} of {}#{pull}", self.repo()), NEEDS);
        let path = format!("/repos/{}/pulls/{pull}/reviews/{id}", self.repo());
        let answer = self.get(&path).send().await.map_err(|error| aim.missed(error))?;
        let wire: WireReview = answer.json().map_err(|error| aim.missed(error))?;
        Ok(wire.answer())
    }

    /// Reads all reviews, oldest first.
    pub(crate) async fn reviews(&self, pull: u64) -> Result<Vec<Answer>, Error> {
        let aim = Attempted::new(format!("read the reviews of {}#{pull}", self.repo()), NEEDS);
        let wires: Vec<WireReview> = self.all_pages(&aim, &format!("pulls/{pull}/reviews")).await?;
        Ok(wires.into_iter().map(WireReview::answer).collect())
    }

    /// Counts the remarks that came with a review.
    pub async fn remarks(&self, pull: u64, review: u64) -> Result<usize, Error> {
        let aim =
            Attempted::new(format!("read the remarks of review {review} of {}#{pull}", self.repo()), NEEDS);
        let remarks: Vec<IgnoredAny> =
            self.all_pages(&aim, &format!("pulls/{pull}/reviews/{review}/comments")).await?;
        Ok(remarks.len())
    }

    /// Reads which commit is a pull request's newest.
    pub async fn head(&self, pull: u64) -> Result<String, Error> {
        let aim = Attempted::new(format!("read the newest commit of {}#{pull}", self.repo()), NEEDS);
        let path = format!("/repos/{}/pulls/{pull}", self.repo());
        let answer = self.get(&path).send().await.map_err(|error| aim.missed(error))?;
        let pull: PullHead = answer.json().map_err(|error| aim.missed(error))?;
        Ok(pull.head.sha)
    }

    /// Reads what a pull request changes, with the hunks.
    pub async fn changed_files(&self, pull: u64) -> Result<Vec<ChangedFile>, Error> {
        let aim = Attempted::new(format!("read the changed files of {}#{pull}", self.repo()), NEEDS);
        self.all_pages(&aim, &format!("pulls/{pull}/files")).await
    }

    pub(crate) async fn all_pages<T: serde::de::DeserializeOwned>(
        &self,
        aim: &Attempted,
        rest: &str,
    ) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        for page in 1..=MOST_PAGES {
            let path = format!("/repos/{}/{rest}?per_page=100&page={page}", self.repo());
            let answer = self.get(&path).send().await.map_err(|error| aim.missed(error))?;
            let more: Vec<T> = answer.json().map_err(|error| aim.missed(error))?;
            all.extend(more);
            if !answer.header("link").is_some_and(|link| link.contains("rel=\"next\"")) {
                return Ok(all);
            }
        }
        Err(aim.missed(Cause::TooLong(MOST_PAGES)))
    }
}
