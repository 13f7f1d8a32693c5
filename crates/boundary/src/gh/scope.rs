//! Which repository a query looks at: this one, by what the schema says of every field on the way ([`schema`]).
//!
//! An id has to be one that GitHub named in an earlier answer, and not beyond the repository: an issue that mentions one
//! of this repository has a title here, and nothing else.

use std::collections::BTreeSet;

use graphql_parser::query::{
    self, Definition, Document, Field, FragmentDefinition, OperationDefinition, Selection, TypeCondition,
};
use serde_json::{Map, Value};

use crate::gh::{
    graphql::meant,
    policy::{GhRefusal, GhScope},
    schema::{self, Leads},
};

/// What everybody may know.
const PUBLIC: [&str; 3] = ["__schema", "__type", "rateLimit"];

/// Fragments can lead into each other, in ever more ways.
const MOST_STEPS: usize = 20_000;

/// They can also lead in circles.
const DEEPEST: usize = 60;

/// Refuses a query that leaves the repository. Returns the keys of its answer under which other things may stand.
pub(super) fn check(
    document: &Document<'_, String>,
    variables: &Map<String, Value>,
    bounds: GhScope<'_>,
) -> Result<BTreeSet<String>, GhRefusal> {
    see_that_names_are_clear(document)?;
    let mut scope = Scope { bounds, document, left: MOST_STEPS, depth: 0, beyond: BTreeSet::new() };
    for definition in &document.definitions {
        match definition {
            Definition::Operation(OperationDefinition::Query(query)) => {
                let variables = with_defaults(query, variables);
                scope.check_roots(&query.selection_set.items, &variables)?;
            }
            Definition::Operation(OperationDefinition::SelectionSet(set)) => {
                scope.check_roots(&set.items, variables)?;
            }
            // Fragments are looked at where they are used.
            Definition::Operation(_) | Definition::Fragment(_) => {}
        }
    }
    Ok(scope.beyond)
}

/// Refuses two fragments or two variables of one name: GitHub might take the other one.
fn see_that_names_are_clear(document: &Document<'_, String>) -> Result<(), GhRefusal> {
    let mut names = BTreeSet::new();
    let are_clear = document.definitions.iter().all(|definition| match definition {
        Definition::Fragment(fragment) => names.insert(("fragment", &fragment.name)),
        Definition::Operation(OperationDefinition::Query(query)) => {
            query.variable_definitions.iter().all(|variable| names.insert(("variable", &variable.name)))
        }
        Definition::Operation(_) => true,
    });
    if are_clear { Ok(()) } else { Err(GhRefusal::Unclear("two things have one name")) }
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
struct Scope<'a, 'b> {
    bounds: GhScope<'a>,
    document: &'a Document<'b, String>,
    left: usize,
    depth: usize,
    beyond: BTreeSet<String>,
}

impl<'a, 'b> Scope<'a, 'b> {
    fn check_roots(
        &mut self,
        selections: &[Selection<'_, String>],
        variables: &Map<String, Value>,
    ) -> Result<(), GhRefusal> {
        for selection in selections {
            let Selection::Field(field) = selection else {
                return Err(GhRefusal::Unclear("a fragment stands at the root of the query"));
            };
            let below = &field.selection_set.items;
            match field.name.as_str() {
                "repository" if self.is_this(field, variables) => {
                    self.walk(below, Leads::Here("Repository"))?;
                }
                "node" | "nodes" => {
                    self.check_ids(field, variables)?;
                    self.walk(below, Leads::Here("Thing"))?;
                }
                "viewer" => self.enter(field, Leads::Beyond)?,
                name if PUBLIC.contains(&name) => {}
                name => return Err(elsewhere(name)),
            }
        }
        Ok(())
    }

    fn is_this(&self, field: &Field<'_, String>, variables: &Map<String, Value>) -> bool {
        let named = |wanted: &str, own: &str| {
            let mut values = field.arguments.iter().filter(|(name, _)| name == wanted);
            let value = values.next().map(|(_, value)| meant(value, variables));
            values.next().is_none()
                && value.as_ref().and_then(Value::as_str).is_some_and(|name| name.eq_ignore_ascii_case(own))
        };
        named("owner", self.bounds.repo.owner()) && named("name", self.bounds.repo.name())
    }

    /// Refuses an id that GitHub has not named.
    fn check_ids(&self, field: &Field<'_, String>, variables: &Map<String, Value>) -> Result<(), GhRefusal> {
        let [(_, value)] = field.arguments.as_slice() else {
            return Err(GhRefusal::Unclear("an id is asked for without one"));
        };
        let ids = match meant(value, variables) {
            Value::Array(ids) => ids,
            id => vec![id],
        };
        ids.iter().try_for_each(|id| match id.as_str() {
            Some(id) if self.bounds.known_ids.holds(id) => Ok(()),
            Some(id) => Err(GhRefusal::Unknown(id.chars().take(100).collect())),
            None => Err(GhRefusal::Unclear("an id is no text")),
        })
    }

    /// Looks at everything that is asked of a thing.
    fn walk(&mut self, selections: &[Selection<'_, String>], at: Leads) -> Result<(), GhRefusal> {
        let left = self.left.checked_sub(selections.len()).filter(|_| self.depth < DEEPEST);
        self.left = left.ok_or(GhRefusal::Unclear("the fragments lead too deep"))?;
        self.depth += 1;
        let looked = self.look(selections, at);
        self.depth -= 1;
        looked
    }

    fn look(&mut self, selections: &[Selection<'_, String>], at: Leads) -> Result<(), GhRefusal> {
        for selection in selections {
            match selection {
                Selection::Field(field) => self.check_field(field, at)?,
                Selection::InlineFragment(fragment) => {
                    let at = match &fragment.type_condition {
                        Some(condition) => taken_for(at, condition)?,
                        None => at,
                    };
                    self.walk(&fragment.selection_set.items, at)?;
                }
                Selection::FragmentSpread(spread) => {
                    let fragment = self.named(&spread.fragment_name)?;
                    self.walk(&fragment.selection_set.items, taken_for(at, &fragment.type_condition)?)?;
                }
            }
        }
        Ok(())
    }

    fn check_field(&mut self, field: &Field<'_, String>, at: Leads) -> Result<(), GhRefusal> {
        let key = field.alias.as_deref().unwrap_or(&field.name);
        if ["id", "node_id"].contains(&key) && field.name != "id" {
            return Err(GhRefusal::Unclear("something else is called an id"));
        }
        if field.selection_set.items.is_empty() {
            return if schema::is_value(at, &field.name) { Ok(()) } else { Err(elsewhere(&field.name)) };
        }
        let leads = schema::field(at, &field.name).ok_or_else(|| elsewhere(&field.name))?;
        if at == Leads::Beyond
            && ["repository", "organization"].contains(&field.name.as_str())
            && !field.arguments.is_empty()
        {
            return Err(elsewhere(&field.name));
        }
        self.enter(field, leads)
    }

    /// Goes into a field, and remembers its key if that is the way out.
    fn enter(&mut self, field: &Field<'_, String>, leads: Leads) -> Result<(), GhRefusal> {
        if leads == Leads::Beyond && !schema::LISTS.contains(&field.name.as_str()) {
            self.beyond.insert(field.alias.as_ref().unwrap_or(&field.name).clone());
        }
        self.walk(&field.selection_set.items, leads)
    }

    fn named(&self, name: &str) -> Result<&'a FragmentDefinition<'b, String>, GhRefusal> {
        let found = self.document.definitions.iter().find_map(|definition| match definition {
            Definition::Fragment(fragment) if fragment.name == name => Some(fragment),
            Definition::Fragment(_) | Definition::Operation(_) => None,
        });
        found.ok_or(GhRefusal::Unclear("a fragment is missing"))
    }
}

fn taken_for(at: Leads, TypeCondition::On(kind): &TypeCondition<'_, String>) -> Result<Leads, GhRefusal> {
    schema::taken_for(at, kind).ok_or_else(|| elsewhere(kind))
}

fn elsewhere(what: &str) -> GhRefusal {
    GhRefusal::Elsewhere(what.chars().take(100).collect())
}

#[cfg(test)]
mod tests {
    use fro_core::RepoName;
    use graphql_parser::query::parse_query;
    use serde_json::json;

    use crate::gh::known_ids::KnownIds;

    use super::*;

    #[track_caller]
    fn check_query(query: &str, expected: &str) {
        let variables = json!({ "o": "Octo", "n": "garden", "other": "cellar" });
        let variables = variables.as_object().unwrap();
        let document = parse_query::<String>(query).unwrap();
        let (repo, known_ids) = (RepoName::parse("octo/garden").unwrap(), KnownIds::default());
        known_ids.learn(&json!({ "id": "I_1", "nodes": [{ "id": "U_1" }] }), &BTreeSet::new());
        let decision = check(
            &document,
            variables,
            GhScope { server: "github.com", repo: &repo, id: None, known_ids: &known_ids },
        );
        assert_eq!(
            decision.map_or_else(|refusal| refusal.to_string(), |_| "yes".to_owned()),
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
                "issue(number: 1) { author { ... on Organization { membersWithRole { nodes { login } } } } }",
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
            &here("parent { ...A } } } fragment A on Repository { parent { ...A ...A"),
            "the request is not clear: the fragments lead too deep",
        );
    }

    #[test]
    fn no_edge_of_the_schema_leads_out_of_the_repository() {
        let here = |below: &str| format!("{{ repository(owner: \"octo\", name: \"garden\") {{ {below} }} }}");
        let timeline =
            |below: &str| format!("issue(number: 1) {{ timelineItems(first: 9) {{ nodes {{ {below} }} }} }}");
        let pull = |below: &str| format!("pullRequest(number: 2) {{ {below} }}");
        for (below, name) in [
            ("stargazers(first: 9) { nodes { repositories(first: 9) { nodes { name } } } }".to_owned(), "stargazers"),
            ("watchers(first: 9) { nodes { repositories(first: 9) { nodes { name } } } }".to_owned(), "repositories"),
            ("watchers(first: 9) { nodes { email } }".to_owned(), "email"),
            ("forks(first: 9) { nodes { object(expression: \"HEAD:key\") { id } } }".to_owned(), "forks"),
            ("projectsV2(first: 9) { nodes { items(first: 9) { nodes { content { ... on Issue { body } } } } } }".to_owned(), "items"),
            ("repositoryTopics(first: 9) { nodes { topic { repositories(first: 9) { nodes { name } } } } }".to_owned(), "repositories"),
            ("vulnerabilityAlerts(first: 9) { nodes { id } }".to_owned(), "vulnerabilityAlerts"),
            ("deployKeys(first: 9) { nodes { key } }".to_owned(), "deployKeys"),
            ("tempCloneToken".to_owned(), "tempCloneToken"),
            ("viewerPossibleCommitEmails".to_owned(), "viewerPossibleCommitEmails"),
            ("mail: viewerDefaultCommitEmail".to_owned(), "viewerDefaultCommitEmail"),
            ("ref(qualifiedName: \"main\") { compare(headRef: \"mole:main\") { commits(first: 9) { nodes { message } } } }".to_owned(), "compare"),
            (timeline("... on TransferredEvent { fromRepository { issues(first: 9) { nodes { body } } } }"), "issues"),
            (timeline("... on ReferencedEvent { commitRepository { object(expression: \"HEAD:key\") { id } } }"), "object"),
            (timeline("... on ReferencedEvent { commit { message } }"), "message"),
            (timeline("... on CrossReferencedEvent { source { ... on Issue { body } } }"), "body"),
            (timeline("... on CrossReferencedEvent { source { ... on Issue { comments(first: 9) { nodes { id } } } } }"), "comments"),
            (timeline("... on User { login }"), "User"),
            (pull("reviewThreads(first: 9) { nodes { resolvedBy { gists(first: 9) { nodes { name } } } } }"), "gists"),
            (pull("suggestedReviewers { reviewer { issues(first: 9) { nodes { body } } } }"), "issues"),
            (pull("closingIssuesReferences(first: 9) { nodes { body } }"), "body"),
            (pull("headRef { target { ... on Commit { tree { entries { name } } } } }"), "tree"),
            (pull("commits(first: 9) { nodes { commit { author { user { email } } } } }"), "email"),
            ("issue(number: 1) { ...F } } } fragment F on User { status { message".to_owned(), "User"),
            ("owner { ... on Organization { repository(name: \"cellar\") { id } } }".to_owned(), "repository"),
        ] {
            check_query(&here(&below), &format!("`{name}` is not for `gh` here: only this repository is"));
        }
    }

    #[test]
    fn keys_of_what_lies_beyond_are_known() {
        let query = "{ repository(owner: \"octo\", name: \"garden\") { issue(number: 1) { id sub: subIssues(first: 9) { nodes { id } } author { login } } } }";
        let document = parse_query::<String>(query).unwrap();
        let (repo, known_ids) = (RepoName::parse("octo/garden").unwrap(), KnownIds::default());
        let bounds = GhScope { server: "github.com", repo: &repo, id: None, known_ids: &known_ids };
        let beyond = check(&document, &Map::new(), bounds).unwrap();
        assert_eq!(beyond.into_iter().collect::<Vec<_>>(), ["author", "sub"]);
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
        for query in [
            "{ repository(owner: \"octo\", name: \"garden\") { ...F } } fragment F on Repository { id } fragment F on Repository { forks { totalCount } }",
            "query($n: String = \"garden\", $n: String = \"cellar\") { repository(owner: \"octo\", name: $n) { id } }",
        ] {
            check_query(query, "the request is not clear: two things have one name");
        }
        check_query(
            "{ ...F } fragment F on Query { viewer { login } }",
            "the request is not clear: a fragment stands at the root of the query",
        );
    }
}
