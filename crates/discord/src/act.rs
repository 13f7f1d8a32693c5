//! What the bot does on Discord: registers commands, answers clicks, writes messages and threads.

mod command;
mod interaction;
mod message;
mod thread;

pub use command::{Choice, CommandOption, CommandSpec, OptionKind};
pub use interaction::AnswerVisibility;
pub use message::Attempt;
pub use thread::Renamed;
