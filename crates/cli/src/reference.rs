//! `fro-bot reference`: what is written from the program's own source, for the files of the project.

use std::process::ExitCode;

use clap::ValueEnum;

use crate::inputs;

/// What is wanted.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Wanted {
    /// The `action.yaml` of the project
    Action,
    /// The page of inputs and outputs
    Inputs,
    /// The `review/action.yaml` of the project
    ReviewAction,
    /// The page of the reviewer's inputs and outputs
    ReviewInputs,
}

/// Prints it.
pub(crate) fn main(wanted: Wanted) -> ExitCode {
    let text = match wanted {
        Wanted::Action => inputs::action(),
        Wanted::Inputs => inputs::page(),
        Wanted::ReviewAction => inputs::review_action(),
        Wanted::ReviewInputs => inputs::review_page(),
    };
    anstream::print!("{text}");
    ExitCode::SUCCESS
}
