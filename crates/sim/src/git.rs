//! git over smart HTTP: clone, fetch and push, served by git's own `http-backend`.

pub(crate) mod diff;
mod follow;
mod read;
mod store;

use std::{io, sync::Arc};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{Path, Request, State},
    http::{Method, StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
};

use crate::{
    auth::Caller,
    hub::Hub,
    problem::Problem,
    routes::Routes,
    state::{IssueState, Role, State as Garden},
};

pub(crate) use follow::{compare, pushed};
pub(crate) use read::{CommitObject, Depth, Entry};
pub(crate) use store::{Bare, Store, answer};

/// The routes that git knocks on.
pub(crate) fn routes() -> Routes {
    Routes::below("/{owner}/{repo}")
        .on("GET /info/refs", served)
        .on("POST /git-upload-pack", served)
        .on("POST /git-receive-pack", served)
}

/// What git wants.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Service {
    Fetch,
    Push,
}

/// A repository that this caller may use as asked.
struct Admitted {
    full_name: String,
    protected: String,
    /// The only branches that may be pushed to, if not all.
    lent: String,
    login: Option<String>,
    workflows: Workflows,
}

/// Whether somebody may change the files that say what runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Workflows {
    Allowed,
    Refused,
}

async fn served(
    State(hub): State<Arc<Hub>>,
    caller: Result<Caller, Problem>,
    Path((owner, repo)): Path<(String, String)>,
    request: Request,
) -> Response {
    let Ok(caller) = caller else { return unauthorized() };
    let (parts, body) = request.into_parts();
    let asked = format!("{}{}", parts.uri.path(), parts.uri.query().unwrap_or_default());
    let service = if asked.ends_with("git-receive-pack") { Service::Push } else { Service::Fetch };
    let full_name = format!("{owner}/{}", repo.trim_end_matches(".git"));
    let admitted = match hub.read(|state| admit(state, &full_name, &caller, service)) {
        Ok(admitted) => admitted,
        Err(refusal) => return *refusal,
    };
    let answered = async {
        let body = to_bytes(body, usize::MAX).await.map_err(io::Error::other)?;
        let bare = hub.git.open(&admitted.full_name).await?;
        let said = backend(&bare, &admitted, &parts, &body).await?;
        if service == Service::Push && parts.method == Method::POST {
            let login = admitted.login.as_deref().unwrap_or_default();
            follow::pushed(&hub, &admitted.full_name, login).await?;
        }
        as_response(said)
    };
    let failed = |error: io::Error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response();
    answered.await.unwrap_or_else(failed)
}

/// Lets a caller in, or says no in the words that git shows to a person.
fn admit(
    state: &Garden,
    full_name: &str,
    caller: &Caller,
    service: Service,
) -> Result<Admitted, Box<Response>> {
    let repo = state.repo(full_name);
    let login = caller.login().ok().map(str::to_owned);
    let Some(repo) = repo.filter(|repo| caller.sees(repo)) else {
        // Somebody unknown is asked who they are before they hear that there is nothing.
        let refusal = match login {
            None => unauthorized(),
            Some(_) => (StatusCode::NOT_FOUND, "Repository not found.\n").into_response(),
        };
        return Err(Box::new(refusal));
    };
    if !caller.may_read(repo, &["contents"]) {
        let words = "Write access to repository not granted.\n";
        return Err(Box::new((StatusCode::FORBIDDEN, words).into_response()));
    }
    let full_name = repo.full_name();
    let is_own = caller.has(Role::Write, repo) && caller.may(repo, &["contents"]);
    let lent = if is_own { Vec::new() } else { lent(state, caller, &full_name) };
    match &login {
        None if service == Service::Push => return Err(Box::new(unauthorized())),
        Some(_) if service == Service::Push && caller.writer().is_none() => {
            let words = "Write access to repository not granted.\n";
            return Err(Box::new((StatusCode::FORBIDDEN, words).into_response()));
        }
        Some(login) if service == Service::Push && !is_own && lent.is_empty() => {
            let words = format!("Permission to {full_name}.git denied to {login}.\n");
            return Err(Box::new((StatusCode::FORBIDDEN, words).into_response()));
        }
        _ => {}
    }
    let workflows = if caller.may(repo, &["workflows"]) { Workflows::Allowed } else { Workflows::Refused };
    Ok(Admitted { full_name, protected: repo.protected.join(" "), lent: lent.join(" "), login, workflows })
}

/// The branches of a fork that open pull requests lend to people who may push where they go.
fn lent<'a>(state: &'a Garden, caller: &Caller, fork: &str) -> Vec<&'a str> {
    let bases = state.repos.iter().filter(|repo| caller.grant().is_none() && caller.has(Role::Write, repo));
    let open = bases.flat_map(|repo| &repo.issues).filter(|issue| issue.state == IssueState::Open);
    let pulls = open.filter_map(|issue| issue.pull.as_ref());
    let lending = pulls.filter(|pull| pull.open_to_maintainers && pull.head_repo.as_deref() == Some(fork));
    lending.map(|pull| pull.head_ref.as_str()).collect()
}

fn unauthorized() -> Response {
    let challenge = [(header::WWW_AUTHENTICATE, "Basic realm=\"GitHub\"")];
    (StatusCode::UNAUTHORIZED, challenge, "Invalid username or token.\n").into_response()
}

/// Asks git's own server, which is a CGI program.
async fn backend(bare: &Bare, admitted: &Admitted, parts: &Parts, body: &Bytes) -> io::Result<Vec<u8>> {
    let (uri, headers) = (&parts.uri, &parts.headers);
    let place = uri.path().splitn(4, '/').nth(3).unwrap_or_default();
    let said = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut command = bare.git();
    command
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", bare.folder())
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", format!("/{place}"))
        .env("REQUEST_METHOD", parts.method.as_str())
        .env("QUERY_STRING", uri.query().unwrap_or_default())
        .env("CONTENT_TYPE", said("content-type"))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", said("content-encoding"))
        .env("GIT_PROTOCOL", said("git-protocol"))
        .env("REMOTE_USER", admitted.login.as_deref().unwrap_or_default())
        .env("PROTECTED_BRANCHES", &admitted.protected)
        .env("LENT_BRANCHES", &admitted.lent)
        .env("WORKFLOWS", if admitted.workflows == Workflows::Allowed { "allowed" } else { "refused" })
        // git puts these down beside a push.
        .env("GIT_COMMITTER_NAME", "GitHub")
        .env("GIT_COMMITTER_EMAIL", "noreply@github.com")
        .env_remove("GIT_DIR");
    store::answer(&mut command, body).await
}

/// Reads the answer of a CGI program: header lines, an empty one, the body.
fn as_response(said: Vec<u8>) -> io::Result<Response> {
    let end = said.windows(4).position(|bytes| bytes == b"\r\n\r\n").ok_or(io::ErrorKind::InvalidData)?;
    let (mut head, mut response) = (Bytes::from(said), Response::builder());
    let body = head.split_off(end + 4);
    for line in String::from_utf8_lossy(&head).lines() {
        match line.split_once(": ") {
            Some(("Status", status)) => response = response.status(status.get(..3).unwrap_or("500")),
            Some((name, value)) => response = response.header(name, value),
            None => {}
        }
    }
    response.body(Body::from(body)).map_err(io::Error::other)
}
