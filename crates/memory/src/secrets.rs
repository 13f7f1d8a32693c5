//! Values that must not be in a memory, in every form in which the engine may have written them down.

use std::{borrow::Cow, collections::BTreeSet, ops::Range, path::Path};

use aho_corasick::{AhoCorasick, MatchKind};
use fro_core::{Redactor, Secret};
use rusqlite::{Connection, types::ValueRef};

use crate::{
    database::judge,
    error::Error,
    group::{columns, quoted, tables},
    snapshot::build::each_buffer,
};

const MARK: &[u8] = b"[redacted]";

/// Values shorter than this are too likely to be ordinary words.
const SHORTEST: usize = 8;

/// So much of a token's beginning or end tells it even when the rest was cut off.
const TELLING: usize = 16;

/// What must not be found.
#[derive(Debug)]
pub(crate) struct Secrets {
    needles: Vec<Needle>,
    finder: Option<AhoCorasick>,
    longest: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Needle {
    Whole(Vec<u8>),
    /// The beginning of this token.
    Head(Vec<u8>),
    /// The end of this token.
    Tail(Vec<u8>),
}

impl Needle {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Whole(form) => form,
            Self::Head(token) => &token[..TELLING],
            Self::Tail(token) => &token[token.len() - TELLING..],
        }
    }

    /// Widens a hit to as much of the token as is there.
    fn reach(&self, text: &[u8], hit: Range<usize>) -> Range<usize> {
        match self {
            Self::Whole(_) => hit,
            Self::Head(token) => {
                let same = text[hit.start..].iter().zip(token).take_while(|(left, right)| left == right);
                hit.start..hit.start + same.count()
            }
            Self::Tail(token) => {
                let same = text[..hit.end].iter().rev().zip(token.iter().rev());
                hit.end - same.take_while(|(left, right)| left == right).count()..hit.end
            }
        }
    }
}

impl Secrets {
    /// Learns what must not be kept.
    pub(crate) fn knowing(secrets: &[Secret]) -> Result<Self, Error> {
        let needles: BTreeSet<_> = secrets.iter().flat_map(needles).collect();
        let needles: Vec<_> = needles.into_iter().collect();
        let longest = needles.iter().map(|needle| needle.bytes().len()).max().unwrap_or_default();
        let finder = (!needles.is_empty())
            .then(|| {
                let mut builder = AhoCorasick::builder();
                builder.match_kind(MatchKind::LeftmostLongest).build(needles.iter().map(Needle::bytes))
            })
            .transpose()
            .map_err(std::io::Error::other)?;
        Ok(Self { needles, finder, longest })
    }

    /// Returns the text with a mark in the place of each secret.
    pub(crate) fn without<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        let Some(finder) = &self.finder else { return Cow::Borrowed(text) };
        let mut out = Vec::new();
        let mut done = 0;
        for hit in finder.find_iter(text) {
            let Range { start, end } = self.needles[hit.pattern().as_usize()].reach(text, hit.range());
            if start.max(done) < end {
                out.extend_from_slice(&text[done..start.max(done)]);
                out.extend_from_slice(MARK);
                done = end;
            }
        }
        if done == 0 {
            return Cow::Borrowed(text);
        }
        out.extend_from_slice(&text[done..]);
        Cow::Owned(out)
    }

    /// Replaces every secret in the rows of a database and returns how many values had one.
    pub(crate) fn scrub(&self, connection: &Connection) -> Result<u64, Error> {
        if self.finder.is_none() {
            return Ok(0);
        }
        let fail = judge("take secrets out of the database");
        let mut found = 0;
        for table in tables(connection, "main").map_err(&fail)? {
            found += self.scrub_table(connection, &table).map_err(&fail)?;
        }
        Ok(found)
    }

    fn scrub_table(&self, connection: &Connection, table: &str) -> rusqlite::Result<u64> {
        let columns = columns(connection, "main", table)?;
        let names: Vec<_> = columns.iter().map(|column| quoted(&column.name)).collect();
        let sql = format!("SELECT rowid, {} FROM {}", names.join(", "), quoted(table));
        let mut updates = Vec::new();
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            for (place, name) in (1..).zip(&names) {
                let (ValueRef::Text(text) | ValueRef::Blob(text)) = row.get_ref(place)? else { continue };
                if let Cow::Owned(clean) = self.without(text) {
                    updates.push((name.clone(), row.get::<_, i64>(0)?, clean));
                }
            }
        }
        drop(rows);
        for (name, row, clean) in &updates {
            let sql = format!("UPDATE {} SET {name} = CAST(?1 AS TEXT) WHERE rowid = ?2", quoted(table));
            connection.execute(&sql, rusqlite::params![clean, row])?;
        }
        Ok(updates.len() as u64)
    }

    /// Fails if any byte sequence of a file is a secret, whatever the file is.
    pub(crate) fn refuse_in(&self, path: &Path) -> Result<(), Error> {
        let Some(finder) = &self.finder else { return Ok(()) };
        let mut window = Vec::new();
        each_buffer(path, |buffer| {
            window.extend_from_slice(buffer);
            if finder.is_match(window.as_slice()) {
                return Err(Error::Leak);
            }
            let overlap = window.len().saturating_sub(self.longest);
            window.drain(..overlap);
            Ok(())
        })
    }
}

/// Returns every form of a value: as it is, escaped as in JSON, and as in JSON within JSON.
pub(crate) fn forms(value: &str) -> Vec<String> {
    let mut forms = vec![value.to_owned()];
    for escape in [escaped, escaped_to_ascii] {
        forms.extend([escape(value), escape(&escape(value))]);
    }
    forms
}

/// Returns what tells that a secret is there: its forms, its encodings, its lines, and the ends of a token that was cut.
fn needles(secret: &Secret) -> Vec<Needle> {
    let encoded = Redactor::forms(secret);
    let secret = secret.expose();
    let forms = [forms(secret), encoded].concat();
    let mut needles: Vec<_> = forms
        .into_iter()
        .filter(|form| form.len() >= SHORTEST)
        .map(|form| Needle::Whole(form.into_bytes()))
        .collect();
    let is_token = secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.=+/~:".contains(&byte));
    if is_token && secret.len() >= TELLING + SHORTEST {
        needles.extend([Needle::Head(secret.into()), Needle::Tail(secret.into())]);
    }
    needles
}

fn escaped(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    json[1..json.len() - 1].to_owned()
}

fn escaped_to_ascii(text: &str) -> String {
    let written = |unit: u16| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
        _ => format!("\\u{unit:04x}"),
    };
    escaped(text).encode_utf16().map(written).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "ghp_0123456789abcdefTHESECRET";

    fn clean(secret: &str, text: &str) -> String {
        let secrets = Secrets::knowing(&[Secret::new(secret)]).unwrap();
        String::from_utf8(secrets.without(text.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn every_form_is_replaced() {
        let secret = "pass\"word\\ with\nlines é";
        let once = serde_json::to_string(secret).unwrap();
        let twice = serde_json::to_string(&once).unwrap();
        let ascii = once.replace('é', "\\u00e9");
        for form in [secret, &once, &twice, &ascii] {
            let told = clean(secret, &format!("a {form} b"));
            assert!(told.contains("[redacted]") && !told.contains("word"), "{form} became {told}");
        }
    }

    #[test]
    fn an_encoded_secret_is_replaced() {
        assert_eq!(clean("hunter2 hunter2", "a 68756e746572322068756e74657232 b"), "a [redacted] b");
        assert_eq!(clean("hunter2 hunter2", "a hunter2%20hunter2 b"), "a [redacted] b");
        assert_eq!(clean("hunter2 hunter2", "a aHVudGVyMiBodW50ZXIy b"), "a [redacted] b");
    }

    #[test]
    fn what_is_left_of_a_cut_token_is_replaced_too() {
        assert_eq!(clean(TOKEN, &format!("x{}y", &TOKEN[..20])), "x[redacted]y");
        assert_eq!(clean(TOKEN, &format!("x{}y", &TOKEN[6..])), "x[redacted]y");
        assert_eq!(clean(TOKEN, "ghp_0123456789a is no secret"), "ghp_0123456789a is no secret");
    }

    #[test]
    fn words_and_short_values_stay() {
        assert_eq!(clean("hose", "the hose leaks"), "the hose leaks");
        assert_eq!(clean(TOKEN, "nothing here"), "nothing here");
    }

    #[test]
    fn a_file_with_a_secret_across_two_reads_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let secrets = Secrets::knowing(&[Secret::new(TOKEN)]).unwrap();
        let mut bytes = vec![b'x'; (1 << 20) - 10];
        std::fs::write(file.path(), &bytes).unwrap();
        secrets.refuse_in(file.path()).unwrap();
        bytes.extend_from_slice(TOKEN.as_bytes());
        std::fs::write(file.path(), &bytes).unwrap();
        assert!(matches!(secrets.refuse_in(file.path()), Err(Error::Leak)));
    }
}
