//! Stories: whole runs of the built binary with the real engine.

mod answers;
mod bad_days;
mod endings;
mod gate;
mod shell;
