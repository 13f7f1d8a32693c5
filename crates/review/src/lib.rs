//! The reviewer's rules: what is worth saying about a change, where it can stand, and what became of it.
//!
//! Nothing here reads a clock, a disk or a network. One review goes like this:
//!
//! 1. The pull request's diff is read ([`Diff`]), and what was said before is rebuilt from its comments
//!    ([`state::State`]), with the [`Seal`] that tells our blocks from forged ones. Each thread's lines are followed into
//!    the newest commit ([`track`], [`versions`]); what the author wrote since the last review is [`since::Since`].
//! 2. The model is told how to score ([`rubric`]) and asked pass by pass in one session ([`passes::Passes`]): the stepper
//!    hears what happened and says what to ask. What does not fit into a prompt is named ([`shown_change`]).
//! 3. It reports with tools ([`tools`]), and [`review::Review`] answers each call: promoted ([`scoring`], [`sensitivity`]),
//!    below the threshold, said before ([`duplicate`], by [`wording`]), or a draft. Threads are resolved on evidence only,
//!    replies follow the rules of [`dispute`], with the file's owners ([`code_owners`]) where nobody else is above the author.
//! 4. When the last pass is submitted, or nothing more can come, [`review::Review::settle`] counts small findings together
//!    and decides the gate; [`review::Settled::writes`] puts every comment where GitHub takes it ([`Place`]), as [`say`]
//!    writes it: without committable suggestions ([`markdown`]), and with no more code than the function that it is
//!    about ([`touched`]). Threads are resolved first and replied to afterwards, so that a reply tells the truth.
//!
//! On somebody's own machine nothing is posted: [`report`] prints what was found.
//!
//! GitHub refuses a whole review when one remark stands outside of the diff, and does not say which. So every
//! place is checked here against the pull request's own hunks, and one that does not fit moves to where it does.
//! [`eval`] counts how much of all this is right.

pub mod code_owners;
mod coverage;
mod diff;
pub mod dispute;
pub mod duplicate;
pub mod eval;
pub mod finding;
mod layout;
pub mod markdown;
pub mod passes;
mod place;
pub mod report;
pub mod review;
mod rmcoc;
pub mod rubric;
pub mod say;
pub mod scoring;
mod seal;
pub mod sensitivity;
pub mod shown_change;
pub mod since;
pub mod state;
pub mod tools;
pub mod touched;
pub mod track;
pub mod versions;
pub mod web;
pub mod wording;

pub use coverage::Look;
pub use diff::{Diff, Error, FileDiff, Hunk};
pub use layout::Layout;
pub use place::Place;
pub use seal::Seal;
