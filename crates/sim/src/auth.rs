//! Who is asking: the token of a request, really looked up.

use std::sync::Arc;

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, Method, header::AUTHORIZATION, request::Parts},
};
use data_encoding::BASE64;

use crate::{
    hub::Hub,
    permission,
    problem::Problem,
    state::{Grant, Level, Repo, Role, State, Token, TokenAccess},
};

/// Who sent a request that may go on.
#[derive(Debug, Clone)]
pub(crate) enum Caller {
    /// No token: may look at what is public.
    Anonymous,
    /// The owner of a good token.
    Known {
        /// Who.
        login: String,
        /// What the token is good for.
        access: TokenAccess,
        /// What it was granted, if it is an installation's.
        grant: Option<Grant>,
    },
}

impl Caller {
    /// The login, unless there was no token.
    pub(crate) fn login(&self) -> Result<&str, Problem> {
        match self {
            Self::Anonymous => Err(Problem::requires_authentication()),
            Self::Known { login, .. } => Ok(login),
        }
    }

    /// The login, if the token may write. REST looks before the route does, GraphQL in each mutation, git at each push.
    pub(crate) fn writer(&self) -> Option<&str> {
        match self {
            Self::Known { login, access: TokenAccess::Full, .. } => Some(login),
            Self::Known { access: TokenAccess::ReadOnly, .. } | Self::Anonymous => None,
        }
    }

    /// What the token was granted, if it is an installation's.
    pub(crate) fn grant(&self) -> Option<&Grant> {
        match self {
            Self::Anonymous => None,
            Self::Known { grant, .. } => grant.as_ref(),
        }
    }

    /// Whether the token has any of these permissions to change something; people's tokens have them all.
    pub(crate) fn may(&self, repo: &Repo, any_of: &[&str]) -> bool {
        self.grant().is_none_or(|grant| grant.allows(repo, any_of, Level::Write))
    }

    /// Whether the token has any of these permissions to read something; what is public needs none.
    pub(crate) fn may_read(&self, repo: &Repo, any_of: &[&str]) -> bool {
        !repo.private || self.grant().is_none_or(|grant| grant.allows(repo, any_of, Level::Read))
    }

    /// Whether the repository exists as far as this caller can tell.
    pub(crate) fn sees(&self, repo: &Repo) -> bool {
        !repo.private || self.role(repo).is_some()
    }

    /// Whether the caller was given at least this role in the repository.
    pub(crate) fn has(&self, role: Role, repo: &Repo) -> bool {
        self.role(repo).is_some_and(|own| own >= role)
    }

    fn role(&self, repo: &Repo) -> Option<Role> {
        match self {
            Self::Anonymous => None,
            Self::Known { grant: Some(grant), .. } if !grant.holds(repo) => None,
            Self::Known { login, .. } => repo.role(login),
        }
    }
}

impl FromRequestParts<Arc<Hub>> for Caller {
    type Rejection = Problem;

    /// Refuses tokens that are wrong or too weak, before the route looks at anything else.
    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, Problem> {
        let Some(text) = bearer(&parts.headers) else { return Ok(Self::Anonymous) };
        // GraphQL and git read by POST too, and say no in their own way.
        let path = parts.uri.path();
        let reads_by_post = path == "/graphql" || path.ends_with("-pack");
        let writes = !matches!(parts.method, Method::GET | Method::HEAD) && !reads_by_post;
        hub.read(|state| {
            let token = valid(state, &text).ok_or_else(Problem::bad_credentials)?;
            let Token { login, access, grant, .. } = token.clone();
            let enough =
                grant.as_ref().is_none_or(|grant| permission::suffices(grant, state, &parts.method, path));
            let caller = Self::Known { login, access, grant };
            if !enough || writes && caller.writer().is_none() {
                return Err(Problem::not_accessible());
            }
            Ok(caller)
        })
    }
}

/// Returns whose good token a request carries.
pub(crate) fn owner(state: &State, headers: &HeaderMap) -> Option<String> {
    valid(state, &bearer(headers)?).map(|token| token.login.clone())
}

/// Returns the text of the token that a request carries, good or not.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, text) = value.split_once(' ')?;
    match scheme.to_ascii_lowercase().as_str() {
        "bearer" | "token" => Some(text.trim().to_owned()),
        // git sends the token as a password, beside a name that does not matter; or as the name, as it used to be.
        "basic" => {
            let pair = String::from_utf8(BASE64.decode(text.trim().as_bytes()).ok()?).ok()?;
            let (name, password) = pair.split_once(':')?;
            let token = if matches!(password, "" | "x-oauth-basic") { name } else { password };
            Some(token.to_owned())
        }
        _ => None,
    }
}

fn valid<'a>(state: &'a State, text: &str) -> Option<&'a Token> {
    let now = state.clock.peek();
    let lives = |token: &&Token| token.grant.as_ref().is_none_or(|grant| now < grant.expires_at);
    state.token(text).filter(|token| !token.expired).filter(lives)
}
