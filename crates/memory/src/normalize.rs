//! Text as it reads without spaces, line breaks, escapes and characters that do not show: what was broken over lines is
//! whole again.
//!
//! A secret is found in it however it was wrapped, indented, strewn, or escaped as in JSON within JSON.

mod fillers;

/// Tells for every byte whether it stays: in the second row after a backslash.
const STAYS: [[bool; 256]; 2] = [stays(b" \n\r\t\\"), stays(b" \n\r\t\\nrt")];

const fn stays(folded: &[u8]) -> [bool; 256] {
    let mut table = [true; 256];
    let mut at = 0;
    while at < folded.len() {
        table[folded[at] as usize] = false;
        at += 1;
    }
    table
}

/// Folds a text that comes in pieces.
#[derive(Debug, Default)]
pub(crate) struct Normalizer {
    /// Tells whether the last byte was a backslash.
    is_escaped: bool,
}

impl Normalizer {
    /// Returns a text folded.
    pub(crate) fn normalize(text: &[u8]) -> Vec<u8> {
        let mut folded = Vec::with_capacity(text.len());
        Self::default().add(text, &mut folded);
        folded
    }

    /// Appends what is left of the next piece.
    pub(crate) fn add(&mut self, text: &[u8], folded: &mut Vec<u8>) {
        // Every byte is written, and overwritten if it does not stay: a branch for each would cost more. As many as
        // an index of eight bits can tell apart need no check of it either.
        let mut piece = [0; 256];
        let before = folded.len();
        for text in text.chunks(255) {
            let mut end = 0_u8;
            for byte in text {
                piece[usize::from(end)] = *byte;
                end += u8::from(self.stays(*byte));
            }
            folded.extend_from_slice(&piece[..usize::from(end)]);
        }
        if fillers::may_end_in(folded, before) {
            fillers::drop_from(folded, before, |_, _| {});
        }
    }

    /// Returns where the bytes of a folded text stood.
    pub(crate) fn origins(text: &[u8]) -> Vec<usize> {
        let mut fold = Self::default();
        let mut places: Vec<usize> = (0..text.len()).filter(|place| fold.stays(text[*place])).collect();
        let mut folded: Vec<u8> = places.iter().map(|place| text[*place]).collect();
        fillers::drop_from(&mut folded, 0, |from, to| places[to] = places[from]);
        places.truncate(folded.len());
        places
    }

    /// Tells whether the next byte is neither space nor backslash, nor a letter that means a break after one.
    fn stays(&mut self, byte: u8) -> bool {
        let stays = STAYS[usize::from(self.is_escaped)][usize::from(byte)];
        self.is_escaped = byte == b'\\';
        stays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(String::from_utf8(Normalizer::normalize(text.as_bytes())).unwrap(), expected);
        let origins: Vec<u8> =
            Normalizer::origins(text.as_bytes()).into_iter().map(|at| text.as_bytes()[at]).collect();
        assert_eq!(origins, expected.as_bytes());
        for cut in 0..text.len() {
            let (mut fold, mut folded) = (Normalizer::default(), Vec::new());
            fold.add(&text.as_bytes()[..cut], &mut folded);
            fold.add(&text.as_bytes()[cut..], &mut folded);
            assert_eq!(folded, expected.as_bytes(), "cut at {cut}");
        }
    }

    #[test]
    fn spaces_breaks_and_escapes_go_and_the_rest_stays() {
        check("MIIE\n  vQIB\r\n\tADAN", "MIIEvQIBADAN");
        check(r"MIIE\nvQIB\\r\\n\\tADAN", "MIIEvQIBADAN");
        check(r#"{\"nut\": \\\"tin\\\"}"#, r#"{"nut":"tin"}"#);
        check("water", "water");
    }

    #[test]
    fn characters_that_do_not_show_go() {
        check("MI\u{200b}IE\u{ad}vQ\u{2060}IB\u{feff}AD\u{e0041}AN\u{a0}x\u{3000}y", "MIIEvQIBADANxy");
        check(r"MI\u200bIE\u200DvQ\\u2060IB\uFEFFAD\udb40\udc41AN\u00adx", "MIIEvQIBADANx");
        check("naïve – “café” 水", "naïve–“café”水");
    }
}
