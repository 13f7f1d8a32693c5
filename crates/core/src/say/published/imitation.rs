//! Tells whether a text would look like the run summary that the harness writes, however its letters are spelt.

use std::sync::LazyLock;

use icu_normalizer::DecomposingNormalizerBorrowed;
use pulldown_cmark::{Event, Parser};
use regex::{Captures, Regex};

/// What opens our own summary, by its letters.
const OPENING: &str = "runsummary";

/// Letters of other alphabets that look like those of the opening.
const LOOK_ALIKES: [(char, &str); 7] = [
    ('a', "аαɑᴀАΑᎪꓮ"),
    ('m', "мᴍМΜϺᎷꓟ"),
    ('n', "ոռпηɴΝꓠ"),
    ('r', "гᴦꭇꮁʀᎡᏒꓣᖇ"),
    ('s', "ѕꜱƽЅՏᏚꓢ"),
    ('u', "υսʋꞟᴜՍꓴᑌ"),
    ('y', "уγүʏỿУΥҮᎩꓬ"),
];

struct Spelling {
    /// Tags as a browser reads them, with brackets in quotes, and as one that is in a hurry does.
    tags: [Regex; 2],
    entity: Regex,
}

#[expect(clippy::expect_used, reason = "the patterns are constants that the tests compile")]
static SPELLING: LazyLock<Spelling> = LazyLock::new(|| {
    let regex = |pattern| Regex::new(pattern).expect("the constant pattern compiles");
    Spelling {
        tags: [
            regex(r#"(?s)<!--.*?-->|</?[A-Za-z](?:"[^"]*"|'[^']*'|[^>"'])*>"#),
            regex(r"(?s)<!--.*?-->|<[/!?A-Za-z][^>]*>"),
        ],
        // Old names are read without their end, too; of those only spaces matter.
        entity: regex(
            r"(?i)&(?:(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});|#[0-9]{1,7}|#x[0-9a-f]{1,6}|nbsp|shy)",
        ),
    }
});

/// Tells whether somewhere stands what opens our own summary, however it is written.
pub(super) fn imitates(text: &str) -> bool {
    SPELLING.tags.iter().any(|tags| letters(&meant(&tags.replace_all(text, ""))).contains(OPENING))
}

/// Returns a text with entities read for what they mean.
fn meant(text: &str) -> String {
    let read = |found: &Captures<'_>| {
        let entity = format!("{};", found[0].trim_end_matches(';'));
        let shown = Parser::new(&entity).filter_map(|event| match event {
            Event::Text(shown) => Some(shown.into_string()),
            _ => None,
        });
        shown.collect::<String>()
    };
    SPELLING.entity.replace_all(text, read).into_owned()
}

/// Returns the letters that a reader takes a text's for: without accents, width, style and what stands between them.
fn letters(text: &str) -> String {
    let plain = DecomposingNormalizerBorrowed::new_nfkd().normalize(text);
    let plain = plain.chars().map(|letter| {
        let alike = LOOK_ALIKES.iter().find(|(_, others)| !letter.is_ascii() && others.contains(letter));
        alike.map_or(letter, |(ours, _)| *ours)
    });
    plain.filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}
