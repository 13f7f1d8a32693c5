//! `serve` against a little Discord, with a worker that only touches the store.

mod clicks;
mod commands;
mod gateway_faults;
mod invited;
mod linking;
mod outages;
mod rights;
mod stage;
mod strangers;
mod talking;
