//! What a question costs by GitHub's own arithmetic: how many lists it walks, and how many things these could hold.

use async_graphql::{
    Request, Value as Known, Variables,
    parser::types::{ExecutableDocument, Field, OperationDefinition, Selection, SelectionSet},
};
use serde_json::{Value, json};

/// So many things can be asked for at once.
const MOST_NODES: u64 = 500_000;
/// Fragments that spread each other are refused elsewhere; here they end.
const DEEPEST: usize = 40;

/// What a question costs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// How many things it could tell of.
    pub(super) nodes: u64,
    /// How many lists have to be walked for that.
    lists: u64,
    /// The first list that alone could hold too many.
    too_long: Option<(String, u64)>,
}

impl Cost {
    /// Counts; a question that cannot be read costs nothing.
    pub(super) fn count(question: &mut Request) -> Self {
        let (variables, name) = (question.variables.clone(), question.operation_name.clone());
        let Ok(document) = question.parsed_query() else { return Self::default() };
        let meant = document
            .operations
            .iter()
            .find(|(own, _)| name.is_none() || own.map(ToString::to_string) == name);
        let Some((_, operation)) = meant else { return Self::default() };
        let mut walk =
            Walk { document, operation: &operation.node, variables: &variables, cost: Self::default() };
        walk.through(&operation.node.selection_set.node, 1, 0);
        walk.cost
    }

    /// What it takes of an hour's points.
    pub(super) fn points(&self) -> u64 {
        ((self.lists + 50) / 100).max(1)
    }

    /// What is said of a question that could be answered with too much.
    pub(super) fn refusal(&self) -> Option<Value> {
        let beyond =
            |n: u64| format!("{} possible nodes which exceeds the maximum limit of 500,000.", grouped(n));
        let message = match &self.too_long {
            Some((list, n)) => {
                format!(
                    "By the time this query traverses to the {list} connection, it is requesting up to {}",
                    beyond(*n)
                )
            }
            None if self.nodes > MOST_NODES => format!("This query requests up to {}", beyond(self.nodes)),
            None => return None,
        };
        Some(json!({ "errors": [{ "type": "MAX_NODE_LIMIT_EXCEEDED", "message": message }] }))
    }
}

struct Walk<'a> {
    document: &'a ExecutableDocument,
    operation: &'a OperationDefinition,
    variables: &'a Variables,
    cost: Cost,
}

impl Walk<'_> {
    /// Counts what is selected of so many things.
    fn through(&mut self, selected: &SelectionSet, times: u64, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        for selection in &selected.items {
            match &selection.node {
                Selection::Field(field) => {
                    let times = self.list(&field.node, times);
                    self.through(&field.node.selection_set.node, times, depth + 1);
                }
                Selection::InlineFragment(inline) => {
                    self.through(&inline.node.selection_set.node, times, depth + 1);
                }
                Selection::FragmentSpread(spread) => {
                    if let Some(fragment) = self.document.fragments.get(&spread.node.fragment_name.node) {
                        self.through(&fragment.node.selection_set.node, times, depth + 1);
                    }
                }
            }
        }
    }

    /// Counts a field that is a list, so many times; returns how many things are below it.
    fn list(&mut self, field: &Field, times: u64) -> u64 {
        let wanted = ["first", "last"].iter().find_map(|name| self.number(field, name));
        let Some(wanted) = wanted else { return times };
        let nodes = times.saturating_mul(wanted);
        self.cost.lists = self.cost.lists.saturating_add(times);
        self.cost.nodes = self.cost.nodes.saturating_add(nodes);
        if nodes > MOST_NODES && self.cost.too_long.is_none() {
            self.cost.too_long = Some((field.name.node.to_string(), nodes));
        }
        nodes
    }

    /// The number that an argument says, itself or by a variable.
    fn number(&self, field: &Field, argument: &str) -> Option<u64> {
        let value = field.get_argument(argument)?.node.clone();
        let variable = |name| {
            let defaults = self.operation.variable_definitions.iter().map(|definition| &definition.node);
            let mut defaults = defaults.filter(|definition| definition.name.node == name);
            let said = self.variables.get(&name).cloned();
            said.or_else(|| Some(defaults.next()?.default_value.clone()?.node)).ok_or(())
        };
        match value.into_const_with(variable).ok()? {
            Known::Number(number) => number.as_u64(),
            _ => None,
        }
    }
}

/// A number with commas between its thousands.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(query: &str, variables: Value) -> Cost {
        Cost::count(&mut Request::new(query).variables(Variables::from_json(variables)))
    }

    #[test]
    fn githubs_own_examples_cost_what_github_says() {
        let simple = "{ viewer { repositories(first: 50) { edges { repository: node { name
            issues(first: 10) { totalCount edges { node { title bodyHTML } } } } } } } }";
        assert_eq!(cost(simple, json!({})).nodes, 550);
        let points = "query ($n: Int = 50) { viewer { login repositories(first: 100) { edges { node { id
            ...Issues } } } } } fragment Issues on Repository { issues(first: $n) { edges { node { id
            labels(first: 60) { edges { node { id name } } } } } } }";
        assert_eq!(cost(points, json!({})).points(), 51);
        assert_eq!(cost(points, json!({ "n": 1 })).points(), 2);
        assert_eq!(cost("{ viewer { login } }", json!({})).points(), 1);
    }

    #[test]
    fn more_than_half_a_million_things_are_refused() {
        let of =
            |inner: &str| cost(&format!("{{ a(first: 100) {{ b(first: 100) {{ {inner} }} }} }}"), json!({}));
        assert_eq!(of("c(first: 40) { id }").refusal(), None);
        let said = of("c(first: 30) { id } d(first: 30) { id }").refusal().unwrap();
        assert_eq!(
            said["errors"][0]["message"],
            "This query requests up to 610,100 possible nodes which exceeds the maximum limit of 500,000."
        );
        let said = of("c(first: 100) { id }").refusal().unwrap();
        assert_eq!(
            said["errors"][0]["message"],
            "By the time this query traverses to the c connection, it is requesting up to 1,000,000 possible nodes \
             which exceeds the maximum limit of 500,000."
        );
    }
}
