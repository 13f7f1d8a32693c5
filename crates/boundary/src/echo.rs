//! Takes credentials out of a server's answer, where the server repeats what it was shown.
//!
//! A provider may repeat a request's headers in an error, and whoever asked without the credential would have it then.
//! The answer is not held up: only what could be the beginning of a credential waits for the next piece.

use std::{fmt, sync::Arc};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use bytes::Bytes;
use fro_core::{Redactor, Secret};

const MARK: &[u8] = b"[redacted]";

/// The credentials, in the forms that a server might write them in.
#[derive(Clone)]
pub(crate) struct Needles {
    search: Arc<AhoCorasick>,
    forms: Arc<[String]>,
}

impl Needles {
    pub(crate) fn learn<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let forms = secrets.into_iter().flat_map(Redactor::forms);
        let mut forms: Vec<String> =
            forms.flat_map(|form| [form.replace('/', "\\/"), lower_escapes(&form), form]).collect();
        forms.sort();
        forms.dedup();
        #[expect(clippy::expect_used, reason = "a few literal needles always build")]
        let search = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .match_kind(MatchKind::LeftmostLongest)
            .build(&forms)
            .expect("literal needles build");
        Self { search: Arc::new(search), forms: forms.into() }
    }

    /// Takes them out of a text that is there as a whole.
    pub(crate) fn clean(&self, text: &str) -> String {
        let mut filter = EchoFilter::new(self.clone());
        let mut clean = filter.pass(text.as_bytes()).to_vec();
        clean.extend_from_slice(&filter.rest());
        String::from_utf8_lossy(&clean).into_owned()
    }

    /// Returns how much of the end could be the beginning of a credential.
    fn pending(&self, bytes: &[u8]) -> usize {
        let longest = self.forms.iter().map(String::len).max().unwrap_or(0);
        let most = bytes.len().min(longest.saturating_sub(1));
        let begins = |end: &[u8]| self.forms.iter().any(|form| form.as_bytes().starts_with(end));
        (1..=most).rev().find(|length| begins(&bytes[bytes.len() - length..])).unwrap_or(0)
    }
}

impl fmt::Debug for Needles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secrets]")
    }
}

/// Some write the escapes of an address in small letters.
fn lower_escapes(form: &str) -> String {
    let mut parts = form.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_at_checked(2) {
        Some((digits, rest)) => format!("{text}%{}{rest}", digits.to_ascii_lowercase()),
        None => format!("{text}%{part}"),
    })
}

/// One answer on its way.
pub(crate) struct EchoFilter {
    needles: Needles,
    held: Vec<u8>,
}

impl EchoFilter {
    pub(crate) fn new(needles: Needles) -> Self {
        Self { needles, held: Vec::new() }
    }

    /// Returns what of the answer so far can go on.
    pub(crate) fn pass(&mut self, piece: &[u8]) -> Bytes {
        let mut bytes = std::mem::take(&mut self.held);
        bytes.extend_from_slice(piece);
        let mut clean = Vec::with_capacity(bytes.len());
        let mut done = 0;
        for hit in self.needles.search.find_iter(&bytes) {
            clean.extend_from_slice(&bytes[done..hit.start()]);
            clean.extend_from_slice(MARK);
            done = hit.end();
        }
        let rest = &bytes[done..];
        let (passed, held) = rest.split_at(rest.len() - self.needles.pending(rest));
        clean.extend_from_slice(passed);
        self.held = held.to_vec();
        clean.into()
    }

    /// Returns what was held back of an answer that has ended.
    pub(crate) fn rest(&mut self) -> Bytes {
        std::mem::take(&mut self.held).into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: &str = "sk-the/real+key-0123456789";

    fn passed(pieces: &[&[u8]]) -> Vec<Bytes> {
        let mut filter = EchoFilter::new(Needles::learn([&Secret::new(KEY)]));
        let mut passed: Vec<_> = pieces.iter().map(|piece| filter.pass(piece)).collect();
        passed.push(filter.rest());
        passed
    }

    #[test]
    fn an_ordinary_answer_does_not_wait() {
        assert_eq!(passed(&[b"data: sk", b"ating\n\n"])[0], "data: ");
        assert_eq!(passed(&[b"data: one\n\n", b"data: two\n\n"])[..2], ["data: one\n\n", "data: two\n\n"]);
        assert_eq!(passed(&[b"data: sk-the/rea"])[..], ["data: ", "sk-the/rea"]);
    }

    proptest! {
        #[test]
        fn no_form_passes_however_it_is_cut(cuts in proptest::collection::vec(1usize..40, 0..12), form in 0usize..20) {
            let needles = Needles::learn([&Secret::new(KEY)]);
            let form = &needles.forms[form % needles.forms.len()];
            let text = format!("x {form} y {KEY}{KEY} z");
            let mut rest = text.as_bytes();
            let mut pieces = Vec::new();
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                pieces.push(piece);
                rest = after;
            }
            pieces.push(rest);
            let said = String::from_utf8(passed(&pieces).concat()).unwrap();
            prop_assert!(!said.contains(form.as_str()) && !said.contains(KEY), "{}", said);
            prop_assert!(said.starts_with("x [redacted]") && said.ends_with(" z"), "{}", said);
        }
    }
}
