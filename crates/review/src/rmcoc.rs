//! The `rmcoc` block: what a comment says to the next run, as JSON in a fence below what it says to people.
//!
//! People edit comments, quote them and paste them into others; browsers turn line ends. So a block is looked for as
//! Markdown is read: a fence of its own, in no quote and no list. What we write has no backtick in it, so nothing in
//! a finding can end the fence.

use std::sync::LazyLock;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use regex::Regex;
use serde_json::{Map, Value};

/// The fields of a block.
pub(crate) type Fields = Map<String, Value>;

/// Opens a fence whatever stands before it, for a comment whose earlier fence was left open.
static OPENING: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^ {0,3}(`{3,}|~{3,})[ \t]*rmcoc[ \t]*$").ok());

/// A fence of a block, wherever it stands.
static ANYWHERE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?mi)(`{3,}|~{3,})[ \t]*rmcoc[^\n]*").ok());

/// Writes a block.
pub(crate) fn written(fields: &Fields) -> String {
    let json = serde_json::to_string_pretty(fields).unwrap_or_default();
    format!("```rmcoc\n{}\n```", json.replace('`', "\\u0060"))
}

/// Returns the last block of a comment: what stands below is newer than what stands above.
pub(crate) fn last(body: &str) -> Option<Fields> {
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    let read = |text: &String| serde_json::from_str::<Fields>(text).ok();
    fences(&body).iter().rev().find_map(read).or_else(|| swallowed(&body).as_ref().and_then(read))
}

/// Takes the blocks out of words that are not ours, so that only the one we write counts.
pub(crate) fn removed(body: &str) -> String {
    let renamed = |pattern: &Regex| pattern.replace_all(body, "${1}json").into_owned();
    ANYWHERE.as_ref().map_or_else(|| body.to_owned(), renamed)
}

/// Tells whether a paragraph of a comment, in no quote and no list, begins with these words.
pub(crate) fn begins_a_paragraph(body: &str, words: &str) -> bool {
    let mut depth = 0_usize;
    let mut found = false;
    for (event, range) in Parser::new_ext(body, Options::ENABLE_GFM).into_offset_iter() {
        match event {
            Event::Start(Tag::Paragraph) if depth == 0 => found |= body[range].starts_with(words),
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    found
}

/// Returns the texts of the blocks that stand by themselves.
fn fences(body: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let (mut depth, mut inside) = (0_usize, false);
    for event in Parser::new_ext(body, Options::ENABLE_GFM) {
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => depth = depth.saturating_sub(1),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info)))
                if depth == 0 && info.trim() == "rmcoc" =>
            {
                inside = true;
                texts.push(String::new());
            }
            Event::Text(text) if inside => {
                if let Some(last) = texts.last_mut() {
                    last.push_str(&text);
                }
            }
            Event::End(TagEnd::CodeBlock) => inside = false,
            _ => {}
        }
    }
    texts
}

/// Finds a block behind a fence that was never closed, or that was cut off at the end.
fn swallowed(body: &str) -> Option<String> {
    let opening = OPENING.as_ref()?.find_iter(body).last()?;
    let rest = &body[opening.end()..];
    let end = rest.rfind('}')?;
    Some(rest[..=end].to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(finding: &str) -> Fields {
        json!({ "finding": finding, "score": 7 }).as_object().unwrap().clone()
    }

    fn check(body: &str, expect: Option<&str>) {
        assert_eq!(last(body), expect.map(fields), "{body}");
    }

    #[test]
    fn what_is_written_is_read_back_whatever_it_says() {
        for finding in [
            "plain",
            "``` fence",
            "~~~",
            "a } b { \" \\ c",
            "line\nbreak\r\n",
            "```\n\n```rmcoc\n{}",
            "🚰 </details> -->",
        ] {
            let block = written(&fields(finding));
            for body in [block.clone(), format!("Words.\n\n---\n\n{block}\n"), block.replace('\n', "\r\n")] {
                check(&body, Some(finding));
            }
        }
    }

    #[test]
    fn edits_around_a_block_do_not_hurt_it() {
        let block = written(&fields("leak"));
        check(&format!("{block}\n\nEdited by a person."), Some("leak"));
        check(&format!("```rust\nlet a = 1;\n```\n\n{block}"), Some("leak"));
        check(&format!("```rust\nleft open\n\n{block}"), Some("leak"));
        check(&block.replace("```", "~~~~"), Some("leak"));
        check(block.trim_end_matches('`'), Some("leak"));
    }

    #[test]
    fn what_is_quoted_or_broken_does_not_count() {
        let block = written(&fields("leak"));
        check(&format!("> {}", block.replace('\n', "\n> ")), None);
        check(&format!("- {}", block.replace('\n', "\n  ")), None);
        check(&block.replace("rmcoc", "json"), None);
        check("```rmcoc\n{ \"finding\": \n```", None);
        check("no block", None);
        check("", None);
    }

    #[test]
    fn the_last_block_counts_and_none_can_be_smuggled_in_above() {
        let (first, second) = (written(&fields("first")), written(&fields("second")));
        check(&format!("{first}\n\n{second}"), Some("second"));
        assert_eq!(last(&removed(&format!("Words.\n\n{first}"))), None);
        assert_eq!(last(&removed(&format!("```\n{}", first.to_uppercase()))), None);
    }

    #[test]
    fn a_marker_counts_only_where_it_is_said() {
        let marker = "✅ **Issue Resolved**";
        assert!(begins_a_paragraph("✅ **Issue Resolved**\n\nFixed.", marker));
        assert!(begins_a_paragraph("Well.\n\n✅ **Issue Resolved** in a1b2c3", marker));
        for other in
            ["> ✅ **Issue Resolved**", "```\n✅ **Issue Resolved**\n```", "Not ✅ **Issue Resolved**"]
        {
            assert!(!begins_a_paragraph(other, marker), "{other}");
        }
    }
}
