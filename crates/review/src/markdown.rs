//! What leaves as Markdown: no suggestion that GitHub could commit, and no more code than the finding is worth.
//!
//! A fence opened with `suggestion` becomes a button that writes into the pull request. Asking the model not to write
//! one is not enough, so the text is parsed as GitHub does, and every such fence, wherever it stands, becomes a plain
//! one.

use std::{ops::Range, sync::LazyLock};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use regex::{Captures, Regex};

use crate::finding::Score;

/// Up to this score a finding is worth only a few lines of code.
const SMALL: u8 = 4;
/// How many lines that are.
const FEW: usize = 5;
/// How often a text is looked at again after a change; each round ends at least one fence.
const ROUNDS: usize = 64;

/// Fences inside of other fences: harmless until somebody cuts the outer one.
static NESTED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?mi)(?P<fence>`{3,}|~{3,})[ \t]*suggestion[^\n]*").ok());
/// GitHub reads the language of a raw `<pre>` as it reads a fence's.
static RAW: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i)\blang\s*=\s*["']?\s*suggestion\w*["']?"#).ok());

/// A raw tag of code with what it says of itself; a `>` may stand in quotes.
static CODE_TAG: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i)<(?P<tag>pre|code)\b(?:"[^"]*"|'[^']*'|[^'">])*"#).ok());

/// Makes every committable suggestion a plain code block.
pub fn without_suggestions(markdown: &str) -> String {
    let mut text = markdown.to_owned();
    for _ in 0..ROUNDS {
        let Some(info) = suggestion(&text) else { break };
        text.replace_range(info, "text");
    }
    let text = replaced(NESTED.as_ref(), &text, "${fence}text");
    plain_tags(&replaced(RAW.as_ref(), &text, "lang=\"text\""))
}

/// Takes away what raw tags of code say of themselves, where that may spell a language: by a class, or in references such
/// as `&#115;`, which are resolved only when the page is read.
fn plain_tags(text: &str) -> String {
    let Some(tags) = CODE_TAG.as_ref() else { return text.to_owned() };
    let plain = |found: &Captures<'_>| {
        let tag = found[0].to_lowercase();
        if tag.contains('&') || tag.contains("suggestion") {
            format!("<{}", &found["tag"])
        } else {
            found[0].to_owned()
        }
    };
    tags.replace_all(text, plain).into_owned()
}

/// Returns how many lines of code a comment may show.
pub fn most_lines(score: Score, touched: usize) -> usize {
    if score.get() <= SMALL { FEW } else { touched.max(FEW) }
}

/// Returns the lines of the longest code block.
pub fn longest_block(markdown: &str) -> usize {
    blocks(markdown).into_iter().map(|block| block.lines).max().unwrap_or(0)
}

/// Cuts code blocks to so many lines, and says so.
pub fn shortened(markdown: &str, most: usize) -> String {
    let mut text = markdown.to_owned();
    for block in blocks(markdown).into_iter().rev().filter(|block| block.lines > most) {
        let code = &markdown[block.code.clone()];
        let kept = code.split_inclusive('\n').take(most).map(str::len).sum::<usize>();
        let indent: String =
            code.lines().nth(most).unwrap_or_default().chars().take_while(|c| " \t>".contains(*c)).collect();
        let note = format!("{indent}… ({} more lines)\n", block.lines - most);
        // A block inside of a quote or list goes on in its own prefix, which the cut line has.
        let end = if code.ends_with('\n') { note } else { note.trim_end().to_owned() };
        text.replace_range(block.code.start + kept..block.code.end, &end);
    }
    text
}

struct CodeBlock {
    /// Where its code stands in the source, without the fences.
    code: Range<usize>,
    lines: usize,
}

fn blocks(markdown: &str) -> Vec<CodeBlock> {
    let mut blocks = Vec::new();
    let mut open: Option<(Option<Range<usize>>, usize)> = None;
    for (event, range) in parser(markdown).into_offset_iter() {
        match (event, &mut open) {
            (Event::Start(Tag::CodeBlock(_)), _) => open = Some((None, 0)),
            (Event::Text(text), Some((code, lines))) => {
                *lines += text.matches('\n').count();
                let start = code.as_ref().map_or(range.start, |code| code.start);
                *code = Some(start..range.end);
            }
            (Event::End(TagEnd::CodeBlock), Some((Some(code), lines))) => {
                blocks.push(CodeBlock { code: code.clone(), lines: *lines });
                open = None;
            }
            _ => {}
        }
    }
    blocks
}

/// Finds what follows the fence of the first committable suggestion.
fn suggestion(text: &str) -> Option<Range<usize>> {
    parser(text).into_offset_iter().find_map(|(event, range)| {
        let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) = event else { return None };
        is_suggestion(&info).then(|| info_of(text, range))
    })
}

/// Takes any information that begins with the word: what GitHub makes of it may change.
fn is_suggestion(info: &str) -> bool {
    info.trim_start().to_lowercase().starts_with("suggestion")
}

/// Returns where a fence's information stands, as it was written: references such as `&#101;` are resolved only when read.
fn info_of(text: &str, block: Range<usize>) -> Range<usize> {
    let source = &text[block.clone()];
    let fence = source.len() - source.trim_start_matches(['`', '~', ' ', '\t']).len();
    let end = source.find(['\n', '\r']).unwrap_or(source.len());
    block.start + fence.min(end)..block.start + end
}

fn parser(text: &str) -> Parser<'_> {
    Parser::new_ext(
        text,
        Options::ENABLE_GFM | Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_TASKLISTS,
    )
}

fn replaced(pattern: Option<&Regex>, text: &str, by: &str) -> String {
    pattern.map_or_else(|| text.to_owned(), |pattern| pattern.replace_all(text, by).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_clean(text: &str) -> bool {
        suggestion(text).is_none()
            && !NESTED.as_ref().unwrap().is_match(text)
            && !RAW.as_ref().unwrap().is_match(text)
            && plain_tags(text) == text
    }

    #[test]
    fn no_committable_suggestion_leaves() {
        let written = [
            "```suggestion\nlet a = 1;\n```",
            "~~~suggestion\nx\n~~~",
            "   ```` suggestion \nx\n````",
            "```Suggestion\nx\n```",
            "```suggestion:-0+1\nx\n```",
            "> ```suggestion\n> x\n> ```",
            "- item\n\n  ```suggestion\n  x\n  ```",
            "1. > - ```suggestion\n   >   x\n",
            "````markdown\n```suggestion\nx\n```\n````",
            "<details>\n\n```suggestion\nx\n```\n\n</details>",
            "```sugg&#101;stion\nx\n```",
            "```\\suggestion\nx\n```\n\n```suggestion\ny\n```",
            "<pre lang=\"suggestion\"><code>x</code></pre>",
            "<pre lang=\"&#115;uggestion\"><code>x</code></pre>",
            "<pre title='>' lang=sugg&#x65;stion>x</pre>",
            "<PRE\nlang=\"sugge&#115;tion\"><code>x</code></pre>",
            "<pre><code class=\"language-suggestion\">x</code></pre>",
            "```suggestion\r\nx\r\n```",
            "```suggestion",
        ];
        for text in written {
            let clean = without_suggestions(text);
            assert!(!is_clean(text), "{text:?} is no suggestion in the first place");
            assert!(is_clean(&clean), "{text:?} became {clean:?}");
            assert_eq!(without_suggestions(&clean), clean, "{text:?}");
        }
    }

    #[test]
    fn other_code_and_the_word_itself_stay() {
        let text = "A suggestion:\n\n```rust\nlet suggestion = 1;\n```\n\n`suggestion`";
        assert_eq!(without_suggestions(text), text);
        let text = "<pre lang=\"rust\"><code class='a'>a && b</code></pre>";
        assert_eq!(without_suggestions(text), text);
    }

    proptest! {
        #[test]
        fn whatever_is_written_comes_out_clean(parts in prop::collection::vec(prop::sample::select(vec![
            "```", "~~~", "````", "suggestion", " ", "\n", "\n\n", "> ", "- ", "1. ", "    ", "\t", "x", "\r\n", "<!--", "-->", "<pre>", "&#115;", "|", "`",
        ]), 0..24)) {
            let text: String = parts.concat();
            prop_assert!(is_clean(&without_suggestions(&text)), "{text:?}");
        }
    }

    #[test]
    fn code_is_as_long_as_the_finding_is_worth() {
        let score = |number| Score::new(number).unwrap();
        let table = [(1, 100, 5), (4, 100, 5), (5, 100, 100), (10, 12, 12), (5, 2, 5), (4, 2, 5)];
        for (number, touched, expect) in table {
            assert_eq!(most_lines(score(number), touched), expect, "{number} {touched}");
        }
    }

    #[test]
    fn a_block_of_exactly_so_many_lines_stays_and_one_more_is_cut() {
        let block = |lines: usize| format!("See:\n\n```rs\n{}```\n\nDone.", "a();\n".repeat(lines));
        assert_eq!(longest_block(&block(5)), 5);
        assert_eq!(shortened(&block(5), 5), block(5));
        insta::assert_snapshot!(shortened(&block(7), 5), @r"
        See:

        ```rs
        a();
        a();
        a();
        a();
        a();
        … (2 more lines)
        ```

        Done.
        ");
        assert_eq!(shortened("> ```\n> a\n> b\n> c\n> ```", 1), "> ```\n> a\n> … (2 more lines)\n> ```");
        assert_eq!(shortened("    a\n    b\n    c\n\nDone.", 1), "    a\n    … (2 more lines)\n\nDone.");
    }
}
