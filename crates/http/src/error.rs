//! What went wrong with a request, on which request, and who has to act.

use std::{error, fmt, io, time::Duration};

use fro_core::{Fault, fault};
use reqwest::{Method, StatusCode, Url};
use serde::de::DeserializeOwned;

use crate::refusal::Refusal;

/// A request that brought no usable answer.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    call: Call,
    request_id: Option<String>,
    kind: Kind,
}

/// Which request it was. A query never shows: it may carry a credential.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) place: String,
    pub(crate) effect: Effect,
}

/// What it means to send a request twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Sending the request twice does what sending it once does.
    Same,
    /// Something happens twice.
    Again,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Kind {
    #[error("the request cannot be built")]
    Unsendable(#[source] reqwest::Error),
    #[error("no connection")]
    Unreachable(#[source] reqwest::Error),
    #[error("no whole answer within {} s", .0.as_secs_f32())]
    Late(Duration),
    #[error("the connection broke before the answer was whole")]
    Broken(#[source] reqwest::Error),
    #[error("{0}")]
    Refused(Refusal),
    #[error("redirected to {0}, which is not followed")]
    Astray(String),
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the answer cannot be understood at `{field}`: {problem}")]
    Unreadable { field: String, problem: String },
}

impl Call {
    pub(crate) fn new(method: &Method, url: &Url, effect: Effect) -> Self {
        let place = format!("{}{}", url.origin().ascii_serialization(), url.path());
        Self { method: method.clone(), place, effect }
    }

    pub(crate) fn failed(&self, kind: Kind) -> Error {
        self.failed_with(None, kind)
    }

    pub(crate) fn failed_with(&self, request_id: Option<String>, kind: Kind) -> Error {
        Error(Box::new(Inner { call: self.clone(), request_id, kind }))
    }

    /// Sorts what reqwest says before an answer began.
    pub(crate) fn not_answered(&self, error: reqwest::Error) -> Error {
        let error = error.without_url();
        self.failed(match (error.is_builder(), error.is_connect()) {
            (true, _) => Kind::Unsendable(error),
            (false, true) => Kind::Unreachable(error),
            (false, false) => Kind::Broken(error),
        })
    }
}

impl Error {
    /// Tells whether sending it again later may help and can do no harm.
    pub fn retryable(&self) -> bool {
        let passing = match &self.0.kind {
            Kind::Unreachable(error) => !distrusted(error),
            Kind::Late(_) | Kind::Broken(_) => true,
            Kind::Refused(refusal) => refusal.limited || refusal.status.is_server_error(),
            Kind::Unsendable(_) | Kind::Astray(_) | Kind::TooLarge(_) | Kind::Unreadable { .. } => false,
        };
        passing && !self.ambiguous()
    }

    /// Tells whether there was no connection at all.
    pub(crate) fn is_cut_off(&self) -> bool {
        matches!(self.0.kind, Kind::Unreachable(_))
    }

    /// Tells whether nobody was there to answer, or took too long.
    pub fn unanswered(&self) -> bool {
        matches!(self.0.kind, Kind::Unreachable(_) | Kind::Late(_))
    }

    /// Tells whether what was asked may have been done although no usable answer came.
    ///
    /// Then it must not be sent again; look first whether it is there.
    pub fn ambiguous(&self) -> bool {
        let unknown = match &self.0.kind {
            Kind::Unsendable(_) | Kind::Unreachable(_) => false,
            Kind::Refused(refusal) => refusal.status.is_server_error(),
            Kind::Late(_)
            | Kind::Broken(_)
            | Kind::Astray(_)
            | Kind::TooLarge(_)
            | Kind::Unreadable { .. } => true,
        };
        unknown && self.0.call.effect == Effect::Again
    }

    /// Returns the status of an answer that refused.
    pub fn status(&self) -> Option<u16> {
        self.refusal().map(|refusal| refusal.status.as_u16())
    }

    /// Returns the id under which the server knows the request, for its support people.
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// Reads what came with a refusal.
    pub fn refusal_body<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&self.refusal()?.body.0).ok()
    }

    /// Tells whether the server only wants us to slow down.
    pub fn limited(&self) -> bool {
        self.refusal().is_some_and(|refusal| refusal.limited)
    }

    /// Returns how long the server wants us to wait.
    pub fn wait(&self) -> Option<Duration> {
        self.refusal()?.wait
    }

    /// Sorts this by who has to act.
    pub fn fault(&self) -> Fault {
        self.sorted(self.story())
    }

    /// Sorts this by who has to act, as the reason why something else failed.
    pub fn fault_of(&self, what: &str) -> Fault {
        self.sorted(format!("{what}: {}", self.story()))
    }

    /// Tells the error together with its deepest cause, which is the one that helps.
    fn story(&self) -> String {
        let mut deepest = error::Error::source(self);
        while let Some(deeper) = deepest.and_then(error::Error::source) {
            deepest = Some(deeper);
        }
        deepest.map_or_else(|| self.to_string(), |cause| format!("{self}: {cause}"))
    }

    fn sorted(&self, what: String) -> Fault {
        let later = self.wait().map_or(fault::Retry::Later, fault::Retry::After);
        match &self.0.kind {
            Kind::Unsendable(_) => Fault::ours(what),
            Kind::Unreachable(error) if distrusted(error) => {
                Fault::yours(what, "name the certificate authority that vouches for this server")
            }
            Kind::Refused(refusal) if refusal.limited => Fault::upstream(what, later),
            Kind::Refused(refusal) => sorted_by_status(refusal.status, what, later),
            Kind::Astray(_) => Fault::yours(what, "check the server's address; it sends us elsewhere"),
            Kind::Unreachable(_) | Kind::Late(_) | Kind::Broken(_) => Fault::upstream(what, later),
            Kind::TooLarge(_) | Kind::Unreadable { .. } => Fault::upstream(what, fault::Retry::Never),
        }
    }

    fn refusal(&self) -> Option<&Refusal> {
        match &self.0.kind {
            Kind::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { call, request_id, kind } = &*self.0;
        write!(f, "{call}: {kind}")?;
        if let Some(request_id) = request_id {
            write!(f, ", request {request_id}")?;
        }
        if self.ambiguous() {
            f.write_str("; it may have been done all the same")?;
        }
        Ok(())
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.place)
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.0.kind.source()
    }
}

fn sorted_by_status(status: StatusCode, what: String, later: fault::Retry) -> Fault {
    match status {
        StatusCode::UNAUTHORIZED => {
            Fault::yours(what, "check the token: it is wrong, expired or meant for another server")
        }
        StatusCode::FORBIDDEN => Fault::yours(what, "give the token the permission to do this"),
        StatusCode::NOT_FOUND | StatusCode::GONE => {
            Fault::yours(what, "check that it exists and that the token may see it")
        }
        _ if status.is_server_error() => Fault::upstream(what, later),
        _ => Fault::ours(what),
    }
}

/// Tells whether the server could not prove who it is.
fn distrusted(error: &reqwest::Error) -> bool {
    let mut next: Option<&(dyn error::Error + 'static)> = Some(error);
    while let Some(cause) = next {
        if let Some(rustls::Error::InvalidCertificate(_)) = cause.downcast_ref() {
            return true;
        }
        // What an I/O error wraps is not its source: the chain would step over it.
        next = match cause.downcast_ref::<io::Error>().map(io::Error::get_ref) {
            Some(inner) => inner.map(|inner| inner as _),
            None => cause.source(),
        };
    }
    false
}
