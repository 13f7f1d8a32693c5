//! The repository's own file, in TOML: the names of inputs, as far as they may be set there.
//!
//! What opens something (credentials, who may ask, walls, versions, where the memory goes) and what is looked at before
//! anything is asked of GitHub stays with the workflow.

use std::collections::BTreeMap;

use fro_run::REPO_SETTINGS;
use toml::{Table, Value};

use crate::inputs;

/// What the file says, as if it had been typed into inputs.
#[derive(Debug, Default)]
pub(super) struct File {
    values: BTreeMap<String, String>,
    /// What is wrong with its shape and its names.
    pub(super) complaints: Vec<String>,
}

impl File {
    /// Reads a file. What cannot be meant is a complaint, and the rest counts.
    pub(super) fn parse(text: &str) -> Self {
        let mut file = Self::default();
        match text.parse::<Table>() {
            Ok(table) => table.into_iter().for_each(|(name, value)| file.take(name, &value)),
            Err(error) => file.complaints.push(no_toml(text, &error)),
        }
        file
    }

    /// Returns what it says about a setting.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    fn take(&mut self, name: String, value: &Value) {
        let complaint = match (inputs::all().find(|input| input.name == name), typed(value)) {
            (Some(input), Some(text)) if input.in_file => {
                self.values.insert(name, text.trim().to_owned());
                return;
            }
            (Some(input), None) if input.in_file => {
                "takes a text, a number, `true`, `false` or a list of texts".to_owned()
            }
            (Some(_), _) => "can only be set in the workflow's `with:` block".to_owned(),
            (None, _) => match inputs::meant(&name, known()) {
                Some(near) => format!("is no setting; did you mean `{near}`?"),
                None => format!("is no setting; there are {}", known().collect::<Vec<_>>().join(", ")),
            },
        };
        self.complaints.push(format!("`{name}` in `{REPO_SETTINGS}` {complaint}"));
    }
}

/// Writes a value as it would be typed into an input.
fn typed(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(choice) => Some(choice.to_string()),
        Value::Array(values) => {
            let texts: Option<Vec<_>> = values.iter().map(Value::as_str).collect();
            texts.map(|texts| texts.join("\n"))
        }
        Value::Datetime(_) | Value::Table(_) => None,
    }
}

fn known() -> impl Iterator<Item = &'static str> {
    inputs::all().filter(|input| input.in_file).map(|input| input.name)
}

fn no_toml(text: &str, error: &toml::de::Error) -> String {
    let before = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let why = error.message().lines().collect::<Vec<_>>().join("; ");
    format!("`{REPO_SETTINGS}` is no TOML, line {line}: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(text: &str) -> String {
        File::parse(text).complaints.join("\n")
    }

    #[test]
    fn values_read_like_inputs() {
        let file = File::parse(
            "model = 'anthropic/claude-sonnet-4-5'\nmax-cost = 0.5\ntimeout = 600_000\nenable-omo = false\n\
             protected-paths = ['infra/**', 'LICENSE']\nagent = ''\n",
        );
        assert_eq!(file.complaints, Vec::<String>::new());
        let names = ["model", "max-cost", "timeout", "enable-omo", "protected-paths", "agent"];
        let texts = names.map(|name| file.text(name).unwrap_or("–"));
        assert_eq!(
            texts,
            ["anthropic/claude-sonnet-4-5", "0.5", "600000", "false", "infra/**\nLICENSE", "–"]
        );
    }

    #[test]
    fn what_cannot_be_meant_is_named_with_the_file() {
        let text = "modle = 'a/b'\nmax_cost = 1\ngithub-token = 'x'\nallow-unwalled = true\nmodel = { name = 'b' }\nzebra = 1\n";
        insta::assert_snapshot!(complaints(text), @"
        `allow-unwalled` in `.github/fro-bot.toml` can only be set in the workflow's `with:` block
        `github-token` in `.github/fro-bot.toml` can only be set in the workflow's `with:` block
        `max_cost` in `.github/fro-bot.toml` is no setting; did you mean `max-cost`?
        `model` in `.github/fro-bot.toml` takes a text, a number, `true`, `false` or a list of texts
        `modle` in `.github/fro-bot.toml` is no setting; did you mean `model`?
        `zebra` in `.github/fro-bot.toml` is no setting; there are mode-instructions, agent, model, timeout, max-cost, max-steps, enable-omo, delegated-work, output-mode, protected-paths, session-retention, session-max-age, memory-warn-size
        ");
        insta::assert_snapshot!(complaints("# Ours\nmodel = anthropic\n"), @"`.github/fro-bot.toml` is no TOML, line 2: string values must be quoted, expected literal string");
    }
}
