//! Discord: what is heard over its gateway, and deeds done there over its REST API.
//!
//! Nobody is rung unless that is meant, a message whose answer was lost is not said twice, and whatever happens
//! to the connection, [`Gateway::next`] goes on.

mod act;
mod ask;
mod client;
mod error;
mod gateway;
mod heard;
mod invitation;
mod limit;
mod post;
mod session;
mod settings;
mod wire;

pub use act::{AnswerVisibility, Attempt, Choice, CommandOption, CommandSpec, OptionKind, Renamed};
pub use ask::About;
pub use client::Discord;
pub use error::{Error, Fatal};
pub use gateway::Gateway;
pub use heard::{
    Attachment, Channel, ChannelKind, Guild, Heard, Interaction, InteractionId, InteractionKind, Message,
    MessageKind, OptionValue, Person, Role,
};
pub use invitation::{PERMISSIONS, invitation, permission_bits};
pub use post::{Button, ButtonStyle, Nonce, Pings, Post, Row, Upload};
pub use session::Session;
pub use settings::Settings;
