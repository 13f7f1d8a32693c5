//! A chat with channels, threads and roles, as far as decisions need it.

mod audit;
mod click;
mod deed;
mod follow;
mod id;
mod link;
mod permission;
mod render;
mod route;
pub mod say;
mod slash;
mod transcript;
mod turn;

pub use audit::{AuditAction, AuditEntry, Ruling};
pub use click::{Click, Pick};
pub use deed::{Beginning, Button, Deed, Menu, Notify, Style, TextFile};
pub use follow::{Follow, begun};
pub use id::{ChannelId, GuildId, MessageId, NoId, RoleId, UserId};
pub use link::{Approvals, ChannelLink, ChannelSettings, Listen, Thread};
pub use permission::{
    AccountAccess, App, Denial, Grant, Membership, Roles, Speaker, WantedHere, Whose, decide,
};
pub use render::{LONGEST, Rendered, length, render};
pub use route::{Posted, Room, Situation, edited, posted};
pub use slash::{Parameter, ParameterKind, Requirement, SlashCommand};
pub use transcript::{News, ThreadMessage, Transcript};
pub use turn::{Asked, SaidFile, Words};
