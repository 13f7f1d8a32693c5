//! A JSON text as it was understood: fields in their order and each once, so that what was looked at is what is sent.

use std::{cell::Cell, collections::HashSet, fmt};

use serde::{
    Serialize, Serializer,
    de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor},
    ser::{SerializeMap as _, SerializeSeq as _},
};
use serde_json::Number;

/// The most values of one body: the harness's memory is not for a body of empty lists.
const MOST: usize = 500_000;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Null,
    Truth(bool),
    Number(Number),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a body, unless it names a field twice (of two, the provider might take the other) or has too many values.
    pub(super) fn parse(body: &[u8]) -> Option<Self> {
        let mut json = serde_json::Deserializer::from_slice(body);
        let value = JsonReader { left: &Cell::new(MOST) }.deserialize(&mut json).ok()?;
        json.end().ok()?;
        Some(value)
    }

    /// Returns a field of an object.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(fields) => fields.iter().find_map(|(field, value)| (field == name).then_some(value)),
            _ => None,
        }
    }

    /// Returns a text.
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a number without a fraction.
    pub(super) fn as_count(&self) -> Option<u64> {
        match self {
            Self::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    /// Tells whether it says the same as a value of the operator's.
    pub(super) fn says(&self, value: &serde_json::Value) -> bool {
        serde_json::to_value(self).is_ok_and(|said| said == *value)
    }
}

#[derive(Clone, Copy)]
struct JsonReader<'a> {
    left: &'a Cell<usize>,
}

impl JsonReader<'_> {
    fn count<E: serde::de::Error>(self) -> Result<(), E> {
        let left = self.left.get().checked_sub(1).ok_or_else(|| E::custom("too many values"))?;
        self.left.set(left);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for JsonReader<'_> {
    type Value = Json;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        self.count()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonReader<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Json, E> {
        Ok(Json::Truth(truth))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(Number::from_f64(number).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(Json::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Json, A::Error> {
        let (mut object, mut names) = (Vec::new(), HashSet::new());
        while let Some(name) = fields.next_key::<String>()? {
            if !names.insert(name.clone()) {
                return Err(A::Error::custom("a field twice"));
            }
            object.push((name, fields.next_value_seed(self)?));
        }
        Ok(Json::Object(object))
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Truth(truth) => serializer.serialize_bool(*truth),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(item))?;
                list.end()
            }
            Self::Object(fields) => {
                let mut object = serializer.serialize_map(Some(fields.len()))?;
                fields.iter().try_for_each(|(name, value)| object.serialize_entry(name, value))?;
                object.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(text: &str) -> Option<String> {
        Json::parse(text.as_bytes()).map(|json| serde_json::to_string(&json).unwrap())
    }

    #[test]
    fn a_text_keeps_its_order_and_its_values() {
        let text = r#"{"z":[1,-2,0.5,null,true],"a":{"é\n":"\u0001"}}"#;
        assert_eq!(again(text).as_deref(), Some(text));
    }

    #[test]
    fn what_could_be_read_in_two_ways_or_fills_the_memory_is_not_read() {
        for text in [r#"{"a":1,"a":2}"#, r#"[{"ab":1,"a\u0062":2}]"#, "{} {}", "{", ""] {
            assert_eq!(again(text), None, "{text}");
        }
        let many = |count: usize| format!("[{}1]", "1,".repeat(count));
        assert!(again(&many(MOST - 2)).is_some());
        assert!(again(&many(MOST - 1)).is_none());
        assert!(again(&"[".repeat(200)).is_none());
    }
}
