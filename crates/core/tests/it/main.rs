//! The pure rules under attack: hostile words in every slot, secrets in every form, and bytes of any kind.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends by a panic")]

mod any_bytes;
mod injection;
mod secrets;
mod world;
