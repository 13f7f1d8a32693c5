//! The ids that GitHub has named in its answers. Only those may be asked about: whoever knows another one has it from
//! elsewhere, and it may lead there.

use std::{
    collections::{BTreeSet, HashSet},
    sync::{Mutex, PoisonError},
};

use serde_json::Value;

/// The most ids that are kept.
const MOST: usize = 200_000;

/// What has been named so far.
#[derive(Debug, Default)]
pub(super) struct KnownIds(Mutex<HashSet<String>>);

impl KnownIds {
    /// Tells whether an id was named.
    pub(super) fn holds(&self, id: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(id)
    }

    /// Takes up every id of an answer, but for those under keys where things of elsewhere may stand.
    pub(super) fn learn(&self, answer: &Value, beyond: &BTreeSet<String>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rest = vec![answer];
        while let Some(value) = rest.pop() {
            match value {
                Value::Object(fields) => {
                    let ids = ["id", "node_id"].into_iter().filter_map(|name| fields.get(name)?.as_str());
                    let room = MOST.saturating_sub(known.len());
                    known.extend(ids.take(room).map(str::to_owned));
                    rest.extend(
                        fields.iter().filter(|(key, _)| !beyond.contains(*key)).map(|(_, value)| value),
                    );
                }
                Value::Array(items) => rest.extend(items),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
    }

    /// Takes up the ids of what an answer of the REST API is about, and of nothing that it mentions.
    pub(super) fn learn_things(&self, answer: &Value) {
        let things = match answer {
            Value::Array(items) => items.as_slice(),
            thing => std::slice::from_ref(thing),
        };
        let ids = things.iter().filter_map(|thing| thing.get("node_id")?.as_str());
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MOST.saturating_sub(known.len());
        known.extend(ids.take(room).map(str::to_owned));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_are_learnt_but_for_those_of_elsewhere() {
        let known_ids = KnownIds::default();
        let answer = json!({ "data": { "id": "I_1", "nodes": [{ "node_id": "I_2", "body": "I_3" }], "sub": { "nodes": [{ "id": "I_4" }] } } });
        known_ids.learn(&answer, &BTreeSet::from(["sub".to_owned()]));
        known_ids.learn_things(&json!([{ "node_id": "I_5", "user": { "node_id": "U_1" } }]));
        let known = ["I_1", "I_2", "I_3", "I_4", "I_5", "U_1"].map(|id| known_ids.holds(id));
        assert_eq!(known, [true, true, false, false, true, false]);
    }
}
