//! The only way out for text: everything that leaves passes the redactor and becomes `Clean`.
//!
//! Secrets are looked for by value in every form that an agent might print them in (plain, base64 at any
//! offset, hex, URL- and JSON-escaped), also when broken over lines or strewn with invisible characters,
//! by their letters and digits alone, however these are written, spread or wrapped up (`skeleton`, `wrapped`), and by
//! shape for credentials nobody told us about.

mod counted;
mod skeleton;
mod wrapped;

use std::{fmt, ops::Range, sync::LazyLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use data_encoding::{BASE64, BASE64URL, HEXLOWER, HEXUPPER};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use regex::Regex;

use crate::secret::Secret;
use skeleton::Skeletons;

const MARK: &str = "[redacted]";

/// Values shorter than this are too likely to be ordinary words.
const SHORTEST: usize = 8;

/// What a credential of a known shape has in it, so that nobody looks closely where none of these is.
pub const SHAPE_HINTS: [&str; 13] = [
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "sk-",
    "AKIA",
    "AIza",
    "xox",
    "gsk_",
    "eyJ",
    "PRIVATE KEY-----",
];

/// Credentials known by their shape.
const SHAPES: &str = r"(?x)
      \bgh[pousr]_[A-Za-z0-9]{20,}
    | \bgithub_pat_[A-Za-z0-9_]{20,}
    | \bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{20,}
    | \bAKIA[0-9A-Z]{16}\b
    | \bAIza[A-Za-z0-9_-]{30,}
    | \bxox[abposr]-[A-Za-z0-9-]{10,}
    | \bgsk_[A-Za-z0-9]{20,}
    | \bhf_[A-Za-z0-9]{30,}
    | \b[rs]k_live_[A-Za-z0-9]{16,}
    | \bnpm_[A-Za-z0-9]{36}
    | \bglpat-[A-Za-z0-9_-]{20,}
    | \bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{20,}
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
    /// Which of the needles are an encoding: its first and last letters depend on the bytes beside the secret.
    encoded: Vec<bool>,
    skeletons: Skeletons,
}

/// Credentials known by their shape, compiled once for all redactors.
#[expect(clippy::expect_used, reason = "the pattern is a constant that the tests compile")]
static SHAPE: LazyLock<Regex> = LazyLock::new(|| Regex::new(SHAPES).expect("the constant pattern compiles"));

impl Redactor {
    /// Learns the secrets of this run.
    pub fn knowing<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let secrets: Vec<&str> = secrets.into_iter().map(Secret::expose).collect();
        let skeletons = Skeletons::learn(&secrets);
        let forms = secrets.into_iter().flat_map(forms);
        let forms = forms.map(|form| Form { text: squeeze(&form.text).text, ..form });
        let (needles, encoded): (Vec<String>, Vec<bool>) =
            forms.filter(|form| form.text.len() >= SHORTEST).map(|form| (form.text, form.encoded)).unzip();
        #[expect(
            clippy::expect_used,
            reason = "a list of literal needles of a few hundred bytes each always builds"
        )]
        let needles = AhoCorasick::builder()
            // A run has few secrets and cleans short texts: the faster automaton costs more to build than it saves.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .match_kind(aho_corasick::MatchKind::LeftmostLongest)
            .build(needles)
            .expect("literal needles build");
        Self { needles, encoded, skeletons }
    }

    /// Returns the ways in which a secret may be written down on one line.
    pub fn forms(secret: &Secret) -> Vec<String> {
        forms(secret.expose()).into_iter().map(|form| form.text).collect()
    }

    /// Tells whether a text has a secret that was learnt, in any form or disguise.
    pub fn knows(&self, text: &str) -> bool {
        self.needles.is_match(&squeeze(text).text) || !self.skeletons.find(text).is_empty()
    }

    /// Counts what looks like a credential, learnt or not.
    pub fn count_shapes(&self, text: &str) -> usize {
        SHAPE.find_iter(text).count()
    }

    /// Returns where a text has what looks like a credential, learnt or not.
    pub fn shapes(&self, text: &str) -> Vec<Range<usize>> {
        SHAPE.find_iter(text).map(|hit| hit.range()).collect()
    }

    /// Takes every secret out of a text.
    pub fn clean(&self, text: &str) -> Clean {
        let squeezed = squeeze(text);
        let by_value = self.needles.find_iter(&squeezed.text).map(|hit| {
            let found = squeezed.origin(hit.start(), hit.end());
            if self.encoded[hit.pattern().as_usize()] { whole_word(text, found) } else { found }
        });
        let by_shape = SHAPE.find_iter(text).map(|hit| hit.range());
        let mut hits: Vec<Range<usize>> = by_value.chain(by_shape).collect();
        hits.extend(self.skeletons.find(text).into_iter().map(|hit| whole_letters(text, hit)));
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

/// Widens a find to whole characters.
fn whole_letters(text: &str, found: Range<usize>) -> Range<usize> {
    text.floor_char_boundary(found.start)..text.ceil_char_boundary(found.end)
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
    let escaped = percent_encode(bytes, UNRESERVED).to_string();
    let mut plain =
        vec![secret.to_owned(), once, twice, escaped, HEXLOWER.encode(bytes), HEXUPPER.encode(bytes)];
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

/// What nobody writes as an escape.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

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
        check(&format!("a {} b", percent_encode(bytes, UNRESERVED)), "a [redacted] b");
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
        check(&format!("key npm_{}.", "a1".repeat(18)), "key [redacted].");
        check(&format!("key glpat-{}.", "a1-_".repeat(5)), "key [redacted].");
        check(&format!("key pypi-AgEIcHlwaS5vcmc{}.", "a1-_".repeat(12)), "key [redacted].");
        check(&format!("key hf_{}.", "aB".repeat(17)), "key [redacted].");
        check(&format!("key sk_live_{}.", "a1".repeat(12)), "key [redacted].");
        check("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "[redacted]");
        check("ordinary words stay: skate, ghost, AKIAH", "ordinary words stay: skate, ghost, AKIAH");
    }

    #[test]
    fn short_values_are_left_alone() {
        let redactor = Redactor::knowing([&Secret::new("true")]);
        assert_eq!(redactor.clean("it is true").found(), 0);
    }

    const PLANTED: &str = "ghs_16C7e42F292c6912E7710c838347Ae178B4a";

    fn gzip(text: &str) -> Vec<u8> {
        use std::io::Write as _;
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(text.as_bytes()).unwrap();
        packed.finish().unwrap()
    }

    fn rot13(text: &str) -> String {
        let shift = |c: char, first: u8| char::from((c as u8 - first + 13) % 26 + first);
        text.chars()
            .map(|c| match c {
                'a'..='z' => shift(c, b'a'),
                'A'..='Z' => shift(c, b'A'),
                other => other,
            })
            .collect()
    }

    /// Returns a letter in full width.
    fn wide(c: char) -> char {
        char::from_u32(c as u32 + 0xfee0).unwrap()
    }

    /// Returns a letter or digit as mathematicians write it.
    fn bold(c: char) -> char {
        let first = match c {
            'a'..='z' => 0x1d41a - u32::from(b'a'),
            'A'..='Z' => 0x1d400 - u32::from(b'A'),
            '0'..='9' => 0x1d7ce - u32::from(b'0'),
            _ => 0,
        };
        char::from_u32(c as u32 + first).unwrap()
    }

    /// Writes a secret in every disguise that is seen through.
    fn disguises(secret: &str) -> Vec<(&'static str, String)> {
        [spread(secret), wrapped(secret)].concat()
    }

    fn spread(secret: &str) -> Vec<(&'static str, String)> {
        let each = |write: &dyn Fn(char) -> String| secret.chars().map(write).collect::<String>();
        vec![
            ("plain", secret.to_owned()),
            ("backward", secret.chars().rev().collect()),
            ("rot13", rot13(secret)),
            ("rot13 backward", rot13(secret).chars().rev().collect()),
            ("upper case", secret.to_uppercase()),
            ("split by markup", format!("{}**{}**{}", &secret[..2], &secret[2..9], &secret[9..])),
            (
                "split by tags",
                format!("{}<b></b>{}<!-- x1 -->{}", &secret[..5], &secret[5..20], &secret[20..]),
            ),
            (
                "split by a link",
                format!("{}[{}](https://a.test/x1){}", &secret[..5], &secret[5..9], &secret[9..]),
            ),
            ("dotted", each(&|c| format!("{c}."))),
            ("spaced", each(&|c| format!("{c} "))),
            ("one letter a line", each(&|c| format!("- {c}\n"))),
            (
                "a numbered list",
                secret
                    .chars()
                    .enumerate()
                    .map(|(n, c)| format!("{}. {c}\n", n + 1))
                    .collect::<Vec<_>>()
                    .concat(),
            ),
            ("variation selectors", each(&|c| format!("{c}\u{fe0f}\u{e0100}"))),
            ("zero width", each(&|c| format!("{c}\u{200b}\u{2063}"))),
            ("combining marks", each(&|c| format!("{c}\u{0301}"))),
            ("entities", each(&|c| format!("&#{};", c as u32))),
            ("entities of hex", each(&|c| format!("&#x{:X};", c as u32))),
            ("percent", each(&|c| format!("%{:02x}", c as u32))),
            ("percent twice", each(&|c| format!("%25{:02X}", c as u32))),
            ("quoted-printable", each(&|c| format!("={:02X}", c as u32))),
            ("\\x", each(&|c| format!("\\x{:02x}", c as u32))),
            ("\\u", each(&|c| format!("\\u{:04x}", c as u32))),
            ("\\u{}", each(&|c| format!("\\u{{{:x}}}", c as u32))),
            ("octal", each(&|c| format!("\\{:03o}", c as u32))),
            ("hex as in programs", each(&|c| format!("0x{:02x}, ", c as u32))),
            ("decimal", each(&|c| format!("{}, ", c as u32))),
            ("decimal, one a line", each(&|c| format!("{}\n", c as u32))),
            ("bits", each(&|c| format!("{:08b} ", c as u32))),
            ("full width", each(&|c| wide(c).to_string())),
            ("bold letters", each(&|c| bold(c).to_string())),
            ("hex with colons", each(&|c| format!("{:02x}:", c as u32))),
        ]
    }

    fn wrapped(secret: &str) -> Vec<(&'static str, String)> {
        let base64 = |bytes: &[u8]| BASE64.encode(bytes);
        let utf16: Vec<u8> = secret.encode_utf16().flat_map(u16::to_le_bytes).collect();
        vec![
            ("base32", data_encoding::BASE32.encode(secret.as_bytes())),
            (
                "base32 within more",
                data_encoding::BASE32_NOPAD.encode(format!("x={secret};").as_bytes()).to_lowercase(),
            ),
            ("base64 backward", base64(secret.as_bytes()).chars().rev().collect()),
            ("base64 of backward", base64(secret.chars().rev().collect::<String>().as_bytes())),
            ("base64 of UTF-16", base64(&utf16)),
            ("base64 twice", base64(base64(secret.as_bytes()).as_bytes())),
            (
                "base64 twice with more",
                format!("x{}", base64(format!("ab{}", base64(format!("c{secret}").as_bytes())).as_bytes())),
            ),
            (
                "base64 over lines",
                base64(format!("{}{secret}", "x".repeat(40)).as_bytes())
                    .as_bytes()
                    .chunks(30)
                    .map(String::from_utf8_lossy)
                    .collect::<Vec<_>>()
                    .join("\n"),
            ),
            ("hex of base64", HEXLOWER.encode(base64(secret.as_bytes()).as_bytes())),
            ("gzip and base64", base64(&gzip(&format!("token: {secret}\n")))),
        ]
    }

    #[test]
    fn a_disguise_is_seen_through() {
        let redactor = Redactor::knowing([&Secret::new(PLANTED)]);
        let missed: Vec<_> = disguises(PLANTED)
            .into_iter()
            .filter(|(_, text)| {
                let clean = redactor.clean(&format!("It is\n\n{text}\n\nand more."));
                clean.found() == 0 || clean.as_str().len() > "It is\n\n[redacted]\n\nand more.".len() + 8
            })
            .map(|(name, text)| (name, redactor.clean(&text).text))
            .collect();
        assert_eq!(missed, []);
    }

    #[test]
    fn ordinary_words_beside_a_disguise_stay() {
        let redactor = Redactor::knowing([&Secret::new(PLANTED)]);
        let dotted = PLANTED.chars().map(|c| format!("{c}.")).collect::<Vec<_>>().concat();
        let clean = redactor.clean(&format!("Naïve “words” before. {dotted} Words after: 100 % sure."));
        assert_eq!(clean.as_str(), "Naïve “words” before. [redacted]. Words after: 100 % sure.");
    }

    #[test]
    fn a_secret_is_known_by_what_it_would_be_redacted_for() {
        let redactor = Redactor::knowing([&Secret::new(PLANTED)]);
        let missed: Vec<_> =
            disguises(PLANTED).into_iter().filter(|(_, text)| !redactor.knows(text)).collect();
        assert_eq!(missed, []);
        assert!(!redactor.knows("fn main() { let commit = \"6961a72c0ffee16c7e42f292c6912e7710c8\"; }"));
    }

    #[test]
    fn wrappings_made_to_keep_us_busy_are_not_all_unwrapped() {
        let redactor = Redactor::knowing([&Secret::new(PLANTED)]);
        let bomb = BASE64.encode(&gzip(&" ".repeat(1 << 20)));
        let clean = |bombs: usize| redactor.clean(&format!("{bomb}\n\n").repeat(bombs)).found();
        assert_eq!((clean(1), clean(8)), (0, 4));
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

        #[test]
        fn ordinary_text_stays_as_it_is(text in "\\PC{0,400}", code in "[A-Za-z0-9+/=_%&#;x\\\\\\n .-]{0,400}") {
            let redactor = Redactor::knowing([&Secret::new(PLANTED), &Secret::new("correct horse battery")]);
            for text in [text, code] {
                let clean = redactor.clean(&text);
                prop_assert_eq!(clean.as_str(), &text);
            }
        }
    }
}
