//! Text as it reads without spaces, line breaks and escapes: what was broken over lines is whole again.
//!
//! A secret is found in it however it was wrapped, indented, or escaped as in JSON within JSON.

/// Folds a text that comes in pieces.
#[derive(Debug, Default)]
pub(crate) struct Fold {
    /// Tells whether the last byte was a backslash.
    is_escaped: bool,
}

impl Fold {
    /// Returns a text folded.
    pub(crate) fn of(text: &[u8]) -> Vec<u8> {
        let mut folded = Vec::new();
        Self::default().add(text, &mut folded);
        folded
    }

    /// Appends what is left of the next piece.
    pub(crate) fn add(&mut self, text: &[u8], folded: &mut Vec<u8>) {
        let mut end = folded.len();
        folded.resize(end + text.len(), 0);
        for byte in text {
            // Every byte is written, and overwritten if it does not stay: a branch for each would cost more.
            folded[end] = *byte;
            end += usize::from(self.stays(*byte));
        }
        folded.truncate(end);
    }

    /// Returns where the bytes of a folded text stood.
    pub(crate) fn origins(text: &[u8]) -> Vec<usize> {
        let mut fold = Self::default();
        (0..text.len()).filter(|place| fold.stays(text[*place])).collect()
    }

    /// Tells whether the next byte is neither space nor backslash, nor a letter that means a break after one.
    fn stays(&mut self, byte: u8) -> bool {
        let is_break = self.is_escaped && matches!(byte, b'n' | b'r' | b't');
        self.is_escaped = byte == b'\\';
        !(is_break || matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b'\\'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(String::from_utf8(Fold::of(text.as_bytes())).unwrap(), expected);
        let origins: Vec<u8> =
            Fold::origins(text.as_bytes()).into_iter().map(|at| text.as_bytes()[at]).collect();
        assert_eq!(origins, expected.as_bytes());
        for cut in 0..text.len() {
            let (mut fold, mut folded) = (Fold::default(), Vec::new());
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
}
