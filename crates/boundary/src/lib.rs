//! Everything between the agent and the world: wall, environment, model proxy, `gh` broker, git and the way out.
//!
//! The agent reads strangers' words and runs shell commands, so it is treated
//! as hostile: it gets an environment with nothing to steal, a wall that ends
//! its reach at its own folders and ports, a proxy that asks models with keys
//! that it never sees, and a supervisor that leaves none of its processes behind.

mod accept;
mod audit;
mod confined;
mod disk;
mod echo;
mod egress;
mod environment;
mod gh;
mod git;
mod halt;
mod hide;
mod intake;
mod models;
mod open_files;
mod probe;
mod remove;
mod serve;
mod toolbox;
pub mod wall;
mod wall_process;
mod web;
mod weight;

pub use accept::{SocketListener, SocketStream};
pub use confined::{Bounds, ConfinedOutput, ConfinedTask, Confinement, Overrun};
pub use disk::disk_is_full;
pub use egress::{BadHost, CorporateProxy, Egress, EgressCalls, Host, ResolvedHost};
pub use environment::{Environment, environment};
pub use gh::{Deed, DeedResult, Deeds, GhBroker, GhCalls, Upstream};
pub use git::{
    AgentClone, BranchState, CloneBase, CloneFiles, Credential, Git, GitError, LeftOut, PROTECTED_PATHS,
    PullDiff, Push, Pushing, Rules, Signature, Staging, Store, Tip, Untracked, receive, unpacked,
};
pub use halt::{Halt, StillRunning};
pub use hide::hide;
pub use models::{BadKeys, Keys, ModelProxy, Plan, PlanError, Spent};
pub use open_files::more_open_files;
pub use probe::{Walls, probe};
pub use remove::remove_folder;
pub use toolbox::Toolbox;
pub use wall::{Address, Enclosure, Strictness, WallError, WallSpec};
pub use wall_process::WallProcess;
pub use web::{Page, PageRefusal, Web};
