//! Opens the pull request of a run, whoever asks for it first: the agent by `gh`, or the harness at the end.

use std::sync::{Arc, Mutex, PoisonError};

use fro_boundary::{Deed, DeedResult, Deeds};
use fro_core::{Draft, Drafts, Fault, Permit, Redactor, delegation::Commission, say::published::published};
use fro_github::{OpenedPull, Proposal};

use crate::{
    callers::Callers, delegate::Branch, job::Scope, push_credentials::PushCredentials, sorter::Sorter,
};

/// The longest title that GitHub takes is a little longer.
const TITLE: usize = 250;

/// Why `gh` does nothing where a shell could be that of any session.
const SEVERAL: &str = "several sessions work here, and nobody can tell which of them asks; hand your answer in by the tool \
                       `answer_draft`, and say in it what else is to be done";

/// Opens one pull request.
pub(crate) struct Proposer {
    permit: Permit,
    commission: Commission,
    head: String,
    base: String,
    credentials: Arc<PushCredentials>,
    redactor: Redactor,
    opened: Mutex<Option<OpenedPull>>,
}

impl Proposer {
    /// Prepares it for a branch that has no pull request yet.
    pub(crate) fn new(scope: Scope<'_>, branch: &Branch, credentials: &Arc<PushCredentials>) -> Self {
        Self {
            permit: scope.permit().clone(),
            commission: branch.commission.clone(),
            head: branch.name.clone(),
            base: branch.base.clone(),
            credentials: Arc::clone(credentials),
            redactor: scope.process.redactor.clone(),
            opened: Mutex::new(None),
        }
    }

    /// Returns the pull request that was opened.
    pub(crate) fn opened(&self) -> Option<OpenedPull> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens the pull request.
    pub(crate) async fn open(&self, title: &str, body: &str) -> Result<OpenedPull, Fault> {
        let title: String =
            title.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TITLE).collect();
        let proposal = Proposal {
            title: self.redactor.clean(&title),
            body: self.redactor.clean(&self.commission.description(&self.published(body))),
            head: self.head.clone(),
            base: self.base.clone(),
        };
        let github = self.credentials.github().await?;
        let opened = github.open_pull(&self.permit, &self.commission, &proposal).await;
        let opened = opened.map_err(|error| error.fault())?;
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(opened.clone());
        Ok(opened)
    }

    /// Makes a description fit to be published; who asked may be called by it.
    fn published(&self, body: &str) -> String {
        published(body, &[self.permit.asker().clone(), self.permit.own().clone()])
    }

    async fn asked_by_gh(&self, title: &str, body: &str, head: &str) -> Result<DeedResult, String> {
        if head != self.head {
            return Err(format!(
                "the pull request of this run comes from `{}`; push that branch first",
                self.head
            ));
        }
        if let Some(pull) = self.opened() {
            return Err(format!("the pull request of this run is open already: {}", pull.url));
        }
        self.open(title, body)
            .await
            .map(|pull| DeedResult { url: pull.url, number: pull.number })
            .map_err(|fault| fault.what().to_owned())
    }
}

/// Returns what becomes of the deeds that `gh` is asked for. First comes what is spoken on: its number and
/// its page. A deed has the engine's permit and subject, so that it can be done for a single session only.
pub(crate) fn deeds(
    (number, page): (u64, String),
    (drafts, callers): (Drafts, Arc<Callers>),
    (proposer, sorter): (Result<Arc<Proposer>, String>, Arc<Sorter>),
) -> Deeds {
    Arc::new(move |deed| {
        let (page, drafts, proposer) = (page.clone(), drafts.clone(), proposer.clone());
        let sorter = Arc::clone(&sorter);
        let is_single = callers.is_single();
        Box::pin(async move {
            if !is_single {
                return Err(SEVERAL.to_owned());
            }
            match deed {
                Deed::Say(said) => {
                    let name = drafts.set(Draft::read(said)?);
                    Ok(DeedResult { url: format!("{page}#{name}"), number })
                }
                Deed::Propose { title, body, head } => proposer?.asked_by_gh(&title, &body, &head).await,
                Deed::Sort(sorting) => sorter.sort(&sorting, &page).await,
            }
        })
    })
}
