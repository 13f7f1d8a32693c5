//! Looks into a text as it reads: at the strings of JSON, and of JSON within these, each for itself.
//!
//! What looks like a credential is told by the letters around it, and a value with a quote in it could be a piece of JSON
//! itself. Neither can be looked for in text as it is written.

use std::{borrow::Cow, collections::BTreeSet, ops::Range};

use aho_corasick::AhoCorasick;
use fro_core::{Redactor, SHAPE_HINTS};
use serde::de::IgnoredAny;

use super::{Finder, Needle, marked};
use crate::{error::Error, normalize::Normalizer};

/// JSON in strings of JSON is looked into so often: a row has the engine's, which has a tool's, which has a program's.
const DEPTH: u32 = 5;

/// What is looked for in strings.
#[derive(Debug)]
pub(super) struct Strings {
    /// Knows credentials by their shape.
    shapes: Redactor,
    hints: AhoCorasick,
    /// Looks for values with a quote in them, in folded text.
    quoted: Option<Finder>,
}

impl Strings {
    pub(super) fn learn(needles: &BTreeSet<Needle>) -> Result<Self, Error> {
        let quoted: BTreeSet<_> =
            needles.iter().filter_map(Needle::folded).filter(Needle::has_quote).collect();
        Ok(Self {
            shapes: Redactor::knowing([]),
            hints: AhoCorasick::new(SHAPE_HINTS).map_err(std::io::Error::other)?,
            quoted: if quoted.is_empty() { None } else { Some(Finder::compile(quoted)?) },
        })
    }

    /// Returns a text with a mark in the place of what was found; nothing if nothing was.
    pub(super) fn without(&self, text: &[u8]) -> Option<Vec<u8>> {
        self.suspect(text).then(|| self.cleaned(text, DEPTH)).flatten()
    }

    /// Tells whether something would be found.
    pub(super) fn are_unclean(&self, text: &[u8]) -> bool {
        self.without(text).is_some()
    }

    /// Tells whether it is worth while to look closely at a text.
    fn suspect(&self, text: &[u8]) -> bool {
        let has_quoted = |finder: &Finder| finder.automaton.is_match(&Normalizer::normalize(text));
        self.hints.is_match(text) || self.quoted.as_ref().is_some_and(has_quoted)
    }

    fn cleaned(&self, text: &[u8], depth: u32) -> Option<Vec<u8>> {
        match literals(text) {
            Some(literals) if depth > 0 => self.cleaned_json(text, literals, depth),
            Some(_) | None => match marked(text, &self.hits(text)) {
                Cow::Owned(clean) => Some(clean),
                Cow::Borrowed(_) => None,
            },
        }
    }

    /// Cleans the strings of JSON and leaves everything around them as it is written.
    fn cleaned_json(&self, text: &[u8], literals: Vec<Range<usize>>, depth: u32) -> Option<Vec<u8>> {
        let (mut out, mut done) = (Vec::new(), 0);
        for Range { start, end } in literals {
            let Ok(string) = serde_json::from_slice::<String>(&text[start..end]) else { continue };
            let Some(clean) = self.cleaned(string.as_bytes(), depth - 1) else { continue };
            let clean = serde_json::Value::from(String::from_utf8_lossy(&clean).into_owned());
            out.extend_from_slice(&text[done..start]);
            out.extend_from_slice(clean.to_string().as_bytes());
            done = end;
        }
        out.extend_from_slice(&text[done..]);
        (done > 0).then_some(out)
    }

    /// Returns what is to be marked in a text that is no JSON.
    fn hits(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut hits: Vec<Range<usize>> = Vec::new();
        if let Some(quoted) = &self.quoted {
            hits.extend(quoted.broken(text, &Normalizer::normalize(text)));
        }
        // What is left of JSON that was cut has its breaks as two characters, the second of them a letter.
        for text in [Cow::Borrowed(text), without_escapes(text)] {
            let mut start = 0;
            for chunk in text.utf8_chunks() {
                let found = self.shapes.shapes(chunk.valid()).into_iter();
                hits.extend(found.map(|hit| start + hit.start..start + hit.end));
                start += chunk.valid().len() + chunk.invalid().len();
            }
        }
        hits.sort_by_key(|hit| (hit.start, hit.end));
        hits
    }
}

/// Returns a text of the same length with spaces in the place of escaped breaks.
fn without_escapes(text: &[u8]) -> Cow<'_, [u8]> {
    let mut text = Cow::Borrowed(text);
    for at in 1..text.len() {
        if text[at - 1] == b'\\' && b"nrt".contains(&text[at]) {
            text.to_mut()[at - 1..=at].fill(b' ');
        }
    }
    text
}

/// Returns where the strings of JSON stand, with their quotes; nothing if a text is none.
fn literals(text: &[u8]) -> Option<Vec<Range<usize>>> {
    let is_likely = text.trim_ascii_start().first().is_some_and(|byte| b"{[\"".contains(byte));
    if !is_likely || serde_json::from_slice::<IgnoredAny>(text).is_err() {
        return None;
    }
    let (mut found, mut begun, mut at) = (Vec::new(), None, 0);
    while at < text.len() {
        match (text[at], begun) {
            (b'\\', Some(_)) => at += 1,
            (b'"', None) => begun = Some(at),
            (b'"', Some(start)) => {
                found.push(start..at + 1);
                begun = None;
            }
            _ => {}
        }
        at += 1;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use fro_core::Secret;

    use crate::secrets::Secrets;

    const SHAPE: &str = "ghp_0123456789abcdef0123";

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let secrets = Secrets::knowing(&[Secret::new("hall \"and\" loft")]).unwrap();
        assert_eq!(String::from_utf8_lossy(&secrets.without(text.as_bytes())), expected);
    }

    #[test]
    fn a_shape_is_found_in_text_in_json_and_in_what_is_left_of_json() {
        check(&format!("a {SHAPE} b"), "a [redacted] b");
        check(&format!(r#"{{"a":"b\n{SHAPE}\n","n":1.50}}"#), r#"{"a":"b\n[redacted]\n","n":1.50}"#);
        check(&format!(r#"{{"a":"{{\"b\":\"c\\n{SHAPE}\"}}"}}"#), r#"{"a":"{\"b\":\"c\\n[redacted]\"}"}"#);
        check(&format!(r#""a":"b\n{SHAPE}\nc"#), r#""a":"b\n[redacted]\nc"#);
        check("-----BEGIN PRIVATE KEY-----", "[redacted]");
        check(r#"["-----BEGIN PRIVATE KEY-----\nMIIE", "stays"]"#, r#"["[redacted]", "stays"]"#);
        check("a task-list of 2 skates, ghost and eyJust", "a task-list of 2 skates, ghost and eyJust");
    }

    #[test]
    fn a_value_with_quotes_is_found_broken_over_lines_and_json_around_it_stays_sound() {
        check("x hall\n \"and\"\n loft y", "x [redacted] y");
        check(r#"{"a":"x hall\n \"and\"\n loft y"}"#, r#"{"a":"x [redacted] y"}"#);
        check(
            r#"{"a":"{\"b\":\"x hall\\n\\\"and\\\"\\nloft y\"}"}"#,
            r#"{"a":"{\"b\":\"x [redacted] y\"}"}"#,
        );
        check(r#"{"hall":"and","a":" loft"}"#, r#"{"hall":"and","a":" loft"}"#);
        check(r#"["hall ","and"," loft"]"#, r#"["hall ","and"," loft"]"#);
    }
}
