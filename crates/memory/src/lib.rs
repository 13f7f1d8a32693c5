//! What the engine remembers, kept between runs.
//!
//! A run needs four calls, all of which block (an async caller gives them a thread):
//!
//! ```no_run
//! # use fro_memory::{Keep, Provenance, Recall, RecallTarget, SessionSelection, StoreSettings, Stores};
//! # use fro_core::remembered::Audience;
//! # let [data, ledger, index] = ["data", "ledger.db", "index.db"].map(std::path::Path::new);
//! # let now = jiff::Timestamp::UNIX_EPOCH;
//! let mut stores = Stores::open(&StoreSettings::folder("memory"));
//! let to = RecallTarget {
//!     engine_data: data,
//!     ledger: Some(ledger),
//!     index: Some(index),
//!     engine_version: Some("1.18.33"),
//!     audience: Audience::Insiders,
//!     given: SessionSelection::About("octo/garden#7"),
//! };
//! let recollection = stores.recall(to, now); // before the engine starts; then `relocate`
//! // … the engine works …
//! let parent = recollection.recall.head().cloned();
//! let provenance = Provenance { now, engine_version: "1.18.33".to_owned(), parent };
//! let keep = Keep::new(data, provenance).only(["ses_1".to_owned()]).with_ledger(ledger).with_index(index);
//! let keeping = stores.keep(&keep); // while it runs or after
//! ```
//!
//! `recall` and `keep` never fail: damage, a store that is read-only, full or out of reach are states and warnings for
//! the summary. `post` calls `Stores::open` and `keep` again, with the parent that the main step noted; a save that is
//! in the store already changes nothing. `Recollection::from` and `Keeping::places` say truly which store did what.

mod archive;
mod audit;
mod background;
mod carry_over;
mod copy;
mod database;
mod error;
mod fingerprint;
mod forget;
mod gc;
mod hide_private;
mod index;
mod keep;
mod ledger;
mod lineage;
mod live;
mod merge;
mod newest;
mod normalize;
mod ownership;
mod private;
mod prune;
mod recall;
mod refused;
mod relocate;
mod schema;
mod secrets;
mod sessions;
mod sieve;
mod snapshot;
mod stats;
mod store;
mod stores;
mod transfer;
mod upload;
mod wipe;

pub use archive::Archive;
pub use audit::{Audit, audit};
pub use error::{Error, Flaw, Refusal};
pub use gc::{Collected, collect_garbage};
pub use index::{ExcerptKind, Found, Index, Question};
pub use keep::{Keep, Kept, Provenance, Report, keep};
pub use ledger::{Figures, Ledger, Run, Tokens};
pub use lineage::{NewerSaves, later};
pub use live::{Refreshed, refresh};
pub use merge::Merged;
pub use prune::Retention;
pub use recall::{Recall, RecallTarget, SessionSelection, look, peek, recall, recall_to};
pub use refused::{give_back, take_away, transplant};
pub use relocate::{EngineStart, Relocation, relocate};
pub use sessions::{Info, Page, SessionMessage, Sessions};
pub use snapshot::manifest::Statistics;
pub use stats::Stats;
pub use store::{
    Advance, DamagedHead, Head, Listed, Listing, Object, ObjectName, Part, Place, Store,
    cache::{ActionsCache, CacheFiles, CacheMode, CacheSettings, EntryNames},
    folder::Folder,
    s3::{Encryption, Endpoint, Right, RightVerdict, S3, S3Settings, Trial},
    wire::Patience,
};
pub use stores::{CacheUse, Keeping, Recollection, Repair, StoreSettings, Stored, Stores};
pub use transfer::{export_sessions, import_sessions, quarantine, set_apart};
