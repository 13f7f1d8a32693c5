//! Labels, assigns, closes and reopens the run's own subject, as the agent asks for it by `gh`.

use std::sync::{Mutex, PoisonError};

use fro_boundary::DeedResult;
use fro_core::{Permit, sorting::Sorting};
use fro_github::GitHub;

use crate::{job::Scope, settings::Delegation};

/// Sorts one subject, and remembers what it did.
pub(crate) struct Sorter {
    permit: Permit,
    settings: Delegation,
    github: Result<GitHub, String>,
    done: Mutex<Vec<String>>,
}

impl Sorter {
    /// Prepares it; nothing is asked yet.
    pub(crate) fn new(scope: Scope<'_>) -> Self {
        Self {
            permit: scope.permit().clone(),
            settings: scope.settings().delegation.clone(),
            github: scope.github().map_err(|fault| fault.what().to_owned()),
            done: Mutex::default(),
        }
    }

    /// Does it, or says why not.
    pub(crate) async fn sort(&self, sorting: &Sorting, page: &str) -> Result<DeedResult, String> {
        let Delegation { gh_deeds, steering_labels, .. } = &self.settings;
        let steering: Vec<_> = steering_labels.iter().map(String::as_str).collect();
        if let Some(why) = sorting.refused(&self.permit, *gh_deeds, &steering, self.done().len()) {
            return Err(why);
        }
        let sorted = self.github.as_ref().map_err(Clone::clone)?.sort(&self.permit, sorting).await;
        sorted.map_err(|error| error.fault().what().to_owned())?;
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push(sorting.describe());
        let number = self.permit.subject().number().unwrap_or_default();
        Ok(DeedResult { url: page.to_owned(), number })
    }

    /// Returns what was done.
    pub(crate) fn done(&self) -> Vec<String> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
