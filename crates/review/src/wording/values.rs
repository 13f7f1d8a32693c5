//! Which value a finding says was changed into which: the same words about other values tell of something else.
//!
//! One habit often goes wrong in many places of a change, and each place gets a finding in the same words: a lightness that
//! was 30% and is 70%, one that was 70% and is 30%. Only numbers are read, and only where a text says plainly what was
//! and what is; a text that does not contradicts nothing.

use std::sync::LazyLock;

use regex::Regex;

/// A number that became another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ValueChange {
    from: String,
    to: String,
}

/// What the words before a number say of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cue {
    Was,
    Is,
    /// What ought to be says nothing of what is.
    OughtToBe,
}

/// Places, which are numbers too; the words that tell what was, is and ought to be; and numbers.
static TOKENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let place = r"\b(?:lines?|l)\s*~?\d+(?:\s*(?:[-–,]|and|to)\s*\d+)*|\.\w+:\d+(?:[-:]\d+)*";
    let ought = r"\b(?:(?:should|must|needs? to)(?:\W+\w+){0,3}?\W+to|should|must|keep\w*|preserv\w+|not)\b";
    let was = r"\b(?:from|original(?:ly)?|previous(?:ly)?|formerly|was|were|instead of|rather than|before)\b";
    let is = r"\b(?:to|into|now|becomes?|became)\b";
    let number = r"(?:^|[^\w.#])(?<number>\d+(?:\.\d+)*)(?:%|[a-z]{0,3}\b)";
    Regex::new(&format!("(?i){place}|(?<ought>{ought})|(?<was>{was})|(?<is>{is})|{number}")).ok()
});

impl ValueChange {
    /// Reads the first value that was and the first one that is; nothing if the text does not tell both.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (mut cue, mut from, mut to) = (None, None, None);
        for token in TOKENS.as_ref()?.captures_iter(text) {
            let said = [("was", Cue::Was), ("is", Cue::Is), ("ought", Cue::OughtToBe)];
            if let Some((_, said)) = said.into_iter().find(|(name, _)| token.name(name).is_some()) {
                cue = Some(said);
            }
            let Some(number) = token.name("number") else { continue };
            match cue {
                Some(Cue::Was) => from.get_or_insert(number.as_str()),
                Some(Cue::Is) => to.get_or_insert(number.as_str()),
                Some(Cue::OughtToBe) | None => continue,
            };
        }
        let (from, to) = (from?.to_owned(), to?.to_owned());
        (from != to).then_some(Self { from, to })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<(&str, &str)>) {
        let change = |(from, to): (&str, &str)| ValueChange { from: from.to_owned(), to: to.to_owned() };
        assert_eq!(ValueChange::read(text), expect.map(change), "{text}");
    }

    #[test]
    fn what_was_and_what_is_are_told_in_either_order() {
        check("The retry limit changed from 3 to 5", Some(("3", "5")));
        check("`limit` was originally `wait(3s)` but is now `5s`", Some(("3", "5")));
        check("Waits now 5 s instead of the previous 3 s", Some(("3", "5")));
        check("Original code used `scale(a, 30%)`, the change converts it to use 70%", Some(("30", "70")));
        check("Bumped from 1.2.3 to 1.2.4", Some(("1.2.3", "1.2.4")));
    }

    #[test]
    fn what_ought_to_be_is_not_what_is() {
        check("Changed from 30% to 70%/30% when it should be 30%/70%", Some(("30", "70")));
        check("It was 3, should be raised to 9, not changed to 5", Some(("3", "5")));
        check("It was 3 and must stay 3", None);
    }

    #[test]
    fn places_names_and_lone_numbers_are_no_values() {
        check("From line 12 to line 40 the lock is held", None);
        check("`tap.rs:12` is moved to `hose.rs:40`", None);
        check("`sha256` was replaced; it is now `md5`", None);
        check("The timeout of 30 seconds is too long", None);
        check("Reverts #12 to #11 from before", None);
        check("Was 5, is now 5", None);
        check("", None);
    }
}
