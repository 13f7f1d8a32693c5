//! The part of a text that shows why it was found.

/// So many bytes are shown.
const SHOWN: usize = 300;

/// So many places where a word stands are tried.
const PLACES: usize = 200;

/// Cuts a text where most of the words stand together, and counts these; nothing if it has none of them.
pub(super) fn excerpt(text: &str, roots: &[String]) -> Option<(usize, String)> {
    let lower = text.to_lowercase();
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (word, root) in roots.iter().enumerate() {
        let found = lower.match_indices(root.as_str()).filter(|(at, _)| begins_word(&lower, *at));
        places.extend(found.take(PLACES).map(|(at, _)| (at, word)));
    }
    places.sort_unstable();
    let together = |(from, _): &(usize, usize)| {
        let mut words: Vec<_> = places
            .iter()
            .filter(|(at, _)| (*from..from + SHOWN - SHOWN / 4).contains(at))
            .map(|(_, word)| word)
            .collect();
        words.sort_unstable();
        words.dedup();
        words.len()
    };
    // Of equals the first.
    let best = places.iter().rev().max_by_key(|place| together(place))?;
    Some((together(best), around(text, best.0.saturating_sub(SHOWN / 4))))
}

/// Returns how a text begins.
pub(super) fn beginning(text: &str) -> String {
    around(text, 0)
}

fn begins_word(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let first = text[at..].chars().next();
    // In scripts without spaces every letter may begin a word.
    before.is_none_or(|letter| !letter.is_alphanumeric()) || first.is_some_and(|letter| letter > '\u{0E00}')
}

fn around(text: &str, from: usize) -> String {
    let from = text.floor_char_boundary(from.min(text.len()));
    let to = text.ceil_char_boundary((from + SHOWN).min(text.len()));
    let cut = text[from..to].split_whitespace().collect::<Vec<_>>().join(" ");
    let (before, after) = (if from > 0 { "… " } else { "" }, if to < text.len() { " …" } else { "" });
    format!("{before}{cut}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_shows_where_most_words_stand() {
        let text = format!("a hose {} the HOSE leaks {}", "before ".repeat(90), "after ".repeat(90));
        let (words, shown) = excerpt(&text, &["hose".to_owned(), "leak".to_owned()]).unwrap();
        assert_eq!(words, 2);
        assert!(
            shown.starts_with("… ") && shown.contains("the HOSE leaks") && shown.ends_with(" …"),
            "{shown}"
        );
        assert_eq!(excerpt("short", &["nothing".to_owned()]), None);
        assert_eq!(excerpt("软管在漏水", &["漏水".to_owned()]), Some((1, "软管在漏水".to_owned())));
        assert_eq!(beginning("short"), "short");
    }
}
