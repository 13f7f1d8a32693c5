//! The daemon: what it keeps of channels, threads and turns, and what it does with them.

mod place;
mod serve;
mod store;
mod watch;
mod work;

pub use serve::{Pace, ServeSettings, Server, SignIn};
pub use store::{
    Address, Error, Store,
    accounts::Account,
    approvals::{Approval, Verdict},
    audit::{Audited, Broken, Head},
    gateway::Shard,
    intake::Intake,
    migrations::SchemaVersion,
    offered::Offered,
    outbox::{Delivery, Due},
    overview::{FailedDeed, GatewayLine, ThreadLine, UnfinishedTurn, WorkerLine},
    parts::Place,
    policies::Policy,
    queue::{Caps, Claimed, Lease, RewordResult, Spent, Turn, Wish},
    recollection::{MemoryQuestion, Recollected},
    standing::{GuildStanding, StandingAsked},
    status::Status,
    threads::Opened,
};
pub use watch::{Health, Line, Watch};
pub use work::{SettingsOf, WorkSettings, Worker};
