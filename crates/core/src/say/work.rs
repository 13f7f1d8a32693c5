//! What people are told of the work that was pushed for them, or was not.

use std::fmt::Write as _;

use crate::{budget::Bounded, command::WorkWords, delegation::NoWork, fence, names::Login};

/// Bytes of a patch that an answer has room for.
const LONGEST: usize = 20_000;
/// Paths that are named before the rest is counted.
const NAMED: usize = 5;

/// Whether GitHub starts checks for what was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checks {
    /// GitHub starts checks by itself.
    Start,
    /// It does not: it was opened with the workflow's own token.
    Wait,
}

/// Tells of a pull request that was opened.
pub fn opened(number: u64, branch: &str, checks: Checks) -> String {
    let text = format!("I opened #{number} from `{}`.", fence::inline(branch));
    match checks {
        Checks::Start => text,
        Checks::Wait => format!(
            "{text} Its checks wait for a person: GitHub starts none for what a workflow's own token opens. Push a \
             commit to it, or close and reopen it."
        ),
    }
}

/// Tells of commits that went to a pull request that was open already.
pub fn pushed(number: u64, commit: &str) -> String {
    let short: String = commit.chars().take(7).collect();
    format!("I pushed {short} to #{number}.")
}

/// Tells of pushes that were refused, with the reason of the last one.
pub fn refused_pushes(count: usize, last: &str) -> String {
    match count {
        1 => format!("a push was refused, because {last}"),
        count => format!("{count} pushes were refused; the last because {last}"),
    }
}

/// Tells of a branch whose pull request could not be opened.
pub fn unopened(branch: &str, why: &str) -> String {
    let why = fence::inline(Bounded::text(why, 300).value());
    format!("> ⚠️ I pushed `{}` but could not open a pull request: {why}", fence::inline(branch))
}

/// Tells somebody who may push how to ask for a change, where it hung on their words.
pub fn how_to_ask(why: &NoWork, name: &Login, work: &WorkWords) -> Option<String> {
    let why = match why {
        NoWork::Unclear => "I could not tell whether you want something changed, so I pushed nothing.",
        NoWork::Question => "I took this for a question, so I pushed nothing.",
        NoWork::Uncommanded => "I push here only when a command asks for it.",
        NoWork::Unasked | NoWork::MayNot(_) | NoWork::Discussion | NoWork::Off(_) => return None,
    };
    Some(format!("> ℹ️ {why} To have it done, write {}.", asking(name, work)))
}

/// Returns the ways to ask for a change that always work.
pub(super) fn asking(name: &Login, work: &WorkWords) -> String {
    let words: Vec<_> = work.words.iter().map(|word| format!("`@{name} {}`", fence::inline(word))).collect();
    let label = match work.label.as_str() {
        "" => String::new(),
        label => format!(", or set the label `{}`", fence::inline(label)),
    };
    match words.as_slice() {
        [] => format!("what is to be changed{label}"),
        [only] => format!("{only}{label}"),
        [all @ .., last] => format!("{} or {last}{label}", all.join(", ")),
    }
}

/// Shows a change that could not be pushed.
pub fn patch(fork: &str, patch: &str) -> String {
    let bounded = Bounded::text(patch, LONGEST);
    // Also within a line: a block ends with a line that is indented, as lines of a patch are that did not change.
    let longest = bounded.value().split(|c| c != '`').map(str::len).max();
    let ticks = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    let mut text = format!(
        "I may not push to {}, so here is the change as a patch; `git apply` takes it.\n\n{ticks}diff\n{}\n{ticks}",
        fence::inline(fork),
        bounded.value().trim_end()
    );
    if bounded.cut() > 0 {
        let _ = write!(text, "\n\n*(The patch is cut; {} bytes are missing.)*", bounded.cut());
    }
    // It stays as it is, or it could not be applied.
    if fence::visible(bounded.value()) != *bounded.value() {
        text.push_str(
            "\n\n> ⚠️ The patch has characters that do not show or that turn the reading direction. Look at it where \
             they are shown before you apply it.",
        );
    }
    text
}

/// Tells of changed files that stay behind.
pub fn left_behind(paths: &[String]) -> String {
    let named: Vec<_> = paths.iter().take(NAMED).map(|path| format!("`{}`", fence::inline(path))).collect();
    let more = match paths.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("> ⚠️ Changed but not pushed: {}{more}.", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_told_like_this() {
        let paths: Vec<_> = (1..8).map(|n| format!("bed{n}.txt")).collect();
        let told = [
            opened(8, "opencode/issue7-20260504080910", Checks::Start),
            opened(8, "opencode/issue7-20260504080910", Checks::Wait),
            pushed(8, "0123456789abcdef"),
            unopened("opencode/issue7-1", "no"),
            left_behind(&paths),
            patch("the fork mallory/garden", "--- a/x\n+++ b/x\n-```\n+````\n````x\n"),
        ];
        insta::assert_snapshot!(told.join("\n\n"));
    }

    #[test]
    fn who_is_not_understood_is_told_how_to_ask() {
        let (name, work) = (Login::new("fro-bot"), WorkWords::usual());
        let cases = [NoWork::Unclear, NoWork::Question, NoWork::Uncommanded];
        let told = cases.map(|why| how_to_ask(&why, &name, &work).unwrap());
        insta::assert_snapshot!(told.join("\n"), @"
        > ℹ️ I could not tell whether you want something changed, so I pushed nothing. To have it done, write `@fro-bot fix`, `@fro-bot implement` or `@fro-bot /pr`, or set the label `agent: implement`.
        > ℹ️ I took this for a question, so I pushed nothing. To have it done, write `@fro-bot fix`, `@fro-bot implement` or `@fro-bot /pr`, or set the label `agent: implement`.
        > ℹ️ I push here only when a command asks for it. To have it done, write `@fro-bot fix`, `@fro-bot implement` or `@fro-bot /pr`, or set the label `agent: implement`.
        ");
        assert_eq!(how_to_ask(&NoWork::Discussion, &name, &work), None);
    }

    #[test]
    fn a_patch_cannot_leave_its_block() {
        let told =
            patch("a fork", "@@ -1,3 +1,3 @@\n ```\n-~~~\n+   ````\n ![x](https://x.example/p.png) @maya");
        let outside: Vec<_> = pulldown_cmark::Parser::new(&told)
            .filter(|event| matches!(event, pulldown_cmark::Event::Start(pulldown_cmark::Tag::Image { .. })))
            .collect();
        assert_eq!(outside, [], "{told}");
    }

    #[test]
    fn what_does_not_show_in_a_patch_is_told() {
        let shown = |patched: &str| patch("a fork", patched).contains("do not show");
        assert!(!shown("+plain\ttext\n-\u{e9}\u{4e2d}\n"));
        for hidden in ["+if x \u{202e}{ \u{2066}// \u{2069}", "+a\0b", "+\u{1b}[8mgone", "+a\u{200b}b"] {
            assert!(shown(hidden), "{hidden:?}");
        }
    }

    #[test]
    fn names_of_files_are_names_whatever_they_are_made_of() {
        let names = ["a\nb", "\u{1b}]0;x\u{7}", "\u{202e}exe", "`@maya`", "::add-mask::x", "<!-- x -->"];
        insta::assert_snapshot!(left_behind(&names.map(str::to_owned)), @r"> ⚠️ Changed but not pushed: `a b`, `\u{1b}]0;x\u{7}`, `\u{202e}exe`, `'@maya'`, `::add-mask::x` and 1 more.");
    }

    #[test]
    fn a_long_patch_says_that_it_is_cut() {
        assert!(
            patch("a fork", &"+\n".repeat(20_000))
                .ends_with("*(The patch is cut; 20000 bytes are missing.)*")
        );
    }
}
