//! What is wrong with the file that says who owns which code.

use axum::Json;
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    rest::{address::Query, contents::Of, visit::Visit},
    state::{Repo, Role},
};

/// Where the file can be; the first one counts.
const PLACES: [&str; 3] = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];

/// `GET /repos/{owner}/{repo}/codeowners/errors`
pub(super) async fn errors(visit: Visit, Query(of): Query<Of>) -> Result<Json<Value>, Problem> {
    let bare = visit.open().await?;
    let name = of.name.unwrap_or_else(|| "HEAD".to_owned());
    for path in PLACES {
        if let Ok(text) = bare.text(&["cat-file", "blob", &format!("{name}:{path}")]).await {
            return visit.show(|_, repo| Ok(Json(json!({ "errors": wrong(repo, path, &text) }))));
        }
    }
    Err(Problem::not_found())
}

/// The errors of a file, in its order.
fn wrong(repo: &Repo, path: &str, text: &str) -> Vec<Value> {
    let rules = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let rules = rules.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    rules.flat_map(|(number, line)| of_line(repo, path, (number, line))).collect()
}

fn of_line(repo: &Repo, path: &str, (number, line): (usize, &str)) -> Vec<Value> {
    let error = |word: &str, kind: &str, suggestion: Option<String>| {
        let column = word.as_ptr() as usize - line.as_ptr() as usize + 1;
        let hint = suggestion.as_ref().map(|hint| format!(" {hint}")).unwrap_or_default();
        let arrow = format!("{}^", " ".repeat(column - 1));
        json!({
            "line": number,
            "column": column,
            "kind": kind,
            "source": line,
            "suggestion": suggestion,
            "message": format!("{kind} on line {number}:{hint}\n\n  {line}\n  {arrow}"),
            "path": path,
        })
    };
    let rule = line.split(" #").next().unwrap_or_default();
    let mut words = rule.split_whitespace();
    let Some(pattern) = words.next() else { return Vec::new() };
    if pattern.contains("***") {
        let hint = format!("Did you mean `{}`?", pattern.replace("***", "**"));
        return vec![error(pattern, "Invalid pattern", Some(hint))];
    }
    words.filter_map(|owner| owner_trouble(repo, owner).map(|kind| error(owner, kind, None))).collect()
}

/// What is wrong with an owner: who may not push owns nothing. Teams are not known here.
fn owner_trouble(repo: &Repo, owner: &str) -> Option<&'static str> {
    match owner.strip_prefix('@') {
        Some(login) if repo.role(login).is_some_and(|role| role >= Role::Write) => None,
        Some(_) => Some("Unknown owner"),
        None => {
            let email =
                owner.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
            (!email).then_some("Invalid owner")
        }
    }
}
