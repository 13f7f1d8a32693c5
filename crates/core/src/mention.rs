//! Finds who is addressed, as a reader of the rendered text would see it.
//!
//! A name in code, in a quotation, in an HTML comment, in an e-mail address or as part of a longer login
//! is not a mention.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, TextMergeStream};

use crate::names::Login;

/// Tells whether a Markdown text addresses somebody.
pub fn addresses(markdown: &str, login: &Login) -> bool {
    request(markdown, login).is_some()
}

/// Returns what follows the first mention of somebody on its line, as it reads.
pub fn request(markdown: &str, login: &Login) -> Option<String> {
    let needle = format!("@{}", login.as_str()).to_lowercase();
    if !markdown.to_lowercase().contains(&needle) {
        return None;
    }
    let mut hidden = 0_usize;
    let parser = Parser::new_ext(markdown, Options::ENABLE_GFM | Options::ENABLE_TABLES);
    let mut events = TextMergeStream::new(parser);
    let mut rest = events.find_map(|event| {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::BlockQuote(_)) => hidden += 1,
            Event::End(TagEnd::CodeBlock | TagEnd::BlockQuote(_)) => hidden -= 1,
            Event::Text(text) if hidden == 0 => return after(&text, &needle),
            _ => {}
        }
        None
    })?;
    for event in events {
        match event {
            Event::Text(text) | Event::Code(text) => rest.push_str(&text),
            Event::Start(Tag::Emphasis | Tag::Strong) | Event::End(TagEnd::Emphasis | TagEnd::Strong) => {}
            _ => break,
        }
    }
    Some(rest.trim().to_owned())
}

/// Returns what follows the needle, if a run of plain text holds it as a whole mention.
fn after(text: &str, needle: &str) -> Option<String> {
    let lower = text.to_lowercase();
    // Lowering can change lengths outside of ASCII; then the words are taken in lower case.
    let original = if lower.len() == text.len() { text } else { lower.as_str() };
    let end = lower.match_indices(needle).find_map(|(at, _)| {
        let before = lower[..at].chars().next_back();
        let after = &lower[at + needle.len()..];
        let after = after.strip_prefix("[bot]").unwrap_or(after);
        is_whole(before, after).then_some(lower.len() - after.len())
    })?;
    original.get(end..).map(str::to_owned)
}

/// Tells whether a name between these is not part of a longer one.
fn is_whole(before: Option<char>, after: &str) -> bool {
    !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '@' | '/' | '+'))
        && !after.chars().next().is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | '@'))
        && !is_domain(after)
}

/// Tells whether what follows makes the name a host, as in `@fro-bot.dev`.
fn is_domain(after: &str) -> bool {
    let mut rest = after.chars();
    rest.next() == Some('.') && rest.next().is_some_and(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expect: bool, texts: &[&str]) {
        for text in texts {
            assert_eq!(addresses(text, &Login::new("fro-bot")), expect, "{text:?}");
        }
    }

    #[test]
    fn a_mention_is_seen() {
        check(
            true,
            &[
                "@fro-bot why is the floor wet?",
                "hey @Fro-Bot, look",
                "(@fro-bot)",
                "thanks @fro-bot.",
                "**@fro-bot** please",
                "@fro-bot[bot] please",
                "- [ ] @fro-bot do it",
                "first line\n@fro-bot second",
                "> quoted\n\n@fro-bot answer",
                "`code` @fro-bot",
                "| a |\n|---|\n| @fro-bot |",
            ],
        );
    }

    #[test]
    fn what_only_looks_like_one_is_not() {
        check(
            false,
            &[
                "",
                "fro-bot",
                "`@fro-bot`",
                "```\n@fro-bot\n```",
                "    @fro-bot",
                "> @fro-bot said so",
                "<!-- @fro-bot -->",
                "@fro-bot-staging",
                "@fro-botany",
                "x@fro-bot.dev",
                "@fro-bot.dev",
                "mail me: me@fro-bot",
                "@fro-bot/team",
                "https://example.com/@fro-bot",
                "@@fro-bot",
            ],
        );
    }

    #[test]
    fn the_request_is_the_rest_of_the_line() {
        let request = |text| request(text, &Login::new("fro-bot"));
        assert_eq!(request("hey @Fro-Bot[bot] `review` **this** now\nand more").unwrap(), "review this now");
        assert_eq!(request("@fro-bot").unwrap(), "");
        assert_eq!(request("İ @fro-bot Help").unwrap(), "help");
        assert_eq!(request("`@fro-bot` help"), None);
    }
}
