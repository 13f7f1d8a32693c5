//! The ids that GitHub has named in its answers. Only those may be asked about: whoever knows another one has it from
//! elsewhere, and it may lead there.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use serde_json::Value;

/// The longest answer that is learnt from.
const LONGEST: usize = 8 << 20;

/// The most ids that are kept.
const MOST: usize = 200_000;

/// What has been named so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen(Arc<Mutex<HashSet<String>>>);

impl Seen {
    /// Tells whether an id was named.
    pub(super) fn holds(&self, id: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(id)
    }

    /// Returns what hears one answer out, and learns from it when it has ended, before the client knows that it has.
    ///
    /// Files are answers, too, of another type: what they say is anybody's word.
    pub(super) fn ear(&self, content_type: &str) -> impl FnMut(&Bytes) + Send + 'static {
        let is_json = content_type.split(';').next() == Some("application/json");
        let mut ear = Ear { seen: self.clone(), heard: is_json.then(Vec::new) };
        move |piece| ear.hear(piece)
    }

    /// Takes up every id of an answer.
    pub(super) fn learn(&self, answer: &Value) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rest = vec![answer];
        while let Some(value) = rest.pop() {
            match value {
                Value::Object(fields) => {
                    let ids = ["id", "node_id"].into_iter().filter_map(|name| fields.get(name)?.as_str());
                    let room = MOST.saturating_sub(known.len());
                    known.extend(ids.take(room).map(str::to_owned));
                    rest.extend(fields.values());
                }
                Value::Array(items) => rest.extend(items),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
    }
}

struct Ear {
    seen: Seen,
    /// What was said so far, as long as it is worth listening.
    heard: Option<Vec<u8>>,
}

impl Ear {
    fn hear(&mut self, piece: &Bytes) {
        let fits = |heard: &Vec<u8>| heard.len() + piece.len() <= LONGEST;
        self.heard = self.heard.take().filter(fits);
        if let Some(heard) = &mut self.heard {
            heard.extend_from_slice(piece);
        }
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        if let Some(Ok(answer)) = self.heard.take().map(|heard| serde_json::from_slice::<Value>(&heard)) {
            self.seen.learn(&answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(content_type: &str, pieces: &[&'static str]) -> [bool; 3] {
        let seen = Seen::default();
        let mut ear = seen.ear(content_type);
        for piece in pieces {
            ear(&Bytes::from(*piece));
        }
        assert!(!seen.holds("I_1"), "it has not ended");
        drop(ear);
        ["I_1", "I_2", "I_3"].map(|id| seen.holds(id))
    }

    #[test]
    fn ids_are_learnt_from_an_answer_that_has_ended() {
        let pieces = [r#"{"data": {"id": "I_"#, r#"1", "nodes": [{"node_id": "I_2", "body": "I_3"}]}}"#];
        assert_eq!(after("application/json; charset=utf-8", &pieces), [true, true, false]);
    }

    #[test]
    fn nothing_is_learnt_from_files_and_from_what_is_no_json() {
        let file = [r#"{"id": "I_1"}"#];
        assert_eq!(after("application/vnd.github.raw+json; charset=utf-8", &file), [false; 3]);
        assert_eq!(after("application/json", &[r#"{"id": "I_1""#]), [false; 3]);
    }
}
