//! The HTTP client: everything that leaves over HTTP goes through it.
//!
//! It holds to a retry policy, obeys rate limits, caps what it reads, follows no redirect with a credential
//! to another origin, keeps request ids and never prints a token or a body. A write whose answer was lost is
//! never sent again: its error is [ambiguous](Error::ambiguous).

mod answer;
mod client;
mod error;
mod refusal;
mod request;
mod retry;
mod settings;

pub use reqwest::Url;

pub use answer::{Answer, Incoming};
pub use client::{Client, SetupError, provide_tls};
pub use error::Error;
pub use request::Request;
pub use retry::Retry;
pub use settings::{ClientSettings, Proxy, Roots};
