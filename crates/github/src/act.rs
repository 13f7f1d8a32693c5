//! Writes on GitHub, one file for each. Others see them, so all of them take a permit.

pub(crate) mod answer;
pub(crate) mod check_run;
pub(crate) mod comment;
pub(crate) mod discuss;
pub(crate) mod fold;
pub(crate) mod label;
pub(crate) mod open_pull;
pub(crate) mod react;
pub(crate) mod remark_on_file;
pub(crate) mod remove;
pub(crate) mod reply;
pub(crate) mod resolve;
pub(crate) mod review;
pub(crate) mod sort;

use fro_core::{Permit, Subject};

use crate::error::{Attempted, Cause, Error};

/// Returns the number under which REST knows the permit's subject: that of an issue or a pull request.
fn number(permit: &Permit, aim: &Attempted) -> Result<u64, Error> {
    match permit.subject() {
        Subject::Issue(number) | Subject::PullRequest(number) => Ok(number),
        Subject::Discussion(_) | Subject::Thread(_) | Subject::Repository => Err(aim.missed(Cause::Unfit)),
    }
}

/// Names a deed on the permit's subject and the permission that the token needs for it.
pub(crate) fn aim(deed: &str, permit: &Permit) -> Attempted {
    let needs = match permit.subject() {
        Subject::Issue(_) => "issues: write",
        Subject::PullRequest(_) => "pull-requests: write",
        Subject::Discussion(_) => "discussions: write",
        Subject::Thread(_) | Subject::Repository => "contents: write",
    };
    Attempted::new(format!("{deed} {}{}", permit.repo(), permit.subject().mark()), needs)
}
