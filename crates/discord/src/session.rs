//! What is kept of a gateway session, so that another process can resume it and misses no event.

use serde::{Deserialize, Serialize};

/// Where a session can be taken up again, also by another process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its name.
    pub id: String,
    /// The number of the last event that was heard.
    pub sequence: u64,
    /// Where to go.
    pub resume_url: String,
}
