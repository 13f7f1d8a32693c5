//! Questions: nothing here changes anything.

pub(crate) mod comment;
pub(crate) mod comments;
pub(crate) mod permission;
pub(crate) mod subject;
pub(crate) mod viewer;
