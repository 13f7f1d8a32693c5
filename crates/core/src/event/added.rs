//! What an edit added to a text: the words of the editor, apart from those that stood there before.

use std::collections::BTreeSet;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Comparisons that a text, and each changed passage in it, may cost; a larger rewrite asks for nothing.
const PATIENCE: usize = 16_000_000;

/// Returns the words that an edit added, without those that it left standing.
///
/// Whole lines are told apart first, so that a new paragraph stays whole although its words occur elsewhere. In a line
/// that was changed only the changed words are the editor's: a name put behind somebody's sentence does not make the
/// sentence theirs. Neither does moving it: a line that stood anywhere in the text before is left out.
pub(super) fn added(before: &str, after: &str) -> String {
    let old: Vec<&str> = before.lines().map(str::trim_end).collect();
    let new: Vec<&str> = after.lines().map(str::trim_end).collect();
    if old.len().saturating_mul(new.len()) > PATIENCE {
        return String::new();
    }
    let stood: BTreeSet<&str> = old.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    let unmoved = |lines: &[&str]| -> String {
        let lines: Vec<_> = lines.iter().filter_map(|line| without(line, &stood)).collect();
        lines.join("\n")
    };
    let mut text = String::new();
    for change in capture_diff_slices(Algorithm::Patience, &old, &new) {
        match change {
            DiffOp::Equal { .. } | DiffOp::Delete { .. } => {}
            DiffOp::Insert { new_index, new_len, .. } => {
                push(&mut text, &unmoved(&new[new_index..new_index + new_len]));
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                let old = old[old_index..old_index + old_len].join("\n");
                let new = unmoved(&new[new_index..new_index + new_len]);
                push(&mut text, &within_lines(&old, &new));
            }
        }
    }
    text
}

/// Returns a line without the lines that stood before, if that leaves anything. A single word is everybody's.
fn without(line: &str, stood: &BTreeSet<&str>) -> Option<String> {
    if stood.contains(line.trim()) {
        return None;
    }
    let mut rest = line.to_owned();
    for former in stood.iter().filter(|former| former.contains(char::is_whitespace)) {
        if let Some(at) = rest.find(former) {
            rest.replace_range(at..at + former.len(), "");
        }
    }
    Some(rest.trim_end().to_owned())
}

/// Passages of an edit stay apart, as they were in the text.
fn push(text: &mut String, passage: &str) {
    if passage.trim().is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(passage.trim());
}

fn within_lines(before: &str, after: &str) -> String {
    let (old, new) = (words(before), words(after));
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[same..], &new[same..]);
    let same = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[..old.len() - same], &new[..new.len() - same]);
    if old.len().saturating_mul(new.len()) > PATIENCE {
        return String::new();
    }
    let mut text = String::new();
    for change in capture_diff_slices(Algorithm::Myers, old, new) {
        match change {
            DiffOp::Equal { .. } if text.is_empty() => {}
            // What was left out between two added words keeps them apart, and what they say is a new clause.
            DiffOp::Equal { new_index, len, .. } => {
                text.push_str(if new[new_index..new_index + len].iter().all(|word| word.trim().is_empty()) {
                    " "
                } else {
                    "\n"
                });
            }
            DiffOp::Delete { .. } => {}
            DiffOp::Insert { new_index, new_len, .. } | DiffOp::Replace { new_index, new_len, .. } => {
                text.extend(new[new_index..new_index + new_len].iter().copied());
            }
        }
    }
    text
}

/// Splits a text into words and single other characters; a login with its `@` is one word.
fn words(text: &str) -> Vec<&str> {
    let in_word = |c: char| c.is_alphanumeric() || matches!(c, '@' | '-' | '_' | '\'');
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end =
            if in_word(first) { rest.find(|c| !in_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str, expect: &str) {
        assert_eq!(added(before, after), expect, "{before:?} → {after:?}");
    }

    #[test]
    fn what_stood_there_is_not_the_editor_s() {
        check("Fix the tap", "Fix the tap @fro-bot", "@fro-bot");
        check("Fix the tap", "@fro-bot Fix the tap", "@fro-bot");
        check("Fix the tap.\n\nIt drips.", "Fix the tap.\n@fro-bot\nIt drips.", "@fro-bot");
        check("Fix,\nmend", "Fix,\r\nmend\r\n\r\n@fro-bot, why?", "@fro-bot, why?");
        check("@fro-bot,fix it", "@fro-bot, fix it", "");
        check("@fro-bot wyh?", "@fro-bot why?", "why");
        check("It is wet", "It is wet", "");
        check("@fro-bot fix it", "", "");
    }

    #[test]
    fn a_new_paragraph_stays_whole() {
        let asked = "@fro-bot please fix the tap.\nIt drips.";
        check("The tap drips. Fix the tap.", &format!("The tap drips. Fix the tap.\n\n{asked}"), asked);
        check("", asked, asked);
        check("Fix it", &format!("{asked}\n\nFix it"), asked);
    }

    #[test]
    fn a_line_that_was_moved_is_not_the_editor_s() {
        check("Fix the tap\n\nHello", "@fro-bot Hello\n\nFix the tap", "@fro-bot Hello");
        check("Fix the tap\n\nHello", "Hello\n\n@fro-bot Fix the tap", "@fro-bot");
        check("Fix the tap\n\nHello", "@fro-bot\n\nHello\n\n  Fix the tap", "@fro-bot");
        check(
            "Fix the tap",
            "@fro-bot see below\nWhy?\nFix the tap\nFix the tap",
            "@fro-bot see below\nWhy?",
        );
    }

    #[test]
    fn what_stands_between_added_words_is_left_out() {
        check("please fix it now", "Hi @fro-bot please fix it right now", "Hi @fro-bot \n right");
    }

    #[test]
    fn a_rewrite_beyond_measure_asks_for_nothing() {
        let (before, after) = ("a,".repeat(5_000), format!("{}@fro-bot fix it", "b;".repeat(5_000)));
        check(&before, &after, "");
        let (before, after) = ("a\nb\n".repeat(8_000), format!("{}@fro-bot fix it", "b\nc\n".repeat(8_000)));
        check(&before, &after, "");
    }
}
