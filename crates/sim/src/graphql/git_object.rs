//! What git holds, by a name such as `HEAD:README.md`.

use std::{io, sync::Arc};

use async_graphql::{Context, ID, Interface, Object, Result, SimpleObject};

use crate::{
    git::{Bare, Depth, Entry},
    graphql::{Asked, commit::Commit, scalar::GitObjectId},
    state,
};

/// Anything that has a hash.
#[derive(Interface)]
#[graphql(field(name = "id", method = "object_id", ty = "ID"))]
#[graphql(field(name = "oid", method = "object_hash", ty = "GitObjectId"))]
#[graphql(field(name = "abbreviatedOid", method = "short_hash", ty = "String"))]
pub(super) enum GitObject {
    Blob(Blob),
    Commit(Commit),
    Tree(Tree),
}

/// The contents of a file.
pub(super) struct Blob {
    oid: String,
    bytes: Vec<u8>,
}

/// A folder.
pub(super) struct Tree {
    oid: String,
    entries: Vec<TreeEntry>,
}

#[derive(Clone, SimpleObject)]
struct TreeEntry {
    name: String,
    path: Option<String>,
    /// In decimal, as GitHub has it.
    mode: u32,
    #[graphql(name = "type")]
    kind: String,
    oid: GitObjectId,
    size: u64,
}

impl GitObject {
    /// Finds what a name stands for.
    pub(super) async fn find(
        asked: &Arc<Asked>,
        repo: &Arc<state::Repo>,
        bare: &Bare,
        name: &str,
    ) -> io::Result<Self> {
        let oid = bare.text(&["rev-parse", "--verify", "--quiet", "--end-of-options", name]).await?;
        Ok(match bare.text(&["cat-file", "-t", &oid]).await?.as_str() {
            "blob" => Self::Blob(Blob { bytes: bare.run(&["cat-file", "blob", &oid]).await?, oid }),
            "tree" => {
                let entries = bare.tree(&oid, Depth::One).await?.into_iter().map(TreeEntry::from).collect();
                Self::Tree(Tree { oid, entries })
            }
            _ => Self::Commit(Commit::of_git(asked, repo, bare.commit(&oid).await?)),
        })
    }
}

impl From<Entry> for TreeEntry {
    fn from(entry: Entry) -> Self {
        Self {
            name: entry.path.clone(),
            path: Some(entry.path),
            mode: u32::from_str_radix(&entry.mode, 8).unwrap_or_default(),
            kind: entry.kind,
            oid: GitObjectId(entry.oid),
            size: entry.size.unwrap_or_default(),
        }
    }
}

impl Blob {
    fn hash(&self) -> &str {
        &self.oid
    }

    /// Its text, unless it is none.
    fn words(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok().filter(|text| !text.contains('\0'))
    }
}

impl Tree {
    fn hash(&self) -> &str {
        &self.oid
    }
}

#[Object]
impl Blob {
    async fn id(&self) -> ID {
        format!("B_{}", self.oid).into()
    }

    async fn oid(&self) -> GitObjectId {
        GitObjectId(self.oid.clone())
    }

    async fn abbreviated_oid(&self) -> &str {
        short(&self.oid)
    }

    async fn byte_size(&self) -> usize {
        self.bytes.len()
    }

    async fn is_binary(&self) -> Option<bool> {
        Some(self.words().is_none())
    }

    async fn is_truncated(&self) -> bool {
        false
    }

    async fn text(&self) -> Option<&str> {
        self.words()
    }
}

#[Object]
impl Tree {
    async fn id(&self) -> ID {
        format!("T_{}", self.oid).into()
    }

    async fn oid(&self) -> GitObjectId {
        GitObjectId(self.oid.clone())
    }

    async fn abbreviated_oid(&self) -> &str {
        short(&self.oid)
    }

    async fn entries(&self) -> Option<Vec<TreeEntry>> {
        Some(self.entries.clone())
    }
}

fn short(oid: &str) -> &str {
    oid.get(..7).unwrap_or_default()
}

/// What the interface asks for, by the fields that all of these have.
macro_rules! objects {
    ($($kind:ty),+) => {
        $(impl $kind {
            async fn object_id(&self, context: &Context<'_>) -> Result<ID> {
                self.id(context).await
            }

            async fn object_hash(&self, _: &Context<'_>) -> Result<GitObjectId> {
                Ok(GitObjectId(self.hash().to_owned()))
            }

            async fn short_hash(&self, _: &Context<'_>) -> Result<String> {
                Ok(short(self.hash()).to_owned())
            }
        })+
    };
}

objects!(Blob, Commit, Tree);
