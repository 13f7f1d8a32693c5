//! What the engine remembers, kept between runs.
//!
//! `recall` puts the newest memory in place before the engine starts, `keep` stores what it knows when it is done.
//! Damage is a state and never stops a run. Everything here blocks; an async caller gives it a thread.

mod arrive;
mod boundary;
mod collect;
mod copy;
mod database;
mod error;
mod group;
mod index;
mod keep;
mod ledger;
mod live;
mod merge;
mod private;
mod prune;
mod recall;
mod secrets;
mod sessions;
mod snapshot;
mod stamp;
mod store;
mod upload;
mod wipe;

pub use arrive::{Arrival, Here, arrive};
pub use collect::{Collected, collect};
pub use error::{Error, Flaw};
pub use index::{Found, Index};
pub use keep::{Keep, Kept, Provenance, Report, keep};
pub use ledger::{Ledger, Run, Tokens, Visibility};
pub use live::{Refreshed, refresh};
pub use merge::Merged;
pub use prune::Retention;
pub use recall::{Destination, Recall, recall, recall_to};
pub use sessions::{Info, Page, Said, Sessions};
pub use snapshot::manifest::Statistics;
pub use store::{Advance, Head, Listed, Listing, Object, ObjectName, Part, Store, folder::Folder};
