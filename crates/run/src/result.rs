//! A result for the steps after the run: JSON that fits the operator's schema, handed in by the agent with a tool.

use std::sync::{Arc, Mutex};

use fro_agent::{Arguments, ToolList, Tools};
use fro_core::{Redactor, tool_call::ToolCard};
use futures::future::BoxFuture;
use jsonschema::Validator;
use serde_json::Value;

/// The set of tools; the engine makes `result_submit` of it.
const SET: &str = "result";
const TOOL: &str = "submit";

/// GitHub keeps a megabyte of outputs per job; other outputs need room too.
const LARGEST: usize = 500_000;

/// So many mistakes are told at once.
const MISTAKES: usize = 10;

/// What the operator wants of the result: JSON Schema, with an object at its top.
#[derive(Debug, Clone)]
pub struct OutputSchema {
    schema: Arguments,
    validator: Arc<Validator>,
}

impl OutputSchema {
    /// Reads a schema, or says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| format!("it is no JSON (line {}, column {})", error.line(), error.column()))?;
        let validator =
            jsonschema::validator_for(&value).map_err(|error| format!("it is no JSON Schema: {error}"))?;
        match value {
            Value::Object(schema) if schema.get("type").and_then(Value::as_str) == Some("object") => {
                Ok(Self { schema, validator: Arc::new(validator) })
            }
            _ => Err("write a schema with `\"type\": \"object\"` at its top".to_owned()),
        }
    }

    /// Returns the tool as the model is offered it.
    pub(crate) fn offered(&self) -> ToolList {
        let about = "Hands in the result of this run, which later steps of the workflow read. The arguments are the \
                     result. A second call replaces the first.";
        let card = ToolCard { name: TOOL.to_owned(), about: about.to_owned(), takes: self.schema.clone() };
        ToolList { name: SET.to_owned(), tools: vec![card] }
    }

    /// Says what does not fit, in words for the model.
    fn check(&self, result: &Value) -> Result<(), String> {
        let mistake = |error: jsonschema::ValidationError<'_>| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "the result".to_owned() } else { format!("`{place}`") };
            format!("- {place}: {error}")
        };
        let mistakes: Vec<_> = self.validator.iter_errors(result).take(MISTAKES).map(mistake).collect();
        if mistakes.is_empty() {
            return Ok(());
        }
        Err(format!(
            "The result does not fit the schema. Fix this and hand it in again:\n{}",
            mistakes.join("\n")
        ))
    }
}

/// Takes the result of one session.
pub(crate) struct ResultTools {
    schema: OutputSchema,
    redactor: Redactor,
    result: Mutex<Option<String>>,
}

impl ResultTools {
    pub(crate) fn new(schema: &OutputSchema, redactor: &Redactor) -> Self {
        Self { schema: schema.clone(), redactor: redactor.clone(), result: Mutex::new(None) }
    }

    /// Returns the last result that was taken, as one line of JSON.
    pub(crate) fn taken(&self) -> Option<String> {
        self.result.lock().ok()?.clone()
    }

    fn take(&self, arguments: Arguments) -> Result<String, String> {
        let result = Value::Object(arguments);
        self.schema.check(&result)?;
        let line = result.to_string();
        if line.len() > LARGEST {
            return Err(format!("The result has {} bytes, and {LARGEST} are taken at most.", line.len()));
        }
        if self.redactor.clean(&line).as_str() != line {
            return Err("The result holds something that looks like a credential. Leave it out.".to_owned());
        }
        let mut taken = self.result.lock().map_err(|_| "the result cannot be kept".to_owned())?;
        *taken = Some(line);
        Ok("The result was taken.".to_owned())
    }
}

impl Tools for ResultTools {
    fn name(&self) -> &str {
        SET
    }

    fn call(&self, tool: &str, arguments: Arguments) -> BoxFuture<'_, Result<String, String>> {
        let known = tool == TOOL;
        Box::pin(
            async move { if known { self.take(arguments) } else { Err("there is no such tool".to_owned()) } },
        )
    }
}

#[cfg(test)]
mod tests {
    use fro_core::Secret;
    use serde_json::json;

    use super::*;

    const SCHEMA: &str = r#"{ "type": "object", "required": ["severity"], "additionalProperties": false,
        "properties": { "severity": { "enum": ["low", "high"] }, "files": { "type": "array", "items": { "type": "string" } } } }"#;

    fn hand_in(tools: &ResultTools, result: Value) -> String {
        let Value::Object(arguments) = result else { panic!("a result is an object") };
        tools.take(arguments).unwrap_or_else(|why| why)
    }

    #[test]
    fn what_does_not_fit_is_told_and_the_last_one_that_does_counts() {
        let redactor = Redactor::knowing([&Secret::new("planted-secret-0123456789")]);
        let tools = ResultTools::new(&OutputSchema::parse(SCHEMA).unwrap(), &redactor);
        let told = [
            hand_in(&tools, json!({ "severity": "grave", "files": [7], "more": 1 })),
            hand_in(&tools, json!({ "severity": "low", "files": ["planted-secret-0123456789"] })),
            hand_in(&tools, json!({ "severity": "low", "files": ["x".repeat(LARGEST)] })),
        ];
        insta::assert_snapshot!(told.join("\n---\n"));
        assert_eq!(tools.taken(), None);
        hand_in(&tools, json!({ "severity": "low" }));
        assert_eq!(
            hand_in(&tools, json!({ "severity": "high", "files": ["a\nb"] })),
            "The result was taken."
        );
        let taken = tools.taken().unwrap();
        assert!(!taken.contains('\n'), "{taken}");
        let taken: Value = serde_json::from_str(&taken).unwrap();
        assert_eq!(taken, json!({ "severity": "high", "files": ["a\nb"] }));
    }

    #[test]
    fn a_schema_that_cannot_be_one_is_told() {
        let told = |text: &str| OutputSchema::parse(text).unwrap_err();
        let told = [told("{"), told(r#"{"type": "array"}"#), told(r#"{"type": "objekt"}"#), told("[]")];
        insta::assert_snapshot!(told.join("\n"));
    }
}
