//! The repository as the agent gets it: a store of the harness's, a clone of its own, and a door for what it pushes.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use fro_boundary::{
    Address, AgentClone, BranchState, CloneBase, Credential, Enclosure, Git, GitError, Halt, ModelProxy,
    Pushing, Rules, Signature, Staging, Store, Untracked,
};
use fro_core::{Fault, Reach, credential::CredentialSearch};
use fro_github::OpenedPull;
use fro_opencode::Omo;

use crate::{
    commits,
    delegate::{Assignment, Branch},
    job::Scope,
    propose::Proposer,
    push_credentials::PushCredentials,
    settings::Settings,
    wall,
};

/// The harness's store, the agent's clone, and the way between them.
pub(crate) struct Repository {
    pub(crate) assignment: Assignment,
    pub(crate) credentials: Arc<PushCredentials>,
    pub(crate) store: Store,
    pub(crate) staging: Staging,
    clone: AgentClone,
    baseline: String,
    /// Opens the pull request, where there is none yet.
    pub(crate) proposer: Option<Arc<Proposer>>,
    environment: Vec<(OsString, OsString)>,
}

impl Repository {
    /// Makes everything: the clone below `home`, which is the engine's, and the store where the agent cannot reach.
    /// Finds out meanwhile what can stand around the wall.
    pub(crate) async fn open(
        scope: Scope<'_>,
        models: &ModelProxy,
        (home, private): (&Path, &Path),
    ) -> Result<(Self, Enclosure), Fault> {
        let (settings, job, repo) = (scope.settings(), scope.job, scope.permit().repo());
        let credentials = Arc::new(PushCredentials::new(scope.process, repo));
        let (assignment, enclosure) = tokio::join!(
            Assignment::decide(scope, models, &credentials),
            Enclosure::find(&settings.engine.program)
        );
        let assignment = assignment?;
        let confinement = wall::confinement(settings, enclosure);
        let git = Git::new(&settings.engine.environment, confinement);
        // Who looks at a clone of their own may have none, and an empty one is refused even where none is needed.
        let git = match settings.token.expose() {
            "" => git,
            _ => git.with_token(&settings.server, &settings.token),
        };
        let git = git.with_authorities(&settings.client.extra_ca, private).map_err(|error| error.fault())?;
        let url = address_of(settings, &repo.to_string());
        let tip = assignment.tip(job);
        let ground = CloneBase { checkout: job.checkout.clone(), url: url.clone(), tip };
        let store = Store::open(git, private, &ground).await.map_err(|error| error.fault())?;
        let hook = [settings.engine.program.clone().into(), "receive".into()];
        let door = store.open_door(repo, &hook, pushing(scope, &assignment, &credentials)).await;
        let staging = door.map_err(|error| error.fault())?;
        let current = || job.git_ref.clone().unwrap_or_else(|| "main".to_owned());
        let branch = match &assignment {
            Assignment::Branch(branch) => branch.name.clone(),
            Assignment::Look(_) | Assignment::Patch { .. } => current(),
        };
        let folder = home.join("work").join(repo.name());
        // Only GitHub's real address is https; the agent's git is led elsewhere anyway.
        let origin = url.replacen("http://", "https://", 1);
        let clone = store.clone_into(&folder, &branch, &origin, untracked(scope)).await;
        let clone = clone.map_err(|error| error.fault())?;
        if settings.engine.omo.is_some() {
            store.hide(&clone, &Omo::NOTES).map_err(|error| error.fault())?;
        }
        commits::sign(&clone.folder, &assignment)?;
        let baseline = match &assignment {
            Assignment::Look(_) => String::new(),
            Assignment::Branch(_) | Assignment::Patch { .. } => baseline(&store, &clone).await?,
        };
        let mut environment = staging.environment(&settings.server);
        environment.extend(commits::identity(scope, &assignment));
        let proposer = match &assignment {
            Assignment::Branch(branch) if branch.pull.is_none() => {
                Some(Arc::new(Proposer::new(scope, branch, &credentials)))
            }
            Assignment::Branch(_) | Assignment::Look(_) | Assignment::Patch { .. } => None,
        };
        let opened = Self { assignment, credentials, store, staging, clone, baseline, proposer, environment };
        Ok((opened, enclosure))
    }

    /// Returns the agent's clone.
    pub(crate) fn clone(&self) -> &AgentClone {
        &self.clone
    }

    /// Returns the folder that the agent works in.
    pub(crate) fn folder(&self) -> &Path {
        &self.clone.folder
    }

    /// Returns the tree of what lay in the clone before the agent came, if anybody will ask.
    pub(crate) fn baseline(&self) -> &str {
        &self.baseline
    }

    /// Returns the pull request that this run opened.
    pub(crate) fn opened(&self) -> Option<OpenedPull> {
        self.proposer.as_ref()?.opened()
    }

    /// Returns who opens a pull request if `gh` asks for it, or why nobody does.
    pub(crate) fn proposer(&self) -> Result<Arc<Proposer>, String> {
        let standing = match &self.assignment {
            Assignment::Branch(branch) => branch.pull.as_ref(),
            Assignment::Look(_) | Assignment::Patch { .. } => None,
        };
        let why = || match (self.assignment.closed(), standing) {
            (Some(why), _) => why,
            (None, Some(pull)) => {
                format!("your push goes to the pull request that is open already: {}", pull.url)
            }
            (None, None) => "there is nothing to propose".to_owned(),
        };
        self.proposer.clone().ok_or_else(why)
    }

    /// Returns where the clone's objects lie.
    pub(crate) fn objects(&self) -> Vec<PathBuf> {
        self.store.objects()
    }

    /// Returns where the agent's git goes, for the wall's list.
    pub(crate) fn address(&self) -> Address {
        Address::Tcp(self.staging.address())
    }

    /// Returns the variables that lead git there, and name it.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        self.environment.clone()
    }

    /// Returns what a maintainer should know of it.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let fell_back =
            self.store.fell_back().map(|why| format!("the agent worked on the checkout's commit: {why}"));
        let too_many = self.clone.left_out.too_many;
        let cut = (too_many > 0).then(|| {
            format!("{too_many} files of the checkout were too many to bring into the agent's clone")
        });
        let private = &self.clone.left_out.private;
        let named: Vec<_> = private.iter().take(NAMED).map(|path| format!("`{}`", path.display())).collect();
        let kept = (!private.is_empty()).then(|| {
            let (n_files, named) = (private.len(), named.join(", "));
            format!(
                "{n_files} untracked files of the checkout look like credentials and were left out: {named}"
            )
        });
        fell_back.into_iter().chain(cut).chain(kept).collect()
    }
}

/// Files that are named in a warning.
const NAMED: usize = 5;

/// Takes down what lies in the clone before the agent comes. Where that is too much, so it is afterwards, and told then.
async fn baseline(store: &Store, clone: &AgentClone) -> Result<String, Fault> {
    match store.tree_of(clone, &Halt::before_the_agent()).await {
        Ok(taken) => Ok(taken.tree),
        Err(GitError::Overrun { .. }) => Ok(store.tip().to_owned()),
        Err(error) => Err(error.fault()),
    }
}

/// Returns where git finds a repository.
pub fn address_of(settings: &Settings, repo: &str) -> String {
    format!("{}/{repo}.git", settings.server.trim_end_matches('/'))
}

/// Decides whether what git does not know comes along: only where a workflow made it, and somebody who may ask does.
pub(crate) fn untracked(scope: Scope<'_>) -> Untracked {
    let settings = scope.settings();
    let in_workflow = settings.engine.variable("GITHUB_EVENT_PATH").is_some();
    match scope.permit().reach() {
        Reach::Answer | Reach::Work if in_workflow => {
            Untracked::Come(CredentialSearch::knowing(settings.secrets()))
        }
        Reach::ReadOnly | Reach::Answer | Reach::Work => Untracked::Stay,
    }
}

fn pushing(scope: Scope<'_>, assignment: &Assignment, credentials: &Arc<PushCredentials>) -> Pushing {
    let settings = scope.settings();
    let branch = match (assignment, assignment.closed()) {
        (Assignment::Branch(branch), _) => branch,
        (Assignment::Look(_) | Assignment::Patch { .. }, why) => {
            return Pushing::Closed(why.unwrap_or_default());
        }
    };
    let Branch { name, stands, repo, closed, account, .. } = &**branch;
    let rules = Rules {
        url: address_of(settings, repo),
        branch: name.clone(),
        stands: if *stands { BranchState::Already } else { BranchState::NotYet },
        closed: closed.clone(),
        protected_paths: settings.delegation.protected_paths.clone(),
        signature: Signature { name: account.login.to_string(), email: account.email() },
        co_author: Some(Box::new(commits::asker(branch))),
    };
    let (credentials, repo) = (Arc::clone(credentials), repo.clone());
    let credential: Credential = Arc::new(move || {
        let (credentials, repo) = (Arc::clone(&credentials), repo.clone());
        Box::pin(async move { credentials.token_for(&repo).await })
    });
    let redactor = Arc::new(scope.process.redactor.clone());
    Pushing::Open { rules, server: settings.server.clone(), credential, redactor }
}
