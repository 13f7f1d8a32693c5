//! Real pull requests: which of their lines can be commented on, by an independent reader of diffs.

mod truth;
