//! Questions asked of GitHub (`ask`) and deeds done there (`act`), one file each.
//!
//! Invariant: a deed takes a [`Permit`](fro_core::Permit) and reaches only the repository and the subject that
//! the permit names. Structs carry the fields that are read and no others.

mod act;
mod app;
mod ask;
mod client;
mod device;
mod error;
mod graphql;

pub use act::{
    check_run::{Annotation, AnnotationLevel, CheckRun, Conclusion},
    label::Label,
    open_pull::{OpenedPull, Proposal},
    react::ReactionId,
    review::Remark,
};
pub use app::{App, BadKey, InstallationToken};
pub use ask::{
    account::Account,
    answer::Answer,
    attachment::Attachment,
    comment::Comment,
    comments::Since,
    discussion::Discussion,
    pull::{PullEnds, PullRequest},
    pull_remarks::{PullRemark, PullRemarks},
    review::ChangedFile,
    review_state::{CodeComment, CodeThread, Speaker},
    rights::Rights,
    subject::Hydrated,
    writable::Writable,
};
pub use client::{Address, GitHub};
pub use device::{DeviceCode, DeviceFlow, SignedIn};
pub use error::Error;
