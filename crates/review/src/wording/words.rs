//! A text as words that can be compared: without endings, without fillers, names kept whole.

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;

/// A word of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// The word in lower case without its ending; a name as it is.
    pub(super) stem: String,
    /// Whether it says something about this finding, or could stand in any.
    pub(super) telling: bool,
    /// Whether it is a name from the code.
    pub(super) name: bool,
}

/// Letters of scripts that put no spaces between words.
const UNSPACED: &str = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Hangul}";

static TOKENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let operators = r"&&|\|\||[=!]==?|<=|>=|=>|''";
    Regex::new(&format!(r"[{UNSPACED}]+|[\w--[{UNSPACED}]]+|{operators}")).ok()
});

static FILLERS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| FILLER_WORDS.split_whitespace().collect());
static COMMON: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| COMMON_WORDS.split_whitespace().map(stem).collect());

/// Reads the words of a text, in order.
pub(super) fn words(text: &str) -> Vec<Word> {
    let Some(tokens) = TOKENS.as_ref() else { return Vec::new() };
    tokens.find_iter(text).flat_map(|found| read(found.as_str())).collect()
}

fn read(token: &str) -> Vec<Word> {
    if token.chars().next().is_some_and(is_unspaced) {
        return overlapping(token);
    }
    let lower = token.to_lowercase();
    if lower.chars().nth(1).is_none() || FILLERS.contains(lower.as_str()) {
        return Vec::new();
    }
    if is_name(token) {
        return vec![Word { stem: lower, telling: true, name: true }];
    }
    let stem = stem(&lower);
    let telling = !COMMON.contains(&stem);
    vec![Word { stem, telling, name: false }]
}

/// Takes two characters at a time where words are not spaced, as searches do.
fn overlapping(run: &str) -> Vec<Word> {
    let chars: Vec<char> = run.chars().collect();
    let word = |pair: &[char]| Word { stem: pair.iter().collect(), telling: true, name: false };
    if chars.len() < 2 {
        return vec![word(&chars)];
    }
    chars.windows(2).map(word).collect()
}

fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{30ff}' | '\u{3130}'..='\u{318f}' | '\u{31f0}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Tells whether a word is spelled like a name in code: `camelCase`, `snake_case`, `sha256`.
fn is_name(word: &str) -> bool {
    let chars: Vec<char> = word.chars().collect();
    let joint =
        |pair: &[char]| pair[0].is_lowercase() && (pair[1].is_uppercase() || pair[1].is_ascii_digit());
    word.contains('_') || chars.windows(2).any(joint)
}

/// Cuts a word's ending off, roughly: the same is done to every word, and only sameness counts.
fn stem(word: &str) -> String {
    if !word.is_ascii() {
        // Inflected languages change the end of a word; the beginning is what stays.
        return word.chars().take(5).collect();
    }
    let mut stem = singular(word);
    let ending = ["ingly", "edly", "ing", "ed", "ly", "ment", "ation", "ion"]
        .into_iter()
        .find(|ending| stem.ends_with(ending) && stem.len() >= ending.len() + 4);
    if let Some(ending) = ending {
        stem.truncate(stem.len() - ending.len());
    }
    let doubled = |bytes: &[u8]| matches!(bytes, [.., a, b] if a == b && !b"aeiouls".contains(b));
    if stem.len() > 4 && doubled(stem.as_bytes()) {
        stem.pop();
    }
    if stem.len() > 4 && stem.ends_with('e') {
        stem.pop();
    }
    stem
}

fn singular(word: &str) -> String {
    let long = word.len() > 4;
    if let Some(stem) = word.strip_suffix("ies").filter(|_| long) {
        return format!("{stem}y");
    }
    if long && word.ends_with("sses") {
        return word[..word.len() - 2].to_owned();
    }
    let kept = ["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    match word.strip_suffix('s').filter(|_| word.len() > 3 && !kept) {
        Some(stem) => stem.to_owned(),
        None => word.to_owned(),
    }
}

/// Words that carry a sentence and no meaning of their own.
const FILLER_WORDS: &str = "a an and are as at be been being but by can could did do does doing for from had has have \
    if in into is it its may might must not of on or should so such than that the their them then there these this \
    those to was were when where which while will with would you your we our i also any all both each other same only \
    just even very too up out about after before because instead however rather etc e g ie via per using use used uses \
    make makes made get gets";

/// Words that a finding on any code may have.
const COMMON_WORDS: &str = "able accept access actual add allow always another api app appear apply argument array \
    assume avoid base become behavior behaviour block boolean bound break broken build bug call caller can cannot case \
    cause caught change check class code column come comment common compare compile component condition config \
    configuration consider consistent constant contain content context correct corrupt crash create current data dead \
    default define delete depend different direct do document duplicate effect empty enable end ensure entire entry \
    error even event every exact example exception exist expect explicit expression fail failure fall fallback false \
    feature field file filter final find first fix flag follow force format function future generic give guard handle \
    happen ignore impact implement implementation import improper inconsistent incorrect index input instance intend \
    intended introduce invalid issue item key lack last lead leave length level like likely line list literal local \
    logic long look lose loop make match may mean method misleading mismatch miss missing mistake model move multiple \
    name need never new next non normal now null number object occur old omit one operation option optional order \
    original output over own parameter part pass path perform place point possible potential prevent previous problem \
    produce proper property provide query read real reason receive record reference regardless reject related relate \
    remain remove replace report request require result return reuse right run runtime safe same save second see seem \
    select send separate set should show silent silently simple since single skip some specific start state statement \
    static still stop store string support system take test text thing throw time total trigger true try two type \
    undefined unexpected unnecessary unused update user valid validate validation value variable version via violate \
    want way whole will without wrong yield zero";

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.stem).collect()
    }

    #[test]
    fn endings_and_fillers_are_gone_and_names_are_whole() {
        assert_eq!(
            stems("The `openValve` calls are validated by getters"),
            ["openvalve", "call", "validat", "getter"]
        );
        assert_eq!(stems("a && b === c"), ["&&", "==="]);
        assert_eq!(stems("retry_count, sha256"), ["retry_count", "sha256"]);
    }

    #[test]
    fn scripts_without_spaces_are_taken_in_pairs() {
        assert_eq!(stems("空指针 risk"), ["空指", "指针", "risk"]);
        assert_eq!(stems("проверка прав"), ["прове", "прав"]);
    }

    #[test]
    fn a_word_of_any_review_tells_less() {
        let telling: Vec<_> =
            words("missing validation of hoses").into_iter().map(|word| word.telling).collect();
        assert_eq!(telling, [false, false, true]);
    }
}
