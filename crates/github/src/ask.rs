//! Reads from GitHub, one file for each question.

pub(crate) mod account;
pub(crate) mod actor;
pub(crate) mod answer;
pub(crate) mod attachment;
pub(crate) mod change;
pub(crate) mod comment;
pub(crate) mod comments;
pub(crate) mod discussion;
pub(crate) mod fallback;
pub(crate) mod file;
mod installed;
pub(crate) mod labels;
pub(crate) mod list;
pub(crate) mod permission;
pub(crate) mod pull;
pub(crate) mod pull_remarks;
pub(crate) mod rest;
pub(crate) mod review;
pub(crate) mod review_comment;
pub(crate) mod review_state;
pub(crate) mod reviewers;
pub(crate) mod rights;
pub(crate) mod subject;
pub(crate) mod viewer;
pub(crate) mod words;
pub(crate) mod writable;
