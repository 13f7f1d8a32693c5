//! The only way out for text: everything that leaves passes the redactor and becomes `Clean`.
//!
//! Secrets are looked for by value in every form that an agent might print them in (plain, base64 at any
//! offset, hex, URL- and JSON-escaped), also when broken over lines or strewn with invisible characters,
//! and by shape for credentials nobody told us about.

use std::{
    fmt::{self, Write as _},
    ops::Range,
};

use aho_corasick::AhoCorasick;
use data_encoding::{BASE64, BASE64URL, HEXLOWER, HEXUPPER};
use regex::Regex;

use crate::secret::Secret;

const MARK: &str = "[redacted]";

/// Values shorter than this are too likely to be ordinary words.
const SHORTEST: usize = 8;

/// Credentials known by their shape.
const SHAPES: &str = r"(?x)
      \bgh[pousr]_[A-Za-z0-9]{20,}
    | \bgithub_pat_[A-Za-z0-9_]{20,}
    | \bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{20,}
    | \bAKIA[0-9A-Z]{16}\b
    | \bAIza[A-Za-z0-9_-]{30,}
    | \bxox[abposr]-[A-Za-z0-9-]{10,}
    | \bgsk_[A-Za-z0-9]{20,}
    | \beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}
    | -----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----(?:[\s\S]*?-----END\ [A-Z\ ]*PRIVATE\ KEY-----|[\s\S]*)
";

/// Text without a secret in it.
#[derive(Clone, PartialEq, Eq)]
pub struct Clean {
    text: String,
    found: usize,
}

impl Clean {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns how many secrets were taken out.
    pub fn found(&self) -> usize {
        self.found
    }
}

impl fmt::Display for Clean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Clean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Knows what must not leave.
#[derive(Debug, Clone)]
pub struct Redactor {
    needles: AhoCorasick,
    /// Which of the needles are an encoding, whose edges mix with what stands beside the secret.
    encoded: Vec<bool>,
    shapes: Regex,
}

impl Redactor {
    /// Learns the secrets of this run.
    pub fn knowing<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let forms = secrets.into_iter().flat_map(|secret| forms(secret.expose()));
        let forms = forms.map(|form| Form { text: squeeze(&form.text).text, ..form });
        let (needles, encoded): (Vec<String>, Vec<bool>) =
            forms.filter(|form| form.text.len() >= SHORTEST).map(|form| (form.text, form.encoded)).unzip();
        #[expect(
            clippy::expect_used,
            reason = "a list of literal needles of a few hundred bytes each always builds"
        )]
        let needles = AhoCorasick::builder()
            .match_kind(aho_corasick::MatchKind::LeftmostLongest)
            .build(needles)
            .expect("literal needles build");
        #[expect(clippy::expect_used, reason = "the pattern is a constant that the tests compile")]
        let shapes = Regex::new(SHAPES).expect("the constant pattern compiles");
        Self { needles, encoded, shapes }
    }

    /// Returns the ways in which a secret may be written down on one line.
    pub fn forms(secret: &Secret) -> Vec<String> {
        forms(secret.expose()).into_iter().map(|form| form.text).collect()
    }

    /// Takes every secret out of a text.
    pub fn clean(&self, text: &str) -> Clean {
        let squeezed = squeeze(text);
        let by_value = self.needles.find_iter(&squeezed.text).map(|hit| {
            let found = squeezed.origin(hit.start(), hit.end());
            if self.encoded[hit.pattern().as_usize()] { whole_word(text, found) } else { found }
        });
        let by_shape = self.shapes.find_iter(text).map(|hit| hit.range());
        let mut hits: Vec<Range<usize>> = by_value.chain(by_shape).collect();
        hits.sort_by_key(|hit| (hit.start, hit.end));
        replace(text, &hits)
    }
}

/// Widens a find in base64 to the whole run of its alphabet: the letters at the edges hold bits of the secret.
fn whole_word(text: &str, found: Range<usize>) -> Range<usize> {
    let outside = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_' | '='));
    let start = text[..found.start]
        .rfind(outside)
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let end = text[found.end..].find(outside).map_or(text.len(), |at| found.end + at);
    start..end
}

fn replace(text: &str, hits: &[Range<usize>]) -> Clean {
    let mut out = String::with_capacity(text.len());
    let (mut done, mut found) = (0, 0);
    for hit in hits {
        if hit.start >= done {
            out.push_str(&text[done..hit.start]);
            out.push_str(MARK);
            found += 1;
        }
        done = done.max(hit.end);
    }
    out.push_str(&text[done..]);
    Clean { text: out, found }
}

/// A way in which a secret may be written down.
struct Form {
    text: String,
    encoded: bool,
}

/// Returns every way in which a secret may be written down.
fn forms(secret: &str) -> Vec<Form> {
    let bytes = secret.as_bytes();
    if bytes.len() < SHORTEST {
        return Vec::new();
    }
    let json = |text: &str| serde_json::Value::from(text).to_string().trim_matches('"').to_owned();
    let once = json(secret);
    let twice = json(&once);
    let mut plain =
        vec![secret.to_owned(), once, twice, url(bytes), HEXLOWER.encode(bytes), HEXUPPER.encode(bytes)];
    // A secret with several lines, like a key file, is a secret line by line too.
    plain.extend(secret.lines().filter(|line| line.len() >= 2 * SHORTEST).map(str::to_owned));
    let encoded =
        (0..3).flat_map(|offset| [base64(&BASE64, bytes, offset), base64(&BASE64URL, bytes, offset)]);
    let plain = plain.into_iter().map(|text| Form { text, encoded: false });
    plain.chain(encoded.map(|text| Form { text, encoded: true })).collect()
}

/// Returns the part of the base64 text that is the same whatever stands before and after the secret.
fn base64(encoding: &data_encoding::Encoding, secret: &[u8], offset: usize) -> String {
    let mut padded = vec![0; offset];
    padded.extend_from_slice(secret);
    let text = encoding.encode(&padded);
    let start = (offset * 8).div_ceil(6);
    let end = padded.len() * 8 / 6;
    text.get(start..end).unwrap_or_default().to_owned()
}

fn url(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            text.push(char::from(*byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// A text without the characters that do not show, and where each byte of it came from.
struct Squeezed {
    text: String,
    origins: Vec<usize>,
}

impl Squeezed {
    fn origin(&self, start: usize, end: usize) -> Range<usize> {
        self.origins[start]..self.origins[end - 1] + 1
    }
}

fn squeeze(text: &str) -> Squeezed {
    let mut squeezed =
        Squeezed { text: String::with_capacity(text.len()), origins: Vec::with_capacity(text.len()) };
    for (at, c) in text.char_indices().filter(|(_, c)| !is_filler(*c)) {
        squeezed.text.push(c);
        squeezed.origins.extend(at..at + c.len_utf8());
    }
    squeezed
}

/// Tells whether a character can be strewn into a secret without anyone seeing it.
fn is_filler(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOKEN: &str = "tok/en+with \"quotes\" and é";

    fn check(text: &str, expect: &str) {
        let redactor = Redactor::knowing([&Secret::new(TOKEN)]);
        assert_eq!(redactor.clean(text).as_str(), expect);
    }

    #[test]
    fn a_secret_is_found_in_every_form() {
        let bytes = TOKEN.as_bytes();
        let json = serde_json::to_string(TOKEN).unwrap();
        check(&format!("a {TOKEN} b"), "a [redacted] b");
        check(&format!("a {json} b"), "a \"[redacted]\" b");
        check(&format!("a {} b", serde_json::to_string(&json).unwrap()), "a \"\\\"[redacted]\\\"\" b");
        check(&format!("a {} b", HEXLOWER.encode(bytes)), "a [redacted] b");
        check(&format!("a {} b", HEXUPPER.encode(bytes)), "a [redacted] b");
        check(&format!("a {} b", url(bytes)), "a [redacted] b");
    }

    #[test]
    fn nothing_of_an_encoded_secret_is_left_at_its_edges() {
        let text = BASE64.encode(format!("x{TOKEN}").as_bytes());
        check(&format!("a «{text}» b"), "a «[redacted]» b");
    }

    #[test]
    fn a_secret_broken_over_lines_is_found() {
        let (head, tail) = TOKEN.split_at(9);
        check(&format!("a {head}\n   {tail} b"), "a [redacted] b");
        check(&format!("a {head}\u{200b}{tail} b"), "a [redacted] b");
    }

    #[test]
    fn shapes_are_found_without_being_told() {
        check(&format!("key ghp_{}!", "a1".repeat(18)), "key [redacted]!");
        check(&format!("key sk-ant-{}", "a1".repeat(15)), "key [redacted]");
        check("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "[redacted]");
        check("ordinary words stay: skate, ghost, AKIAH", "ordinary words stay: skate, ghost, AKIAH");
    }

    #[test]
    fn short_values_are_left_alone() {
        let redactor = Redactor::knowing([&Secret::new("true")]);
        assert_eq!(redactor.clean("it is true").found(), 0);
    }

    proptest! {
        #[test]
        fn no_form_survives_in_any_surroundings(secret in "[!-~]{8,40}", before in "[a-z]{0,4}", after in ".{0,4}") {
            let redactor = Redactor::knowing([&Secret::new(&secret)]);
            let inner = BASE64.encode(format!("{before}{secret}{after}").as_bytes());
            prop_assert_eq!(redactor.clean(&inner).found(), 1);
            let plain = redactor.clean(&format!("{before} {secret} {after}"));
            prop_assert!(!plain.as_str().contains(&secret));
        }
    }
}
