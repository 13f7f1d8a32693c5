//! Closes what a model left open, so that what we add after its words is seen as ours.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Stands where our own text would begin.
const PROBE: &str = "fro-bot-probe";

/// Returns the text with every code block, HTML block and fold closed.
pub fn closed(markdown: &str) -> String {
    let mut text = markdown.trim_end().to_owned();
    let endings = [
        "",
        "\n```",
        "\n~~~",
        "\n````",
        "\n~~~~",
        "\n`````",
        "\n-->",
        "\n?>",
        "\n]]>",
        "\n</pre>",
        "\n</script>",
        "\n</style>",
    ];
    // A fence is closed by one that is as long, however long that is.
    let longest = ['`', '~'].map(|mark| format!("\n{}", longest_run(&text, mark)));
    let mut endings = endings.into_iter().chain(longest.iter().map(String::as_str));
    if let Some(ending) = endings.find(|ending| is_outside(&format!("{text}{ending}"))) {
        text.push_str(ending);
    }
    let open = count(&text, "<details").saturating_sub(count(&text, "</details"));
    for _ in 0..open.min(100) {
        text.push_str("\n\n</details>");
    }
    text
}

/// Tells whether a paragraph after this text would be a plain paragraph.
fn is_outside(markdown: &str) -> bool {
    let text = format!("{markdown}\n\n{PROBE}");
    let mut depth = 0_usize;
    let mut outside = false;
    for event in Parser::new_ext(&text, Options::ENABLE_GFM | Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock) => depth += 1,
            Event::End(TagEnd::CodeBlock | TagEnd::HtmlBlock) => depth -= 1,
            Event::Text(text) if depth == 0 => outside = text.contains(PROBE),
            _ => {}
        }
    }
    outside
}

fn longest_run(text: &str, mark: char) -> &str {
    text.split(|c| c != mark).max_by_key(|run| run.len()).unwrap_or_default()
}

fn count(text: &str, tag: &str) -> usize {
    text.to_ascii_lowercase().matches(tag).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_of_any_length_is_closed() {
        for open in ["``````\nx", "~~~~~~~~~\nx", "`````````````suggestion\n```\nx"] {
            assert!(is_outside(&closed(open)), "{open}");
        }
    }

    #[test]
    fn what_is_whole_stays_as_it_is() {
        for whole in [
            "Hello.",
            "```sh\nls\n```",
            "- a\n- b",
            "> quote",
            "| a |\n|---|",
            "<details>\n\nx\n\n</details>",
            "",
        ] {
            assert_eq!(closed(whole), whole);
        }
    }

    #[test]
    fn what_is_open_is_closed() {
        let open = ["```sh\nls", "~~~\nx", "````\n```\nx", "<!-- secret", "<details>\n\nx", "<pre>\nx"];
        for text in open {
            assert!(is_outside(&closed(text)), "{text:?} became {:?}", closed(text));
        }
        assert_eq!(closed("<details>\n\nx"), "<details>\n\nx\n\n</details>");
    }
}
