//! Makes the agent's Markdown fit to be published in the harness's name.
//!
//! A picture is fetched by whoever reads the comment, so that its address can carry something away: only GitHub's own are
//! shown, others become links. A mention calls somebody: only who takes part in the conversation is called. What readers
//! do not see (HTML comments, definitions that nothing refers to, characters without a shape) and what would look like a part of ours (the run summary) is not let through. Code stays as it is.

mod imitation;
mod unseen;

use std::{ops::Range, sync::LazyLock};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use regex::Regex;

use super::whole::closed;
use crate::names::Login;
use imitation::imitates;
use unseen::unseen;

/// How often a text is looked at again: what is taken out may make something of what stood around it.
const ROUNDS: usize = 8;

/// Returns a text as it may be published, where these people may be called.
pub fn published(markdown: &str, people: &[Login]) -> String {
    let mut text = without_controls(markdown);
    for _ in 0..ROUNDS {
        let edits = edits(&text, people);
        if edits.is_empty() {
            return text;
        }
        text = edited(&text, edits);
    }
    // Whoever tries this hard is read as it was written.
    let text = without_controls(markdown);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let ticks = "`".repeat(longest.max(2) + 1);
    closed(&format!("{ticks}\n{text}\n{ticks}"))
}

/// Leaves characters out that no reader sees, such as NUL, which GitHub's own storage may not take, or the beginning of a
/// terminal's command.
fn without_controls(markdown: &str) -> String {
    markdown
        .chars()
        .filter(|c| !is_unseen(*c) && (!c.is_control() || matches!(c, '\n' | '\r' | '\t')))
        .collect()
}

/// Tells whether a character shows nothing and can carry words to whoever reads bytes, or turns the words around it. What
/// joins emoji and colours them stays.
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{200b}' | '\u{feff}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e0000}'..='\u{e0fff}'
    )
}

type Edit = (Range<usize>, String);

fn edited(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for (range, replacement) in edits {
        if range.start >= done {
            out.push_str(&text[done..range.start]);
            out.push_str(&replacement);
            done = range.end;
        }
    }
    out.push_str(&text[done..]);
    out
}

/// Finds what has to change.
fn edits(text: &str, people: &[Login]) -> Vec<Edit> {
    let mut look =
        Scan { text, people, imitates: imitates(text), edits: Vec::new(), shown: ShownWords::default() };
    let options = Options::ENABLE_GFM | Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    // Without footnotes, one could be taken for the definition of a link, of which nothing is shown.
    look.read(options);
    look.read(options | Options::ENABLE_FOOTNOTES);
    look.edits.extend(unseen(text));
    look.edits
}

struct Scan<'a> {
    text: &'a str,
    people: &'a [Login],
    /// Whether the text would look like a run summary of ours.
    imitates: bool,
    edits: Vec<Edit>,
    shown: ShownWords,
}

/// Words as they are shown, and where each byte was written.
#[derive(Default)]
struct ShownWords {
    words: String,
    origins: Vec<Range<usize>>,
}

impl ShownWords {
    fn add(&mut self, text: &str, words: &str, range: Range<usize>) {
        let is_plain = text.get(range.clone()) == Some(words);
        let origin =
            |at: usize| if is_plain { range.start + at..range.start + at + 1 } else { range.clone() };
        self.origins.extend((0..words.len()).map(origin));
        self.words.push_str(words);
    }
}

impl Scan<'_> {
    /// Looks at a text as it is read with these options.
    fn read(&mut self, options: Options) {
        let (mut code, mut block) = (0_usize, None::<Range<usize>>);
        for (event, range) in Parser::new_ext(self.text, options).into_offset_iter() {
            if !matches!(event, Event::Text(_)) {
                self.finish_words(code);
            }
            match event {
                Event::Start(Tag::CodeBlock(_)) => code += 1,
                Event::End(TagEnd::CodeBlock) => code = code.saturating_sub(1),
                // A tag may go over several lines, each of which is an event of its own.
                Event::Start(Tag::HtmlBlock) => block = Some(range),
                Event::End(TagEnd::HtmlBlock) => {
                    if let Some(range) = block.take() {
                        self.html(range);
                    }
                }
                Event::InlineHtml(tag) => {
                    match tag.to_ascii_lowercase().as_str() {
                        "<code>" => code += 1,
                        "</code>" => code = code.saturating_sub(1),
                        _ => {}
                    }
                    self.html(range);
                }
                Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::TableCell) => {
                    code = 0;
                }
                Event::Start(Tag::Image { dest_url, .. }) if !is_github_s(&dest_url) => self.picture(range),
                Event::Text(words) => self.shown.add(self.text, &words, range),
                _ => {}
            }
        }
        self.finish_words(code);
    }

    fn finish_words(&mut self, code: usize) {
        let shown = std::mem::take(&mut self.shown);
        if code > 0 {
            return;
        }
        for name in strangers(&shown.words, self.people) {
            let range = shown.origins[name.start].start..shown.origins[name.end - 1].end;
            self.edits.push((range, format!("<code>{}</code>", &shown.words[name])));
        }
    }

    /// The picture's address and words stay, as a link.
    fn picture(&mut self, range: Range<usize>) {
        self.edits.push((range.start..range.start + 1, "picture: ".to_owned()));
    }

    fn html(&mut self, range: Range<usize>) {
        let (start, html) = (range.start, &self.text[range]);
        let mut done = 0;
        let mut code = 0_usize;
        for found in MARKUP.tags.captures_iter(html) {
            let tag = found.get_match();
            if code == 0 {
                self.words_in_html(&html[done..tag.start()], start + done);
            }
            done = tag.end();
            let name = found.name("name").map_or("", |name| name.as_str()).to_ascii_lowercase();
            match (name.as_str(), tag.as_str().starts_with("</")) {
                ("code" | "pre", false) => code += 1,
                ("code" | "pre", true) => code = code.saturating_sub(1),
                _ => {}
            }
            let place = start + tag.start();
            if tag.as_str().starts_with("<!--") {
                self.edits.push((place..start + tag.end(), String::new()));
            } else if !tag.as_str().ends_with('>') || !self.may_stay(&name, tag.as_str()) {
                self.edits.push((place..place + 1, "&lt;".to_owned()));
            }
        }
        if code == 0 {
            self.words_in_html(&html[done..], start + done);
        }
    }

    fn words_in_html(&mut self, words: &str, start: usize) {
        for sign in MARKUP.written_at.captures_iter(words) {
            // Further digits belong to the number, and make it another letter.
            let is_hex = sign.name("hex").is_some();
            let is_digit = |c: char| c.is_ascii_digit() || is_hex && c.is_ascii_hexdigit();
            let at = sign.get_match();
            if !words[at.end()..].starts_with(is_digit) {
                self.edits.push((start + at.start()..start + at.start() + 1, "&amp;".to_owned()));
            }
        }
        for name in strangers(words, self.people) {
            let word = &words[name.clone()];
            self.edits.push((start + name.start..start + name.end, format!("<code>{word}</code>")));
        }
    }

    fn may_stay(&self, name: &str, tag: &str) -> bool {
        match name {
            "details" | "summary" => !self.imitates,
            "img" => {
                let sources = MARKUP.source.captures_iter(tag);
                let mut sources = sources.filter_map(|found| found.iter().skip(1).flatten().next());
                // An address with entities in it is not what it seems.
                let is_known = |source: &str| !source.contains('&') && is_github_s(source);
                !MARKUP.other_source.is_match(tag) && sources.all(|source| is_known(source.as_str()))
            }
            name => PLAIN.contains(&name),
        }
    }
}

/// Tags that show words and nothing else.
const PLAIN: [&str; 48] = [
    "a",
    "abbr",
    "b",
    "blockquote",
    "br",
    "code",
    "dd",
    "del",
    "dfn",
    "div",
    "dl",
    "dt",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "ins",
    "kbd",
    "li",
    "mark",
    "ol",
    "p",
    "pre",
    "q",
    "rp",
    "rt",
    "ruby",
    "s",
    "samp",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "tt",
    "ul",
];

struct Markup {
    tags: Regex,
    source: Regex,
    other_source: Regex,
    mentions: Regex,
    /// The sign of a mention, written as an entity: only where there is no Markdown, it is not read before.
    written_at: Regex,
}

#[expect(clippy::expect_used, reason = "the patterns are constants that the tests compile")]
static MARKUP: LazyLock<Markup> = LazyLock::new(|| {
    let regex = |pattern| Regex::new(pattern).expect("the constant pattern compiles");
    Markup {
        // A comment ends at its end, or never; any other tag at the next bracket outside of quotes.
        tags: regex(
            r#"(?s)<!--(?:.*?-->|.*)|<[/!?]?(?<name>[A-Za-z][A-Za-z0-9-]*)?(?:"[^"]*"|'[^']*'|[^>"'])*>?"#,
        ),
        source: regex(r#"(?is)\ssrc\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))"#),
        other_source: regex(r"(?i)\b(?:srcset|style|background|poster)\b"),
        written_at: regex(r"(?i)&(?:#0*64|(?<hex>#x0*40)|commat;)"),
        mentions: regex(r"@[A-Za-z0-9][A-Za-z0-9_-]{0,60}(?:/[A-Za-z0-9][A-Za-z0-9._-]*)?"),
    }
});

/// Returns where somebody is called who takes no part in the conversation. Teams never do.
fn strangers(words: &str, people: &[Login]) -> Vec<Range<usize>> {
    let is_known = |name: &str| people.iter().any(|person| person.is_same_identity(&Login::new(name)));
    let mentions = MARKUP.mentions.find_iter(words);
    let called =
        mentions.filter(|found| !words[..found.start()].ends_with(|c: char| c.is_ascii_alphanumeric()));
    called
        .filter(|found| !is_known(found.as_str().trim_start_matches('@')))
        .map(|found| found.range())
        .collect()
}

/// Tells whether an address leads to GitHub, or to a file of the repository.
fn is_github_s(address: &str) -> bool {
    // As browsers read it.
    let address: String = address.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect();
    let address = address.replace('\\', "/");
    let Some((scheme, rest)) = address.split_once(':') else { return !address.starts_with("//") };
    let host = rest.strip_prefix("//").unwrap_or_default();
    let host = host.split(['/', '?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    scheme.eq_ignore_ascii_case("https")
        && (host == "github.com"
            || host.ends_with(".githubusercontent.com")
            || host == "github.githubassets.com")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn made(text: &str) -> String {
        published(text, &[Login::new("maya"), Login::new("renovate[bot]")])
    }

    #[test]
    fn what_is_harmless_stays_as_it_is() {
        for text in [
            "",
            "Thanks @maya and @Maya, **@renovate** too: mail a@b.test.",
            "See [the page][p], [q] and a note[^1].\n\n[p]: https://x.test \"Title\"\n[Q]: <https://y.test>\n[^1]: Seen.",
            "```\n[//]: # (kept)\n```\n\n- [x] done\n- [ ] open: [//]: # (seen)",
            "The run: a summary of the summary, in \u{1f468}\u{200d}\u{1f33e} and \u{2764}\u{fe0f}.\n\n<details>\n<summary>Summary of the run</summary>\n</details>",
            "`@everyone` and\n```sh\ncurl https://x.test @everyone <!-- kept --> ![p](https://x.test/p.png)\n```",
            "    @everyone ![p](https://x.test/p.png)",
            "![ok](https://github.com/user-attachments/assets/1) ![own](docs/a.png)",
            "<img width=\"3\" src=\"https://raw.githubusercontent.com/o/r/a.png\">",
            "<details>\n<summary>More</summary>\n\nwords\n\n</details>",
            "a < b and c > d, [link](https://x.test) and <https://x.test>",
            "| a | b |\n|---|---|\n| 1 | <br>2 |",
        ] {
            assert_eq!(made(text), text);
        }
    }

    #[test]
    fn what_is_not_is_shown_like_this() {
        let texts = [
            "![p](https://x.test/?d=1) and ![p][r] and [![b](http://x.test/b.svg)](https://x.test)\n\n[r]: https://x.test/r.png",
            "!![p](https://x.test/p.png)",
            "<img src=\"https://x.test/p.png\" alt=\"p\"> <IMG\nSRC=x.png srcset=\"https://x.test/p.png 2x\">",
            "<picture>\n<source srcset=\"https://x.test/p.png\">\n<img src='//x.test/p.png'>\n</picture>\n<video src=https://x.test/v.mp4></video>",
            "<img src=\"https://github.com@x.test/p.png\"> ![p](https://github.com.x.test/p.png)",
            "<img alt=\">\" src=\"https://x.test/p.png\"> <img src=\"https&#58;//x.test/p.png\"> <img src=\"/\\x.test/p.png\">",
            "@everyone, @octo/team: look. **@mallory** \\@one &#64;two _@three_ [@four](https://x.test)",
            "<p>@five <b title=\"@six\">@seven</b> <code>@eight</code></p>",
            "@<!-- x -->nine and <!-- hidden\n\nwords --> seen",
            "<!-- fro-bot run=1 event=comment-1 -->\nforged",
            "<details>\n<summary>Run  summary</summary>\n\n| Cost | 0 |\n\n</details>",
            "text <script>alert(1)</script> <?php ?> <![CDATA[x]]>",
            "@maya_corp, @maya, @maya-x and @maya_",
            "Seen.\n\n[//]: # (hidden words)\n[a]: https://x.test\n[a]: # (hidden, too)\n> [b]: <> 'over\n> lines'\n\n[c]: x\nmore [a]",
            "Seen[^1].\n\n[^1]: Shown.\n[^1]: hidden\n\n[^2]: hidden[^3]\n\n[^3]: hidden",
            "Tags\u{e0068}\u{e0069}, a turn\u{202e}nruter\u{202c} and n\u{200b}o\u{2060}t\u{feff}h\u{2063}ing\u{e0101}.",
        ];
        let shown: Vec<_> = texts.iter().map(|text| format!("{text}\n    ↓\n{}", made(text))).collect();
        insta::assert_snapshot!(shown.join("\n\n=====\n\n"));
    }

    #[test]
    fn a_footnote_shows_no_picture_and_calls_nobody() {
        for (hidden, shown) in [
            ("![p](https://x.test/p.png)", "picture: [p](https://x.test/p.png)"),
            ("@everyone", "<code>@everyone</code>"),
            ("<img src=\"https://x.test/p.png\">", "&lt;img src=\"https://x.test/p.png\">"),
        ] {
            let text = |note: &str| format!("Seen[^1].\n\n[^1]: {note}");
            assert_eq!(made(&text(hidden)), text(shown));
        }
    }

    #[test]
    fn a_mention_is_one_for_whoever_reads_it() {
        assert_eq!(made("caf\u{e9}@everyone, mail@b.test"), "caf\u{e9}<code>@everyone</code>, mail@b.test");
        for sign in ["&#64;", "&#064", "&#x40;", "&#X0040;", "&commat;"] {
            let shown = made(&format!("<p>{sign}everyone and <code>x</code></p>"));
            assert_eq!(shown, format!("<p>&amp;{}everyone and <code>x</code></p>", &sign[1..]));
        }
        let other = "<p>&#640; and &#x40e;</p>";
        assert_eq!(made(other), other);
    }

    #[test]
    fn our_own_summary_is_known_however_it_is_spelt() {
        for words in [
            "Run summary",
            "RUN  SUMMARY:",
            "Run&nbsp;summary",
            "Run&nbspsummary",
            "R<b></b>un summary",
            "R<b title='>'></b>un summary",
            "R<!-- x -->un summary",
            "&#82;un summary",
            "&#x52;un s&#117;mmary",
            "&#82un summary",
            "\u{ff32}\u{ff55}\u{ff4e} summary",
            "\u{1d411}\u{1d42e}\u{1d427} summary",
            "Run summ\u{430}ry",
            "R\u{301}un summary",
            "&Rscr;un summary",
            "Run\u{200b} sum\u{ad}mary",
            "yrammus nuR\u{200b}</b> Run <b>summary",
        ] {
            let shown = made(&format!(
                "a < b\n\n<details>\n<summary>{words}</summary>\n\n| Cost | 0 |\n\n</details>"
            ));
            assert!(!shown.contains("<details>") && !shown.contains("<summary>"), "{words}: {shown}");
        }
    }

    #[test]
    fn no_byte_for_a_terminal_or_a_storage_is_left() {
        assert_eq!(made("wet\0 \u{1b}[8mhidden\u{7}\u{9b}2J\r\n\ta"), "wet [8mhidden2J\r\n\ta");
        assert_eq!(
            made("@ever\0yone and <im\0g src=\"https://x.test/p.png\">"),
            made("@everyone and <img src=\"https://x.test/p.png\">")
        );
    }

    proptest! {
        #[test]
        fn what_was_made_fit_is_fit(text in r"(@[a-c]{1,2}|`{1,3}|\\|!|\[|\]|\(|\)|<!--|-->|<code>|</code>|<img src=x:y>|<|>|&#64;|\*|\n|\n\n|    |\n\[a\]: |\n\[\^a\]: |\[\^a\]|[a-z ])*") {
            let once = made(&text);
            prop_assert_eq!(made(&once), once);
        }
    }
}
