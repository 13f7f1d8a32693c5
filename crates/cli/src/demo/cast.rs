//! Who plays the model in the demo: a script that needs nothing, or a real model with its key.

use std::path::{Path, PathBuf};

use clap::Args;
use fro_boundary::Keys;
use fro_core::Fault;
use fro_http::{ClientSettings, Proxy};
use fro_sim::World;
use serde_json::{Value, json};

use crate::{
    env::{self, Env},
    local,
};

/// Which model is asked.
#[derive(Debug, Args)]
pub(crate) struct Choice {
    /// Ask a real model, through the same proxy that keeps its key from the agent
    #[arg(long, value_name = "PROVIDER/MODEL")]
    model: Option<String>,
    /// OpenCode's `auth.json` with the model's key; the one in your home if not given
    #[arg(long, value_name = "FILE", requires = "model")]
    auth: Option<PathBuf>,
    /// OpenCode configuration that says where the model is, if its provider is not a known one
    #[arg(long, value_name = "FILE", requires = "model")]
    config: Option<PathBuf>,
}

/// What the engine is started with, and by which HTTP client its model is asked.
pub(crate) struct Cast {
    pub(crate) model: Option<String>,
    pub(crate) config: Value,
    pub(crate) keys: Keys,
    pub(crate) client: ClientSettings,
}

impl Cast {
    /// Finds whoever was chosen.
    pub(crate) fn find(choice: &Choice, world: &World, env: &Env) -> Result<Self, Fault> {
        let Some(model) = &choice.model else {
            let mut config = world.model().provider();
            // A script costs nothing, and a price below its answer would be a made-up one.
            if let Some(model) =
                config.pointer_mut("/provider/scripted/models/m1").and_then(Value::as_object_mut)
            {
                model.remove("cost");
            }
            let keys = Keys::default().and_those_of(&config);
            return Ok(Self { model: None, config, keys, client: ClientSettings::loopback() });
        };
        let config = match &choice.config {
            Some(file) => object(&read(file)?, file)?,
            None => json!({}),
        };
        let keys = keys(choice.auth.as_deref(), env)?.and_those_of(&config);
        Ok(Self { model: Some(model.clone()), config, keys, client: client(env) })
    }

    /// Returns how the demo is announced.
    pub(crate) fn announced(&self) -> String {
        let scripted = || "with a scripted model".to_owned();
        self.model.as_ref().map_or_else(scripted, |model| format!("asking {model}"))
    }
}

/// Reads the keys: from a file, from the variable that a workflow would give them in, or from OpenCode's own file.
fn keys(file: Option<&Path>, env: &Env) -> Result<Keys, Fault> {
    let bad = |place: &str, error: &dyn std::fmt::Display| {
        Fault::yours(
            format!("cannot use {place}: {error}"),
            "write it as OpenCode does: `{\"provider\": {\"type\": \"api\", \"key\": \"…\"}}`",
        )
    };
    let own = || local::auth_json(env).filter(|file| file.exists());
    match (file.map(Path::to_owned), env.input("auth-json")) {
        (None, Some(text)) => Keys::parse(text).map_err(|error| bad("the input `auth-json`", &error)),
        (given, _) => match given.or_else(own) {
            Some(file) => {
                Keys::parse(&read(&file)?).map_err(|error| bad(&format!("`{}`", file.display()), &error))
            }
            None => Ok(Keys::default()),
        },
    }
}

/// How a real model is reached: through the machine's proxy, which the little GitHub must not go by.
fn client(env: &Env) -> ClientSettings {
    let proxy = [env::HTTPS_PROXY, env::HTTPS_PROXY_IN_SMALL].into_iter().find_map(|name| env.text(name));
    let proxy = proxy.map_or(Proxy::None, |url| Proxy::Url {
        url: url.to_owned(),
        except: ["127.0.0.1", env.text(env::NO_PROXY).unwrap_or_default()].join(","),
    });
    let extra_ca = env.authorities();
    ClientSettings { proxy, extra_ca, ..ClientSettings::default() }
}

fn read(file: &Path) -> Result<String, Fault> {
    fs_err::read_to_string(file)
        .map_err(|error| Fault::yours(error.to_string(), "name a file that can be read"))
}

fn object(text: &str, file: &Path) -> Result<Value, Fault> {
    let value = serde_json::from_str(text).ok().filter(Value::is_object);
    value.ok_or_else(|| {
        Fault::yours(
            format!("`{}` is no JSON object", file.display()),
            "name a file like OpenCode's `opencode.json`",
        )
    })
}
