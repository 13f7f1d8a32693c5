//! Labels, assignees, closing and reopening, as `gh` asks for them.

use fro_core::sorting::{CloseReason, Sorting};
use serde_json::{Map, Value};

use crate::gh::policy::GhRefusal;

/// Reads such a wish of the REST API from what follows the number of an issue or a pull request.
pub(super) fn of_rest(method: &str, rest: &[&str], body: &[u8]) -> Result<Option<Sorting>, GhRefusal> {
    let fields = || match serde_json::from_slice(body) {
        Ok(Value::Object(fields)) => Ok(fields),
        _ => Err(GhRefusal::Unclear("the body is not an object")),
    };
    Ok(Some(match (method, rest) {
        ("POST", ["labels"]) => Sorting::Label(names(&fields()?, "labels")?),
        ("DELETE", ["labels", name]) => Sorting::Unlabel(vec![name.replace("%20", " ")]),
        ("POST", ["assignees"]) => Sorting::Assign(names(&fields()?, "assignees")?),
        ("DELETE", ["assignees"]) => Sorting::Unassign(names(&fields()?, "assignees")?),
        ("PATCH", []) => state(&fields()?)?,
        _ => return Ok(None),
    }))
}

/// Reads such a mutation, with the name of the field that says what it is about. Labels go by their ids there.
pub(super) fn of_mutation(
    field: &str,
    fields: &Map<String, Value>,
) -> Result<Option<(Sorting, &'static str)>, GhRefusal> {
    let reason = || fields.get("stateReason").and_then(Value::as_str).and_then(CloseReason::from_word);
    Ok(Some(match field {
        "addLabelsToLabelable" => (Sorting::Label(names(fields, "labelIds")?), "labelableId"),
        "removeLabelsFromLabelable" => (Sorting::Unlabel(names(fields, "labelIds")?), "labelableId"),
        "closeIssue" => (Sorting::Close(reason()), "issueId"),
        "closePullRequest" => (Sorting::Close(None), "pullRequestId"),
        "reopenIssue" => (Sorting::Reopen, "issueId"),
        "reopenPullRequest" => (Sorting::Reopen, "pullRequestId"),
        _ => return Ok(None),
    }))
}

/// Takes a change of the state alone: titles and descriptions are people's.
fn state(fields: &Map<String, Value>) -> Result<Sorting, GhRefusal> {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    if fields.keys().any(|name| !["state", "state_reason"].contains(&name.as_str())) {
        return Err(GhRefusal::Unclear("only `state` and `state_reason` can be changed"));
    }
    match text("state") {
        Some("closed") => Ok(Sorting::Close(text("state_reason").and_then(CloseReason::from_word))),
        Some("open") => Ok(Sorting::Reopen),
        _ => Err(GhRefusal::Unclear("`state` is `open` or `closed`")),
    }
}

fn names(fields: &Map<String, Value>, list: &str) -> Result<Vec<String>, GhRefusal> {
    let names = fields.get(list).and_then(Value::as_array);
    let names = names.map(|names| names.iter().map(|name| name.as_str().map(str::to_owned)).collect());
    names.flatten().ok_or(GhRefusal::Unclear("a list of names is missing"))
}
