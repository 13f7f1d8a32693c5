//! A walled engine with its memory, tools and clone, asked as often as one likes.
//!
//! It knows no event, no comment and no chat: whoever uses it says for whom it works ([`Job`]) and what is asked
//! ([`Question`]), and hears what happens ([`Step`]). One engine is for one repository and one reach; a process may have
//! many at once.
//!
//! ```no_run
//! # use fro_agent::{Agent, Job, Offer, Onward, Plan, Process, Question};
//! # async fn example(process: Process, job: Job) -> Result<(), fro_core::Fault> {
//! let tell = |step| println!("{step:?}");
//! let mut agent = Agent::open(&process, &job, &tell)?; // two folders, nothing else
//! agent.prepare().await?; // engine, memory and clone, all at once
//! let running = agent.start(Offer::usual()).await?; // behind its wall
//! let (permit, origin) = (job.permit.clone(), job.origin.clone());
//! let (continuity, recalled, tools) = (None, Vec::new(), Vec::new());
//! let plan = Plan { permit, origin, continuity, onward: Onward::InIt, title: "a question".to_owned(), recalled, tools };
//! let mut session = running.open_session(plan).await?;
//! for text in ["Why is the floor wet?", "And since when?"] {
//!     let (text, began) = (text.to_owned(), jiff::Timestamp::now());
//!     let turn = session.ask(Question { text, files: Vec::new(), began }).await;
//!     session.record(&turn, Vec::new()).await;
//! }
//! println!("{:?}", session.usage());
//! agent.finish().await.cleaned // engine stopped, memory kept, folders gone
//! # }
//! ```
//!
//! Whoever breaks off, drops the future of the call and calls `finish`.

mod agent;
mod ask;
mod callers;
mod delegate;
mod gh;
mod handover;
mod install;
mod job;
mod judge;
mod left;
mod memory;
mod models;
mod network;
mod process;
mod propose;
mod push_credentials;
mod repository;
mod running;
mod session;
mod settings;
mod sorter;
mod state;
mod step;
mod tool_archive_cache;
mod tool_server;
mod tools;
mod wall;

pub use agent::{Agent, Finished};
pub use fro_opencode::{Leave, People, PeopleRequest, Word};
pub use handover::Handover;
pub use job::{Job, Origin};
pub use left::Left;
pub use memory::{on_page, save_trouble, subject, told_of_save};
pub use models::try_model;
pub use network::reachable;
pub use process::Process;
pub use repository::address_of;
pub use running::{Offer, Role, Running};
pub use session::{Onward, Plan, Question, Session};
pub use settings::{Delegation, Destination, Elevated, EngineSettings, Settings, Unwalled};
pub use step::{Step, Tell};
pub use tools::{Arguments, MemoryCalls, ToolList, Tools};

#[cfg(test)]
pub(crate) mod tests;
