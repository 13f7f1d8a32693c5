//! The credential for delegated work: got when it is first needed, renewed before it ends, never touched otherwise.

use fro_core::{Fault, RepoName, Secret};
use fro_github::{Account, GitHub, InstallationToken};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Mutex;

use crate::{process::Process, settings::Elevated};

/// A token that ends sooner is renewed.
const SOON: SignedDuration = SignedDuration::from_mins(10);

/// Holds the credential for delegated work.
pub(crate) struct PushCredentials {
    process: Process,
    repo: RepoName,
    minted: Mutex<Option<InstallationToken>>,
}

impl PushCredentials {
    /// Nothing is asked of anybody yet.
    pub(crate) fn new(process: &Process, repo: &RepoName) -> Self {
        Self { process: process.clone(), repo: repo.clone(), minted: Mutex::new(None) }
    }

    /// Tells whether pull requests are opened with the workflow's own token, for which GitHub starts no checks.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.process.settings.elevated, Elevated::None)
    }

    /// Tells whether it may open other repositories than this one.
    pub(crate) fn reaches_forks(&self) -> bool {
        matches!(self.process.settings.elevated, Elevated::Token(_) | Elevated::App(_, Some(_)))
    }

    /// Returns the token for a push: an App has none for another repository than this one.
    pub(crate) async fn token_for(&self, repo: &str) -> Result<Secret, Fault> {
        match self.person_for(repo) {
            Some(token) => Ok(token.clone()),
            None => self.token().await,
        }
    }

    /// Says with whose credential another repository was pushed to, if not with the App's.
    pub(crate) fn exception(&self, repo: &str) -> Option<String> {
        let own = &self.repo;
        self.person_for(repo).map(|_| {
            format!("{repo} was pushed to with `elevated-token`: the App gives access to {own} alone")
        })
    }

    /// The person's token, where an App has none.
    fn person_for(&self, repo: &str) -> Option<&Secret> {
        match &self.process.settings.elevated {
            Elevated::App(_, token) if repo != self.repo.to_string() => token.as_ref(),
            Elevated::App(..) | Elevated::Token(_) | Elevated::None => None,
        }
    }

    /// Returns the token for delegated work.
    pub(crate) async fn token(&self) -> Result<Secret, Fault> {
        match &self.process.settings.elevated {
            Elevated::App(..) => self.minted().await.map(|minted| minted.token),
            Elevated::Token(token) => Ok(token.clone()),
            Elevated::None => Ok(self.process.settings.token.clone()),
        }
    }

    /// Returns GitHub as it is seen with that token.
    pub(crate) async fn github(&self) -> Result<GitHub, Fault> {
        let token = self.token().await?;
        self.process.github_as(token, &self.repo)
    }

    /// Returns who acts by it.
    pub(crate) async fn account(&self) -> Result<Account, Fault> {
        match &self.process.settings.elevated {
            Elevated::App(..) => self.minted().await.map(|minted| minted.account),
            Elevated::Token(_) | Elevated::None => {
                self.github().await?.account().await.map_err(|error| error.fault())
            }
        }
    }

    async fn minted(&self) -> Result<InstallationToken, Fault> {
        let Elevated::App(app, _) = &self.process.settings.elevated else {
            return Err(Fault::ours("a token is minted without an App"));
        };
        let mut held = self.minted.lock().await;
        let now = Timestamp::now();
        if let Some(minted) = held.as_ref().filter(|minted| minted.expires_at > now + SOON) {
            return Ok(minted.clone());
        }
        let minted = app.mint(&self.process.settings.github, &self.repo, &self.process.client()?, now).await;
        let minted = minted.map_err(|error| error.fault())?;
        *held = Some(minted.clone());
        Ok(minted)
    }
}
