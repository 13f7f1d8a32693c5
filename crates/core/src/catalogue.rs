//! What is known of models before anybody asks them: their limits and prices.
//!
//! The engine carries a catalogue of 8,000 models. Reading it costs every run a second of CPU and 180 MB of memory,
//! although a run asks one or two of them. So the engine is given an excerpt. `scripts/catalogue` writes the file.

use std::sync::LazyLock;

use serde_json::{Map, Value};

/// What the pinned engine knows of the providers that can be asked by their name alone.
static KNOWN: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(FILE).unwrap_or_default());

const FILE: &str = include_str!("catalogue.json");

/// Returns what a model costs, as the engine's configuration says it, if that is known.
pub fn cost(provider: &str, model: &str) -> Option<&'static Value> {
    row(provider, model)?.get("cost")
}

/// Returns a catalogue of just these models, each a provider and a name, for an engine with this configuration.
///
/// A model that the configuration describes needs no row. Nothing is returned for one that neither knows: then the
/// engine's own catalogue, which may know it, is better than an excerpt.
pub fn excerpt<'a>(models: impl Iterator<Item = (&'a str, &'a str)>, config: &Value) -> Option<Value> {
    let mut excerpt = Map::new();
    for (provider, model) in models {
        let described =
            config.get("provider").and_then(|given| given.get(provider)?.get("models")?.get(model));
        let row = row(provider, model);
        if row.is_none() && described.is_none() {
            return None;
        }
        let Some(known) = KNOWN.get(provider) else { continue };
        let entry = excerpt.entry(provider).or_insert_with(|| without_models(known));
        if let Some(row) = row {
            entry["models"][model] = row.clone();
        }
    }
    Some(Value::Object(excerpt))
}

fn row(provider: &str, model: &str) -> Option<&'static Value> {
    KNOWN.get(provider)?.get("models")?.get(model)
}

fn without_models(provider: &Value) -> Value {
    let mut provider = provider.clone();
    provider["models"] = Value::Object(Map::new());
    provider
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(models: &[(&str, &str)], config: &Value, expect: Option<&[&str]>) {
        let excerpt = excerpt(models.iter().copied(), config);
        let names = excerpt.as_ref().and_then(Value::as_object).map(|providers| {
            let rows = providers.iter().flat_map(|(id, provider)| {
                let models = provider["models"].as_object().into_iter().flat_map(Map::keys);
                models.map(move |model| format!("{id}/{model}"))
            });
            rows.collect::<Vec<_>>()
        });
        assert_eq!(
            names.as_deref(),
            expect.map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>()).as_deref()
        );
    }

    #[test]
    fn the_engine_is_told_of_the_models_that_are_asked() {
        let own = json!({ "provider": { "scripted": { "models": { "m1": {} } } } });
        let nothing = json!({});
        let sonnet = ("anthropic", "claude-sonnet-4-5");
        check(&[sonnet], &nothing, Some(&["anthropic/claude-sonnet-4-5"]));
        check(&[sonnet, ("scripted", "m1")], &own, Some(&["anthropic/claude-sonnet-4-5"]));
        check(&[("scripted", "m1")], &own, Some(&[]));
        check(&[sonnet, ("scripted", "m1")], &nothing, None);
        check(&[("anthropic", "claude-of-tomorrow")], &nothing, None);
        check(&[("openrouter", "z-ai/glm-4.6")], &nothing, None);
    }

    #[test]
    fn a_row_reads_like_this() {
        let row = row("anthropic", "claude-haiku-4-5").map(Value::to_string);
        insta::assert_snapshot!(row.unwrap_or_default());
    }

    #[test]
    fn every_row_has_its_limits() {
        let providers = KNOWN.as_object().into_iter().flatten();
        let rows = providers.flat_map(|(_, provider)| provider["models"].as_object().into_iter().flatten());
        let rows: Vec<_> = rows.map(|(name, row)| (name, row["limit"]["context"].as_u64())).collect();
        assert!(rows.len() > 200, "{} rows", rows.len());
        assert!(rows.iter().all(|(_, context)| context.is_some_and(|tokens| tokens > 1000)), "{rows:?}");
    }
}
