//! The words of a text: cut, in lower case, and without those that say nothing.
//!
//! Scripts that do not put spaces between words are cut into overlapping pairs of characters, and names in code into
//! their parts, in the index and in a question alike. Endings of English words are left to FTS5.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use super::tokens::tokens;

/// Stands before a word that is written backwards, so that the end of a compound is found by its beginning.
const BACKWARDS: char = '\u{E000}';

/// Words from so many letters on may be compounds, and are written backwards too.
const COMPOUND: usize = 9;

/// Words from so many letters on are also looked for without their endings.
const INFLECTED: usize = 5;

/// Two words that are elsewhere one have at most so many letters each.
const JOINED: usize = 7;

/// Parts of a compound have at least so many letters.
const SHORTEST: usize = 4;

/// Words that stand in every text.
static STOP: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| lines(include_str!("stop.txt")).flat_map(str::split_whitespace).collect());

/// The words that others mean the same as, by line.
fn groups() -> impl Iterator<Item = Vec<&'static str>> {
    lines(include_str!("alike.txt")).map(|line| line.split_whitespace().collect())
}

/// All of these words.
static KNOWN: LazyLock<HashSet<&'static str>> = LazyLock::new(|| groups().flatten().collect());

/// For each word without its ending, those that mean the same.
static ALIKE: LazyLock<HashMap<String, Vec<&'static str>>> = LazyLock::new(|| {
    let known: Vec<&str> = KNOWN.iter().copied().collect();
    let stems: HashMap<&str, String> = known.iter().copied().zip(stems(&known)).collect();
    let mut alike: HashMap<String, Vec<&str>> = HashMap::new();
    for group in groups() {
        for word in &group {
            let others = alike.entry(stems[word].clone()).or_default();
            let new = group.iter().filter(|other| stems[*other] != stems[word]);
            others.extend(new);
            others.sort_unstable_by_key(|other| &stems[other]);
            others.dedup_by_key(|other| &stems[*other]);
        }
    }
    alike
});

/// Returns words as the index has them, without their endings.
fn stems(words: &[&str]) -> Vec<String> {
    // Without them questions find less, and nothing wrong.
    let stems = tokens(words).unwrap_or_default().into_iter().chain(std::iter::repeat(None));
    words.iter().zip(stems).map(|(word, stem)| stem.unwrap_or_else(|| (*word).to_owned())).collect()
}

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

/// How words are looked up in the index.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// A whole word.
    Word(String),
    /// All words that begin like this.
    Beginning(String),
    /// All words that are written almost like this.
    Near(String),
}

impl Key {
    /// Returns what is looked up.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Word(text) | Self::Beginning(text) | Self::Near(text) => text,
        }
    }

    /// Returns how all other words begin that this may be; nothing for a whole word.
    pub(super) fn beginning(&self) -> Option<&str> {
        match self {
            Self::Word(_) => None,
            Self::Beginning(text) => Some(text),
            Self::Near(text) => Some(&text[..sure(text)]),
        }
    }

    /// Tells whether a word that begins like this is meant.
    pub(super) fn is(&self, word: &str) -> bool {
        match self {
            Self::Word(text) => text == word,
            Self::Beginning(text) => word.starts_with(text),
            Self::Near(text) => is_near(text, word),
        }
    }

    /// Returns the same for a word as the index has it.
    pub(super) fn with(&self, text: String) -> Self {
        match self {
            Self::Word(_) => Self::Word(text),
            Self::Beginning(_) => Self::Beginning(text),
            Self::Near(_) => Self::Near(text),
        }
    }
}

/// Returns how much of a word is taken to be written rightly: more than half of it.
fn sure(text: &str) -> usize {
    let letters = text.chars().count();
    text.char_indices().nth((letters * 3 / 5).max(SHORTEST - 1)).map_or(text.len(), |(at, _)| at)
}

/// Tells whether a word, as the index has it without its ending, is but for a slip the beginning of another.
fn is_near(text: &str, word: &str) -> bool {
    let letters = word.chars().count();
    let slips = if letters < COMPOUND { 1 } else { 2 };
    let all = text.chars().count();
    let ends = (letters.saturating_sub(slips)..=letters + slips).filter(|end| *end <= all);
    let begins = |end: usize| text.char_indices().nth(end).map_or(text, |(at, _)| &text[..at]);
    letters * 5 >= all * 3 && ends.into_iter().any(|end| strsim::osa_distance(begins(end), word) <= slips)
}

/// A word of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// The word as it was cut, in lower case.
    pub(super) word: String,
    /// The same without its ending.
    stem: String,
    /// Tells whether it looks like a name in code, an error code or a number: it has capitals inside, or digits.
    pub(super) is_name: bool,
}

impl Term {
    /// Returns how the word itself is looked up; a single character of a script without spaces may begin a pair.
    pub(super) fn exact(&self) -> Key {
        let is_one = self.word.chars().count() == 1 && self.word.chars().all(is_unspaced);
        if is_one { Key::Beginning(self.word.clone()) } else { Key::Word(self.word.clone()) }
    }

    /// Returns how what means much the same is looked up: other endings, longer compounds, other words for it.
    pub(super) fn akin(&self) -> Vec<Key> {
        let mut akin = Vec::new();
        let letters: Vec<char> = self.word.chars().collect();
        let is_plain = letters.iter().all(|letter| letter.is_alphabetic() && !is_unspaced(*letter));
        if is_plain && letters.len() >= INFLECTED {
            akin.push(Key::Beginning(stem(&letters)));
            akin.push(Key::Beginning(backwards(&self.word)));
        }
        let others = ALIKE.get(&self.stem).into_iter().flatten();
        akin.extend(others.map(|word| Key::Word((*word).to_owned())));
        akin
    }

    /// Returns how the word is looked up if it may have a slip: written almost like this from its beginning, or, if it is
    /// long, from its end.
    pub(super) fn near(&self) -> Vec<Key> {
        let letters = self.word.chars().count();
        if letters < INFLECTED
            || !self.word.chars().all(|letter| letter.is_alphabetic() && !is_unspaced(letter))
        {
            return Vec::new();
        }
        let backwards = (letters >= COMPOUND).then(|| Key::Near(backwards(&self.word)));
        std::iter::once(Key::Near(self.word.clone())).chain(backwards).collect()
    }

    /// Returns how the word may be cut into two, if it is long enough: what begins with its end, and its beginning
    /// with and without what joins the two.
    pub(super) fn cuts(&self) -> Vec<(Key, Vec<Key>)> {
        let letters: Vec<char> = self.word.chars().collect();
        let is_plain = letters.iter().all(|letter| letter.is_alphabetic() && !is_unspaced(*letter));
        if !is_plain || letters.len() < COMPOUND {
            return Vec::new();
        }
        let cut = |at: usize| {
            let (head, tail): (String, String) =
                (letters[..at].iter().collect(), letters[at..].iter().collect());
            let joined = ["s", "es", "n", "en", "e"].iter().filter_map(|joint| head.strip_suffix(joint));
            let joined = joined.filter(|head| head.chars().count() >= SHORTEST);
            let heads = std::iter::once(head.as_str()).chain(joined).map(|head| Key::Word(head.to_owned()));
            (Key::Beginning(tail), heads.collect())
        };
        (SHORTEST..=letters.len() - SHORTEST).map(cut).collect()
    }

    /// Returns how the word begins, whatever its ending: what an excerpt is looked through for.
    pub(super) fn root(&self) -> String {
        let letters: Vec<char> = self.word.chars().collect();
        if letters.len() >= INFLECTED { stem(&letters) } else { self.word.clone() }
    }
}

/// Leaves out a quarter of a word, where endings are.
fn stem(letters: &[char]) -> String {
    let ending = (letters.len() / 4).max(2);
    letters[..(letters.len() - ending).max(SHORTEST)].iter().collect()
}

fn backwards(word: &str) -> String {
    std::iter::once(BACKWARDS).chain(word.chars().rev()).collect()
}

/// Returns the words of a question that say something, each once.
pub(super) fn terms(question: &str) -> Vec<Term> {
    let mut seen = HashSet::new();
    let mut words: Vec<(String, bool)> = Vec::new();
    each_word(question, For::Question, |word, is_name| {
        if seen.insert(word.to_owned()) {
            words.push((word.to_owned(), is_name));
        }
    });
    let stems = stems(&words.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>());
    words.into_iter().zip(stems).map(|((word, is_name), stem)| Term { word, stem, is_name }).collect()
}

/// Collects words for the index, each once, with spaces between.
#[derive(Default)]
pub(super) struct WordCollector {
    seen: HashSet<String>,
    text: String,
}

impl WordCollector {
    /// Adds the words of a text, until there are so many.
    pub(super) fn add(&mut self, text: &str, most: usize) {
        each_word(text, For::Index, |word, _| {
            if self.seen.len() >= most || self.seen.contains(word) {
                return;
            }
            self.push(word);
            if word.chars().count() >= COMPOUND && word.chars().all(char::is_alphabetic) {
                self.push(&backwards(word));
            }
        });
    }

    fn push(&mut self, word: &str) {
        self.seen.insert(word.to_owned());
        self.text.push_str(word);
        self.text.push(' ');
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// What words are for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    /// The last character of a run stands alone too, so that a question of one character finds it.
    Index,
    Question,
}

fn each_word(text: &str, what_for: For, mut with: impl FnMut(&str, bool)) {
    let mut before = "";
    for run in text.split(|letter: char| !letter.is_alphanumeric()) {
        if let Some(word) = joined(before, run) {
            with(word, false);
        }
        before = run;
        let letters: Vec<char> = run.chars().collect();
        for part in letters.chunk_by(|left, right| is_unspaced(*left) == is_unspaced(*right)) {
            match part {
                [first, _, ..] if is_unspaced(*first) => {
                    part.windows(2).for_each(|pair| with(&lower(pair), false));
                    if let (Some(last), For::Index) = (part.last(), what_for) {
                        with(&last.to_string(), false);
                    }
                }
                part => each_part(part, &mut with),
            }
        }
    }
}

/// Returns the word that two short ones are elsewhere: `log in` and `time-out`.
fn joined(before: &str, run: &str) -> Option<&'static str> {
    let is_short = |word: &str| {
        (1..=JOINED).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    if !is_short(before) || !is_short(run) {
        return None;
    }
    KNOWN.get([before, run].concat().to_ascii_lowercase().as_str()).copied()
}

/// Gives a word, and the parts of one that is written like `ReadDeadline` or `OOMKilled`.
fn each_part(letters: &[char], with: &mut impl FnMut(&str, bool)) {
    let word = lower(letters);
    let mut parts: Vec<&[char]> = Vec::new();
    let mut begin = 0;
    for at in 1..=letters.len() {
        if at == letters.len() || ends_part(&letters[begin..at], &letters[at..]) {
            parts.push(&letters[begin..at]);
            begin = at;
        }
    }
    parts.retain(|part| part.len() > 2);
    let is_name = parts.len() > 1 || letters.iter().any(|letter| letter.is_numeric());
    if !STOP.contains(word.as_str()) {
        with(&word, is_name);
    }
    for part in parts.iter().filter(|part| part.len() < letters.len()) {
        with(&lower(part), false);
    }
}

/// Tells whether a part of a name ends between these letters.
fn ends_part(before: &[char], after: &[char]) -> bool {
    let [.., last] = before else { return false };
    let is_small = |letter: Option<&char>| letter.is_some_and(|letter| letter.is_lowercase());
    let is_capital = after.first().is_some_and(|letter| letter.is_uppercase());
    // `readDeadline`, `OOMKilled`.
    is_capital && (last.is_lowercase() || (last.is_uppercase() && is_small(after.get(1)) && before.len() > 1))
}

fn lower(letters: &[char]) -> String {
    letters.iter().flat_map(|letter| letter.to_lowercase()).collect()
}

/// Tells whether a letter is of a script that puts no spaces between words, or binds so much to them that parts of
/// words must be found.
fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{0E00}'..='\u{0EFF}' // Thai, Lao
        | '\u{1000}'..='\u{109F}' // Burmese
        | '\u{1100}'..='\u{11FF}' | '\u{AC00}'..='\u{D7AF}' // Korean
        | '\u{1780}'..='\u{17FF}' // Khmer
        | '\u{3040}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' // Japanese
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' // Chinese characters
        | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_script() {
        let check = |text: &str, expected: &[&str]| {
            let words: Vec<_> = terms(text).into_iter().map(|term| term.word).collect();
            assert_eq!(words, expected, "{text}");
        };
        check("The hose-leaks, at tap.rs:12!", &["hose", "leaks", "tap", "rs", "12"]);
        check("软管漏水", &["软管", "管漏", "漏水"]);
        check("水", &["水"]);
        check("ホースが漏れる v2", &["ホー", "ース", "スが", "が漏", "漏れ", "れる", "v2"]);
        check("Straße ΣΊΣΥΦΟΣ шланг", &["straße", "σίσυφοσ", "шланг"]);
        check("ReadDeadline of parse_header", &["readdeadline", "read", "deadline", "parse", "header"]);
        check(
            "OOMKilled XMLHttpRequest v2",
            &["oomkilled", "oom", "killed", "xmlhttprequest", "xml", "http", "request", "v2"],
        );
        check("why is it so?", &[]);
        check("the log in, a time-out", &["log", "login", "time", "timeout"]);
        let mut bag = WordCollector::default();
        bag.add("The hose, the HOSE, 漏水漏水", 99);
        assert_eq!(bag.text(), "hose 漏水 水漏 水 ");
    }

    #[test]
    fn a_slip_is_forgiven() {
        let near = |text: &str, word: &str| terms(text)[0].near().iter().any(|key| key.is(word));
        // As the index has them: without English endings, long words backwards too.
        assert!(
            near("configuraton", "configur") && near("databse", "databas") && near("connecton", "connect")
        );
        assert!(near("udnefined", "\u{E000}denifednu") && near("Verbidnung", "verbindung"));
        assert!(!near("container", "contact") && !near("tap", "tab"));
    }

    #[test]
    fn a_word_is_looked_for_in_other_forms_too() {
        let akin = |word: &str| terms(word)[0].akin();
        let (word, beginning) =
            (|text: &str| Key::Word(text.to_owned()), |text: &str| Key::Beginning(text.to_owned()));
        assert_eq!(akin("Dichtungen")[..2], [beginning("dichtung"), beginning("\u{E000}negnuthcid")]);
        assert!(akin("crashed").contains(&word("panic")), "{:?}", akin("crashed"));
        assert!(akin("authenticating").contains(&word("signin")), "{:?}", akin("authenticating"));
        assert_eq!(akin("tap"), Vec::<Key>::new());
        let cuts = terms("Verbindungsabbruch")[0].cuts();
        assert_eq!(cuts[7], (beginning("abbruch"), vec![word("verbindungs"), word("verbindung")]));
    }
}
