//! A knock at the providers before anything is set up: whether they accept their keys.

use std::time::Duration;

use futures::future;

use crate::models::{
    ModelProxy,
    dialect::Dialect,
    plan::Route,
    proxy::{ModelFailure, ProxyState},
};

/// How long a provider may take: whoever is slower is found out by the first turn.
const PATIENCE: Duration = Duration::from_secs(3);

/// The longest list of models that is read.
const LARGEST: usize = 4 << 20;

impl ModelProxy {
    /// Returns a model whose provider does not accept its key, if there is one.
    ///
    /// A list of models costs nothing, but not everybody who answers turns shows one: whoever refuses the list is asked
    /// for one word before that counts.
    pub async fn refused_model(&self) -> Option<String> {
        let routes = self.shared.plan.routes.iter();
        let knocks = routes.map(|(id, route)| self.shared.refuses(id, route));
        future::join_all(knocks).await.into_iter().flatten().next()
    }
}

impl ProxyState {
    async fn refuses(&self, id: &str, route: &Route) -> Option<String> {
        // Who is asked without a key cannot refuse one.
        if route.key.is_none() && route.headers.is_empty() {
            return None;
        }
        // OpenRouter shows its models to everybody.
        let place = if id == "openrouter" { "key" } else { "models" };
        let request = Self::keyed(self.client.get(format!("{}/{place}", route.base)), route);
        let request = match route.dialect {
            Dialect::Messages => request.header("anthropic-version", "2023-06-01"),
            Dialect::Chat | Dialect::Responses | Dialect::Azure | Dialect::Google => request,
        };
        let refused = |error: &fro_http::Error| error.status() == Some(401);
        let told = request.once().timeout(PATIENCE).at_most(LARGEST).send().await;
        if !told.is_err_and(|error| refused(&error)) {
            return None;
        }
        let model = format!("{id}/{}", route.models.first()?);
        match self.ask(&model, "Answer with the one word `ready`.", "Are you there?").await {
            Err(ModelFailure::Upstream(error)) if refused(&error) => Some(model),
            Ok(_) | Err(_) => None,
        }
    }
}
