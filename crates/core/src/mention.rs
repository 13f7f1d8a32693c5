//! Finds who is addressed, as a reader of the rendered text would see it.
//!
//! A name in code, in a quotation, in an HTML comment, in an e-mail address or as part of a longer login
//! is not a mention.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, TextMergeStream};

use crate::names::Login;

/// Tells whether a Markdown text addresses somebody.
pub fn addresses(markdown: &str, login: &Login) -> bool {
    let needle = format!("@{}", login.as_str()).to_lowercase();
    if !markdown.to_lowercase().contains(&needle) {
        return false;
    }
    let mut hidden = 0_usize;
    TextMergeStream::new(Parser::new_ext(markdown, Options::ENABLE_GFM | Options::ENABLE_TABLES)).any(
        |event| {
            match event {
                Event::Start(Tag::CodeBlock(_) | Tag::BlockQuote(_)) => hidden += 1,
                Event::End(TagEnd::CodeBlock | TagEnd::BlockQuote(_)) => hidden -= 1,
                Event::Text(text) if hidden == 0 => return names(&text.to_lowercase(), &needle),
                _ => {}
            }
            false
        },
    )
}

/// Tells whether a lower-case run of plain text holds the needle as a whole mention.
fn names(text: &str, needle: &str) -> bool {
    text.match_indices(needle).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = &text[at + needle.len()..];
        let after = after.strip_prefix("[bot]").unwrap_or(after);
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '@' | '/' | '+'))
            && !after
                .chars()
                .next()
                .is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | '@'))
            && !is_domain(after)
    })
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
}
