//! What was said on a subject since a moment, wherever on it?

use fro_core::{Permit, Subject, Surface};
use jiff::Timestamp;

use crate::{
    ask::{answer::Answer, comments::Since},
    client::GitHub,
    error::Error,
};

impl GitHub {
    /// Reads what was written since then in the subject's conversation, and in the thread that the permit is for.
    pub async fn words(&self, permit: &Permit, since: Timestamp) -> Result<Vec<Answer>, Error> {
        let mut words: Vec<Answer> = match permit.subject() {
            Subject::Issue(number) | Subject::PullRequest(number) => {
                self.comments(number, Since::Time(since)).await?.into_iter().map(Answer::from).collect()
            }
            Subject::Discussion(number) => self.discussion(number).await?.answers,
            Subject::Repository | Subject::Thread(_) => Vec::new(),
        };
        if let Surface::ReviewThread { pull, root } = permit.surface() {
            words.extend(self.replies(*pull, *root).await?);
        }
        // An older comment that was changed since is no new word.
        words.retain(|word| word.at >= since);
        Ok(words)
    }
}
