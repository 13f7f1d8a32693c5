//! A GraphQL request, understood: one query, and forwarded as it was understood rather than as it came.

use std::collections::BTreeSet;

use graphql_parser::query::{self, Definition, Document, OperationDefinition, Selection, parse_query};
use serde_json::{Map, Value, json};

use crate::gh::{
    deed::{Reply, WantedDeed},
    policy::{GhRefusal, GhScope},
    scope,
};

/// The longest document; `gh`'s own have a few kilobytes.
const LONGEST: usize = 64 << 10;

/// The deepest nesting: a parser that calls itself must not be led into the abyss.
const DEEPEST: usize = 40;

/// A question that may be asked.
#[derive(Debug, PartialEq)]
pub(super) struct GraphqlQuestion {
    /// The request's body, written anew.
    pub(super) body: Value,
    /// What it asks for at its root, for the record.
    pub(super) asks: String,
    /// The keys of the answer under which things of elsewhere may stand.
    pub(super) beyond: BTreeSet<String>,
}

/// What a request means.
#[derive(Debug, PartialEq)]
pub(super) enum Meaning {
    /// A query, which only reads.
    Question(GraphqlQuestion),
    /// One of the few mutations that the harness carries out itself.
    Wish(WantedDeed),
}

/// Reads a request and refuses whatever is not exactly one query of this repository, or one mutation that is known.
pub(super) fn read(body: &[u8], bounds: GhScope<'_>) -> Result<Meaning, GhRefusal> {
    let Ok(Value::Object(mut request)) = serde_json::from_slice(body) else {
        return Err(GhRefusal::Unclear("the body is not an object"));
    };
    let (query, variables) = (request.remove("query"), request.remove("variables"));
    request.remove("operationName");
    if !request.is_empty() {
        return Err(GhRefusal::Unclear("the request has unknown parts"));
    }
    let Some(Value::String(query)) = query else { return Err(GhRefusal::Unclear("there is no query")) };
    let variables = match variables {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(variables)) => variables,
        Some(_) => return Err(GhRefusal::Unclear("the variables are not an object")),
    };
    if query.len() > LONGEST || depth(&query) > DEEPEST {
        return Err(GhRefusal::Unclear("the query is too long or too deep"));
    }
    let document =
        parse_query::<String>(&query).map_err(|_| GhRefusal::Unclear("the query cannot be read"))?;
    if let Some(wish) = only_mutation(&document, &variables)? {
        return Ok(Meaning::Wish(wish));
    }
    let asks = only_query(&document)?;
    let beyond = scope::check(&document, &variables, bounds)?;
    let body = json!({ "query": document.to_string(), "variables": variables });
    Ok(Meaning::Question(GraphqlQuestion { body, asks, beyond }))
}

/// Reads a mutation as `gh` and people write it: one field, whose only argument is `input`.
fn only_mutation(
    document: &Document<'_, String>,
    variables: &Map<String, Value>,
) -> Result<Option<WantedDeed>, GhRefusal> {
    let [Definition::Operation(OperationDefinition::Mutation(mutation))] = document.definitions.as_slice()
    else {
        return Ok(None);
    };
    let [Selection::Field(field)] = mutation.selection_set.items.as_slice() else { return Ok(None) };
    let [(argument, input)] = field.arguments.as_slice() else { return Ok(None) };
    if argument != "input" || !field.directives.is_empty() || !mutation.directives.is_empty() {
        return Ok(None);
    }
    let input = meant(input, variables);
    let key = field.alias.as_ref().unwrap_or(&field.name).clone();
    WantedDeed::of_mutation(&field.name, input, Reply::GraphQl(key, wanted(&field.selection_set.items)))
}

/// Returns what a value means once its variables are filled in.
pub(super) fn meant(value: &query::Value<'_, String>, variables: &Map<String, Value>) -> Value {
    match value {
        query::Value::Variable(name) => variables.get(name).cloned().unwrap_or_default(),
        query::Value::Int(number) => Value::from(number.as_i64()),
        query::Value::Float(number) => Value::from(*number),
        query::Value::String(text) | query::Value::Enum(text) => Value::from(text.as_str()),
        query::Value::Boolean(truth) => Value::from(*truth),
        query::Value::Null => Value::Null,
        query::Value::List(items) => items.iter().map(|item| meant(item, variables)).collect(),
        query::Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), meant(field, variables))).collect()
        }
    }
}

/// Returns what a request wants to hear: an object for each field that has fields, and the name of each that has none.
fn wanted(selections: &[Selection<'_, String>]) -> Value {
    let fields = selections.iter().filter_map(|selection| match selection {
        Selection::Field(field) => Some(field),
        Selection::FragmentSpread(_) | Selection::InlineFragment(_) => None,
    });
    let each = fields.map(|field| {
        let key = field.alias.as_ref().unwrap_or(&field.name).clone();
        let below = &field.selection_set.items;
        (key, if below.is_empty() { Value::from(field.name.as_str()) } else { wanted(below) })
    });
    each.collect()
}

/// Returns the root fields of the document's only operation, if that is a query.
fn only_query(document: &Document<'_, String>) -> Result<String, GhRefusal> {
    let mut operations = document.definitions.iter().filter_map(|definition| match definition {
        Definition::Operation(operation) => Some(operation),
        Definition::Fragment(_) => None,
    });
    let (Some(operation), None) = (operations.next(), operations.next()) else {
        return Err(GhRefusal::Unclear("there is not exactly one operation"));
    };
    let (kind, selections) = match operation {
        OperationDefinition::SelectionSet(selections) => ("query", &selections.items),
        OperationDefinition::Query(query) => ("query", &query.selection_set.items),
        OperationDefinition::Mutation(mutation) => ("mutation", &mutation.selection_set.items),
        OperationDefinition::Subscription(subscription) => {
            ("subscription", &subscription.selection_set.items)
        }
    };
    let names: Vec<&str> = selections
        .iter()
        .map(|selection| match selection {
            Selection::Field(field) => field.name.as_str(),
            Selection::FragmentSpread(_) | Selection::InlineFragment(_) => "…",
        })
        .collect();
    let asks = format!("{kind} {{{}}}", names.join(", "));
    match kind {
        "query" => Ok(asks),
        _ => Err(GhRefusal::Write(asks)),
    }
}

/// Counts how deep brackets go; those in texts count too, which errs on the safe side.
fn depth(query: &str) -> usize {
    let mut deepest = 0;
    let mut now: usize = 0;
    for byte in query.bytes() {
        match byte {
            b'{' | b'[' | b'(' => now += 1,
            b'}' | b']' | b')' => now = now.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(now);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use fro_core::RepoName;

    use crate::gh::known_ids::KnownIds;

    use super::*;

    fn understood(body: &str) -> Result<Meaning, GhRefusal> {
        let (repo, known_ids) = (RepoName::parse("octo/garden").unwrap(), KnownIds::default());
        read(body.as_bytes(), GhScope { server: "github.com", repo: &repo, id: None, known_ids: &known_ids })
    }

    #[track_caller]
    fn check(body: &str, expected: &str) {
        let decision = match understood(body) {
            Ok(Meaning::Question(question)) => question.asks,
            Ok(Meaning::Wish(wish)) => format!("{:?} about {:?}", wish.deed, wish.about),
            Err(refusal) => refusal.to_string(),
        };
        assert_eq!(decision, expected);
    }

    fn question(body: &str) -> GraphqlQuestion {
        match understood(body).unwrap() {
            Meaning::Question(question) => question,
            Meaning::Wish(wish) => panic!("{wish:?}"),
        }
    }

    #[test]
    fn the_mutations_of_gh_are_understood() {
        let mutation = |field: &str, input: Value| {
            let query = format!("mutation M($input: X!) {{ {field}(input: $input) {{ clientMutationId }} }}");
            json!({ "query": query, "variables": { "input": input } }).to_string()
        };
        check(
            &mutation("addComment", json!({ "subjectId": "I_1", "body": "Hi" })),
            r#"Say(Object {"body": String("Hi")}) about Node("I_1")"#,
        );
        check(
            &mutation(
                "addPullRequestReview",
                json!({ "pullRequestId": "PR_2", "event": "COMMENT", "body": "Hi" }),
            ),
            r#"Say(Object {"body": String("Hi"), "comments": Array []}) about Node("PR_2")"#,
        );
        check(
            &mutation(
                "addPullRequestReview",
                json!({ "pullRequestId": "PR_2", "event": "APPROVE", "body": "Hi" }),
            ),
            "the verdict `APPROVE` is for people to give; `COMMENT` takes your words",
        );
        check(
            &mutation(
                "createPullRequest",
                json!({ "title": "T", "headRefName": "x", "baseRefName": "main" }),
            ),
            r#"Propose { title: "T", body: "", head: "x" } about Repository"#,
        );
        check(
            &mutation("addDiscussionComment", json!({ "discussionId": "D_3", "body": "Hi" })),
            r#"Say(Object {"body": String("Hi")}) about Node("D_3")"#,
        );
        check(
            &mutation("addComment", json!({ "body": "Hi" })),
            "the request is not clear: a text is missing",
        );
        check(
            &mutation("a: addComment", json!({ "subjectId": "I_1", "body": "Hi" })),
            r#"Say(Object {"body": String("Hi")}) about Node("I_1")"#,
        );
        check(
            &mutation("mergePullRequest", json!({})),
            "`gh` may only read here, and `mutation {mergePullRequest}` writes",
        );
        check(
            &mutation("addComment: mergePullRequest", json!({ "subjectId": "I_1", "body": "Hi" })),
            "`gh` may only read here, and `mutation {mergePullRequest}` writes",
        );
    }

    #[test]
    fn a_mutation_may_spell_its_input_out() {
        let spelled = |input: &str| {
            let query = format!(
                "mutation($id: ID!) {{ addPullRequestReview(input: {input}) {{ clientMutationId }} }}"
            );
            json!({ "query": query, "variables": { "id": "PR_2" } }).to_string()
        };
        check(
            &spelled(
                r#"{ pullRequestId: $id, event: COMMENT, body: "Hi", comments: [{ path: "a", line: 1, body: "b" }] }"#,
            ),
            r#"Say(Object {"body": String("Hi"), "comments": Array [Object {"body": String("b"), "line": Number(1), "path": String("a")}]}) about Node("PR_2")"#,
        );
        check(
            &spelled(r#"{ pullRequestId: $id, event: APPROVE, body: "Hi" }"#),
            "the verdict `APPROVE` is for people to give; `COMMENT` takes your words",
        );
        check(
            &spelled("{ pullRequestId: $id, body: $missing }"),
            "the request is not clear: a text is missing",
        );
    }

    fn query(text: &str) -> String {
        json!({ "query": text }).to_string()
    }

    #[test]
    fn questions_pass_and_are_written_anew() {
        check(&query("{ viewer { login } }"), "query {viewer}");
        let body = r#"{"query": "query A($n: Int = 7) { r: repository(owner: \"octo\", name: \"garden\") { issue(number: $n) { ...F } } } fragment F on Issue { title }", "operationName": "A", "variables": {"n": 1}}"#;
        let question = question(body);
        assert_eq!(question.asks, "query {repository}");
        insta::assert_snapshot!(question.body["query"].as_str().unwrap(), @r#"
        query A($n: Int = 7) {
          r: repository(owner: "octo", name: "garden") {
            issue(number: $n) {
              ...F
            }
          }
        }

        fragment F on Issue {
          title
        }
        "#);
        assert_eq!(question.body["variables"], json!({ "n": 1 }));
    }

    #[test]
    fn writes_are_refused_under_any_name() {
        check(
            &query("mutation { deleteRef(input: {}) { clientMutationId } }"),
            "`gh` may only read here, and `mutation {deleteRef}` writes",
        );
        check(
            &query("mutation { viewer: deleteRef(input: {}) { x } }"),
            "`gh` may only read here, and `mutation {deleteRef}` writes",
        );
        check(
            &query("mutation { ... on Mutation { deleteRef(input: {}) { x } } }"),
            "`gh` may only read here, and `mutation {…}` writes",
        );
        check(
            &query("mutation M { ...F } fragment F on Mutation { deleteRef(input: {}) { x } }"),
            "`gh` may only read here, and `mutation {…}` writes",
        );
        check(&query("subscription { x }"), "`gh` may only read here, and `subscription {x}` writes");
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused_or_written_anew() {
        check(
            &query("query A { viewer { id } } mutation B { b }"),
            "the request is not clear: there is not exactly one operation",
        );
        check(
            r#"{"query": "{ viewer { id } }", "extensions": {"persistedQuery": {}}}"#,
            "the request is not clear: the request has unknown parts",
        );
        check(r#"[{"query": "{ a }"}]"#, "the request is not clear: the body is not an object");
        check(r#"{"query": "mutation { b }", "query": "{ viewer { id } }"}"#, "query {viewer}");
        check(
            r#"{"query": "{ a }", "query": "mutation { b }"}"#,
            "`gh` may only read here, and `mutation {b}` writes",
        );
        check(&query("{ a "), "the request is not clear: the query cannot be read");
        check(&query("type A { a: Int }"), "the request is not clear: the query cannot be read");
        check(
            &query("fragment F on A { a }"),
            "the request is not clear: there is not exactly one operation",
        );
        check(&query(&"{a".repeat(41)), "the request is not clear: the query is too long or too deep");
        check(
            &query(&format!("{{ a }} #{}", "x".repeat(LONGEST))),
            "the request is not clear: the query is too long or too deep",
        );
        check(
            r#"{"query": "{ a }", "variables": []}"#,
            "the request is not clear: the variables are not an object",
        );
    }

    #[test]
    fn strings_keep_their_meaning_when_written_anew() {
        let tricky =
            r#"{ rateLimit(x: "quote \" } mutation { b } \\ \u000a end", y: """block " { """) { c } }"#;
        let once = question(&query(tricky)).body;
        let twice = question(&once.to_string()).body;
        assert_eq!(once, twice);
    }
}
