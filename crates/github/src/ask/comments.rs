//! What was said on a subject?

use jiff::Timestamp;

use crate::{
    ask::comment::{Comment, WireComment},
    client::{GitHub, segment},
    error::{Attempted, Cause, Error},
};

/// Pages that are read before giving up. Half a conversation is worse than none to someone who looks for a
/// comment of their own: they would write a second one.
const MOST_PAGES: usize = 100;

/// How far back to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// To the first comment.
    TheBeginning,
    /// To the comments that were written or changed at this time.
    Time(Timestamp),
}

impl GitHub {
    /// Reads all comments on an issue or a pull request, oldest first.
    pub async fn comments(&self, number: u64, since: Since) -> Result<Vec<Comment>, Error> {
        let place = format!("{}#{number}", self.repo());
        let aim = Attempted::new(format!("read the comments on {place}"), "issues: read");
        let mut comments = Vec::new();
        for page in 1..=MOST_PAGES {
            let path = self.page(number, since, page);
            let answer = self.get(&path).send().await.map_err(|error| aim.missed(error))?;
            let wires: Vec<WireComment> = answer.json().map_err(|error| aim.missed(error))?;
            comments.extend(wires.into_iter().map(Comment::from));
            if !answer.header("link").is_some_and(|link| link.contains("rel=\"next\"")) {
                return Ok(comments);
            }
        }
        Err(aim.missed(Cause::TooLong(MOST_PAGES)))
    }

    fn page(&self, number: u64, since: Since, page: usize) -> String {
        let since = match since {
            Since::TheBeginning => String::new(),
            Since::Time(time) => format!("&since={}", segment(&time.to_string())),
        };
        format!("/repos/{}/issues/{number}/comments?per_page=100&page={page}{since}", self.repo())
    }
}
