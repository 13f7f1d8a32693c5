//! What the operator says of engines, memory and credentials, as plain values: only the binary reads the environment.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use fro_boundary::{Host, Keys, Plan};
use fro_core::{
    Fault, Secret,
    delegation::{DelegatedWork, OutputMode},
    sorting::GhDeeds,
};
use fro_github::{Address, App};
use fro_http::ClientSettings;
use fro_memory::{Retention, StoreSettings};
use fro_opencode::Version;

/// What the operator says of engines, memory and credentials. It holds for every engine of a process.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where GitHub answers.
    pub github: Address,
    /// Where people and git find GitHub, `https://github.com` on github.com.
    pub server: String,
    /// How requests travel.
    pub client: ClientSettings,
    /// Our credential.
    pub token: Secret,
    /// Credentials of others that the environment holds; they are redacted like ours.
    pub hidden: Vec<Secret>,
    /// What opens more, for work that somebody delegates.
    pub elevated: Elevated,
    /// What becomes of the agent's changes.
    pub delegation: Delegation,
    /// How to use the engine.
    pub engine: EngineSettings,
    /// Where memory is kept, if it is.
    pub memory: StoreSettings,
    /// How much of it is kept.
    pub retention: Retention,
    /// Where temporary folders go.
    pub scratch: PathBuf,
}

impl Settings {
    /// Returns how the configured models are asked, or why they cannot be.
    pub fn models(&self) -> Result<Plan, Fault> {
        let EngineSettings { config, model, keys, max_cost, .. } = &self.engine;
        let plan = Plan::draw(config, model.as_deref(), keys).map_err(|error| error.fault())?;
        if max_cost.is_some() {
            plan.priced().map_err(|error| error.fault())?;
        }
        Ok(plan)
    }

    /// Returns everything that must never be seen.
    pub fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.lasting_secrets().chain([&self.token]).chain(&self.hidden).chain(self.memory.secrets())
    }

    /// Returns what must never be seen and was not made for this run alone.
    pub fn lasting_secrets(&self) -> impl Iterator<Item = &Secret> {
        let elevated = match &self.elevated {
            Elevated::Token(token) => [Some(token), None],
            Elevated::App(app, token) => [Some(app.secret()), token.as_ref()],
            Elevated::None => [None, None],
        };
        self.engine.keys.secrets().iter().chain(elevated.into_iter().flatten())
    }

    /// Returns the model that was asked for, by the input or by the configuration.
    pub fn model(&self) -> Option<String> {
        let configured = || self.engine.config.get("model")?.as_str().map(str::to_owned);
        self.engine.model.clone().or_else(configured)
    }

    /// Returns the model that an agent is asked with. It is named in every turn: a session that goes on would ask
    /// whichever answered last, which may not be configured any more.
    pub(crate) fn model_of(&self, agent: &str) -> Option<String> {
        let agents = self.engine.config.get("agent");
        let own = || agents?.get(agent)?.get("model")?.as_str().map(str::to_owned);
        self.engine.model.clone().or_else(own).or_else(|| self.model())
    }
}

/// A credential that is used for delegated work and for nothing else.
#[derive(Debug, Clone)]
pub enum Elevated {
    /// An App, which gets a token of its own when one is needed; it opens this repository alone, so that a person's token
    /// beside it is used for forks.
    App(App, Option<Secret>),
    /// A person's token.
    Token(Secret),
    /// There is none: work is done with the token of the run.
    None,
}

/// What becomes of the agent's changes.
#[derive(Debug, Clone, Default)]
pub struct Delegation {
    /// Whether any are pushed.
    pub work: DelegatedWork,
    /// What a schedule's become.
    pub output: OutputMode,
    /// Patterns of paths that nobody touches by way of the agent.
    pub protected_paths: Vec<String>,
    /// Whether it may label, assign, close and reopen what the run is about.
    pub gh_deeds: GhDeeds,
    /// Labels that tell us what to do, which it never sets.
    pub steering_labels: Vec<String>,
}

/// How to use the engine.
#[derive(Debug, Clone)]
pub struct EngineSettings {
    /// Where tools are kept from run to run.
    pub tool_cache: PathBuf,
    /// The path of `fro-bot`, which is also what starts the wall.
    pub program: PathBuf,
    /// The environment of the harness, of which the engine gets very little.
    pub environment: Vec<(OsString, OsString)>,
    /// Configuration for the engine: providers and models.
    pub config: serde_json::Value,
    /// The keys for its models, which it never gets.
    pub keys: Keys,
    /// The US dollars after which no model is asked any more.
    pub max_cost: Option<f64>,
    /// How often the model may be called.
    pub max_steps: Option<u32>,
    /// How long to wait before a model is asked again that broke off.
    pub pause: Duration,
    /// The agent to ask for, if not the engine's default.
    pub agent: Option<String>,
    /// The engine's version.
    pub version: Version,
    /// The version of Oh My OpenCode, if it is to be loaded.
    pub omo: Option<Version>,
    /// How long a run waits for it to be there, and then for the engine to load it, before it goes on without.
    pub omo_patience: Duration,
    /// The model to use, if not the agent's own.
    pub model: Option<String>,
    /// How long the agent may work.
    pub timeout: Option<Duration>,
    /// What the agent may reach in a run of somebody who may push.
    pub network: Vec<Destination>,
    /// What happens on a machine without walls.
    pub unwalled: Unwalled,
}

impl EngineSettings {
    /// The pinned engine with this configuration and the keys in it, and no limits. Which program is the wall, and where tools are
    /// kept, is left to the caller.
    pub fn pinned(config: serde_json::Value) -> Self {
        Self {
            tool_cache: PathBuf::new(),
            program: PathBuf::new(),
            environment: Vec::new(),
            keys: Keys::default().and_those_of(&config),
            config,
            max_cost: None,
            max_steps: None,
            pause: Duration::ZERO,
            agent: None,
            version: Version::Pinned,
            omo: None,
            omo_patience: Duration::ZERO,
            model: None,
            timeout: None,
            network: Vec::new(),
            unwalled: Unwalled::Refused,
        }
    }
}

/// A place outside that the agent may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A host by its name.
    Host(Host),
    /// The registry in the npm client's configuration.
    NpmRegistry,
}

/// What happens on a machine without walls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unwalled {
    /// The engine does not start.
    Refused,
    /// The operator takes the risk, and the summary says so.
    Allowed,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::settings;

    #[test]
    fn the_input_names_the_model_before_the_agent_and_the_configuration() {
        let config = json!({ "model": "a/general", "agent": { "plan": { "model": "a/planner" } } });
        let check = |input: Option<&str>, config: serde_json::Value, agent: &str, expect: Option<&str>| {
            let mut settings = settings(config);
            settings.engine.model = input.map(str::to_owned);
            assert_eq!(settings.model_of(agent).as_deref(), expect, "{input:?} {agent}");
        };
        check(Some("b/own"), config.clone(), "plan", Some("b/own"));
        check(None, config.clone(), "plan", Some("a/planner"));
        check(None, config, "build", Some("a/general"));
        check(None, json!({}), "build", None);
    }

    #[test]
    fn every_credential_is_a_secret() {
        let config = json!({ "provider": { "a": { "options": { "apiKey": "sk-model-key" } } } });
        let settings = settings(config);
        let secrets: Vec<_> = settings.secrets().map(Secret::expose).collect();
        for known in ["workflow-token", "person-token", "hidden-token", "sk-model-key"] {
            assert!(secrets.contains(&known), "{known} is not in {} secrets", secrets.len());
        }
    }
}
