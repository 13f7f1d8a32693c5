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
mod session;
mod slash;
mod transcript;
mod turn;

pub use audit::{AuditAction, AuditEntry, Ruling};
pub use click::{Click, Pick};
pub use deed::{Button, Deed, HandedFile, Menu, Notify, Style, TextFile, ThreadOpening};
pub use follow::{Follow, begun};
pub use id::{BadId, ChannelId, GuildId, MessageId, RoleId, UserId};
pub use link::{Approvals, ChannelLink, ChannelSettings, Listen, Thread};
pub use permission::{
    AccountAccess, App, Denial, Grant, Membership, Roles, Speaker, TurnOwner, WantedHere, decide,
};
pub use render::{LONGEST, Rendered, length, render};
pub use route::{MessagePlace, Posted, Situation, WithoutWords, edited, posted};
pub use session::{Choosable, ToldSession, choosable};
pub use slash::{Parameter, ParameterKind, Requirement, SlashCommand};
pub use transcript::{News, ThreadMessage, Transcript};
pub use turn::{QuoteReason, QuotedMessage, SaidFile, ThreadRequest, Words};
