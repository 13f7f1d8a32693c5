//! A release.

use async_graphql::{Enum, ID, InputObject, SimpleObject};

use crate::{
    graphql::{
        Asked,
        actor::User,
        repository::OrderDirection,
        scalar::{DateTime, Uri},
    },
    state,
};

#[derive(SimpleObject)]
pub(super) struct Release {
    id: ID,
    database_id: Option<u64>,
    name: Option<String>,
    pub(super) tag_name: String,
    description: Option<String>,
    author: Option<User>,
    is_draft: bool,
    is_prerelease: bool,
    is_latest: bool,
    created_at: DateTime,
    updated_at: DateTime,
    published_at: Option<DateTime>,
    url: Uri,
}

/// In which order releases are told.
#[derive(Clone, Copy, InputObject)]
pub(super) struct ReleaseOrder {
    field: ReleaseOrderField,
    direction: OrderDirection,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum ReleaseOrderField {
    CreatedAt,
    Name,
}

impl Release {
    /// The releases of a repository that its readers see, oldest first unless told otherwise; drafts are for who may push.
    pub(super) fn all(
        asked: &Asked,
        repo: &state::Repo,
        order: Option<ReleaseOrder>,
        with_drafts: bool,
    ) -> Vec<Self> {
        let mut all: Vec<_> = repo.releases.iter().filter(|own| with_drafts || !own.draft).collect();
        if order.is_some_and(|order| order.field == ReleaseOrderField::Name) {
            all.sort_by_key(|own| own.name.clone());
        }
        if order.is_some_and(|order| order.direction == OrderDirection::Desc) {
            all.reverse();
        }
        all.into_iter().map(|own| Self::new(asked, repo, own)).collect()
    }

    fn new(asked: &Asked, repo: &state::Repo, release: &state::Release) -> Self {
        let latest = repo.releases.iter().rev().find(|own| !own.draft).map(|own| own.id);
        let created_at = DateTime(release.created_at);
        Self {
            id: format!("RE_{}", release.id).into(),
            database_id: Some(release.id),
            name: Some(release.name.clone()),
            tag_name: release.tag.clone(),
            description: Some(release.body.clone()),
            author: asked.state.person(&release.author).map(|person| User::new(person, &asked.address)),
            is_draft: release.draft,
            is_prerelease: false,
            is_latest: latest == Some(release.id),
            created_at,
            updated_at: created_at,
            published_at: (!release.draft).then_some(created_at),
            url: Uri(format!("{}/{}/releases/tag/{}", asked.address, repo.full_name(), release.tag)),
        }
    }
}
