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
}

/// Prints it.
pub(crate) fn main(wanted: Wanted) -> ExitCode {
    let text = match wanted {
        Wanted::Action => inputs::action(),
        Wanted::Inputs => inputs::page(),
    };
    anstream::print!("{text}");
    ExitCode::SUCCESS
}
