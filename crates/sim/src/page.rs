//! The web pages of the little GitHub: what a person sees who opens an issue in a browser.

mod index;
mod issue;
pub(crate) mod markdown;
mod pull;

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, State},
    http::{StatusCode, header::CONTENT_SECURITY_POLICY},
    middleware::map_response,
    response::{Html, IntoResponse as _, Response},
    routing::get,
};
use maud::{DOCTYPE, Markup, html};

use crate::{
    hub::Hub,
    problem::Problem,
    rest,
    state::{Repo, State as Garden},
};

/// Nothing from elsewhere is loaded, and no script runs but our own.
const POLICY: &str = "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; connect-src 'self'; img-src data:";
/// A seedling, as a picture that needs no request.
const ICON: &str = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><text y='13' font-size='13'>🌱</text></svg>";

type Page = Result<Html<String>, (StatusCode, Html<String>)>;

/// The routes of the pages, but for the first one, whose address is that of the API too.
pub(crate) fn routes() -> Router<Arc<Hub>> {
    Router::new()
        .route("/{owner}/{repo}", get(repo))
        .route("/{owner}/{repo}/issues/{number}", get(thread))
        .route("/{owner}/{repo}/pull/{number}", get(thread))
        .merge(assets())
        .layer(map_response(guarded))
}

/// The style and the script of all pages.
pub(crate) fn assets<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route(
            "/assets/page.css",
            get(async || ([("content-type", "text/css")], include_str!("page/page.css"))),
        )
        .route(
            "/assets/refresh.js",
            get(async || ([("content-type", "text/javascript")], include_str!("page/refresh.js"))),
        )
}

pub(crate) async fn home(State(hub): State<Arc<Hub>>) -> Response {
    let page = hub.read(|state| shown("The simulated GitHub", &html! {}, &index::home(state)));
    guarded(page.into_response()).await
}

async fn repo(State(hub): State<Arc<Hub>>, Path((owner, name)): Path<(String, String)>) -> Response {
    let path = format!("/{owner}/{name}");
    // An address of the API that nobody knows looks like one of a repository.
    if rest::is_api(&path) {
        hub.unknown().push(format!("GET {path}"));
        return Problem::not_found().into_response();
    }
    let page: Page = hub.read(|state| {
        let repo = public(state, &owner, &name)?;
        let full_name = repo.full_name();
        Ok(shown(&full_name, &html! { a href={ "/" (full_name) } { (full_name) } }, &index::issues(repo)))
    });
    page.into_response()
}

async fn thread(
    State(hub): State<Arc<Hub>>,
    Path((owner, name, number)): Path<(String, String, u64)>,
) -> Page {
    hub.read(|state| {
        let repo = public(state, &owner, &name)?;
        let issue = repo.issue(number).ok_or_else(missing)?;
        let full_name = repo.full_name();
        let title = format!("{} · {full_name}#{number}", issue.title);
        let trail = html! { a href={ "/" (full_name) } { (full_name) } span { "#" (number) } };
        Ok(shown(&title, &trail, &issue::page(state, repo, issue)))
    })
}

/// Finds a repository that everybody sees: who looks at a page shows no token.
fn public<'a>(state: &'a Garden, owner: &str, name: &str) -> Result<&'a Repo, (StatusCode, Html<String>)> {
    state.repo(&format!("{owner}/{name}")).filter(|repo| !repo.private).ok_or_else(missing)
}

fn missing() -> (StatusCode, Html<String>) {
    let body = html! { h1 { "There is nothing here" } p { a href="/" { "Back to the garden" } } };
    (StatusCode::NOT_FOUND, shown("Not found", &html! {}, &body))
}

fn shown(title: &str, trail: &Markup, body: &Markup) -> Html<String> {
    framed("GitHub", title, trail, body)
}

/// A whole page of a simulated service.
pub(crate) fn framed(service: &str, title: &str, trail: &Markup, body: &Markup) -> Html<String> {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                link rel="icon" href=(ICON);
                link rel="stylesheet" href="/assets/page.css";
                script src="/assets/refresh.js" defer {}
            }
            body {
                header { a.home href="/" { "🌱 Simulated " (service) } (trail) }
                main { (body) }
                footer { "A simulated " (service) " on this machine. Nothing here leaves it." }
            }
        }
    };
    Html(page.into_string())
}

pub(crate) async fn guarded(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY.parse().unwrap_or_else(|_| unreachable!("it is ASCII")));
    response
}
