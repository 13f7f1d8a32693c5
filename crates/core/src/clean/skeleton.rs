//! Finds secrets by their letters and digits alone, whatever is strewn between them and however each is written.
//!
//! A text is reduced to its skeleton (ASCII letters and digits, in lower case) in five ways: as it stands, with escapes
//! read for what they mean, as a reader sees it once its Markdown is rendered, with letters of other widths and styles
//! taken for plain ones, and with rows of numbers read for the letters that they count. In each of them the skeletons of the
//! secrets are looked for: forward, backward and shifted by thirteen letters.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use icu_normalizer::DecomposingNormalizerBorrowed;
use pulldown_cmark::{Event, Options, Parser};

use super::{counted, forms, wrapped};

/// A skeleton shorter than this could be met by chance.
const SHORTEST: usize = 12;

/// How much is looked at in one piece, and how much of it again in the next: longer than any secret in any disguise.
const PIECE: usize = 1 << 20;
const OVERLAP: usize = 1 << 16;

/// The skeletons of the secrets.
#[derive(Debug, Clone)]
pub(super) struct Skeletons(AhoCorasick);

impl Skeletons {
    /// Learns the secrets.
    pub(super) fn learn(secrets: &[&str]) -> Self {
        let mut needles = Vec::new();
        for secret in secrets {
            let plain = Skeleton::as_it_stands(secret).letters;
            let written = forms(secret).into_iter().map(|form| Skeleton::as_it_stands(&form.text).letters);
            for letters in written.chain([shifted(&plain)]).filter(|letters| letters.len() >= SHORTEST) {
                needles.push(letters.iter().rev().copied().collect());
                needles.push(letters);
            }
        }
        #[expect(
            clippy::expect_used,
            reason = "a list of literal needles of a few hundred bytes each always builds"
        )]
        let needles = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .match_kind(MatchKind::LeftmostLongest)
            .build(needles)
            .expect("literal needles build");
        Self(needles)
    }

    /// Returns where a text holds a secret in disguise.
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        if self.0.patterns_len() == 0 {
            return Vec::new();
        }
        let mut hits = Vec::new();
        let mut start = 0;
        loop {
            let end = text.ceil_char_boundary((start + PIECE).min(text.len()));
            let piece = &text[start..end];
            let views = [
                Skeleton::as_it_stands(piece),
                Skeleton::as_meant(piece),
                Skeleton::as_rendered(piece),
                Skeleton::as_folded(piece),
                Skeleton::as_counted(piece),
            ];
            let found = views.iter().flat_map(|view| self.within(view)).chain(wrapped::find(self, piece));
            hits.extend(found.map(|hit| start + hit.start..start + hit.end));
            if end == text.len() {
                return hits;
            }
            start = text.floor_char_boundary(end - OVERLAP);
        }
    }

    /// Tells whether bytes that came out of a wrapping hold a secret.
    pub(super) fn are_in(&self, bytes: &[u8]) -> bool {
        let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        [Skeleton::as_it_stands(&text), Skeleton::as_meant(&text), Skeleton::as_counted(&text)]
            .iter()
            .any(|view| self.0.is_match(&view.letters))
    }

    fn within(&self, view: &Skeleton) -> Vec<Range<usize>> {
        self.0.find_iter(&view.letters).map(|hit| view.origin(hit.start(), hit.end())).collect()
    }
}

/// The letters and digits of a text, and where each was written.
#[derive(Default)]
struct Skeleton {
    letters: Vec<u8>,
    origins: Vec<Range<usize>>,
}

impl Skeleton {
    fn as_it_stands(text: &str) -> Self {
        let mut skeleton = Self::default();
        skeleton.add_plain(text, 0);
        skeleton
    }

    /// Reads `&#103;`, `%67`, `=67`, `\x67`, `\u0067` and `\147` for the letter that they mean.
    fn as_meant(text: &str) -> Self {
        let mut skeleton = Self::default();
        let mut at = 0;
        while let Some(next) = text[at..].find(['&', '%', '=', '\\']) {
            skeleton.add_plain(&text[at..at + next], at);
            at += next;
            let (letter, length) = escape(&text[at..]).unwrap_or((None, 1));
            skeleton.add(letter, at..at + length);
            at += length;
        }
        skeleton.add_plain(&text[at..], at);
        skeleton
    }

    /// Leaves out what a reader does not see: tags, addresses of links, numbers of lists.
    fn as_rendered(text: &str) -> Self {
        let mut skeleton = Self::default();
        let options = Options::ENABLE_GFM | Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            match event {
                // Other events may be wider than what they show, such as code with its ticks.
                Event::Text(shown) | Event::Code(shown) if text.get(range.clone()) == Some(&shown) => {
                    skeleton.add_plain(&shown, range.start);
                }
                Event::Text(shown) | Event::Code(shown) => {
                    shown.chars().for_each(|letter| skeleton.add(Some(letter), range.clone()));
                }
                _ => {}
            }
        }
        skeleton
    }

    /// Reads letters of another width or style, in circles or raised, for the plain ones. An ASCII text has none.
    fn as_folded(text: &str) -> Self {
        let mut skeleton = Self::default();
        if text.is_ascii() {
            return skeleton;
        }
        let plain = DecomposingNormalizerBorrowed::new_nfkd();
        for (at, c) in text.char_indices() {
            let origin = at..at + c.len_utf8();
            if c.is_ascii() {
                skeleton.add(Some(c), origin);
            } else {
                let folded = plain.normalize(&text[origin.clone()]).into_owned();
                folded.chars().for_each(|letter| skeleton.add(Some(letter), origin.clone()));
            }
        }
        skeleton
    }

    /// Reads a row of numbers for the letters that they count.
    fn as_counted(text: &str) -> Self {
        let mut skeleton = Self::default();
        counted::letters(text).for_each(|(letter, origin)| skeleton.add(Some(letter), origin));
        skeleton
    }

    fn add_plain(&mut self, text: &str, start: usize) {
        for (at, byte) in text.bytes().enumerate() {
            self.add(Some(char::from(byte)), start + at..start + at + 1);
        }
    }

    fn add(&mut self, letter: Option<char>, origin: Range<usize>) {
        let letter = letter.filter(char::is_ascii_alphanumeric).and_then(|letter| u8::try_from(letter).ok());
        if let Some(letter) = letter {
            self.letters.push(letter.to_ascii_lowercase());
            self.origins.push(origin);
        }
    }

    fn origin(&self, start: usize, end: usize) -> Range<usize> {
        self.origins[start].start..self.origins[end - 1].end
    }
}

/// Reads the escape that a text begins with: the letter, if it means one, and the escape's length.
fn escape(text: &str) -> Option<(Option<char>, usize)> {
    let rest = text.get(1..)?;
    match text.as_bytes().first()? {
        b'&' => {
            let end = rest.bytes().take(12).position(|byte| byte == b';')?;
            let name = rest.get(..end)?;
            let letter = match name.strip_prefix('#') {
                Some(number) => match number.strip_prefix(['x', 'X']) {
                    Some(number) => letter(number, 16),
                    None => letter(number, 10),
                },
                None => None,
            };
            let is_name =
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'#');
            is_name.then_some((letter, end + 2))
        }
        // A percent sign may be written as an escape itself, any number of times.
        b'%' => {
            let depth = rest.as_bytes().chunks(2).take_while(|pair| *pair == b"25").count() * 2;
            Some((Some(letter(rest.get(depth..depth + 2)?, 16)?), depth + 3))
        }
        b'=' => Some((Some(letter(rest.get(..2)?, 16)?), 3)),
        b'\\' => backslash(rest),
        _ => None,
    }
}

fn backslash(rest: &str) -> Option<(Option<char>, usize)> {
    let (digits, skipped, closing, radix) = match rest.as_bytes().first()? {
        b'x' => (rest.get(1..3)?, 1, 0, 16),
        b'u' if rest.get(1..2) == Some("{") => {
            let end = rest.bytes().take(10).position(|byte| byte == b'}')?;
            (rest.get(2..end)?, 2, 1, 16)
        }
        b'u' => (rest.get(1..5)?, 1, 0, 16),
        b'U' => (rest.get(1..9)?, 1, 0, 16),
        b'0'..=b'7' => (rest.get(..3)?, 0, 0, 8),
        _ => return None,
    };
    Some((Some(letter(digits, radix)?), 1 + skipped + digits.len() + closing))
}

pub(super) fn letter(digits: &str, radix: u32) -> Option<char> {
    let are_digits = digits.chars().all(|digit| digit.is_digit(radix));
    u32::from_str_radix(digits, radix).ok().filter(|_| are_digits).and_then(char::from_u32)
}

/// Moves every letter on by thirteen, the one shift that everybody knows.
fn shifted(letters: &[u8]) -> Vec<u8> {
    let shift = |letter: &u8| match letter {
        b'a'..=b'z' => (letter - b'a' + 13) % 26 + b'a',
        other => *other,
    };
    letters.iter().map(shift).collect()
}
