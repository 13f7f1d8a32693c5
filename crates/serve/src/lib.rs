//! The daemon: what it keeps of channels, threads and turns, and what it does with them.

mod serve;
mod store;
mod work;

pub use serve::{Pace, ServeSettings, Server, SignIn};
pub use store::{
    Address, Error, Store,
    accounts::Account,
    approvals::{Approval, Verdict},
    audit::{Audited, Broken, Head},
    gateway::Shard,
    intake::Intake,
    outbox::Due,
    parts::Place,
    policies::Policy,
    queue::{Caps, Claimed, Lease, Reworded, Spent, Turn, Wish},
    threads::Opened,
};
pub use work::{SettingsOf, WorkSettings, Worker};
