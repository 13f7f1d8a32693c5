//! GraphQL errors as GitHub writes them: the kind stands beside the message, not among the extensions.

use async_graphql::{Context, Error, ErrorExtensions as _, Response};
use serde_json::{Value, json};

use crate::graphql::nullness::Failures;

/// Says that something is not there, or not for this caller: the field is null, and its neighbours stand.
pub(super) fn missing<T>(context: &Context<'_>, message: &str) -> Option<T> {
    let error = of_kind("NOT_FOUND", message).into_server_error(context.item.pos);
    context.add_error(context.set_error_path(error));
    None
}

/// Says that the token is not good for this: the field is null, and its neighbours stand.
pub(super) fn withheld<T>(context: &Context<'_>) -> Option<T> {
    let error = forbidden().into_server_error(context.item.pos);
    context.add_error(context.set_error_path(error));
    None
}

/// The token is good, but not for this.
pub(super) fn forbidden() -> Error {
    of_kind("FORBIDDEN", "Resource not accessible by integration")
}

/// An error of one of GitHub's kinds.
pub(super) fn of_kind(kind: &str, message: &str) -> Error {
    Error::new(message).extend_with(|_, extensions| extensions.set("type", kind))
}

/// Writes a response as GitHub does.
///
/// `variables` are those that the question declares, each with the name of its type.
pub(super) fn as_github_writes_them(
    response: Response,
    failures: &Failures,
    variables: &[(String, String)],
) -> Value {
    let mut answer = serde_json::to_value(response).unwrap_or_default();
    let errors = answer["errors"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let mut errors: Vec<_> = errors.into_iter().map(|error| rewritten(error, variables)).collect();
    // What stands below a field that does not exist is not looked at; and nothing is said twice.
    let lacks_field = errors.iter().any(|error| error["extensions"]["code"] == "undefinedField");
    errors.retain(|error| !lacks_field || error["extensions"]["code"] != "argumentNotAccepted");
    let mut said = Vec::new();
    errors.retain(|error| {
        let new = !error["path"].is_null() || !said.contains(&error["message"]);
        said.push(error["message"].clone());
        new
    });
    failures.write_into(&mut answer["data"]);
    let Some(fields) = answer.as_object_mut() else { return answer };
    // A question that was never asked has no answer, not even an empty one.
    if !errors.is_empty() && errors.iter().all(|error| error["path"].is_null()) {
        fields.remove("data");
    }
    if errors.is_empty() {
        fields.remove("errors");
    } else {
        fields.insert("errors".to_owned(), errors.into());
    }
    answer
}

fn rewritten(mut error: Value, variables: &[(String, String)]) -> Value {
    match error["extensions"]["type"].take() {
        // Only a wrong question fails without a kind, and then the extensions hold a code.
        Value::Null => {
            let words = error["message"].as_str().unwrap_or_default().to_owned();
            let quoted: Vec<_> = words.split('"').skip(1).step_by(2).collect();
            (error["message"], error["extensions"]) = match (words.split('"').next(), quoted.as_slice()) {
                (Some("Unknown field "), [field, kind, ..]) => (
                    format!("Field '{field}' doesn't exist on type '{kind}'").into(),
                    json!({ "code": "undefinedField", "typeName": kind, "fieldName": field }),
                ),
                (Some("Unknown type "), [kind]) if variables.iter().any(|(_, own)| own == kind) => {
                    let variable = variables.iter().find(|(_, own)| own == kind).map(|(name, _)| name.as_str());
                    let variable = variable.unwrap_or_default();
                    (
                        format!("{kind} isn't a defined input type (on ${variable})").into(),
                        json!({ "code": "variableRequiresValidType", "typeName": kind, "variableName": variable }),
                    )
                }
                (Some("Unknown type "), [kind]) => (
                    format!("No such type {kind}, so it can't be a fragment condition").into(),
                    json!({ "code": "undefinedType", "typeName": kind }),
                ),
                (Some("Unknown argument "), [argument, field, kind, ..]) => (
                    format!("Field '{field}' doesn't accept argument '{argument}'").into(),
                    json!({ "code": "argumentNotAccepted", "name": field, "typeName": kind }),
                ),
                (Some("Field "), [field, argument, _]) if words.ends_with("is required but not provided") => (
                    format!("Field '{field}' is missing required arguments: {argument}").into(),
                    json!({ "code": "missingRequiredArguments", "className": "Field", "name": field, "arguments": argument }),
                ),
                (Some("Field "), [field, kind]) if words.ends_with("must have a selection of subfields") => (
                    format!(
                        "Field must have selections (field '{field}' returns {kind} but has no selections. Did you mean \
                         '{field} {{ ... }}'?)"
                    )
                    .into(),
                    json!({ "code": "selectionMismatch", "nodeName": format!("field '{field}'"), "typeName": kind }),
                ),
                (Some("Unknown fragment: "), [name]) => (
                    format!("Fragment {name} was used, but not defined").into(),
                    json!({ "code": "useAndDefineFragment", "fragmentName": name }),
                ),
                (Some("Operation name required in request."), []) => {
                    ("An operation name is required".into(), json!({ "code": "invalidQuery" }))
                }
                _ => (words.clone().into(), json!({ "code": "invalidQuery" })),
            };
        }
        kind => {
            error["type"] = kind;
            if let Some(fields) = error.as_object_mut() {
                fields.remove("extensions");
            }
        }
    }
    error
}
