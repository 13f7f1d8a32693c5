//! What a request to a provider may be made of, and the sieve that a request goes through.
//!
//! A provider does more than speak: it fetches pictures, searches the web, runs code, calls other servers and reads
//! what it has stored, wherever a request says so. So a request consists of what is on a list, one for each dialect.
//! A *field* that is not on the list is left out, and named once in the log: an engine that sends a new one still works.
//! A *kind* of thing that is not on it (of a tool, of a part of a message) is refused by its name, and so are fields
//! that are known to lead away: without them the request would mean something else.

use std::collections::BTreeSet;

use crate::models::{json::Json, request::ModelRefusal};

/// What may stand in a place.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// Whatever it is, no provider acts on it: words, numbers, a schema.
    Free,
    /// A schema, which refers to nothing but its own parts: a provider that follows an address would fetch it.
    Schema,
    /// Nothing: it is known to lead away.
    Never,
    /// One of these words.
    Word(&'static [&'static str]),
    /// `true` or `false`, whichever is named here.
    Only(bool),
    /// A file inside the request, as a `data:` address.
    Inline,
    /// The same, or what this says.
    InlineOr(&'static Shape),
    /// A file inside the request, in base64.
    Base64,
    /// Some of these.
    Each(&'static Shape),
    /// A text, or what this says.
    TextOr(&'static Shape),
    /// An object of these fields; others are left out.
    Fields(Fields),
    /// An object of these fields; others are refused.
    Exactly(Fields),
    /// An object whose `type` says what it is made of. One without a `type` is of the first kind.
    Kinds(&'static [(&'static str, Fields)]),
}

/// Fields and what may stand in them.
pub(super) type Fields = &'static [(&'static str, &'static Shape)];

/// What was found on the way.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SiftResult {
    /// The fields that were left out.
    pub(super) left_out: BTreeSet<String>,
    /// How many bytes the request has, pictures aside.
    pub(super) text: usize,
    /// How many pictures it has.
    pub(super) pictures: usize,
}

impl SiftResult {
    /// Takes out of a body what is not of a shape. A field of the body itself passes as the operator wrote it, too.
    pub(super) fn body(
        &mut self,
        body: &mut Json,
        fields: Fields,
        operator: impl Fn(&str, &Json) -> bool,
    ) -> Result<(), ModelRefusal> {
        let Json::Object(given) = body else { return Err(ModelRefusal::Body) };
        let (wanted, mut rest): (Vec<_>, Vec<_>) =
            std::mem::take(given).into_iter().partition(|(name, value)| operator(name, value));
        self.fields(&mut rest, fields, "", false)?;
        given.extend(wanted.into_iter().chain(rest));
        Ok(())
    }

    fn value(&mut self, value: &mut Json, shape: &Shape, place: &str) -> Result<(), ModelRefusal> {
        match (shape, value) {
            (Shape::Never, _) => Err(ModelRefusal::Part(place.to_owned())),
            (_, Json::Null) => Ok(()),
            (Shape::Free, value) => {
                self.weigh(value);
                Ok(())
            }
            (Shape::Schema, value) => {
                self.weigh(value);
                if leads_away(value) { Err(ModelRefusal::part(place, "$ref")) } else { Ok(()) }
            }
            (Shape::Word(words), Json::Text(word)) if words.contains(&word.as_str()) => Ok(()),
            (Shape::Only(truth), Json::Truth(given)) if given == truth => Ok(()),
            (Shape::InlineOr(other), value @ Json::Object(_)) => self.value(value, other, place),
            (Shape::Inline | Shape::InlineOr(_), Json::Text(address)) if address.starts_with("data:") => {
                self.weigh_file(address.split_once(";base64,").map_or(address, |(_, data)| data));
                Ok(())
            }
            (Shape::Inline | Shape::InlineOr(_), _) => Err(ModelRefusal::Remote(place.to_owned())),
            (Shape::Base64, Json::Text(data)) => {
                self.weigh_file(data);
                Ok(())
            }
            (Shape::Each(item), Json::List(items)) => {
                items.iter_mut().try_for_each(|value| self.value(value, item, place))
            }
            (Shape::TextOr(_), Json::Text(text)) => {
                self.text += text.len();
                Ok(())
            }
            (Shape::TextOr(other), value) => self.value(value, other, place),
            (Shape::Fields(fields), Json::Object(given)) => self.fields(given, fields, place, false),
            (Shape::Exactly(fields), Json::Object(given)) => self.fields(given, fields, place, true),
            (Shape::Kinds(kinds), value @ Json::Object(_)) => self.kind(value, kinds, place),
            (Shape::Word(_), Json::Text(word)) => Err(ModelRefusal::part(place, word)),
            _ => Err(ModelRefusal::Part(place.to_owned())),
        }
    }

    fn kind(
        &mut self,
        value: &mut Json,
        kinds: &[(&'static str, Fields)],
        place: &str,
    ) -> Result<(), ModelRefusal> {
        let kind = match value.get("type") {
            None => kinds.first(),
            Some(Json::Text(word)) => kinds.iter().find(|(kind, _)| kind == word),
            Some(_) => None,
        };
        let Some((_, fields)) = kind else {
            let word = value.get("type").and_then(Json::as_text).unwrap_or("?");
            return Err(ModelRefusal::part(&format!("{place}.type"), word));
        };
        match value {
            Json::Object(given) => self.fields(given, fields, place, false),
            _ => Ok(()),
        }
    }

    fn fields(
        &mut self,
        given: &mut Vec<(String, Json)>,
        fields: Fields,
        place: &str,
        exactly: bool,
    ) -> Result<(), ModelRefusal> {
        let mut kept = Vec::with_capacity(given.len());
        for (name, mut value) in std::mem::take(given) {
            let known = fields.iter().find(|(field, _)| *field == name);
            let shape = known.map(|(_, shape)| *shape).or((name == "type").then_some(&Shape::Free));
            match shape {
                Some(shape) => {
                    let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                    self.value(&mut value, shape, &place)?;
                    kept.push((name, value));
                }
                None if exactly => return Err(ModelRefusal::part(place, &name)),
                None => drop(self.left_out.insert(name.chars().take(50).collect())),
            }
        }
        *given = kept;
        Ok(())
    }

    fn weigh(&mut self, value: &Json) {
        match value {
            Json::Null | Json::Truth(_) | Json::Number(_) => self.text += 4,
            Json::Text(text) => self.text += text.len(),
            Json::List(items) => items.iter().for_each(|item| self.weigh(item)),
            Json::Object(fields) => fields.iter().for_each(|(name, value)| {
                self.text += name.len();
                self.weigh(value);
            }),
        }
    }

    /// A picture takes what pictures take, however large it is; a document or a video takes by its size.
    fn weigh_file(&mut self, data: &str) {
        if is_picture(data) {
            self.pictures += 1;
        } else {
            self.text += data.len();
        }
    }
}

/// Tells a picture by how it begins, whatever is said about it: PNG, JPEG, GIF or WebP in base64.
fn is_picture(data: &str) -> bool {
    let is_webp = data.starts_with("UklGR") && data.get(12..16) == Some("RUJQ");
    is_webp || ["iVBORw0KGgo", "/9j/", "R0lGOD"].iter().any(|beginning| data.starts_with(beginning))
}

/// Names of what refers to a schema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Tells whether something in a schema refers to what is not in it.
fn leads_away(value: &Json) -> bool {
    match value {
        Json::Null | Json::Truth(_) | Json::Number(_) | Json::Text(_) => false,
        Json::List(items) => items.iter().any(leads_away),
        Json::Object(fields) => fields.iter().any(|(name, value)| match value {
            Json::Text(place) => REFERENCES.contains(&name.as_str()) && !place.starts_with('#'),
            other => leads_away(other),
        }),
    }
}
