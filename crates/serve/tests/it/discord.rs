//! `serve` against a little Discord, with a worker that only touches the store.

mod commands;
mod linking;
mod outages;
mod stage;
mod strangers;
mod talking;
