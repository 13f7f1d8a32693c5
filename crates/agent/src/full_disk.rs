//! Tells a full disk from an engine that failed: whoever asked can make room, and reports no bug.

use std::path::Path;

use fro_boundary::disk_is_full;
use fro_core::{
    Fault,
    conversation::outcome::{Failure, Outcome, Trouble},
};

/// Names a full disk as the reason of a turn that failed without another one.
pub(crate) fn in_turn(outcome: Outcome, folder: &Path) -> Outcome {
    match outcome {
        Outcome::Failed { failure: Failure { trouble: Trouble::Engine | Trouble::Gone, words }, partial }
            if disk_is_full(folder) =>
        {
            Outcome::Failed { failure: Failure { trouble: Trouble::DiskFull, words }, partial }
        }
        outcome @ (Outcome::Answered { .. }
        | Outcome::Refused { .. }
        | Outcome::OutOfTime { .. }
        | Outcome::Failed { .. }) => outcome,
    }
}

/// Names a full disk as the reason of a failure that would be a bug otherwise.
pub(crate) fn in_setting_up(fault: Fault, folder: &Path) -> Fault {
    match fault {
        Fault::Ours { what } if disk_is_full(folder) => {
            tracing::warn!("{what}");
            Fault::disk_full(folder)
        }
        fault @ (Fault::Yours { .. } | Fault::Upstream { .. } | Fault::Ours { .. }) => fault,
    }
}

#[cfg(test)]
mod tests {
    use fro_core::fault::Retry;

    use super::*;

    /// A file system that never has room.
    const FULL: &str = "/proc";

    #[test]
    fn only_a_failure_without_another_reason_is_the_disks() {
        let check = |trouble: Trouble, folder: &str, expect: Trouble| {
            let failed = |trouble: Trouble| Outcome::Failed { failure: trouble.into(), partial: None };
            assert_eq!(
                in_turn(failed(trouble), Path::new(folder)),
                failed(expect),
                "{trouble:?} on {folder}"
            );
        };
        check(Trouble::Engine, FULL, Trouble::DiskFull);
        check(Trouble::Gone, FULL, Trouble::DiskFull);
        check(Trouble::Auth, FULL, Trouble::Auth);
        check(Trouble::Engine, "/nowhere", Trouble::Engine);
        let answered = Outcome::Answered { text: "It is the seal.".to_owned(), cut_short: false };
        assert_eq!(in_turn(answered.clone(), Path::new(FULL)), answered);
    }

    #[test]
    fn what_cannot_be_set_up_on_a_full_disk_is_no_bug() {
        let told = |fault: Fault, folder: &str| in_setting_up(fault, Path::new(folder)).exit_code();
        assert_eq!(told(Fault::ours("the engine ended"), FULL), 2);
        assert_eq!(told(Fault::ours("the engine ended"), "/nowhere"), 1);
        assert_eq!(told(Fault::upstream("npm is away", Retry::Later), FULL), 3);
    }
}
