//! Nothing without a limit: values that were cut to a budget and remember it.

/// A value that fits its budget, and how much was left out to make it fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounded<T> {
    value: T,
    cut: usize,
}

impl<T> Bounded<T> {
    /// Returns what fits.
    pub fn value(&self) -> &T {
        &self.value
    }

    /// Returns how much was left out: bytes of a text, items of a list.
    pub fn cut(&self) -> usize {
        self.cut
    }
}

impl Bounded<String> {
    /// Cuts a text to at most `limit` bytes, never inside a character people see as one.
    pub fn text(text: &str, limit: usize) -> Self {
        let kept = head(text, limit);
        Self { value: kept.to_owned(), cut: text.len() - kept.len() }
    }

    /// Returns the text, with a note in its place if something was left out.
    pub fn noted(&self) -> String {
        match self.cut {
            0 => self.value.clone(),
            cut => format!("{}\n[… {cut} bytes left out]", self.value),
        }
    }
}

impl<T> Bounded<Vec<T>> {
    /// Keeps the last `limit` items, because the newest words matter most.
    pub fn newest(mut items: Vec<T>, limit: usize) -> Self {
        let cut = items.len().saturating_sub(limit);
        items.drain(..cut);
        Self { value: items, cut }
    }

    /// Keeps the first `limit` items.
    pub fn first(mut items: Vec<T>, limit: usize) -> Self {
        let cut = items.len().saturating_sub(limit);
        items.truncate(limit);
        Self { value: items, cut }
    }

    /// Counts items as left out that never arrived, because a page of the answer had a limit too.
    #[must_use]
    pub fn and_missing(mut self, missing: usize) -> Self {
        self.cut += missing;
        self
    }
}

/// Returns the longest beginning of `text` within `limit` bytes that ends between graphemes.
fn head(text: &str, limit: usize) -> &str {
    use unicode_segmentation::UnicodeSegmentation as _;
    if text.len() <= limit {
        return text;
    }
    let end = text.grapheme_indices(true).map(|(at, _)| at).take_while(|at| *at <= limit).last();
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_family_emoji_is_kept_whole_or_not_at_all() {
        let family = "👨‍👩‍👧";
        assert_eq!(
            Bounded::text(&format!("ab{family}"), 10),
            Bounded { value: "ab".to_owned(), cut: family.len() }
        );
    }

    #[test]
    fn what_was_cut_is_told() {
        assert_eq!(Bounded::text("hello world", 5).noted(), "hello\n[… 6 bytes left out]");
        assert_eq!(Bounded::newest(vec![1, 2, 3], 2), Bounded { value: vec![2, 3], cut: 1 });
        assert_eq!(Bounded::first(vec![1, 2, 3], 2).and_missing(4), Bounded { value: vec![1, 2], cut: 5 });
    }

    proptest! {
        #[test]
        fn nothing_is_lost_uncounted(text in ".*", limit in 0usize..40) {
            let bounded = Bounded::text(&text, limit);
            prop_assert!(bounded.value().len() <= limit);
            prop_assert!(text.starts_with(bounded.value().as_str()));
            prop_assert_eq!(bounded.value().len() + bounded.cut(), text.len());
        }
    }
}
