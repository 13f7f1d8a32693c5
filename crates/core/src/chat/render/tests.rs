//! What messages look like, and what holds for all of them.

use proptest::prelude::*;

use super::*;

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

fn markdown() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "[a-z 👩‍👩‍👧é`*_#>|-]{0,60}",
        Just("```".to_owned()),
        Just("````rust".to_owned()),
        Just("~~~".to_owned()),
        Just("| a | b |\n|---|---|\n| c | d |".to_owned()),
        Just("#### deep".to_owned()),
        Just("- item\n  ```js\n  x".to_owned()),
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
