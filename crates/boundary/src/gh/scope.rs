//! Which repository a query looks at: this one, as far as its own words can tell.
//!
//! What is reached through an id, or through something that belongs to this repository, cannot be told from the words.
//! There the token's own scope is the boundary.

use fro_core::RepoName;
use graphql_parser::query::{self, Definition, Document, Field, OperationDefinition, Selection};
use serde_json::{Map, Value};

use crate::gh::{graphql::meant, policy::Refusal};

/// What may be asked at the root besides the repository.
const ROOTS: [&str; 6] = ["__schema", "__type", "node", "nodes", "rateLimit", "viewer"];

/// What leads from somebody to all that is theirs.
const LISTS: [&str; 6] = [
    "gists",
    "repositories",
    "repositoriesContributedTo",
    "starredRepositories",
    "topRepositories",
    "watching",
];

/// Refuses a query that names another repository, or asks for whatever somebody has.
pub(super) fn check(
    document: &Document<'_, String>,
    variables: &Map<String, Value>,
    repo: &RepoName,
) -> Result<(), Refusal> {
    for definition in &document.definitions {
        match definition {
            Definition::Operation(OperationDefinition::Query(query)) => {
                let variables = with_defaults(query, variables);
                check_roots(&query.selection_set.items, &variables, repo)?;
            }
            Definition::Operation(OperationDefinition::SelectionSet(set)) => {
                check_roots(&set.items, variables, repo)?;
            }
            Definition::Operation(_) => {}
            Definition::Fragment(fragment) => check_below(&fragment.selection_set.items)?,
        }
    }
    Ok(())
}

/// Fills in what the query says for variables that were not given.
fn with_defaults(query: &query::Query<'_, String>, given: &Map<String, Value>) -> Map<String, Value> {
    let defaults = query.variable_definitions.iter().filter_map(|definition| {
        let value = definition.default_value.as_ref()?;
        Some((definition.name.clone(), meant(value, &Map::new())))
    });
    defaults.chain(given.clone()).collect()
}

fn check_roots(
    selections: &[Selection<'_, String>],
    variables: &Map<String, Value>,
    repo: &RepoName,
) -> Result<(), Refusal> {
    for selection in selections {
        let Selection::Field(field) = selection else {
            return Err(Refusal::Unclear("a fragment stands at the root of the query"));
        };
        match field.name.as_str() {
            "repository" if !is_this(field, variables, repo) => {
                return Err(Refusal::Elsewhere("repository".to_owned()));
            }
            "repository" => {}
            name if ROOTS.contains(&name) => {}
            name => return Err(Refusal::Elsewhere(name.chars().take(100).collect())),
        }
        check_below(&field.selection_set.items)?;
    }
    Ok(())
}

fn is_this(field: &Field<'_, String>, variables: &Map<String, Value>, repo: &RepoName) -> bool {
    let named = |wanted: &str, own: &str| {
        let mut values = field.arguments.iter().filter(|(name, _)| name == wanted);
        let value = values.next().map(|(_, value)| meant(value, variables));
        values.next().is_none()
            && value.as_ref().and_then(Value::as_str).is_some_and(|name| name.eq_ignore_ascii_case(own))
    };
    named("owner", repo.owner()) && named("name", repo.name())
}

/// Looks at everything below; how deep that can be is bounded by the reader.
fn check_below(selections: &[Selection<'_, String>]) -> Result<(), Refusal> {
    for selection in selections {
        let below = match selection {
            Selection::Field(field) => {
                let by_name = ["repository", "organization"].contains(&field.name.as_str())
                    && !field.arguments.is_empty();
                if by_name || LISTS.contains(&field.name.as_str()) {
                    return Err(Refusal::Elsewhere(field.name.clone()));
                }
                &field.selection_set.items
            }
            Selection::InlineFragment(fragment) => &fragment.selection_set.items,
            Selection::FragmentSpread(_) => continue,
        };
        check_below(below)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use graphql_parser::query::parse_query;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check_query(query: &str, expected: &str) {
        let variables = json!({ "o": "Octo", "n": "garden", "other": "cellar" });
        let variables = variables.as_object().unwrap();
        let document = parse_query::<String>(query).unwrap();
        let decision = check(&document, variables, &RepoName::parse("octo/garden").unwrap());
        assert_eq!(
            decision.map_or_else(|refusal| refusal.to_string(), |()| "yes".to_owned()),
            expected,
            "{query}"
        );
    }

    #[test]
    fn this_repository_and_ids_may_be_asked_for() {
        for query in [
            r#"{ repository(owner: "octo", name: "garden") { id } }"#,
            "query($o: String!, $n: String!) { r: repository(owner: $o, name: $n) { id } }",
            r#"query($x: String = "garden") { repository(owner: "octo", name: $x) { owner { login } } }"#,
            "{ node(id: \"I_1\") { ... on Issue { repository { name } } } viewer { login } }",
            "{ viewer { organization { login } } __type(name: \"Issue\") { name } rateLimit { cost } }",
        ] {
            check_query(query, "yes");
        }
    }

    #[test]
    fn other_repositories_and_whatever_somebody_has_may_not() {
        let refused = |name: &str| format!("`{name}` is not for `gh` here: only this repository is");
        for (query, name) in [
            (r#"{ repository(owner: "octo", name: "cellar") { id } }"#, "repository"),
            (
                "query($o: String!, $other: String!) { repository(owner: $o, name: $other) { id } }",
                "repository",
            ),
            (
                r#"query($n: String = "garden", $z: String = "cellar") { repository(owner: "octo", name: $z) { id } }"#,
                "repository",
            ),
            (r#"{ repository(owner: "octo", name: "garden", name: "cellar") { id } }"#, "repository"),
            ("{ repository { id } }", "repository"),
            ("{ search(query: \"x\", type: ISSUE) { issueCount } }", "search"),
            ("{ organization(login: \"octo\") { id } }", "organization"),
            ("{ viewer { repositories(first: 9) { nodes { name } } } }", "repositories"),
            ("{ viewer { repository(name: \"cellar\") { id } } }", "repository"),
            ("{ viewer { ... on User { gists { id } } } }", "gists"),
            ("{ viewer { ...F } } fragment F on User { repository(name: \"cellar\") { id } }", "repository"),
        ] {
            check_query(query, &refused(name));
        }
        check_query(
            "{ ...F } fragment F on Query { viewer { login } }",
            "the request is not clear: a fragment stands at the root of the query",
        );
    }
}
