//! Finds secrets that were wrapped up with other text: base64, base32, hex, gzip and zlib, also in each other.

use std::{io::Read, ops::Range, sync::LazyLock};

use data_encoding::{BitOrder, Encoding, HEXLOWER_PERMISSIVE, Specification};
use flate2::read::{GzDecoder, ZlibDecoder};
use regex::Regex;

use super::skeleton::Skeletons;

/// How often something may be wrapped.
const DEPTH: usize = 3;

/// The most that is unpacked of something small.
const LARGEST: u64 = 1 << 20;

/// How many bytes may come out of a text, for each of its own and for all of it. Honest texts stay below a tenth.
const FOR_EACH: usize = 64;
const FOR_ALL: usize = 4 << 20;

/// Returns the runs of letters in which a secret is wrapped.
pub(super) fn find(skeletons: &Skeletons, text: &str) -> Vec<Range<usize>> {
    let mut look = WrappedSearch { skeletons, left: FOR_ALL + FOR_EACH * text.len() };
    let runs = CODES.runs.find_iter(text);
    runs.filter(|run| look.is_in(run.as_str(), DEPTH)).map(|run| run.range()).collect()
}

struct Codes {
    /// A run of the letters that wrappings are made of, over as many lines as it takes.
    runs: Regex,
    base64: Encoding,
    base32: Encoding,
}

#[expect(clippy::expect_used, reason = "the patterns and alphabets are constants that the tests compile")]
static CODES: LazyLock<Codes> = LazyLock::new(|| {
    let line = "[A-Za-z0-9+/_-]";
    let next = r"\r?\n[ \t]*";
    let runs = format!("{line}{{16,}}(?:{next}{line}{{16,}})*(?:{next}{line}{{1,15}})?=*");
    let mut base64 = Specification::new();
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    base64.symbols.push_str(letters);
    base64.translate.from.push_str("-_");
    base64.translate.to.push_str("+/");
    base64.check_trailing_bits = false;
    let mut base32 = Specification::new();
    base32.symbols.push_str("abcdefghijklmnopqrstuvwxyz234567");
    base32.translate.from.push_str("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    base32.translate.to.push_str("abcdefghijklmnopqrstuvwxyz");
    base32.check_trailing_bits = false;
    base32.bit_order = BitOrder::MostSignificantFirst;
    Codes {
        runs: Regex::new(&runs).expect("the constant pattern compiles"),
        base64: base64.encoding().expect("the alphabet is one"),
        base32: base32.encoding().expect("the alphabet is one"),
    }
});

/// A look into one text. Where more comes out of it than may, as out of wrappings made to keep us busy, what is left is
/// taken for a secret.
struct WrappedSearch<'a> {
    skeletons: &'a Skeletons,
    left: usize,
}

impl WrappedSearch<'_> {
    fn is_in(&mut self, run: &str, depth: usize) -> bool {
        let letters: Vec<u8> =
            run.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').collect();
        // A run may begin with letters that do not belong to what is wrapped.
        let codes = [(&CODES.base64, 4), (&CODES.base32, 8), (&HEXLOWER_PERMISSIVE, 2)];
        codes.into_iter().any(|(code, group)| {
            (0..group).any(|skipped| {
                let letters = letters.get(skipped..).unwrap_or_default();
                unwrapped(code, letters).is_some_and(|bytes| self.holds(&bytes, depth))
            })
        })
    }

    fn holds(&mut self, bytes: &[u8], depth: usize) -> bool {
        let Some(left) = self.left.checked_sub(bytes.len()) else { return true };
        self.left = left;
        if self.skeletons.are_in(bytes) {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        let unpacked = match bytes {
            [0x1f, 0x8b, ..] => read(GzDecoder::new(bytes)),
            [0x78, ..] => read(ZlibDecoder::new(bytes)),
            _ => Vec::new(),
        };
        if !unpacked.is_empty() && self.holds(&unpacked, depth) {
            return true;
        }
        let text: String =
            bytes.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { ' ' }).collect();
        CODES.runs.find_iter(&text).any(|run| self.is_in(run.as_str(), depth))
    }
}

/// Decodes letters, without those at the end that do not make a byte.
fn unwrapped(code: &Encoding, letters: &[u8]) -> Option<Vec<u8>> {
    let end =
        (0..8).filter_map(|cut| letters.len().checked_sub(cut)).find(|end| code.decode_len(*end).is_ok())?;
    code.decode(&letters[..end]).ok()
}

/// Unpacks as much as there is.
fn read(packed: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What was read before it broke off counts.
    drop(packed.take(LARGEST).read_to_end(&mut bytes));
    bytes
}
