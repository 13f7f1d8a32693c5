//! The model proxy: the engine asks a port of ours, and only the harness holds the providers' keys.
//!
//! The engine's configuration names the proxy and a placeholder. The proxy lets one kind of request through, a turn of
//! a model that the operator configured, puts the real key on it, streams the answer back and counts what it cost.

mod ask;
mod dialect;
mod fields;
mod headers;
mod json;
mod keys;
mod knock;
mod meter;
mod plan;
mod proxy;
mod request;
mod shape;

pub use keys::{BadKeys, Keys};
pub use meter::Spent;
pub use plan::{Plan, PlanError};
pub use proxy::ModelProxy;
