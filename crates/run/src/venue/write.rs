//! What leaves a run: writes, one after the other. None at all is an ending like any other.

use fro_core::{Delivery, Fault, Login, Redactor, Target};
use fro_github::CheckRun;
use fro_review::review::Writes;

use super::{Placed, Publisher, Venue, deliver, inline_comments};
use crate::{ending::Receipt, progress::Progress, publish::Sanitize};

/// One thing that is written where people talk.
pub(crate) enum Write<'a> {
    /// The answer as one text.
    Answer {
        delivery: &'a Delivery,
        /// What an earlier attempt of this run left, which is edited.
        earlier: Option<&'a Target>,
    },
    /// The answer as a review, with remarks beside the code. Nothing is written if GitHub does not take a place.
    Remarks {
        delivery: &'a Delivery,
        placed: &'a Placed,
        redactor: &'a Redactor,
        people: &'a [Login],
        sanitize: Sanitize,
    },
    /// The findings of a review.
    Findings { delivery: &'a Delivery, findings: &'a Writes, publisher: &'a Publisher<'a> },
    /// The run summary in a comment of its own. The answer is there already, so a failure of this one fails no run.
    Summary { delivery: &'a Delivery, earlier: Option<&'a Target> },
    /// A check run on a commit. It only adds to a review, so a failure of this one fails no run.
    Check { check: &'a CheckRun, commit: &'a str },
}

impl Venue<'_> {
    /// Writes everything in order, each once and read back, and returns where the first can be read, if anything was
    /// written. What fails ends the list.
    pub(crate) async fn publish(self, writes: &[Write<'_>]) -> Result<Option<Receipt>, Fault> {
        let mut first = None;
        for write in writes {
            let receipt = self.write(write).await?;
            first = first.or(receipt);
        }
        Ok(first)
    }

    async fn write(self, write: &Write<'_>) -> Result<Option<Receipt>, Fault> {
        match write {
            Write::Answer { delivery, earlier } => {
                deliver::post_answer(self, delivery, *earlier).await.map(Some)
            }
            Write::Remarks { delivery, placed, redactor, people, sanitize } => {
                let clean = |words: &str| redactor.clean(&sanitize(words, people));
                inline_comments::deliver(self, delivery, placed, clean).await
            }
            Write::Findings { delivery, findings, publisher } => {
                publisher.review(delivery, findings).await.map(Some)
            }
            Write::Summary { delivery, earlier } => {
                let written = deliver::post_answer(self, delivery, *earlier).await;
                if let Err(fault) = written {
                    let warning = format!("the run summary was not posted: {}", fault.what());
                    (self.tell)(Progress::Warning(warning));
                }
                Ok(None)
            }
            Write::Check { check, commit } => {
                match self.github.post_check_run(self.permit, commit, check).await {
                    Ok(url) => url.into_iter().for_each(|url| (self.tell)(Progress::Delivered { url })),
                    Err(error) => {
                        let fault = error.fault();
                        (self.tell)(Progress::Warning(format!("{} ({})", fault.what(), fault.hint())));
                    }
                }
                Ok(None)
            }
        }
    }
}
