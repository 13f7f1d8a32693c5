//! The harness's own bare repository: what the agent's clone is made from, and what it pushes into.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::git::{
    Git, GitError,
    command::{git_dir, succeeded},
};

/// How much history is fetched where the checkout has none of its own.
const DEPTH: &str = "--depth=50";

/// Where a hidden mark of ours stands in the store: the commit that the agent starts from.
pub(super) const TIP: &str = "refs/fro-bot/tip";

/// What the agent's clone is made of.
#[derive(Debug, Clone)]
pub struct CloneBase {
    /// The runner's checkout, if there is one.
    pub checkout: PathBuf,
    /// Where the harness fetches what the checkout does not have.
    pub url: String,
    /// The commit to start from.
    pub tip: Tip,
}

/// The commit that the agent starts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tip {
    /// The one that the runner checked out.
    Checkout,
    /// One that the checkout has, by its id.
    Commit(String),
    /// The one that a ref on GitHub names, such as `refs/pull/2/head`.
    Remote(String),
    /// A commit that stood there when somebody asked, whatever stands there by now.
    Pinned {
        /// The ref that leads to it.
        name: String,
        /// The commit's id.
        commit: String,
    },
}

/// A bare repository of the harness, in a folder of its own that goes when this is dropped.
#[derive(Debug)]
pub struct Store {
    /// Knows no credential: it is run over what the agent pushes.
    pub(super) git: Git,
    /// Fetches from GitHub.
    pub(super) fetching: Git,
    pub(super) folder: TempDir,
    pub(super) repository: PathBuf,
    checkout: Option<Checkout>,
    tip: String,
    fell_back: Option<String>,
}

/// What the runner checked out.
#[derive(Debug)]
pub(super) struct Checkout {
    pub(super) folder: PathBuf,
    pub(super) commit: String,
    objects: Vec<PathBuf>,
    shallow: PathBuf,
}

impl Store {
    /// Opens a store in `scratch`, which must not lie where the agent can write.
    ///
    /// The objects of the runner's checkout are used where they are; only what it lacks is fetched.
    pub async fn open(git: Git, scratch: &Path, ground: &CloneBase) -> Result<Self, GitError> {
        let folder = tempfile::Builder::new().prefix("fro-bot-git-").tempdir_in(scratch);
        let folder = folder.map_err(GitError::prepare(scratch))?;
        let repository = folder.path().join("store.git");
        git.run(&repository, &["init", "--quiet", "--bare", "--template=", "--initial-branch=main"]).await?;
        let checkout = Checkout::read(&git, &ground.checkout).await;
        let (fetching, git) = (git.clone(), git.without_token());
        let (tip, fell_back) = (String::new(), None);
        let mut store = Self { git, fetching, folder, repository, checkout, tip, fell_back };
        store.take_checkout().await?;
        store.tip = store.find_tip(ground).await?;
        store.git.run(&store.repository, &["update-ref", TIP, &store.tip]).await?;
        Ok(store)
    }

    /// Returns the commit that the agent starts from.
    pub fn tip(&self) -> &str {
        &self.tip
    }

    /// Returns why the agent starts from the checkout's commit although another was wanted.
    pub fn fell_back(&self) -> Option<&str> {
        self.fell_back.as_deref()
    }

    /// Returns the folders of objects that the agent's clone refers to, all of which it has to be able to read.
    pub fn objects(&self) -> Vec<PathBuf> {
        let own = self.repository.join("objects");
        let borrowed = self.checkout.iter().flat_map(|checkout| checkout.objects.iter().cloned());
        [own].into_iter().chain(borrowed).collect()
    }

    pub(super) fn checkout(&self) -> Option<&Checkout> {
        self.checkout.as_ref()
    }

    /// Borrows the objects of the checkout and takes over its view of GitHub's branches.
    async fn take_checkout(&mut self) -> Result<(), GitError> {
        let Some(checkout) = &self.checkout else { return Ok(()) };
        borrow(&self.repository, &checkout.objects)?;
        copy_if_there(&checkout.shallow, &self.repository.join("shallow"))?;
        let format = "--format=%(symref) %(objectname) %(refname:lstrip=3)";
        let source = git_dir(&checkout.folder);
        let known = self.git.run(&source, &["for-each-ref", format, "refs/remotes/origin"]).await?;
        let lines = known.lines().filter_map(|line| line.strip_prefix(' ')?.split_once(' '));
        let updates: String =
            lines.flat_map(|(commit, branch)| ["update refs/heads/", branch, " ", commit, "\n"]).collect();
        self.git.feed(&self.repository, &["update-ref", "--stdin"], updates.as_bytes()).await.map(drop)
    }

    async fn find_tip(&mut self, ground: &CloneBase) -> Result<String, GitError> {
        let own = self.checkout.as_ref().map(|checkout| checkout.commit.clone());
        match (&ground.tip, own) {
            (Tip::Checkout, Some(commit)) => Ok(commit),
            (Tip::Checkout, None) => self.fetch(ground, &format!("+HEAD:{TIP}"), TIP).await,
            (Tip::Commit(commit), _) => {
                let name = format!("{commit}^{{commit}}");
                self.git.run(&self.repository, &["rev-parse", "--verify", "--quiet", &name]).await
            }
            (Tip::Remote(name) | Tip::Pinned { name, .. }, own) => {
                let fetched = self.fetch_remote(ground, name).await;
                match (fetched, own) {
                    (Ok(commit), _) => Ok(commit),
                    (Err(error), Some(commit)) => {
                        self.fell_back = Some(format!("`{name}` cannot be fetched: {error}"));
                        Ok(commit)
                    }
                    (Err(error), None) => Err(error),
                }
            }
        }
    }

    /// Fetches a ref from GitHub and returns its commit, or the one below it that was meant.
    async fn fetch_remote(&self, ground: &CloneBase, name: &str) -> Result<String, GitError> {
        let kept = name.replacen("refs/", "refs/fro-bot/", 1);
        let newest = self.fetch(ground, &format!("+{name}:{kept}"), &kept).await?;
        let Tip::Pinned { commit, .. } = &ground.tip else { return Ok(newest) };
        if newest == *commit {
            return Ok(newest);
        }
        // A push that replaced history leaves the old commit on GitHub, which gives it out by its id.
        let pinned = format!("{kept}-asked");
        self.fetch(ground, &format!("+{commit}:{pinned}"), &pinned).await
    }

    /// Fetches a ref from GitHub and returns its commit.
    async fn fetch(&self, ground: &CloneBase, spec: &str, kept: &str) -> Result<String, GitError> {
        let mut arguments = vec!["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"];
        let is_whole = self.checkout.as_ref().is_some_and(|checkout| !checkout.shallow.exists());
        arguments.extend((!is_whole).then_some(DEPTH));
        arguments.extend([ground.url.as_str(), spec]);
        let fetched =
            self.fetching.errand(self.fetching.at(&self.repository).args(&arguments), "fetch").await?;
        succeeded(fetched, "fetch")?;
        let name = format!("{kept}^{{commit}}");
        self.git.run(&self.repository, &["rev-parse", "--verify", "--quiet", &name]).await
    }
}

impl Checkout {
    /// Looks at what the runner checked out; nothing, if that is no repository with a commit, or only part of one.
    async fn read(git: &Git, folder: &Path) -> Option<Self> {
        let source = git_dir(folder);
        let ask = async |arguments: &[&str]| git.run(&source, arguments).await.ok();
        let commit = ask(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).await?;
        let paths = ["rev-parse", "--path-format=absolute", "--git-path", "objects", "--git-path", "shallow"];
        let paths = ask(&paths).await?;
        let (objects, shallow) = paths.split_once('\n')?;
        // A partial clone asks its server for what it lacks, and a borrower of its objects could not.
        if ask(&["config", "--get-regexp", r"^remote\..*\.promisor$"]).await.is_some() {
            return None;
        }
        let objects = PathBuf::from(objects);
        Some(Self {
            folder: folder.to_owned(),
            commit,
            shallow: shallow.into(),
            objects: [objects.clone()].into_iter().chain(lenders(&objects)).collect(),
        })
    }
}

/// Returns where a folder of objects borrows from in its turn.
fn lenders(objects: &Path) -> Vec<PathBuf> {
    let listed = fs_err::read_to_string(objects.join("info/alternates")).unwrap_or_default();
    listed.lines().filter(|line| !line.starts_with('#')).map(|line| objects.join(line)).collect()
}

/// Lets a repository use the objects of others.
pub(super) fn borrow(repository: &Path, objects: &[PathBuf]) -> Result<(), GitError> {
    let file = repository.join("objects/info/alternates");
    let lines = objects.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join("\n") + "\n";
    let written = fs_err::create_dir_all(repository.join("objects/info"));
    written.and_then(|()| fs_err::write(&file, lines)).map_err(GitError::prepare(file))
}

/// Takes over where history is cut off.
pub(super) fn copy_if_there(from: &Path, to: &Path) -> Result<(), GitError> {
    if !from.exists() {
        return Ok(());
    }
    fs_err::copy(from, to).map(drop).map_err(GitError::prepare(to))
}
