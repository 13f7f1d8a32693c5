//! Characters that can be strewn into a secret without anyone seeing them, in UTF-8 and as JSON escapes them.

/// The most bytes that a filler has once its backslashes are gone: `udb40udc41`.
const LONGEST: usize = 10;

/// The escapes of JSON, without their backslash and with the last digits left off, each with how many digits follow.
const ESCAPES: [(&[u8], usize); 10] = [
    (b"u00ad", 0),
    (b"u00a0", 0),
    (b"u200", 1),
    (b"u202", 1),
    (b"u205f", 0),
    (b"u206", 1),
    (b"u3000", 0),
    (b"ufeff", 0),
    (b"udb40udc", 2),
    (b"u0000", 0),
];

/// Tells whether a filler may end in what was folded from a place on.
pub(super) fn may_end_in(folded: &[u8], from: usize) -> bool {
    let look = &folded[from.saturating_sub(LONGEST)..];
    // A byte at a time is enough: of text in most languages few bytes are looked at twice.
    look.windows(2).any(|pair| {
        matches!(
            pair,
            [0xc2 | 0xe1..=0xe3 | 0xef | 0xf3, _] | [b'u', b'0' | b'2' | b'3' | b'f' | b'F' | b'd' | b'D']
        )
    })
}

/// Takes the fillers out of what was folded from a place on, and tells which byte went where.
pub(super) fn drop_from(folded: &mut Vec<u8>, from: usize, mut moved: impl FnMut(usize, usize)) {
    let mut end = from;
    for at in from..folded.len() {
        folded[end] = folded[at];
        moved(at, end);
        end += 1;
        end -= filler_at_end(&folded[..end]);
    }
    folded.truncate(end);
}

/// Returns how long the filler is that a text ends with: nothing if it ends with none.
fn filler_at_end(text: &[u8]) -> usize {
    match text {
        [.., 0xc2, 0x80..=0xa0 | 0xad] => 2,
        [.., 0xe1, 0x9a, 0x80]
        | [.., 0xe2, 0x80, 0x80..=0x8f | 0xa8..=0xaf]
        | [.., 0xe2, 0x81, 0x9f..=0xa4]
        | [.., 0xe3, 0x80, 0x80]
        | [.., 0xef, 0xbb, 0xbf] => 3,
        [.., 0xf3, 0xa0, 0x80 | 0x81, 0x80..=0xbf] => 4,
        [.., last] if last.is_ascii_hexdigit() => escape_at_end(text),
        _ => 0,
    }
}

fn escape_at_end(text: &[u8]) -> usize {
    let mut lengths = ESCAPES.iter().map(|(beginning, digits)| (*beginning, beginning.len() + digits));
    let ends = |(beginning, length): (&[u8], usize)| {
        let tail = text.get(text.len().checked_sub(length)?..)?;
        let (head, digits) = tail.split_at(beginning.len());
        let is_one = head.eq_ignore_ascii_case(beginning) && digits.iter().all(u8::is_ascii_hexdigit);
        (is_one && stays_unseen(beginning, digits)).then_some(length)
    };
    lengths.find_map(ends).unwrap_or_default()
}

/// Tells whether the characters that begin like this have no sign of their own: `\u2010` is a hyphen, `\u2026` dots.
fn stays_unseen(beginning: &[u8], digits: &[u8]) -> bool {
    let last = digits.first().map(u8::to_ascii_lowercase);
    match (beginning, last) {
        (b"u202", Some(digit)) => matches!(digit, b'8'..=b'9' | b'a'..=b'f'),
        (b"u206", Some(digit)) => matches!(digit, b'0'..=b'4'),
        _ => true,
    }
}
