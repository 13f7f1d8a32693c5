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
pub(super) fn as_github_writes_them(response: Response, failures: &Failures) -> Value {
    let mut answer = serde_json::to_value(response).unwrap_or_default();
    let errors = answer["errors"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let errors: Vec<_> = errors.into_iter().map(rewritten).collect();
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

fn rewritten(mut error: Value) -> Value {
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
