//! People's Markdown as harmless HTML.

use std::{collections::HashSet, sync::LazyLock};

use ammonia::Builder;
use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd, html::push_html};

/// What may stay of the HTML: GitHub's `<details>`, and the classes that colour a diff.
static SANITIZER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut sanitizer = Builder::default();
    sanitizer.add_allowed_classes("span", ["added", "removed", "hunk"]);
    sanitizer.add_tag_attributes("details", ["open"]);
    // Only links and pictures that say where they lead; a picture from elsewhere is not loaded anyway.
    sanitizer.url_schemes(HashSet::from(["http", "https", "mailto"]));
    sanitizer
});

/// Renders Markdown. Whatever a stranger wrote, no script, style or frame comes out.
pub(super) fn html(markdown: &str) -> Markup {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = String::new();
    push_html(&mut page, drawn(Parser::new_ext(markdown, options)).into_iter());
    PreEscaped(SANITIZER.clean(&page).to_string())
}

/// Renders Markdown as the API tells it.
pub(crate) fn to_html(markdown: &str) -> String {
    html(markdown).into_string()
}

/// The words of Markdown alone, a line for each block.
pub(crate) fn to_text(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let words = Parser::new_ext(markdown, options).filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(text.into_string()),
        Event::SoftBreak
        | Event::HardBreak
        | Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::TableRow) => {
            Some("\n".to_owned())
        }
        _ => None,
    });
    words.collect::<String>().trim().to_owned()
}

/// Renders what Discord makes of a message: no HTML and no tables, every line its own, and `-# ` for small print.
pub(crate) fn chat(text: &str) -> Markup {
    let mut fenced = false;
    let mut parts: Vec<(Print, String)> = Vec::new();
    for line in text.lines() {
        let small = if fenced { None } else { line.strip_prefix("-# ") };
        fenced ^= line.trim_start().starts_with("```");
        let (print, line) = small.map_or((Print::Usual, line), |line| (Print::Small, line));
        match parts.last_mut() {
            Some((last, text)) if *last == print => *text = format!("{text}\n{line}"),
            Some(_) | None => parts.push((print, line.to_owned())),
        }
    }
    html! {
        @for (print, text) in &parts {
            @match print {
                Print::Usual => (lines(text)),
                Print::Small => div.small { (lines(text)) },
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Print {
    Usual,
    Small,
}

fn lines(text: &str) -> Markup {
    let plain = |event| match event {
        Event::SoftBreak => Event::HardBreak,
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        other => other,
    };
    let mut page = String::new();
    let events = Parser::new_ext(text, Options::ENABLE_STRIKETHROUGH).map(plain);
    push_html(&mut page, drawn(events).into_iter());
    PreEscaped(SANITIZER.clean(&page).to_string())
}

/// Draws what plain HTML has no tag for: boxes of task lists, and the colours of diffs.
fn drawn<'a>(events: impl Iterator<Item = Event<'a>>) -> Vec<Event<'a>> {
    let mut in_diff = false;
    let draw = |event| match event {
        Event::TaskListMarker(true) => Event::Text("☑ ".into()),
        Event::TaskListMarker(false) => Event::Text("☐ ".into()),
        Event::Text(text) if in_diff => Event::Html(colored(&text).into_string().into()),
        Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(ref language))) => {
            in_diff = &**language == "diff";
            event
        }
        Event::End(TagEnd::CodeBlock) => {
            in_diff = false;
            event
        }
        other => other,
    };
    events.map(draw).collect()
}

/// Draws the lines of a diff in their colours.
pub(super) fn colored(diff: &str) -> Markup {
    let lines = diff.split_inclusive('\n').map(|line| match line.as_bytes().first() {
        Some(b'+') => html! { span.added { (line) } },
        Some(b'-') => html! { span.removed { (line) } },
        Some(b'@') => html! { span.hunk { (line) } },
        _ => html! { (line) },
    });
    PreEscaped(lines.map(PreEscaped::into_string).collect())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::html;

    fn check(markdown: &str) -> String {
        html(markdown).into_string()
    }

    #[test]
    fn a_message_of_a_chat_has_small_print_and_no_html() {
        let text = "**7 litres**\na minute <b>now</b>\n```sh\n-# no print\n```\n-# ⚙ `bash`\n-# 3 s";
        assert_snapshot!(super::chat(text).into_string(), @r#"
        <p><strong>7 litres</strong><br>
        a minute &lt;b&gt;now&lt;/b&gt;</p>
        <pre><code>-# no print
        </code></pre>
        <div class="small"><p>⚙ <code>bash</code><br>
        3 s</p>
        </div>
        "#);
    }

    #[test]
    fn nothing_that_runs_comes_through() {
        assert_snapshot!(check("<script>alert(1)</script>\n\nHi <img src=x onerror=alert(1)> [a](javascript:alert(1))\n\n<svg onload=alert(1)>\n\n<iframe src=//x></iframe><style>*{}</style>"), @r#"

        <p>Hi <img src="x"> <a rel="noopener noreferrer">a</a></p>
        "#);
    }

    #[test]
    fn details_fold_and_hidden_marks_stay_hidden() {
        assert_snapshot!(check("<!-- mark -->\n<details open><summary>Run</summary>\n\n| a |\n|---|\n| 1 |\n\n</details>"), @r#"

        <details open=""><summary>Run</summary>
        <table><thead><tr><th>a</th></tr></thead><tbody>
        <tr><td>1</td></tr>
        </tbody></table>
        </details>
        "#);
    }

    #[test]
    fn tasks_and_diffs_are_drawn() {
        assert_snapshot!(check("- [x] shut\n- [ ] off\n\n```diff\n-gt <30>\n+ge\n same\n```"), @r#"
        <ul>
        <li>☑ shut</li>
        <li>☐ off</li>
        </ul>
        <pre><code><span class="removed">-gt &lt;30&gt;
        </span><span class="added">+ge
        </span> same
        </code></pre>
        "#);
    }
}
