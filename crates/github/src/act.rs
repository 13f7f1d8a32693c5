//! Deeds: everything here can be seen by others, so everything takes a permit.

pub(crate) mod comment;
pub(crate) mod label;
pub(crate) mod react;

use fro_core::{Permit, Subject};

use crate::error::Aim;

/// Names a deed on the permit's subject and the permission that the token needs for it.
fn aim(deed: &str, permit: &Permit) -> Aim {
    let needs = match permit.subject() {
        Subject::Issue(_) => "issues: write",
        Subject::PullRequest(_) => "pull-requests: write",
    };
    Aim::new(format!("{deed} {}#{}", permit.repo(), permit.subject().number()), needs)
}
