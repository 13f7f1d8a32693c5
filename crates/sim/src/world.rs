//! The whole simulated world: a little GitHub on one loopback port, a scripted model on another.

use std::{io, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Request, State},
    middleware::{from_fn, from_fn_with_state},
};
use serde_json::Value;

use crate::{
    actions, downloads, event,
    faults::{self, Faults},
    garden, git, graphql,
    hub::Hub,
    login,
    model::Model,
    page,
    problem::Problem,
    rest,
    route::Route,
    routes::Routes,
    server::{Port, Server},
    shares,
    state::{self, Asset, Attachment, File, Release, Token, TokenAccess},
    traffic::{self, Exchange},
};

/// How long [`World::wait_until`] waits: longer than any step of a working run, short enough for a test report.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running world. Its ports close when it is dropped, but for the model's if a handle to that is kept.
pub struct World {
    hub: Arc<Hub>,
    faults: Faults,
    model: Model,
    server: Server,
}

impl World {
    /// Starts a world with octo/garden and its people on a free port.
    pub async fn start() -> io::Result<Self> {
        Self::start_on(0).await
    }

    /// Starts a world on a given port; 0 takes any free one.
    pub async fn start_on(port: u16) -> io::Result<Self> {
        let port = Port::open(port).await?;
        let faults = Faults::default();
        let model = Model::start_with(faults.clone()).await?;
        let hub = Hub::new(garden::planted(), format!("http://127.0.0.1:{}", port.number()));
        let server = port.serve(router(&hub, &faults));
        Ok(Self { hub, faults, model, server })
    }

    /// The port of the little GitHub.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// What `GITHUB_API_URL` would be.
    pub fn api_url(&self) -> String {
        self.hub.address.clone()
    }

    /// What `GITHUB_GRAPHQL_URL` would be.
    pub fn graphql_url(&self) -> String {
        format!("{}/graphql", self.hub.address)
    }

    /// What `ACTIONS_RESULTS_URL` would be.
    pub fn actions_url(&self) -> String {
        format!("{}/", self.hub.address)
    }

    /// What `git clone` takes.
    pub fn clone_url(&self, repo: &str) -> String {
        format!("{}/{repo}.git", self.hub.address)
    }

    /// The web page of an issue or pull request of octo/garden.
    pub fn page_url(&self, number: u64) -> String {
        format!("{}/{}/issues/{number}", self.hub.address, garden::REPO)
    }

    /// A handle to the scripted model.
    pub fn model(&self) -> Model {
        self.model.clone()
    }

    /// A token with all the rights of this person, always the same one. Panics if nobody has this login.
    pub fn token(&self, login: &str) -> String {
        self.hub.change(|state| {
            assert!(state.person(login).is_some(), "nobody is called {login}");
            let full =
                |token: &&Token| token.login == login && token.access == TokenAccess::Full && !token.expired;
            if let Some(token) = state.tokens.iter().find(full) {
                return token.text.clone();
            }
            state.give_token(login, TokenAccess::Full)
        })
    }

    /// Looks at the state.
    pub fn state<T>(&self, look: impl FnOnce(&state::State) -> T) -> T {
        self.hub.read(look)
    }

    /// Changes the state.
    pub fn change<T>(&self, change: impl FnOnce(&mut state::State) -> T) -> T {
        self.hub.change(change)
    }

    /// Returns once the state is as told. Panics after a minute, so that a test which waits for nothing ends.
    pub async fn wait_until(&self, mut fact: impl FnMut(&state::State) -> bool) {
        let mut changes = self.hub.changes();
        let waiting = changes.wait_for(|_| self.hub.read(&mut fact));
        assert!(
            tokio::time::timeout(PATIENCE, waiting).await.is_ok(),
            "the world did not become as expected: {:#?}",
            self.traffic(),
        );
    }

    /// Writes a comment in somebody's name and returns its id. Panics if there is no such issue.
    pub fn write_comment(&self, repo: &str, number: u64, login: &str, body: &str) -> u64 {
        let written = self.hub.change(|state| state.write_comment(repo, number, login, body));
        written.unwrap_or_else(|| panic!("there is no {repo}#{number}"))
    }

    /// The webhook event `issue_comment` (`created`) of a comment, as a workflow run gets it.
    pub fn comment_event(&self, repo: &str, comment: u64) -> Value {
        let event = self.hub.read(|state| event::issue_comment(state, &self.hub.address, repo, comment));
        event.unwrap_or_else(|| panic!("there is no comment {comment} in {repo}"))
    }

    /// The texts of somebody's comments under an issue, oldest first.
    pub fn comments_by(&self, repo: &str, number: u64, login: &str) -> Vec<String> {
        self.hub.read(|state| {
            let comments = state.issue(repo, number).map_or(&[][..], |issue| &issue.comments);
            let own = comments.iter().filter(|comment| comment.author.eq_ignore_ascii_case(login));
            own.map(|comment| comment.body.clone()).collect()
        })
    }

    /// The reactions on a comment as `login: content`, oldest first.
    pub fn reactions_on(&self, repo: &str, comment: u64) -> Vec<String> {
        self.hub.read(|state| {
            let found = state.repo(repo).and_then(|repo| repo.comment(comment));
            let reactions = found.map_or(&[][..], |(_, comment)| &comment.reactions);
            reactions
                .iter()
                .map(|reaction| format!("{}: {}", reaction.author, reaction.content.word()))
                .collect()
        })
    }

    /// Every request to the API so far, with its answer.
    pub fn traffic(&self) -> Vec<Exchange> {
        self.hub.traffic().clone()
    }

    /// Forgets every request so far: who plays for hours need not remember them all.
    pub fn forget_traffic(&self) {
        self.hub.traffic().clear();
    }

    /// The routes of all requests so far, in their order, as `METHOD /path`.
    pub fn calls(&self) -> Vec<String> {
        let routes: Vec<_> = self.routes().iter().map(|route| Route::parse(route)).collect();
        let route = |exchange: &Exchange| {
            let fits = |route: &&Route| route.matches(&exchange.method, &exchange.path);
            routes.iter().find(fits).map(Route::to_string)
        };
        self.hub.traffic().iter().filter_map(route).collect()
    }

    /// The fault switches of the API and of the model.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Every route of the API, of git, of the cache and of files, as `METHOD /path`.
    pub fn routes(&self) -> Vec<String> {
        routes().list()
    }

    /// The routes of the REST API among them.
    pub fn rest_routes(&self) -> Vec<String> {
        rest::routes().list()
    }

    /// The routes that have answered somebody as they wished, at least once.
    pub fn served_routes(&self) -> Vec<String> {
        let traffic = self.hub.traffic();
        let served = |route: &Route| {
            let reached = |exchange: &&Exchange| route.matches(&exchange.method, &exchange.path);
            traffic.iter().filter(reached).any(|exchange| exchange.status.is_some_and(|status| status < 400))
        };
        self.routes().into_iter().filter(|route| served(&Route::parse(route))).collect()
    }

    /// The private key of the app `garden-helper`, in PEM.
    pub fn app_key(&self) -> &'static str {
        garden::APP_KEY
    }

    /// Puts a file where people's texts can name it, and returns its address.
    pub fn attach(&self, repo: &str, name: &str, kind: &str, bytes: impl Into<Bytes>) -> String {
        let file = File::new(kind, bytes);
        let id = self.hub.change(|state| {
            let id = format!("{:08x}-5eed-4a11-8bad-{:012x}", state.next_id(), state.attachments.len());
            let (id, repo, name) = (id, repo.to_owned(), name.to_owned());
            state.attachments.push(Attachment { id: id.clone(), repo, name, file });
            id
        });
        format!("{}/user-attachments/assets/{id}", self.hub.address)
    }

    /// Releases files under a tag, each with its name. Panics if there is no such repository.
    pub fn release(&self, repo: &str, tag: &str, files: &[(&str, &[u8])]) {
        self.hub.change(|state| {
            let assets = files.iter().map(|(name, bytes)| Asset {
                id: state.next_id(),
                name: (*name).to_owned(),
                file: File::new("application/octet-stream", bytes.to_vec()),
            });
            let assets = assets.collect();
            let (id, created_at) = (state.next_id(), state.clock.now());
            let Some(repo) = state.repo_mut(repo) else { panic!("there is no {repo}") };
            let (name, tag, author) = (format!("Release {tag}"), tag.to_owned(), repo.owner.clone());
            let body = String::new();
            repo.releases.push(Release { id, tag, name, body, author, draft: false, created_at, assets });
        });
    }

    /// Requests that no route was there for, as `METHOD /path`; each was answered 404.
    pub fn unknown_routes(&self) -> Vec<String> {
        self.hub.unknown().clone()
    }
}

/// Everything but the pages for people.
fn routes() -> Routes {
    rest::routes()
        .and(graphql::routes())
        .and(git::routes())
        .and(actions::routes())
        .and(downloads::routes())
        .and(shares::routes())
        .and(login::routes())
}

fn router(hub: &Arc<Hub>, faults: &Faults) -> Router {
    let api = routes()
        .into_router()
        .fallback(unknown)
        .method_not_allowed_fallback(unknown)
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn(rest::reword))
        .layer(from_fn(rest::locate))
        .layer(from_fn(rest::tag))
        .layer(from_fn_with_state(faults.clone(), faults::inject))
        .layer(from_fn_with_state(Arc::clone(hub), rest::count))
        .layer(from_fn_with_state(Arc::clone(hub), rest::manners))
        .layer(from_fn_with_state(Arc::clone(hub), traffic::record));
    let all = api.merge(page::routes()).with_state(Arc::clone(hub));
    // An address is changed before the routes are looked at, and so outside of them.
    Router::new().fallback_service(all).layer(from_fn_with_state(Arc::clone(hub), rest::by_id))
}

async fn unknown(State(hub): State<Arc<Hub>>, request: Request) -> Problem {
    hub.unknown().push(format!("{} {}", request.method(), request.uri().path()));
    Problem::not_found()
}
