//! What was typed into a workflow and into the repository's own file, and what is wrong with it so far.

use std::fmt::Display;

use fro_core::{Fault, say::log::harmless};
use fro_run::REPO_SETTINGS;

use super::file::File;
use crate::env::{self, Env};

/// What was typed, and what is wrong with it so far.
pub(super) struct Typed<'a> {
    pub(super) env: &'a Env,
    file: File,
    pub(super) complaints: Vec<String>,
    place: TypedIn,
}

/// Where somebody types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TypedIn {
    Workflow,
    Terminal,
}

/// Where something was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Input,
    File,
}

impl<'a> Typed<'a> {
    /// Begins with what is wrong about the file as a whole.
    pub(super) fn new(env: &'a Env, mut file: File) -> Self {
        let complaints = std::mem::take(&mut file.complaints);
        // Only a workflow has an event that nobody typed.
        let in_workflow =
            [env::GITHUB_ACTIONS, env::GITHUB_EVENT_PATH].iter().any(|name| env.text(name).is_some());
        let place = if in_workflow { TypedIn::Workflow } else { TypedIn::Terminal };
        Self { env, file, complaints, place }
    }

    /// Begins with what was typed into a terminal.
    pub(super) fn at_terminal(env: &'a Env) -> Self {
        Self { place: TypedIn::Terminal, ..Self::new(env, File::default()) }
    }

    /// Reads a variable that only a runner sets.
    pub(super) fn required<T, E: Display>(
        &mut self,
        name: &str,
        example: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let Some(text) = self.env.text(name) else {
            self.complain(format!("the variable `{name}` is not set; it reads like `{example}`"));
            return None;
        };
        parse(text).map_err(|error| self.complain(format!("the variable `{name}`: {error}"))).ok()
    }

    /// Reads a setting; one that is absent or empty is its default.
    pub(super) fn input<T, E: Display>(
        &mut self,
        name: &str,
        default: T,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> T {
        let Some((origin, text)) = self.given(name) else { return default };
        match parse(text) {
            Ok(value) => value,
            Err(error) => {
                let told = format!("{} is `{}`: {error}", origin.describe(name), harmless(text));
                self.complain(told);
                default
            }
        }
    }

    /// Reads an input that may hold keys, so that a complaint does not quote it.
    pub(super) fn hidden_input<T, E: Display>(
        &mut self,
        name: &str,
        default: T,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> T {
        let Some(text) = self.env.input(name) else { return default };
        parse(text).unwrap_or_else(|error| {
            self.complain(format!("{}: {error}", Origin::Input.describe(name)));
            default
        })
    }

    /// Returns a setting as it was typed.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.given(name).map(|(_, text)| text.to_owned())
    }

    /// Returns everything that was typed for a setting whose values add up.
    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        [self.env.input(name), self.file.text(name)].into_iter().flatten().map(str::to_owned).collect()
    }

    pub(super) fn complain(&mut self, complaint: impl Into<String>) {
        self.complaints.push(complaint.into());
    }

    /// Tells everything that is wrong at once.
    pub(super) fn fault(self) -> Fault {
        let in_file = self.complaints.iter().any(|complaint| complaint.contains(REPO_SETTINGS));
        let hint = match (self.place, in_file) {
            (TypedIn::Workflow, true) => {
                "fix them in the workflow's `with:` block, or in the file on the default branch, and run it again"
            }
            (TypedIn::Workflow, false) => "fix them in the workflow's `with:` block and run it again",
            (TypedIn::Terminal, true) => {
                "fix them in the file on the default branch, or say otherwise by `--input NAME=VALUE`"
            }
            (TypedIn::Terminal, false) => "give it again: `--input NAME=VALUE`",
        };
        self.fault_with(hint)
    }

    /// Tells everything that is wrong at once, to somebody who typed it elsewhere.
    pub(super) fn fault_with(self, hint: &str) -> Fault {
        let what = match self.complaints.as_slice() {
            [only] => only.clone(),
            several => format!("{} settings are wrong:\n- {}", several.len(), several.join("\n- ")),
        };
        Fault::yours(what, hint)
    }

    /// Returns what was typed last: the workflow has the last word.
    fn given(&self, name: &str) -> Option<(Origin, &str)> {
        let input = self.env.input(name).map(|text| (Origin::Input, text));
        input.or_else(|| self.file.text(name).map(|text| (Origin::File, text)))
    }
}

impl Origin {
    fn describe(self, name: &str) -> String {
        match self {
            Self::Input => format!("the input `{name}`"),
            Self::File => format!("`{name}` in `{REPO_SETTINGS}`"),
        }
    }
}
