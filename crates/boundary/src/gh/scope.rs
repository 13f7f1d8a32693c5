//! Which repository a query looks at: this one, as far as its own words can tell.
//!
//! An id has to be one that GitHub named in an earlier answer, and what lies beyond the repository is asked for its names
//! only ([`plain`](super::plain)). A thing of this repository can still lead to one of another, such as an issue that
//! mentions it: there the token's own scope is the boundary.

use graphql_parser::query::{self, Definition, Document, Field, OperationDefinition, Selection};
use serde_json::{Map, Value};

use crate::gh::{
    graphql::meant,
    plain::Fragments,
    policy::{Bounds, Refusal},
};

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
    bounds: Bounds<'_>,
) -> Result<(), Refusal> {
    let scope = Scope { bounds, fragments: Fragments(document) };
    for definition in &document.definitions {
        match definition {
            Definition::Operation(OperationDefinition::Query(query)) => {
                let variables = with_defaults(query, variables);
                scope.check_roots(&query.selection_set.items, &variables)?;
            }
            Definition::Operation(OperationDefinition::SelectionSet(set)) => {
                scope.check_roots(&set.items, variables)?;
            }
            Definition::Operation(_) => {}
            Definition::Fragment(fragment) => {
                let below = &fragment.selection_set.items;
                scope.fragments.check_type(Some(&fragment.type_condition), below)?;
                scope.check_below(below)?;
            }
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

/// What is held against a query.
#[derive(Clone, Copy)]
struct Scope<'a, 'b> {
    bounds: Bounds<'a>,
    fragments: Fragments<'a, 'b>,
}

impl Scope<'_, '_> {
    fn check_roots(
        self,
        selections: &[Selection<'_, String>],
        variables: &Map<String, Value>,
    ) -> Result<(), Refusal> {
        for selection in selections {
            let Selection::Field(field) = selection else {
                return Err(Refusal::Unclear("a fragment stands at the root of the query"));
            };
            match field.name.as_str() {
                "repository" if !self.is_this(field, variables) => {
                    return Err(Refusal::Elsewhere("repository".to_owned()));
                }
                "repository" => {}
                "node" | "nodes" => {
                    self.check_ids(field, variables)?;
                    self.fragments.check_node(&field.selection_set.items)?;
                }
                name if ROOTS.contains(&name) => self.fragments.check_field(field)?,
                name => return Err(Refusal::Elsewhere(name.chars().take(100).collect())),
            }
            self.check_below(&field.selection_set.items)?;
        }
        Ok(())
    }

    fn is_this(self, field: &Field<'_, String>, variables: &Map<String, Value>) -> bool {
        let named = |wanted: &str, own: &str| {
            let mut values = field.arguments.iter().filter(|(name, _)| name == wanted);
            let value = values.next().map(|(_, value)| meant(value, variables));
            values.next().is_none()
                && value.as_ref().and_then(Value::as_str).is_some_and(|name| name.eq_ignore_ascii_case(own))
        };
        named("owner", self.bounds.repo.owner()) && named("name", self.bounds.repo.name())
    }

    /// Refuses an id that GitHub has not named.
    fn check_ids(self, field: &Field<'_, String>, variables: &Map<String, Value>) -> Result<(), Refusal> {
        let [(_, value)] = field.arguments.as_slice() else {
            return Err(Refusal::Unclear("an id is asked for without one"));
        };
        let ids = match meant(value, variables) {
            Value::Array(ids) => ids,
            id => vec![id],
        };
        ids.iter().try_for_each(|id| match id.as_str() {
            Some(id) if self.bounds.seen.holds(id) => Ok(()),
            Some(id) => Err(Refusal::Unknown(id.chars().take(100).collect())),
            None => Err(Refusal::Unclear("an id is no text")),
        })
    }

    /// Looks at everything below; how deep that can be is bounded by the reader.
    fn check_below(self, selections: &[Selection<'_, String>]) -> Result<(), Refusal> {
        for selection in selections {
            let below = match selection {
                Selection::Field(field) => {
                    let by_name = ["repository", "organization"].contains(&field.name.as_str())
                        && !field.arguments.is_empty();
                    if by_name || LISTS.contains(&field.name.as_str()) {
                        return Err(Refusal::Elsewhere(field.name.clone()));
                    }
                    self.fragments.check_field(field)?;
                    &field.selection_set.items
                }
                Selection::InlineFragment(fragment) => {
                    let below = &fragment.selection_set.items;
                    self.fragments.check_type(fragment.type_condition.as_ref(), below)?;
                    below
                }
                Selection::FragmentSpread(_) => continue,
            };
            self.check_below(below)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use fro_core::RepoName;
    use graphql_parser::query::parse_query;
    use serde_json::json;

    use crate::gh::seen::Seen;

    use super::*;

    #[track_caller]
    fn check_query(query: &str, expected: &str) {
        let variables = json!({ "o": "Octo", "n": "garden", "other": "cellar" });
        let variables = variables.as_object().unwrap();
        let document = parse_query::<String>(query).unwrap();
        let (repo, seen) = (RepoName::parse("octo/garden").unwrap(), Seen::default());
        seen.learn(&json!({ "id": "I_1", "nodes": [{ "id": "U_1" }] }));
        let decision = check(&document, variables, Bounds { server: "github.com", repo: &repo, seen: &seen });
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
            "query($id: ID! = \"I_1\") { node(id: $id) { id ...F } } fragment F on Issue { comments(first: 9) { nodes { body } } }",
            "{ nodes(ids: [\"I_1\", \"I_1\"]) { __typename ... on PullRequest { commits { totalCount } } } }",
        ] {
            check_query(query, "yes");
        }
    }

    #[test]
    fn what_lies_beyond_is_asked_for_its_names_only() {
        let here = |below: &str| format!("{{ repository(owner: \"octo\", name: \"garden\") {{ {below} }} }}");
        for below in [
            "owner { login ... on User { name } } parent { ...R } } } fragment R on Repository { id owner { login } defaultBranchRef { name",
            "pullRequest(number: 2) { headRepository { name } headRepositoryOwner { id login } assignees(first: 9) { nodes { login } } }",
            "issue(number: 1) { author { login } parent { title repository { nameWithOwner } } }",
            "pullRequest(number: 2) { reviewRequests(first: 9) { nodes { requestedReviewer { ... on Team { slug organization { login } } } } } }",
        ] {
            check_query(&here(below), "yes");
        }
        let refused = |name: &str| format!("`{name}` is not for `gh` here: only this repository is");
        for (below, name) in [
            ("owner { ... on User { issues(first: 9) { nodes { body } } } }", "issues"),
            ("parent { issues(first: 9) { nodes { body } } }", "issues"),
            (
                "issue(number: 1) { author { ... on User { pullRequests(first: 9) { nodes { body } } } } }",
                "pullRequests",
            ),
            (
                "issue(number: 1) { anybody { ... on Organization { membersWithRole { nodes { login } } } } }",
                "membersWithRole",
            ),
            (
                "pullRequest(number: 2) { headRepository { object(expression: \"HEAD:key\") { ... on Blob { text } } } }",
                "object",
            ),
            ("parent { ...R } } } fragment R on Repository { issues(first: 9) { nodes { body }", "issues"),
        ] {
            check_query(&here(below), &refused(name));
        }
        check_query("{ viewer { issues(first: 9) { nodes { body } } } }", &refused("issues"));
        check_query(
            &here("parent { ...A } } } fragment A on Repository { parent { ...A"),
            "the request is not clear: the fragments lead too deep",
        );
    }

    #[test]
    fn an_id_has_to_be_known_and_to_be_a_thing_of_a_repository() {
        let unknown = "`R_9` is no id that GitHub has named in this run";
        check_query("{ node(id: \"R_9\") { ... on Repository { name } } }", unknown);
        check_query("query($ids: [ID!]! = [\"I_1\", \"R_9\"]) { nodes(ids: $ids) { id } }", unknown);
        check_query("{ node { id } }", "the request is not clear: an id is asked for without one");
        for name in ["Repository", "User", "ProjectV2", "Organization"] {
            check_query(
                &format!("{{ node(id: \"U_1\") {{ ... on {name} {{ id }} }} }}"),
                &format!("`{name}` is not for `gh` here: only this repository is"),
            );
        }
        check_query(
            "{ repository(owner: \"octo\", name: \"garden\") { issue(number: 1) { id: body } } }",
            "the request is not clear: something else is called an id",
        );
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
