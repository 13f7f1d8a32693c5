//! The ways in which a run ends, and the proof of an answer.

use std::path::Path;

use fro_core::{
    Fault,
    conversation::outcome::{Failure, Outcome, Trouble},
    gate::SkipReason,
    say,
};

use crate::review::Reviewed;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// There was nothing to do.
    Skipped(SkipReason),
    /// The answer was posted.
    Answered(Receipt),
    /// A comment was posted that says what went wrong.
    ToldFailure(Receipt),
    /// A pull request was looked at. Where there was nothing to say, nothing was written.
    Reviewed(Reviewed),
    /// The runner, or whoever watches, stopped the run.
    Interrupted,
    /// Somebody who may push said that it should stop.
    Stopped,
}

impl Ending {
    /// Returns how a run ends whose answer stands: the comment may tell of a failure, and the run fails with whatever broke.
    /// `scratch` is the folder that is named where a disk was full.
    pub(crate) fn after(
        receipt: Receipt,
        outcome: &Outcome,
        broke: Option<Fault>,
        model: Option<&str>,
        scratch: &Path,
    ) -> Result<Self, Fault> {
        match (broke, outcome) {
            (Some(fault), _) => Err(fault),
            (None, Outcome::Answered { .. }) => Ok(Self::Answered(receipt)),
            (None, Outcome::Failed { failure: Failure { trouble: Trouble::Auth, .. }, .. }) => {
                Err(say::trouble::wrong_key(model))
            }
            (None, Outcome::Failed { failure: Failure { trouble: Trouble::DiskFull, .. }, .. }) => {
                Err(Fault::disk_full(scratch))
            }
            (None, Outcome::Refused { .. } | Outcome::OutOfTime { .. } | Outcome::Failed { .. }) => {
                Ok(Self::ToldFailure(receipt))
            }
        }
    }
}

/// The proof of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Where people read it.
    pub url: String,
}

#[cfg(test)]
mod tests {
    use fro_core::conversation::outcome::Turn;

    use super::*;

    fn receipt() -> Receipt {
        Receipt { url: "https://github.com/octo/garden/issues/7#issuecomment-1".to_owned() }
    }

    #[track_caller]
    fn check(outcome: &Outcome, broke: Option<Fault>, expect: &Result<Ending, &str>) {
        let ended = Ending::after(receipt(), outcome, broke, Some("scripted/m1"), Path::new("/tmp/run"));
        assert_eq!(ended.as_ref().map_err(Fault::what), expect.as_ref().map_err(|what| *what));
    }

    #[test]
    fn a_run_ends_as_its_answer_did() {
        let answered = Turn::answered("It is the tap.".to_owned()).outcome;
        check(&answered, None, &Ok(Ending::Answered(receipt())));
        for trouble in [Trouble::Quota, Trouble::Silent, Trouble::NotStarted] {
            check(&Turn::failed(trouble).outcome, None, &Ok(Ending::ToldFailure(receipt())));
        }
        check(&Outcome::Refused { partial: None }, None, &Ok(Ending::ToldFailure(receipt())));
        check(
            &Outcome::OutOfTime { partial: Some("Half".to_owned()) },
            None,
            &Ok(Ending::ToldFailure(receipt())),
        );
    }

    #[test]
    fn a_full_disk_fails_the_run_and_names_its_folder() {
        let fault = Fault::disk_full(Path::new("/tmp/run"));
        check(&Turn::failed(Trouble::DiskFull).outcome, None, &Err(fault.what()));
    }

    #[test]
    fn a_wrong_key_and_whatever_broke_fail_the_run_though_the_comment_stands() {
        let wrong_key = "the provider of `scripted/m1` did not accept the key";
        check(&Turn::failed(Trouble::Auth).outcome, None, &Err(wrong_key));
        let broke = || Some(Fault::ours("the engine is gone"));
        check(&Turn::answered("Yes.".to_owned()).outcome, broke(), &Err("the engine is gone"));
        check(&Turn::failed(Trouble::Auth).outcome, broke(), &Err("the engine is gone"));
    }
}
