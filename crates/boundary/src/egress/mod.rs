//! The one way out for the agent's tools: a loopback proxy that knows a list of hosts, and where each of them is.
//!
//! Behind the wall nothing can be resolved and only this proxy can be reached, so that its list is the whole network.

mod corporate_proxy;
mod host;
mod proxy;

pub use corporate_proxy::CorporateProxy;
pub(crate) use host::is_private;
pub use host::{BadHost, Host, ResolvedHost};
pub use proxy::{Egress, EgressCalls};
