//! Every text that people see, as functions of values, each with its snapshot.

pub mod answer;
pub mod command;
pub mod kept;
pub mod log;
pub mod marker;
pub mod page;
pub mod progress;
pub mod published;
pub mod remarks;
pub mod sessions;
pub mod stop;
pub mod subject_status;
pub mod summary;
pub mod trouble;
pub mod whole;
pub mod work;
