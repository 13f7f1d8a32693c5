//! A walled engine with its memory, tools and clone, asked as often as one likes.
//!
//! It knows no event, no comment and no chat: whoever uses it says for whom it works ([`Job`]) and what is asked
//! ([`Question`]), and hears what happens ([`Step`]). One engine is for one repository and one reach; a process may have
//! many at once.
//!
//! ```no_run
//! # use fro_agent::{Agent, Job, Offer, Resume, Plan, Process, Question};
//! # async fn example(process: Process, job: Job) -> Result<(), fro_core::Fault> {
//! let tell = |step| println!("{step:?}");
//! let mut agent = Agent::open(&process, &job, &tell)?; // two folders, nothing else
//! let prepared = agent.prepare().await?; // engine, memory and clone, all at once
//! let running = prepared.start(Offer::usual()).await?; // behind its wall
//! let (permit, origin) = (job.permit.clone(), job.origin.clone());
//! let (continuity, recalled, tools) = (None, Vec::new(), Vec::new());
//! let plan = Plan { permit, origin, continuity, resume: Resume::InPlace, title: "a question".to_owned(), recalled, tools };
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
//! An engine that is not prepared cannot be started, and one that was not started has no sessions: neither compiles.
//!
//! ```compile_fail
//! # async fn example(mut agent: fro_agent::Agent<'_>) {
//! agent.start(fro_agent::Offer::usual()).await;
//! # }
//! ```
//!
//! ```compile_fail
//! # async fn example(prepared: fro_agent::Prepared<'_, '_>, plan: fro_agent::Plan) {
//! prepared.open_session(plan).await;
//! # }
//! ```
//!
//! ```compile_fail
//! # async fn example(agent: fro_agent::Agent<'_>) {
//! agent.finish().await;
//! agent.hand_over().await;
//! # }
//! ```
//!
//! To break off, drop the future of the call that is under way, and call `finish`.

mod agent;
mod ask;
mod callers;
mod commits;
mod delegate;
mod full_disk;
mod gh;
mod hand_out;
mod handover;
mod install;
mod job;
mod judge;
mod killed_run;
mod live_engine;
mod memory;
mod models;
mod network;
mod opened;
mod prepared;
mod process;
mod propose;
mod push_credentials;
mod repository;
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
pub use fro_boundary::{WallProcess, unpacked};
pub use fro_opencode::{AskPolicy, HumanReply, People, PeopleRequest};
pub use handover::Handover;
pub use job::{Job, Origin};
pub use killed_run::KilledRun;
pub use live_engine::{Offer, Role};
pub use memory::{Look, look_for_sessions, on_page, save_trouble, subject, told_of_save};
pub use models::try_model;
pub use network::reachable;
pub use prepared::{Prepared, Running};
pub use process::Process;
pub use repository::address_of;
pub use session::{Plan, Question, Resume, Session};
pub use settings::{Delegation, Destination, Elevated, EngineSettings, Settings, Unwalled};
pub use step::{Step, Tell};
pub use tools::{Arguments, MemoryCalls, ToolList, Tools};

#[cfg(test)]
pub(crate) mod tests;
