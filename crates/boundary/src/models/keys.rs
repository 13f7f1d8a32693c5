//! The operator's keys for models: the engine's `auth.json`, which only the harness reads.

use std::{collections::BTreeMap, fmt};

use fro_core::Secret;
use serde_json::Value;

/// The keys by provider. Nothing of them prints.
#[derive(Debug, Clone, Default)]
pub struct Keys {
    entries: BTreeMap<String, Entry>,
    secrets: Vec<Secret>,
}

/// What `auth.json` has for a provider.
#[derive(Debug, Clone)]
pub(super) enum Entry {
    /// Something that goes into a header as it is.
    Key(Secret),
    /// A login that the engine would have to hold and renew; its kind.
    Login(String),
}

/// A text that is no `auth.json`. It says where, never what: the text is full of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadKeys(String);

/// Shorter leaves are words, and taking words out of every text would garble it.
const SHORTEST_SECRET: usize = 8;

impl Keys {
    /// Reads the content of an `auth.json`.
    pub fn parse(text: &str) -> Result<Self, BadKeys> {
        let value: Value = serde_json::from_str(text).map_err(|error| {
            BadKeys(format!("it is no JSON (line {}, column {})", error.line(), error.column()))
        })?;
        let Value::Object(providers) = &value else {
            return Err(BadKeys("it is no JSON object: write it in `{ }`".to_owned()));
        };
        let mut entries = BTreeMap::new();
        for (id, entry) in providers {
            let entry = Entry::read(id, entry).ok_or_else(|| {
                BadKeys(format!("the entry `{id}` has no key: write `{{ \"type\": \"api\", \"key\": … }}`"))
            })?;
            entries.insert(id.clone(), entry);
        }
        let mut secrets = Vec::new();
        collect(&value, &mut secrets);
        Ok(Self { entries, secrets })
    }

    /// Adds keys for providers that have none yet.
    #[must_use]
    pub fn and(mut self, more: Self) -> Self {
        for (id, entry) in more.entries {
            self.entries.entry(id).or_insert(entry);
        }
        self.secrets.extend(more.secrets);
        self
    }

    /// Adds the keys that stand in the engine's own configuration; an entry of `auth.json` goes first.
    ///
    /// What the configuration gives to a server of tools in headers or variables is the agent's to read, and still nothing to
    /// be published.
    #[must_use]
    pub fn and_those_of(mut self, config: &Value) -> Self {
        let providers = config.get("provider").and_then(Value::as_object);
        for (id, provider) in providers.into_iter().flatten() {
            let Some(options) = provider.get("options") else { continue };
            if let Some(key) = options.get("apiKey").and_then(Value::as_str) {
                self.entries.entry(id.clone()).or_insert_with(|| Entry::Key(Secret::new(key)));
            }
            if let Some(key) = options.get("apiKey") {
                collect(key, &mut self.secrets);
            }
        }
        collect_beside(config, &mut self.secrets);
        self
    }

    /// Returns every text in it that must not be seen.
    pub fn secrets(&self) -> &[Secret] {
        &self.secrets
    }

    pub(super) fn entry(&self, provider: &str) -> Option<&Entry> {
        self.entries.get(provider)
    }
}

impl Entry {
    fn read(id: &str, entry: &Value) -> Option<Self> {
        let text = |name: &str| entry.get(name)?.as_str();
        match text("type")? {
            "api" => text("key").map(|key| Self::Key(Secret::new(key))),
            // It does not expire, and goes into the header as it is.
            "oauth" if id == "github-copilot" => text("refresh").map(|key| Self::Key(Secret::new(key))),
            kind => Some(Self::Login(kind.to_owned())),
        }
    }
}

/// Gathers the texts of a value that could be secrets: all but the kinds.
fn collect(value: &Value, secrets: &mut Vec<Secret>) {
    match value {
        Value::String(text) if text.len() >= SHORTEST_SECRET => {
            secrets.push(Secret::new(text));
            // What follows a scheme counts alone, too.
            secrets.extend(
                text.split_once(' ').filter(|(scheme, _)| is_scheme(scheme)).map(|(_, key)| Secret::new(key)),
            );
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, secrets)),
        Value::Object(fields) => {
            fields.iter().filter(|(name, _)| *name != "type").for_each(|(_, value)| collect(value, secrets));
        }
        _ => {}
    }
}

/// Gathers what stands in headers, and in variables that are named like credentials, wherever in a configuration that is.
fn collect_beside(config: &Value, secrets: &mut Vec<Secret>) {
    match config {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| match (name.as_str(), value) {
            ("headers", value) => collect(value, secrets),
            ("environment" | "env", Value::Object(variables)) => {
                let credentials = variables.iter().filter(|(name, _)| is_credential(name));
                credentials.for_each(|(_, value)| collect(value, secrets));
            }
            (_, value) => collect_beside(value, secrets),
        }),
        Value::Array(values) => values.iter().for_each(|value| collect_beside(value, secrets)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_scheme(word: &str) -> bool {
    ["basic", "bearer", "token"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

fn is_credential(variable: &str) -> bool {
    let variable = variable.to_ascii_uppercase();
    ["AUTH", "CREDENTIAL", "KEY", "PASS", "SECRET", "TOKEN"].iter().any(|word| variable.contains(word))
}

impl fmt::Display for BadKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let keys = match Keys::parse(text) {
            Ok(keys) => keys,
            Err(error) => return error.to_string(),
        };
        let entries = keys.entries.iter().map(|(id, entry)| match entry {
            Entry::Key(key) => format!("{id} {}", key.expose()),
            Entry::Login(kind) => format!("{id} login by {kind}"),
        });
        let secrets: Vec<_> = keys.secrets.iter().map(Secret::expose).collect();
        format!("{} | {}", entries.collect::<Vec<_>>().join(", "), secrets.join(" "))
    }

    #[test]
    fn keys_are_carried_and_logins_are_known_for_what_they_are() {
        insta::assert_snapshot!(
            read(r#"{
                "anthropic": {"type": "api", "key": "sk-ant-1234"},
                "github-copilot": {"type": "oauth", "refresh": "gho_1234567", "access": "tid=abcdef", "expires": 0},
                "openai": {"type": "oauth", "refresh": "rt_1234567", "access": "short", "expires": 1},
                "corp": {"type": "wellknown", "key": "CORP_TOKEN", "token": "eyJ0eXAi"}
            }"#),
            @"anthropic sk-ant-1234, corp login by wellknown, github-copilot gho_1234567, openai login by oauth | sk-ant-1234 CORP_TOKEN eyJ0eXAi tid=abcdef gho_1234567 rt_1234567"
        );
    }

    #[test]
    fn what_servers_of_tools_are_given_is_known() {
        let config = serde_json::json!({
            "mcp": {
                "far": { "type": "remote", "url": "https://tools.example", "headers": { "Authorization": "Bearer planted-1" } },
                "near": {
                    "command": ["server"], "environment": { "API_TOKEN": "planted-2", "MODE": "production", "KEY": "short" },
                },
            },
            "lsp": { "rust": { "env": { "db_password": "planted-3" } } },
            "provider": { "mine": { "models": { "m1": { "headers": { "X-Key": "planted-4" } } } } },
            "agent": { "build": { "prompt": "Be kind to everybody." } },
        });
        let keys = Keys::default().and_those_of(&config);
        let mut secrets: Vec<_> = keys.secrets().iter().map(Secret::expose).collect();
        secrets.sort_unstable();
        assert_eq!(secrets, ["Bearer planted-1", "planted-1", "planted-2", "planted-3", "planted-4"]);
    }

    #[test]
    fn a_slip_is_named_without_the_key() {
        let slips =
            ["sk-ant-1234", r#"["sk-ant-1234"]"#, r#"{"a": "sk-ant-1234"}"#, r#"{"a": {"type": "api"}}"#];
        insta::assert_snapshot!(slips.map(read).join("\n"), @r#"
        it is no JSON (line 1, column 1)
        it is no JSON object: write it in `{ }`
        the entry `a` has no key: write `{ "type": "api", "key": … }`
        the entry `a` has no key: write `{ "type": "api", "key": … }`
        "#);
    }
}
