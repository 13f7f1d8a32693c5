//! GraphQL errors as GitHub writes them: the kind stands beside the message, not among the extensions.

use async_graphql::{Context, Error, ErrorExtensions as _, Response};
use serde_json::{Value, json};

/// Says that something is not there, or not for this caller: the field is null, and its neighbours stand.
pub(super) fn missing<T>(context: &Context<'_>, message: &str) -> Option<T> {
    let error = of_kind("NOT_FOUND", message).into_server_error(context.item.pos);
    context.add_error(context.set_error_path(error));
    None
}

/// An error of one of GitHub's kinds.
pub(super) fn of_kind(kind: &str, message: &str) -> Error {
    Error::new(message).extend_with(|_, extensions| extensions.set("type", kind))
}

/// Writes a response as GitHub does.
pub(super) fn as_github_writes_them(response: Response) -> Value {
    let mut answer = serde_json::to_value(response).unwrap_or_default();
    let errors = answer["errors"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let errors: Vec<_> = errors.into_iter().map(rewritten).collect();
    let Some(fields) = answer.as_object_mut() else { return answer };
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
            let unknown = error["message"].as_str().is_some_and(|text| text.starts_with("Unknown field"));
            error["extensions"] = json!({ "code": if unknown { "undefinedField" } else { "invalidQuery" } });
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
