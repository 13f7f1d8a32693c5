//! Remarks on a pull request's change: where each of them can stand, proven before GitHub is asked.
//!
//! GitHub refuses a whole review when one remark stands outside of the diff, and does not say which. So every
//! place is checked here against the pull request's own hunks, and one that does not fit moves to where it does.

mod diff;
mod layout;
mod place;

pub use diff::{Diff, Error, FileDiff, Hunk};
pub use layout::Layout;
pub use place::Place;
