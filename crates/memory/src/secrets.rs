//! Values that must not be in a memory, in every form in which the engine may have written them down.

mod stored;
mod strings;

use std::{borrow::Cow, collections::BTreeSet, ops::Range, path::Path};

use aho_corasick::{AhoCorasick, MatchKind};
use fro_core::{Redactor, Secret};
use rusqlite::{Connection, types::ValueRef};

use crate::{
    database::judge,
    error::Error,
    normalize::Normalizer,
    schema::{columns, quoted, tables},
    sieve::Sieve,
    snapshot::packer::each_buffer,
};
use strings::Strings;

const MARK: &[u8] = b"[redacted]";

/// Values shorter than this are too likely to be ordinary words.
pub(crate) const SHORTEST: usize = 8;

/// So much of a token's beginning or end tells it even when the rest was cut off.
const TELLING: usize = 16;

/// What must not be found.
#[derive(Debug)]
pub(crate) struct Secrets {
    /// Nothing if no secret is known.
    finders: Option<Finders>,
    /// Looks at the strings of a text one by one.
    strings: Strings,
}

#[derive(Debug)]
struct Finders {
    glance: Glance,
    /// Looks at a text as it is.
    plain: Finder,
    /// Looks at a text without its spaces and line breaks, in which a secret may be broken.
    folded: Finder,
    /// The length of the longest needle.
    longest: usize,
}

/// Tells fast that there is nothing to find, which is so nearly always.
#[derive(Debug)]
struct Glance {
    /// Looks at folded text, in which nearly every needle stands if it stands in the text, folded like it.
    folded: Sieve,
    /// Looks at the text as it is, for needles of which too little is left when they are folded.
    plain: Sieve,
}

#[derive(Debug)]
struct Finder {
    needles: Vec<Needle>,
    automaton: AhoCorasick,
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

    /// Returns what is looked for in folded text.
    fn folded(&self) -> Option<Self> {
        match self {
            Self::Whole(form) => {
                let form = Normalizer::normalize(form);
                (form.len() >= SHORTEST).then_some(Self::Whole(form))
            }
            // A token has nothing in it that could be folded.
            Self::Head(_) | Self::Tail(_) => Some(self.clone()),
        }
    }

    /// Tells whether a needle could be a whole piece of the JSON of a row, which would be none any more without it.
    fn has_quote(&self) -> bool {
        self.bytes().contains(&b'"')
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

impl Finder {
    fn compile(needles: BTreeSet<Needle>) -> Result<Self, Error> {
        let needles: Vec<_> = needles.into_iter().collect();
        let mut builder = AhoCorasick::builder();
        let automaton =
            builder.match_kind(MatchKind::LeftmostLongest).build(needles.iter().map(Needle::bytes));
        Ok(Self { needles, automaton: automaton.map_err(std::io::Error::other)? })
    }

    /// Returns where secrets stand, or what is left of one.
    fn hits(&self, text: &[u8]) -> Vec<Range<usize>> {
        let reach =
            |hit: aho_corasick::Match| self.needles[hit.pattern().as_usize()].reach(text, hit.range());
        self.automaton.find_iter(text).map(reach).collect()
    }

    /// Returns where secrets stand in a text that are broken over lines, or escaped in an unusual way.
    fn broken(&self, text: &[u8], folded: &[u8]) -> Vec<Range<usize>> {
        let origins = Normalizer::origins(text);
        let whole = |hit: Range<usize>| {
            // A backslash that is left without what it escaped would spoil the JSON around it.
            let mut start = origins[hit.start];
            while start > 0 && text[start - 1] == b'\\' {
                start -= 1;
            }
            start..origins[hit.end - 1] + 1
        };
        self.hits(folded).into_iter().map(whole).collect()
    }
}

impl Glance {
    fn learn(needles: &BTreeSet<Needle>) -> Self {
        let (mut folded, mut plain) = (Vec::new(), Vec::new());
        for needle in needles.iter().map(Needle::bytes) {
            match Normalizer::normalize(needle) {
                left if left.len() < SHORTEST => plain.push(needle.to_vec()),
                left => {
                    // A backslash in front of a needle can take its first letter away, and one with a `u` more of them.
                    folded.push(left[1..].to_vec());
                    plain.extend(b"023fd".contains(&left[0].to_ascii_lowercase()).then(|| needle.to_vec()));
                }
            }
        }
        Self { folded: Sieve::learn(folded), plain: Sieve::learn(plain) }
    }

    /// Tells whether it is worth while to look closely at a text.
    fn suspects(&self, text: &[u8], folded: &[u8]) -> bool {
        self.folded.finds_in(folded) || self.plain.finds_in(text)
    }
}

impl Finders {
    fn compile(needles: BTreeSet<Needle>) -> Result<Self, Error> {
        let longest = needles.iter().map(|needle| needle.bytes().len()).max().unwrap_or_default();
        let folded = needles.iter().filter_map(Needle::folded).filter(|needle| !needle.has_quote());
        let folded = Finder::compile(folded.collect())?;
        Ok(Self { glance: Glance::learn(&needles), plain: Finder::compile(needles)?, folded, longest })
    }

    /// Returns a text with a mark in the place of each secret.
    fn without<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        let folded = Normalizer::normalize(text);
        if !self.glance.suspects(text, &folded) {
            return Cow::Borrowed(text);
        }
        // A broken secret goes first, as a whole: of a key that is found line by line the short lines would stay.
        let whole = marked(text, &self.folded.broken(text, &folded));
        let hits = self.plain.hits(&whole);
        if hits.is_empty() { whole } else { marked(&whole, &hits).into_owned().into() }
    }

    /// Fails if a secret stands in a text, whole or broken.
    fn refuse_in(&self, text: &[u8], folded: &[u8]) -> Result<(), Error> {
        let is_found = self.glance.suspects(text, folded)
            && (self.plain.automaton.is_match(text) || self.folded.automaton.is_match(folded));
        if is_found { Err(Error::Leak) } else { Ok(()) }
    }
}

impl Secrets {
    /// Learns what must not be kept.
    pub(crate) fn knowing<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Result<Self, Error> {
        let needles: BTreeSet<_> = secrets.into_iter().flat_map(needles).collect();
        let strings = Strings::learn(&needles)?;
        let finders = if needles.is_empty() { None } else { Some(Finders::compile(needles)?) };
        Ok(Self { finders, strings })
    }

    /// Returns the text with a mark in the place of each secret.
    pub(crate) fn without<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        let clean = self.finders.as_ref().map_or(Cow::Borrowed(text), |finders| finders.without(text));
        match self.strings.without(&clean) {
            Some(cleaner) => Cow::Owned(cleaner),
            None => clean,
        }
    }

    /// Replaces every secret in the rows of a database and returns how many values had one.
    pub(crate) fn scrub(&self, connection: &Connection) -> Result<u64, Error> {
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

    /// Tells whether these bytes have something that would be taken out of them if they were written now.
    pub(crate) fn are_in(&self, bytes: &[u8]) -> bool {
        self.refuse_in_bytes(bytes).is_err() || self.strings.are_unclean(bytes)
    }

    /// Fails if a secret stands in these bytes.
    pub(crate) fn refuse_in_bytes(&self, bytes: &[u8]) -> Result<(), Error> {
        let Some(finders) = &self.finders else { return Ok(()) };
        finders.refuse_in(bytes, &Normalizer::normalize(bytes))
    }

    /// Fails if any byte sequence of a file is a secret, whatever the file is.
    pub(crate) fn refuse_in(&self, path: &Path) -> Result<(), Error> {
        let Some(finders) = &self.finders else { return Ok(()) };
        let (mut plain, mut folded, mut fold) = (Vec::new(), Vec::new(), Normalizer::default());
        each_buffer(path, |buffer| {
            plain.extend_from_slice(buffer);
            fold.add(buffer, &mut folded);
            finders.refuse_in(&plain, &folded)?;
            // What may be the beginning of a secret stays.
            plain.drain(..plain.len().saturating_sub(finders.longest));
            folded.drain(..folded.len().saturating_sub(finders.longest));
            Ok(())
        })
    }
}

/// Puts a mark in the place of each hit.
fn marked<'a>(text: &'a [u8], hits: &[Range<usize>]) -> Cow<'a, [u8]> {
    let mut out = Vec::new();
    let mut done = 0;
    for Range { start, end } in hits {
        let start = done.max(*start);
        if start < *end {
            out.extend_from_slice(&text[done..start]);
            out.extend_from_slice(MARK);
            done = *end;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.extend_from_slice(&text[done..]);
    Cow::Owned(out)
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
    // As a file of two bytes per character reads, and as JSON has it.
    let wide: Vec<u16> = secret.encode_utf16().collect();
    if secret.len() >= SHORTEST {
        needles.push(Needle::Whole(wide.iter().flat_map(|unit| unit.to_le_bytes()).collect()));
        needles.push(Needle::Whole(wide.iter().flat_map(|unit| unit.to_be_bytes()).collect()));
        let spaced: Vec<_> = secret.chars().map(String::from).collect();
        needles.push(Needle::Whole(spaced.join("\\u0000").into_bytes()));
    }
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
    use data_encoding::BASE64;
    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;

    const TOKEN: &str = "ghp_0123456789abcdefTHESECRET";

    fn clean(secret: &str, text: &str) -> String {
        let secrets = Secrets::knowing(&[Secret::new(secret)]).unwrap();
        String::from_utf8(secrets.without(text.as_bytes()).into_owned()).unwrap()
    }

    proptest! {
        /// Letters that mean a break after a backslash, and everything that folding takes away.
        #[test]
        fn a_glance_suspects_whatever_there_is_to_find(
            secret in "[ntr ab\\\\\"]{8,14}",
            before in select(vec!["", "\\", "a\\", "\\\\", "n "]),
            is_broken in any::<bool>(),
            gaps in vec(select(vec!["", "", "", " ", "\n", "\\n", "\\\\n  "]), 60),
            form in any::<prop::sample::Index>(),
        ) {
            let needles: BTreeSet<_> = needles(&Secret::new(secret)).into_iter().collect();
            let needle = needles.iter().nth(form.index(needles.len().max(1))).map(|it| it.bytes().to_vec());
            let finders = Finders::compile(needles).unwrap();
            let mut text = before.as_bytes().to_vec();
            for (byte, gap) in needle.unwrap_or_default().into_iter().zip(gaps.iter().cycle()) {
                text.push(byte);
                text.extend_from_slice(if is_broken { gap.as_bytes() } else { b"" });
            }
            let folded = Normalizer::normalize(&text);
            let has_any = finders.plain.automaton.is_match(&text) || finders.folded.automaton.is_match(&folded);
            prop_assert!(finders.glance.suspects(&text, &folded) || !has_any);
        }
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
    fn a_secret_broken_over_lines_is_replaced() {
        let (head, tail) = TOKEN.split_at(14);
        for broken in [
            format!("{head}\n{tail}"),
            format!("{head}\r\n    {tail}"),
            format!("{head}\\n{tail}"),
            format!("{head}\\\\n  {tail}"),
        ] {
            assert_eq!(clean(TOKEN, &format!("a {broken} b")), "a [redacted] b", "{broken:?}");
        }
        let encoded = BASE64.encode(format!("the secret is {TOKEN}, so").as_bytes());
        let (head, tail) = encoded.split_at(40);
        let told = clean(TOKEN, &format!("{head}\n{tail}"));
        assert!(told.contains("[redacted]") && !told.contains('\n'), "{told}");
    }

    #[test]
    fn a_key_is_found_with_breaks_and_with_what_stands_for_them() {
        let lines =
            ["-----BEGIN PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG", "9w0BAQEF", "-----END PRIVATE KEY-----"];
        for given in [lines.join("\n"), lines.join("\\n"), lines.join("\r\n")] {
            for found in [lines.join("\n"), lines.join("\\n"), lines.join("\\\\n"), lines.join("\n    ")] {
                let told = clean(&given, &format!("{{\"key\": \"{found}\"}}"));
                assert!(!told.contains("9w0BAQEF"), "{given:?} in {found:?} became {told}");
            }
        }
    }

    #[test]
    fn what_is_replaced_leaves_its_surroundings_sound() {
        let secret = "first half\nsecond half";
        for text in [
            "a \\ first half \n\n second half",
            "say: \"first half\n second half\", then",
            "first half\tsecond half",
        ] {
            let json = serde_json::json!({ "text": text, "more": [text] }).to_string();
            for json in [json.clone(), serde_json::to_string_pretty(&json).unwrap()] {
                let told = clean(secret, &json);
                assert!(told.contains("[redacted]") && !told.contains("half"), "{json} became {told}");
                serde_json::from_str::<serde_json::Value>(&told).unwrap();
            }
        }
    }

    #[test]
    fn words_and_short_values_stay() {
        assert_eq!(clean("hose", "the hose leaks"), "the hose leaks");
        assert_eq!(clean(TOKEN, "nothing here"), "nothing here");
        let prose = "the hose\nleaks at the tap, and\\nso on: {\\\"a\\\": \\\\n}";
        assert_eq!(clean("pass phrase", prose), prose);
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

        bytes.truncate((1 << 20) - 10);
        bytes.extend(TOKEN.bytes().flat_map(|byte| [byte, b'\n', b' ']));
        std::fs::write(file.path(), &bytes).unwrap();
        assert!(matches!(secrets.refuse_in(file.path()), Err(Error::Leak)));
    }
}
