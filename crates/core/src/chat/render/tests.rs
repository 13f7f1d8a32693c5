//! What messages look like, and what holds for all of them.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation as _;

use super::*;

fn render(markdown: &str) -> Rendered {
    super::render(markdown, &Redactor::knowing([]))
}

/// Tells what of a message Discord would show as code, by its own rule: from three backticks to the next three.
fn fences(message: &str) -> Vec<&str> {
    message.split("```").skip(1).step_by(2).collect()
}

fn shown(markdown: &str) -> String {
    render(markdown).messages.join("\n════\n")
}

#[test]
fn headings_tables_and_nested_fences_read_like_this() {
    let markdown = "# The tap\n\n#### Why it `drips`\n\nSee the list:\n\n- first\n\n  ```rust\n  fn drip() {}\n  ```\n- second\n\n\
        | file | line |\n|---|---|\n| `tap.rs` | 12 |\n| pipe.rs | 7 |\n\n\
        ~~~~markdown\nAn example:\n```sh\nmake\n```\n~~~~\n\nA ``` in the middle of words.\n";
    insta::assert_snapshot!(shown(markdown));
}

#[test]
fn a_table_that_is_too_wide_is_a_list() {
    let wide = "a very long reason that goes on and on, for as long as anybody could wish for";
    insta::assert_snapshot!(shown(&format!(
        "| file | why |\n|---|---|\n| tap.rs | {wide} |\n| pipe.rs | |\n"
    )));
}

#[test]
fn a_fence_is_closed_and_opened_again_where_a_message_ends() {
    let code = (0..150).map(|n| format!("let line_{n} = {n};")).collect::<Vec<_>>().join("\n");
    let rendered = render(&format!("Look:\n\n```rust\n{code}\n```\n\nThat is all."));
    assert_eq!(rendered.messages.len(), 2);
    for message in &rendered.messages {
        let [code] = fences(message)[..] else { panic!("{message}") };
        assert!(code.starts_with("rust\nlet line_"), "{message}");
    }
    let joined: Vec<_> = rendered.messages.iter().flat_map(|message| fences(message)).collect();
    assert_eq!(joined.join("\n").replace("rust\n", "").replace("\n\n", "\n").trim(), code);
}

#[test]
fn a_very_long_answer_is_its_beginning_and_a_file() {
    let long = "All work and no play. ".repeat(1000);
    let rendered = render(&long);
    assert_eq!(rendered.messages.len(), 1);
    assert!(rendered.messages[0].ends_with("\n-# This is the beginning; all of it is in `answer.md`."));
    assert_eq!(rendered.file, Some(TextFile { name: "answer.md".to_owned(), text: long }));
}

#[test]
fn the_empty_line_between_two_blocks_counts() {
    let messages = |letters: usize| {
        let markdown = format!("{}\n\n#### {}", "x".repeat(1000), "y".repeat(letters));
        render(&markdown).messages.iter().map(|message| length(message)).collect::<Vec<_>>()
    };
    assert_eq!(messages(994), [2000]);
    assert_eq!(messages(995), [1000, 999]);
}

#[test]
fn nothing_to_say_is_no_message() {
    assert_eq!(render(" \n\n").messages, Vec::<String>::new());
}

#[test]
fn a_language_that_is_no_plain_word_is_left_out() {
    assert_eq!(shown("```rust,ignore\nx\n```"), "```rust\nx\n```");
    assert_eq!(shown("~~~a`b\nx\n~~~"), "```\nx\n```");
    assert_eq!(shown("```@everyone\nx\n```"), "```\nx\n```");
}

/// Holds one text against what its messages are.
fn check(markdown: &str, expect: &[&str]) {
    assert_eq!(render(markdown).messages, expect, "{markdown}");
}

#[test]
fn what_a_link_is_called_does_not_hide_where_it_leads() {
    for (written, shown) in [
        (
            "[Sign in to GitHub](https://evil.example/login)",
            "Sign in to GitHub (<https://evil.example/login>)",
        ),
        ("[#3](https://github.com/octo/garden/pull/3)", "[#3](https://github.com/octo/garden/pull/3)"),
        ("[#3](<https://github.com/octo/garden/pull/3>)", "[#3](<https://github.com/octo/garden/pull/3>)"),
        ("[x](https://github.com.evil.example/)", "x (<https://github.com.evil.example/>)"),
        ("[x](https://github.com@evil.example/)", "x (<https://github.com@evil.example/>)"),
        ("[x](https://evil.example/https://github.com/)", "x (<https://evil.example/https://github.com/>)"),
        ("[x](https://gitһub.com/octo)", "x (`https://gitһub.com/octo`)"),
        ("[x](HTTPS://evil.example)", "x (`HTTPS://evil.example`)"),
        (
            "[the *tap*][1]\n\n[1]: https://evil.example",
            "the tap (<https://evil.example>)\n\n[1]: https://evil.example",
        ),
        ("![a picture](https://evil.example/p.png)", "a picture (<https://evil.example/p.png>)"),
        ("[tap.rs](src/tap.rs)", "tap.rs (`src/tap.rs`)"),
        ("<https://evil.example>", "<https://evil.example>"),
        (
            "[a [b](https://evil.example)](https://github.com/)",
            "[a b (<https://evil.example>)]\u{200b}(https://github.com/)",
        ),
        // Discord finds a link where Markdown has HTML, code or nothing.
        ("<div>\n[x](https://evil.example)\n</div>", "<div>\n[x]\u{200b}(https://evil.example)\n</div>"),
        ("\\[x](https://evil.example)", "\\[x]\u{200b}(https://evil.example)"),
        ("`a[0](b)`", "`a[0](b)`"),
    ] {
        check(written, &[shown]);
    }
}

#[test]
fn what_rings_or_opens_something_on_discord_stands_as_it_was_written() {
    // Nobody is rung by it: a message names whom it may ring, and ours name nobody.
    for text in ["<@7> and <@&8>", "@everyone @here", "</link:9>", "<#1>", "<t:1447000000:R>", "||hidden||"] {
        check(text, &[text]);
    }
}

#[test]
fn a_heading_of_any_kind_is_one_that_discord_knows() {
    for (written, shown) in [
        ("### The tap", "### The tap"),
        ("The tap\n===\nIt leaks.", "# The tap\n\nIt leaks."),
        ("The tap\n---", "## The tap"),
        ("##### Why [it](https://evil.example) drips", "**Why it (<https://evil.example>) drips**"),
        ("###### a ``` b", "**a `\u{200b}`\u{200b}` b**"),
    ] {
        check(written, &[shown]);
    }
}

#[test]
fn a_fence_in_a_list_or_a_quote_leaves_no_sign_behind() {
    for (written, shown) in [
        ("- ```rust\n  tap();\n  ```\n- next", "```rust\ntap();\n```\n- next"),
        ("> ```\n> tap();\n> ```", "```\ntap();\n```"),
        ("> look:\n> ~~~~js\n> ```\n> ~~~~", "> look:\n```js\n`\u{200b}`\u{200b}`\n```"),
        ("1. ```\n   a\n   ```", "1.\n```\na\n```"),
        ("```\nnever closed", "```\nnever closed\n```"),
        ("> #### deep", "**deep**"),
    ] {
        check(written, &[shown]);
    }
}

#[test]
fn a_table_lines_up_whatever_its_letters_are() {
    check(
        "| 水 | tap |\n|---|---|\n| 漏れ | a |\n| 👩‍👩‍👧 | [b](https://evil.example) |\n| é | c |",
        &[
            "```\n水    tap\n────  ──────────────────────────\n漏れ  a\n👩‍👩‍👧    b (<https://evil.example>)\né     c\n```",
        ],
    );
}

#[test]
fn no_letter_is_cut_in_two_and_none_is_lost() {
    for letter in ["👩‍👩‍👧‍👦", "e\u{301}\u{323}", "漏", "🇩🇪", "x", "👍🏽"] {
        let word = letter.repeat(5_000 / letter.len());
        let messages = render(&word).messages;
        assert!(messages.len() > 1 || length(&word) <= LONGEST, "{letter}");
        assert_eq!(messages.concat(), word, "{letter}");
        for message in &messages {
            assert!(
                length(message) <= LONGEST && message.graphemes(true).all(|it| it == letter),
                "{message}"
            );
        }
    }
    let zalgo = format!("a{} b", "\u{301}".repeat(3_000));
    assert_eq!(render(&zalgo).messages, ["… b"]);
}

#[test]
fn what_is_open_where_a_message_ends_is_closed_and_opened_again() {
    for (before, after) in
        [("**", "**"), ("||", "||"), ("~~", "~~"), ("`", "`"), ("||**", "**||"), ("> **", "**")]
    {
        let words = "word ".repeat(700);
        let messages = render(&format!("{before}{}{after}", words.trim())).messages;
        assert_eq!(messages.len(), 2, "{before}");
        for message in &messages {
            assert!(message.starts_with(before) && message.ends_with(after), "{before}: {message}");
        }
    }
    let hidden = render(&format!("||{}||", "a line that is hidden\n".repeat(120).trim())).messages;
    assert!(
        hidden.len() == 2 && hidden.iter().all(|it| it.starts_with("||") && it.ends_with("||")),
        "{hidden:?}"
    );
    // What has no partner, or stands in code, is no mark.
    let plain = format!("a || b {}`c || d` {}", "word ".repeat(390), "word ".repeat(390));
    assert!(
        render(&plain).messages.iter().all(|message| !message.ends_with("||") && !message.starts_with("||"))
    );
}

#[test]
fn a_secret_is_taken_out_before_anything_is_cut_or_put_together() {
    let redactor = Redactor::knowing([&crate::secret::Secret::new("hunter2hunter2")]);
    for markdown in [
        format!("{}hunter2hunter2", "x".repeat(1_993)),
        format!("```\n{}hunter2hunter2\n```", "x".repeat(1_981)),
        format!("#### {}hun**ter2hun**ter2", "x ".repeat(997)),
        format!("| a |\n|---|\n| {}hun*ter*2hunter2 |", "x ".repeat(900)),
        format!("{} hunter2hunter2", "All work and no play. ".repeat(1000)),
    ] {
        let rendered = super::render(&markdown, &redactor);
        let file = rendered.file.map(|file| file.text).unwrap_or_default();
        let all = rendered.messages.join("") + &file;
        assert!(all.contains("[redacted]") && !all.contains("hunt") && !all.contains("ter2"), "{all}");
    }
}

fn markdown() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "[a-z 👩‍👩‍👧é`*_#>|-]{0,60}",
        Just("```".to_owned()),
        Just("````rust".to_owned()),
        Just("~~~".to_owned()),
        Just("| a | b |\n|---|---|\n| c | d |".to_owned()),
        Just("#### deep".to_owned()),
        Just("- item\n  ```js\n  x".to_owned()),
        Just("> ~~~\n> x".to_owned()),
        Just("[a](https://evil.example \"b\") ||".to_owned()),
        (300..900_usize).prop_map(|n| format!("> **{}** ||{}||", "bold ".repeat(n), "漏e\u{301} ".repeat(n))),
        (1900..2300_usize).prop_map(|n| "x👍".repeat(n / 2)),
        (100..400_usize).prop_map(|n| "some words ".repeat(n)),
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_message_fits_and_stands_by_itself(markdown in markdown()) {
        for message in render(&markdown).messages {
            prop_assert!(length(&message) <= LONGEST, "{} characters", length(&message));
            prop_assert!(!message.trim().is_empty());
            prop_assert_eq!(message.matches("```").count() % 2, 0, "a fence is left open: {}", message);
        }
    }

    #[test]
    fn no_word_is_lost(words in prop::collection::vec("[a-z]{1,12}", 1..900)) {
        let rendered = render(&words.join(" "));
        prop_assume!(rendered.file.is_none());
        let shown = rendered.messages.join(" ");
        prop_assert_eq!(shown.split_whitespace().collect::<Vec<_>>(), words);
    }
}
