//! Branches and tags: where they lead, what protects them, and what is between two of them.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, Object, Result, SimpleObject};

use crate::{
    git::Bare,
    graphql::{Asked, git_object::GitObject},
    hub::Hub,
    state,
};

/// A branch or tag.
pub(super) struct Ref {
    asked: Arc<Asked>,
    repo: Arc<state::Repo>,
    prefix: &'static str,
    name: String,
}

/// What a branch is protected by: here, always by the need of a pull request.
#[derive(SimpleObject)]
#[expect(clippy::struct_excessive_bools, reason = "GitHub tells them one by one")]
struct BranchProtectionRule {
    id: ID,
    pattern: String,
    requires_approving_reviews: bool,
    required_approving_review_count: Option<i32>,
    requires_code_owner_reviews: bool,
    requires_status_checks: bool,
    required_status_check_contexts: Option<Vec<String>>,
    requires_strict_status_checks: bool,
    is_admin_enforced: bool,
    allows_force_pushes: bool,
    allows_deletions: bool,
}

/// What is between two of them.
#[derive(SimpleObject)]
struct Comparison {
    id: ID,
    ahead_by: usize,
    behind_by: usize,
    status: ComparisonStatus,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum ComparisonStatus {
    Ahead,
    Behind,
    Diverged,
    Identical,
}

impl Ref {
    /// A branch of a repository that is sure to have it.
    pub(super) fn branch(asked: &Arc<Asked>, repo: &Arc<state::Repo>, name: &str) -> Self {
        Self {
            asked: Arc::clone(asked),
            repo: Arc::clone(repo),
            prefix: "refs/heads/",
            name: name.to_owned(),
        }
    }

    /// Reads a full name such as `refs/tags/v1`.
    pub(super) fn named(asked: &Arc<Asked>, repo: &Arc<state::Repo>, full_name: &str) -> Option<Self> {
        let prefix = ["refs/heads/", "refs/tags/"].into_iter().find(|own| full_name.starts_with(own))?;
        Some(Self { prefix, ..Self::branch(asked, repo, full_name.strip_prefix(prefix)?) })
    }

    async fn open(&self, context: &Context<'_>) -> Result<Bare> {
        Ok(context.data::<Arc<Hub>>()?.git.open(&self.repo.full_name()).await?)
    }
}

#[Object]
impl Ref {
    async fn id(&self) -> ID {
        format!("REF_{}{}", self.prefix, self.name).replace('/', "_").into()
    }

    async fn name(&self) -> &str {
        &self.name
    }

    async fn prefix(&self) -> &str {
        self.prefix
    }

    async fn target(&self, context: &Context<'_>) -> Result<Option<GitObject>> {
        let (bare, name) = (self.open(context).await?, format!("{}{}", self.prefix, self.name));
        Ok(GitObject::find(&self.asked, &self.repo, &bare, &name).await.ok())
    }

    async fn branch_protection_rule(&self) -> Option<BranchProtectionRule> {
        let protected = self.prefix == "refs/heads/" && self.repo.protected.contains(&self.name);
        protected.then(|| BranchProtectionRule {
            id: format!("BPR_{}_{}", self.repo.id, self.name).into(),
            pattern: self.name.clone(),
            requires_approving_reviews: true,
            required_approving_review_count: Some(0),
            requires_code_owner_reviews: false,
            requires_status_checks: false,
            required_status_check_contexts: Some(Vec::new()),
            requires_strict_status_checks: false,
            is_admin_enforced: true,
            allows_force_pushes: false,
            allows_deletions: false,
        })
    }

    /// What another branch or tag has that this one has not, and the other way round.
    async fn compare(&self, context: &Context<'_>, head_ref: String) -> Result<Option<Comparison>> {
        let store = self.open(context).await?;
        let base = format!("{}{}", self.prefix, self.name);
        let head = head_ref.rsplit(':').next().unwrap_or_default().to_owned();
        let Ok(head) = store.commit(&head).await else { return Ok(None) };
        let count = async |range: String| store.text(&["rev-list", "--count", &range]).await;
        let ahead_by = count(format!("{base}..{}", head.oid)).await?.parse().unwrap_or_default();
        let behind_by = count(format!("{}..{base}", head.oid)).await?.parse().unwrap_or_default();
        let status = match (ahead_by, behind_by) {
            (0, 0) => ComparisonStatus::Identical,
            (_, 0) => ComparisonStatus::Ahead,
            (0, _) => ComparisonStatus::Behind,
            (_, _) => ComparisonStatus::Diverged,
        };
        let id = format!("CMP_{}_{}", self.name, head.oid).into();
        Ok(Some(Comparison { id, ahead_by, behind_by, status }))
    }
}
