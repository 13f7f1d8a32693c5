//! Questions and deeds against the simulated GitHub.

#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

mod asks;
mod deeds;
mod garden;
mod reviewing;
mod surfaces;
mod troubles;
