//! The variables of a question: which it declares, and which of the values that came with it do not fit.

use async_graphql::{
    Request, Value as Known,
    parser::types::{BaseType, Type, VariableDefinition},
};
use serde_json::{Value, json};

/// The variables that a question declares, each with the name of its type.
pub(super) fn declared(question: &mut Request) -> Vec<(String, String)> {
    let bare = |kind: String| kind.replace(['[', ']', '!'], "");
    definitions(question)
        .into_iter()
        .map(|(own, _)| (own.name.node.to_string(), bare(own.var_type.node.to_string())))
        .collect()
}

/// What is said of the first value that does not fit.
pub(super) fn refusal(question: &mut Request) -> Option<Value> {
    let given = question.variables.clone();
    definitions(question).into_iter().find_map(|(own, (line, column))| {
        let (name, kind) = (&own.name.node, &own.var_type.node);
        let value = given.get(name).or(own.default_value.as_ref().map(|value| &value.node));
        let explanation = misfit(kind, value.unwrap_or(&Known::Null))?;
        Some(json!({ "errors": [{
            "message": format!("Variable ${name} of type {kind} was provided invalid value"),
            "locations": [{ "line": line, "column": column }],
            "extensions": {
                "value": value.cloned().and_then(|value| value.into_json().ok()),
                "problems": [{ "path": [], "explanation": explanation }],
            },
        }] }))
    })
}

/// The declarations of the operation that is meant, each with its line and column.
fn definitions(question: &mut Request) -> Vec<(VariableDefinition, (usize, usize))> {
    let name = question.operation_name.clone();
    let Ok(document) = question.parsed_query() else { return Vec::new() };
    let mut operations = document.operations.iter();
    let meant = operations.find(|(own, _)| name.is_none() || own.map(ToString::to_string) == name);
    let Some((_, operation)) = meant else { return Vec::new() };
    let declared = operation.node.variable_definitions.iter();
    declared.map(|own| (own.node.clone(), (own.pos.line, own.pos.column))).collect()
}

/// Why a value is none of a type, if that can be told without knowing the schema.
fn misfit(kind: &Type, value: &Known) -> Option<String> {
    match (&kind.base, value) {
        (_, Known::Null) => (!kind.nullable).then(|| "Expected value to not be null".to_owned()),
        (BaseType::List(inner), Known::List(values)) => values.iter().find_map(|value| misfit(inner, value)),
        (BaseType::List(inner), value) => misfit(inner, value),
        (BaseType::Named(name), value) => {
            let fits = match (name.as_str(), value) {
                ("Int", Known::Number(number)) => number.is_i64() || number.is_u64(),
                ("Int" | "Boolean", Known::String(_))
                | ("Int" | "String", Known::Boolean(_))
                | ("String" | "Boolean", Known::Number(_)) => false,
                _ => true,
            };
            (!fits).then(|| format!("Could not coerce value {value} to {name}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use async_graphql::Variables;

    use super::*;

    fn said(query: &str, variables: Value) -> Option<Value> {
        refusal(&mut Request::new(query).variables(Variables::from_json(variables)))
    }

    #[test]
    fn a_value_that_does_not_fit_is_refused_with_the_reason() {
        let query = "query ($n: Int!, $s: String) { a(n: $n, s: $s) }";
        assert_eq!(said(query, json!({ "n": 1 })), None);
        let error = said(query, json!({})).unwrap()["errors"][0].take();
        assert_eq!(error["message"], "Variable $n of type Int! was provided invalid value");
        assert_eq!(
            error["extensions"],
            json!({ "value": null, "problems": [{ "path": [], "explanation": "Expected value to not be null" }] })
        );
        let error = said(query, json!({ "n": "x" })).unwrap()["errors"][0].take();
        assert_eq!(error["extensions"]["problems"][0]["explanation"], r#"Could not coerce value "x" to Int"#);
        assert_eq!(said("query ($ids: [ID!]! = []) { a(ids: $ids) }", json!({})), None);
    }
}
