//! Which models a run may ask and with what: the operator's configuration, taken apart into what the proxy keeps and
//! what the engine may see.

use std::collections::BTreeMap;

use fro_core::{Fault, Secret, catalogue};
use serde_json::{Map, Value, json};

use crate::models::{
    dialect::{self, Dialect},
    json::Json,
    keys::{Entry, Keys},
    meter::Price,
};

/// What stands in the engine's configuration in place of a key.
const PLACEHOLDER: &str = "placeholder";

/// The models of a run.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(super) routes: BTreeMap<String, Route>,
    /// Every model that the run is configured for, as `provider/model`.
    asked: Vec<String>,
    config: Value,
}

/// What the proxy knows of one provider.
#[derive(Debug, Clone)]
pub(super) struct Route {
    pub(super) base: String,
    pub(super) dialect: Dialect,
    pub(super) key: Option<Secret>,
    /// Headers of the operator's, which may be credentials.
    pub(super) headers: Vec<(String, Secret)>,
    /// The models that may be asked, by the names that the provider knows.
    pub(super) models: Vec<String>,
    pub(super) prices: BTreeMap<String, Price>,
    /// What the operator wants of the models, which the engine sends along as it is.
    options: Vec<Map<String, Value>>,
    /// The names that the provider knows models by, where they have others here.
    aliases: BTreeMap<String, String>,
}

/// A configuration that no model can be asked with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// No model is named.
    #[error("no model is named")]
    NoModel,
    /// A model's name is not `provider/model`.
    #[error("the model `{0}` has no provider")]
    NoProvider(String),
    /// We do not know how the provider is spoken to.
    #[error("the provider `{0}` cannot be asked through the model proxy")]
    UnknownProvider(String),
    /// The provider's place is not known.
    #[error("nothing says where the provider `{0}` is")]
    NoBase(String),
    /// The provider's entry is a login, not a key.
    #[error(
        "the entry `{provider}` of `auth-json` is a login of the kind `{kind}`, which only the engine could use"
    )]
    Login {
        /// The provider.
        provider: String,
        /// The entry's `type`.
        kind: String,
    },
    /// The provider wants a key, and there is none.
    #[error("there is no key for the provider `{0}`")]
    NoKey(String),
    /// There is a limit on the cost, but no price.
    #[error("`max-cost` is set, but the price of `{0}` is not known")]
    NoPrice(String),
}

impl PlanError {
    /// Says who has to act.
    pub fn fault(&self) -> Fault {
        let hint = match self {
            Self::NoModel | Self::NoProvider(_) => {
                "set the input `model`, such as `anthropic/claude-sonnet-4-5`".to_owned()
            }
            Self::UnknownProvider(id) => format!(
                "give `provider.{id}` in `opencode-config` an `npm` package such as `@ai-sdk/openai-compatible`; Bedrock \
                 and Vertex are not supported yet"
            ),
            Self::NoBase(id) => format!("set `provider.{id}.options.baseURL` in `opencode-config`"),
            Self::Login { provider, .. } => format!(
                "use an API key: `{{\"{provider}\": {{\"type\": \"api\", \"key\": \"…\"}}}}`; the engine holds no credential \
                 here, so it cannot renew a login"
            ),
            Self::NoKey(id) => {
                format!(
                    "put its key into `auth-json`, in a workflow from a secret, on your own machine by `opencode auth login`: `{{\"{id}\": {{\"type\": \"api\", \"key\": \"…\"}}}}`"
                )
            }
            Self::NoPrice(model) => {
                format!("give `{model}` a `cost` in `opencode-config`, or leave `max-cost` out")
            }
        };
        Fault::yours(self.to_string(), hint)
    }
}

impl Plan {
    /// Takes the configuration apart. `model` is the one that the operator asked for, if not the configuration's own.
    pub fn draw(config: &Value, model: Option<&str>, keys: &Keys) -> Result<Self, PlanError> {
        let mut routes: BTreeMap<String, Route> = BTreeMap::new();
        for name in models(config, model) {
            let (id, model) = name.split_once('/').ok_or_else(|| PlanError::NoProvider(name.to_owned()))?;
            let provider =
                config.get("provider").and_then(|providers| providers.get(id)).unwrap_or(&Value::Null);
            if !routes.contains_key(id) {
                routes.insert(id.to_owned(), Route::find(id, provider, keys)?);
            }
            if let Some(route) = routes.get_mut(id) {
                route.admit((id, model), provider);
            }
        }
        let agents = config.get("agent").and_then(Value::as_object).into_iter().flatten();
        let wanted: Vec<_> = agents.filter_map(|(_, agent)| options(agent)).cloned().collect();
        for route in routes.values_mut() {
            route.options.extend(wanted.iter().cloned());
        }
        if routes.is_empty() {
            return Err(PlanError::NoModel);
        }
        let asked = models(config, model).map(str::to_owned).collect();
        Ok(Self { routes, asked, config: config.clone() })
    }

    /// Sees that the cost of every model can be counted.
    pub fn priced(&self) -> Result<(), PlanError> {
        for (id, route) in &self.routes {
            // Its answers say what they cost.
            let tells = id == "openrouter";
            let unpriced = route.models.iter().find(|model| !tells && !route.prices.contains_key(*model));
            if let Some(model) = unpriced {
                return Err(PlanError::NoPrice(format!("{id}/{model}")));
            }
        }
        Ok(())
    }

    /// Returns a catalogue of just the configured models, if all of them are known.
    pub(super) fn catalogue(&self) -> Option<Value> {
        let models = self.asked.iter().filter_map(|name| name.split_once('/'));
        catalogue::excerpt(models, &self.config)
    }

    /// Returns the configuration for the engine: every provider is the proxy, and no key is in it.
    pub(super) fn engine_config(&self, proxy: &str) -> Value {
        let mut config = self.config.as_object().cloned().unwrap_or_default();
        let mut given = match config.remove("provider") {
            Some(Value::Object(given)) => given,
            _ => Map::new(),
        };
        let providers = self.routes.keys().map(|id| {
            let mut provider = given.remove(id).filter(Value::is_object).unwrap_or_else(|| json!({}));
            provider["options"] = json!({ "baseURL": format!("{proxy}/{id}"), "apiKey": PLACEHOLDER });
            (id.clone(), provider)
        });
        let providers: Map<String, Value> = providers.collect();
        config.insert("enabled_providers".to_owned(), self.routes.keys().cloned().collect());
        config.insert("provider".to_owned(), Value::Object(providers));
        Value::Object(config)
    }
}

/// Returns every model that the run is configured for.
fn models<'a>(config: &'a Value, model: Option<&'a str>) -> impl Iterator<Item = &'a str> {
    let agents =
        config.get("agent").and_then(Value::as_object).into_iter().flat_map(|agents| agents.values());
    let of_agents = agents.filter_map(|agent| agent.get("model"));
    let named = ["model", "small_model"].into_iter().filter_map(|name| config.get(name));
    model.into_iter().chain(named.chain(of_agents).filter_map(Value::as_str))
}

impl Route {
    fn find(id: &str, provider: &Value, keys: &Keys) -> Result<Self, PlanError> {
        let text = |pointer: &str| provider.pointer(pointer).and_then(Value::as_str);
        let known = dialect::known(id);
        let package = text("/npm").and_then(Dialect::of_package);
        let dialect = package.or(known.map(|(_, dialect)| dialect));
        let dialect = dialect.ok_or_else(|| PlanError::UnknownProvider(id.to_owned()))?;
        let base = text("/options/baseURL").or(known.map(|(base, _)| base));
        let base = base.ok_or_else(|| PlanError::NoBase(id.to_owned()))?.trim_end_matches('/').to_owned();
        let key = match keys.entry(id) {
            Some(Entry::Key(key)) => Some(key.clone()),
            Some(Entry::Login(kind)) => {
                return Err(PlanError::Login { provider: id.to_owned(), kind: kind.clone() });
            }
            None => None,
        };
        let headers = provider.pointer("/options/headers").and_then(Value::as_object);
        let headers = headers.into_iter().flatten();
        let headers: Vec<_> =
            headers.filter_map(|(name, value)| Some((name.clone(), Secret::new(value.as_str()?)))).collect();
        // Who is asked elsewhere may want none, as a server of one's own.
        let elsewhere = text("/options/baseURL").is_some();
        if key.is_none() && headers.is_empty() && !elsewhere && !dialect::KEYLESS.contains(&id) {
            return Err(PlanError::NoKey(id.to_owned()));
        }
        Ok(Self {
            base,
            dialect,
            key,
            headers,
            models: Vec::new(),
            prices: BTreeMap::new(),
            options: Vec::new(),
            aliases: BTreeMap::new(),
        })
    }

    /// Lets a model be asked, by its name here and by the one that the provider knows it by.
    fn admit(&mut self, (id, model): (&str, &str), provider: &Value) {
        let details = provider.get("models").and_then(|models| models.get(model));
        let alias = details.and_then(|details| details.get("id")?.as_str());
        let cost = details.and_then(|details| details.get("cost")).or_else(|| catalogue::cost(id, model));
        let price = cost.and_then(Price::read);
        let variants = details.and_then(|details| details.get("variants")?.as_object()).into_iter().flatten();
        let variants = variants.filter_map(|(_, variant)| variant.as_object());
        self.options.extend(details.and_then(options).into_iter().chain(variants).cloned());
        self.aliases.extend(alias.map(|alias| (model.to_owned(), alias.to_owned())));
        for name in [Some(model), alias].into_iter().flatten() {
            if !self.models.iter().any(|known| known == name) {
                self.models.push(name.to_owned());
            }
            if let Some(price) = price {
                self.prices.insert(name.to_owned(), price);
            }
        }
    }
}

impl Route {
    /// Returns the name that the provider knows a model by.
    pub(super) fn known_as<'a>(&'a self, model: &'a str) -> &'a str {
        self.aliases.get(model).map_or(model, String::as_str)
    }

    /// Tells whether a field of a request is one that the operator asked for in these words.
    pub(super) fn wants(&self, name: &str, value: &Json) -> bool {
        let camel = camel(name);
        let wanted =
            self.options.iter().filter_map(|options| options.get(name).or_else(|| options.get(&camel)));
        wanted.into_iter().any(|wanted| value.says(wanted))
    }
}

/// Returns what the operator wants of a model or an agent.
fn options(of: &Value) -> Option<&Map<String, Value>> {
    of.get("options")?.as_object()
}

/// Returns a field's name as the engine's configuration writes it.
fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| {
        let (initial, rest) = part.split_at_checked(1).unwrap_or((part, ""));
        name + &initial.to_ascii_uppercase() + rest
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Keys {
        Keys::parse(
            r#"{"anthropic": {"type": "api", "key": "sk-real-1234"}, "openai": {"type": "oauth", "access": "x"}}"#,
        )
        .unwrap()
    }

    #[test]
    fn the_engine_sees_the_proxy_and_no_key() {
        let config = json!({
            "model": "anthropic/claude", "small_model": "local/tiny", "share": "disabled",
            "provider": {
                "local": {
                    "npm": "@ai-sdk/openai-compatible",
                    "options": { "baseURL": "http://10.0.0.5:8000/v1/", "apiKey": "sk-config-1234", "headers": { "x-team": "t-secret" } },
                    "models": { "tiny": { "id": "tiny-1b", "cost": { "input": 1, "output": 2 } } },
                },
                "unused": { "options": { "apiKey": "sk-unused-1234" } },
            },
        });
        let keys = keys().and_those_of(&config);
        let plan = Plan::draw(&config, None, &keys).unwrap();

        insta::assert_json_snapshot!(plan.engine_config("http://127.0.0.1:9"));
        let routes = plan.routes.iter().map(|(id, route)| {
            let key = route.key.as_ref().map(Secret::expose).unwrap_or_default();
            format!("{id} {} {key} {:?}", route.base, route.models)
        });
        insta::assert_snapshot!(routes.collect::<Vec<_>>().join("\n"), @r#"
        anthropic https://api.anthropic.com/v1 sk-real-1234 ["claude"]
        local http://10.0.0.5:8000/v1 sk-config-1234 ["tiny", "tiny-1b"]
        "#);
        let secrets: Vec<_> = keys.secrets().iter().map(Secret::expose).collect();
        assert_eq!(secrets, ["sk-real-1234", "sk-config-1234", "sk-unused-1234", "t-secret"]);
    }

    #[test]
    fn the_price_of_a_model_that_the_catalogue_knows_is_known() {
        let plan = Plan::draw(&json!({}), Some("anthropic/claude-haiku-4-5"), &keys());
        assert_eq!(plan.and_then(|plan| plan.priced()), Ok(()));
    }

    #[test]
    fn what_cannot_be_asked_is_refused_with_the_remedy() {
        let complaint = |config: Value, model: Option<&str>| {
            let plan = Plan::draw(&config, model, &keys()).and_then(|plan| plan.priced());
            let fault = plan.unwrap_err().fault();
            format!("{}\n  {}", fault.what(), fault.hint())
        };
        let complaints = [
            complaint(json!({}), None),
            complaint(json!({}), Some("claude")),
            complaint(json!({}), Some("amazon-bedrock/x")),
            complaint(json!({"provider": {"mine": {"npm": "@ai-sdk/openai-compatible"}}}), Some("mine/x")),
            complaint(json!({}), Some("openai/gpt-5")),
            complaint(json!({}), Some("anthropic/claude")),
            complaint(json!({}), Some("mistral/large")),
        ];
        insta::assert_snapshot!(complaints.join("\n"), @r#"
        no model is named
          set the input `model`, such as `anthropic/claude-sonnet-4-5`
        the model `claude` has no provider
          set the input `model`, such as `anthropic/claude-sonnet-4-5`
        the provider `amazon-bedrock` cannot be asked through the model proxy
          give `provider.amazon-bedrock` in `opencode-config` an `npm` package such as `@ai-sdk/openai-compatible`; Bedrock and Vertex are not supported yet
        nothing says where the provider `mine` is
          set `provider.mine.options.baseURL` in `opencode-config`
        the entry `openai` of `auth-json` is a login of the kind `oauth`, which only the engine could use
          use an API key: `{"openai": {"type": "api", "key": "…"}}`; the engine holds no credential here, so it cannot renew a login
        `max-cost` is set, but the price of `anthropic/claude` is not known
          give `anthropic/claude` a `cost` in `opencode-config`, or leave `max-cost` out
        there is no key for the provider `mistral`
          put its key into `auth-json`, in a workflow from a secret, on your own machine by `opencode auth login`: `{"mistral": {"type": "api", "key": "…"}}`
        "#);
    }
}
