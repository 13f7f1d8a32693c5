//! A file that a pull request changes.

use async_graphql::{Enum, SimpleObject};

use crate::state::{Change, ChangedFile};

#[derive(Clone, SimpleObject)]
pub(super) struct PullRequestChangedFile {
    path: String,
    additions: u64,
    deletions: u64,
    change_type: PatchStatus,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum PatchStatus {
    Added,
    Deleted,
    Modified,
    Renamed,
}

impl From<&ChangedFile> for PullRequestChangedFile {
    fn from(file: &ChangedFile) -> Self {
        let change_type = match file.change {
            Change::Added => PatchStatus::Added,
            Change::Deleted => PatchStatus::Deleted,
            Change::Modified => PatchStatus::Modified,
            Change::Renamed => PatchStatus::Renamed,
        };
        Self { path: file.path.clone(), additions: file.additions, deletions: file.deletions, change_type }
    }
}
