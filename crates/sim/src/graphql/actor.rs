//! Who did something: an interface over the kinds of accounts.

use async_graphql::{ID, Interface, SimpleObject, Union};

use crate::{
    graphql::{Asked, scalar::Uri},
    state::{Node, Person, PersonKind, State, node_id},
};

/// Anybody who can act.
#[derive(Clone, Interface)]
#[graphql(field(name = "login", ty = "&String"))]
#[graphql(field(name = "url", ty = "&Uri"))]
pub(super) enum Actor {
    User(User),
    Bot(Bot),
}

/// Who can see to something.
#[derive(Clone, Union)]
pub(super) enum Assignee {
    User(User),
    Bot(Bot),
}

/// Whose a repository is.
#[derive(Clone, Interface)]
#[graphql(field(name = "id", ty = "&ID"))]
#[graphql(field(name = "login", ty = "&String"))]
#[graphql(field(name = "url", ty = "&Uri"))]
pub(super) enum RepositoryOwner {
    User(User),
}

/// A person's account.
#[derive(Clone, SimpleObject)]
pub(super) struct User {
    pub(super) id: ID,
    database_id: u64,
    login: String,
    name: Option<String>,
    url: Uri,
    avatar_url: Uri,
}

/// An app's identity.
#[derive(Clone, SimpleObject)]
pub(super) struct Bot {
    pub(super) id: ID,
    database_id: u64,
    login: String,
    url: Uri,
    avatar_url: Uri,
}

/// Whoever asks; always a `User` to GitHub, even if it is an app.
pub(super) type Viewer = User;

impl Actor {
    /// Finds an author; none once the account is gone.
    pub(super) fn find(state: &State, address: &str, login: &str) -> Option<Self> {
        let person = state.person(login)?;
        let (url, avatar_url) = addresses(person, address);
        Some(match person.kind {
            PersonKind::User => Self::User(User::new(person, address)),
            PersonKind::Bot => Self::Bot(Bot {
                id: node_id(Node::Bot(person.id)).into(),
                database_id: person.id,
                // REST says `name[bot]` where GraphQL says `name`.
                login: person.login.trim_end_matches("[bot]").to_owned(),
                url,
                avatar_url,
            }),
        })
    }
}

impl Assignee {
    /// Finds an account; none once it is gone.
    pub(super) fn find(asked: &Asked, login: &str) -> Option<Self> {
        Some(match Actor::find(&asked.state, &asked.address, login)? {
            Actor::User(user) => Self::User(user),
            Actor::Bot(bot) => Self::Bot(bot),
        })
    }
}

impl RepositoryOwner {
    pub(super) fn find(asked: &Asked, login: &str) -> Option<Self> {
        asked.state.person(login).map(|person| Self::User(User::new(person, &asked.address)))
    }
}

impl User {
    pub(super) fn new(person: &Person, address: &str) -> Self {
        let (url, avatar_url) = addresses(person, address);
        Self {
            id: node_id(Node::User(person.id)).into(),
            database_id: person.id,
            login: person.login.clone(),
            name: Some(person.name.clone()),
            url,
            avatar_url,
        }
    }
}

fn addresses(person: &Person, address: &str) -> (Uri, Uri) {
    (Uri(format!("{address}/{}", person.login)), Uri(format!("{address}/avatars/{}", person.id)))
}
