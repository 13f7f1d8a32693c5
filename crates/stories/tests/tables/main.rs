//! Tables of whole runs: everything that can happen to a run by everything that can go wrong, each cell a run of its own
//! whose answer is looked at where people read it. The tables are printed, also when all is well.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a story that cannot be told fails its test")]

mod apart;
mod canaries;
mod faults;
mod happenings;
mod injection;
mod killed;
mod memory;
mod network;
mod posted;
mod secrets;
mod table;
mod triggers;
