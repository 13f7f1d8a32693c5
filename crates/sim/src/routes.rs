//! The table of routes: each is written as GitHub's documentation has it, and can be listed.

use std::sync::Arc;

use axum::{
    Router,
    handler::Handler,
    http::Method,
    routing::{MethodFilter, on},
};

use crate::{hub::Hub, route::Route};

/// Routes and what answers them.
pub(crate) struct Routes<S = Arc<Hub>> {
    base: &'static str,
    router: Router<S>,
    known: Vec<Route>,
}

impl<S: Clone + Send + Sync + 'static> Routes<S> {
    /// No route yet; all paths to come begin like this.
    pub(crate) fn below(base: &'static str) -> Self {
        Self { base, router: Router::new(), known: Vec::new() }
    }

    /// Adds a route such as `GET /issues/{number}`. Panics if it is none.
    pub(crate) fn on<H, T>(mut self, route: &str, handler: H) -> Self
    where
        H: Handler<T, S>,
        T: 'static,
    {
        let route = Route::parse(route).below(self.base);
        let method = Method::from_bytes(route.method().as_bytes()).ok();
        let Some(filter) = method.and_then(|method| MethodFilter::try_from(method).ok()) else {
            panic!("`{route}` has no known method")
        };
        self.router = self.router.route(route.path(), on(filter, handler));
        self.known.push(route);
        self
    }

    /// Adds the routes of another table.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        self.known.extend(other.known);
        self
    }

    /// Every route as `METHOD /path`.
    pub(crate) fn list(&self) -> Vec<String> {
        self.known.iter().map(Route::to_string).collect()
    }

    pub(crate) fn into_router(self) -> Router<S> {
        self.router
    }
}
