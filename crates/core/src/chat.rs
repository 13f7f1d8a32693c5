//! A chat with channels, threads and roles, as far as decisions need it.

mod id;

pub use id::{ChannelId, GuildId, MessageId, NoId, RoleId, UserId};
