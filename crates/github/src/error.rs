//! What could not be asked or done, on what, and who has to act.

use fro_core::{Fault, fault};

/// A question that got no answer or a deed that was not done.
#[derive(Debug, thiserror::Error)]
#[error("cannot {}", aim.what)]
pub struct Error {
    aim: Attempted,
    #[source]
    cause: Box<Cause>,
}

/// What is being tried.
#[derive(Debug, Clone)]
pub(crate) struct Attempted {
    what: String,
    /// The permission that the token needs for it, as a workflow writes it.
    needs: &'static str,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Cause {
    #[error(transparent)]
    Http(#[from] fro_http::Error),
    #[error("GraphQL says: {0}")]
    Missing(String),
    #[error("GraphQL says: {0}")]
    Forbidden(String),
    #[error("GraphQL says: {0}")]
    Failing(String),
    #[error("GraphQL refuses the query: {0}")]
    BadQuery(String),
    #[error("there are more than {0} pages")]
    TooLong(usize),
    #[error("{0} is not on it")]
    Elsewhere(String),
    #[error("there is nothing like it there")]
    Unfit,
}

impl Attempted {
    pub(crate) fn new(what: impl Into<String>, needs: &'static str) -> Self {
        Self { what: what.into(), needs }
    }

    pub(crate) fn missed(&self, cause: impl Into<Cause>) -> Error {
        Error { aim: self.clone(), cause: Box::new(cause.into()) }
    }
}

impl Error {
    /// Returns the status of an answer that refused.
    pub fn status(&self) -> Option<u16> {
        self.http()?.status()
    }

    /// Returns the id under which GitHub knows the request.
    pub fn request_id(&self) -> Option<&str> {
        self.http()?.request_id()
    }

    /// Tells whether the deed may have been done although no usable answer came.
    pub fn ambiguous(&self) -> bool {
        self.http().is_some_and(fro_http::Error::ambiguous)
    }

    /// Tells whether what was meant is not there, or not any more.
    pub fn is_missing(&self) -> bool {
        matches!(*self.cause, Cause::Missing(_)) || self.status() == Some(404)
    }

    /// Tells whether GitHub refused because whoever asks has begun a review by hand and not given it yet.
    pub fn is_about_a_pending_review(&self) -> bool {
        let said = self.http().and_then(fro_http::Error::refusal_body::<serde_json::Value>);
        self.status() == Some(422) && said.is_some_and(|said| said.to_string().contains("one pending review"))
    }

    /// Tells whether the token may not do it, however often it is tried.
    pub fn is_forbidden(&self) -> bool {
        match &*self.cause {
            Cause::Http(error) => error.status() == Some(403) && !error.limited(),
            Cause::Forbidden(_) => true,
            Cause::Missing(_)
            | Cause::Failing(_)
            | Cause::BadQuery(_)
            | Cause::TooLong(_)
            | Cause::Elsewhere(_)
            | Cause::Unfit => false,
        }
    }

    /// Sorts this by who has to act.
    pub fn fault(&self) -> Fault {
        match &*self.cause {
            Cause::Http(error) => self.hinted(error.fault_of(&self.to_string()), error.status()),
            Cause::Missing(_) => Fault::yours(self.story(), self.hint_missing()),
            Cause::Forbidden(_) => Fault::yours(self.story(), self.hint_forbidden()),
            Cause::Failing(_) => Fault::upstream(self.story(), fault::Retry::Later),
            Cause::TooLong(_) => Fault::upstream(self.story(), fault::Retry::Never),
            Cause::BadQuery(_) | Cause::Elsewhere(_) | Cause::Unfit => Fault::ours(self.story()),
        }
    }

    /// Puts what we know of GitHub in the place of the HTTP client's general advice.
    fn hinted(&self, fault: Fault, status: Option<u16>) -> Fault {
        match (fault, status) {
            (Fault::Yours { what, .. }, Some(401)) => {
                Fault::yours(what, "check `github-token`: it is wrong, expired or of another server")
            }
            (Fault::Yours { what, .. }, Some(403)) => Fault::yours(what, self.hint_forbidden()),
            (Fault::Yours { what, .. }, Some(404 | 410)) => Fault::yours(what, self.hint_missing()),
            (fault, _) => fault,
        }
    }

    fn hint_forbidden(&self) -> String {
        format!("give the token `{}`, in a workflow under the job's `permissions`", self.aim.needs)
    }

    fn hint_missing(&self) -> String {
        format!("check that it exists and that the token has `{}`", self.aim.needs)
    }

    fn story(&self) -> String {
        format!("{self}: {}", self.cause)
    }

    fn http(&self) -> Option<&fro_http::Error> {
        match &*self.cause {
            Cause::Http(error) => Some(error),
            _ => None,
        }
    }
}
