//! Which texts GitHub takes, and what it says of those that it does not.

/// The text of a comment has room for so many bytes: as many characters as the refusal names, at four bytes each.
const COMMENT_BYTES: usize = 262_144;
/// The text of an issue, of a pull request and of a review has so many characters at most.
const BODY_CHARACTERS: usize = 65_536;
/// A title has so many.
const TITLE_CHARACTERS: usize = 256;

/// What is wrong with the text of a comment.
pub(crate) fn comment(text: &str) -> Option<String> {
    let long = text.len() > COMMENT_BYTES;
    blank(text)
        .or_else(|| long.then(|| format!("Body is too long (maximum is {BODY_CHARACTERS} characters)")))
}

/// What is wrong with a text without words.
pub(crate) fn blank(text: &str) -> Option<String> {
    text.trim().is_empty().then(|| "Body cannot be blank".to_owned())
}

/// What is wrong with the text of an issue, pull request or review.
pub(crate) fn body(text: &str) -> Option<String> {
    let long = text.chars().count() > BODY_CHARACTERS;
    long.then(|| format!("body is too long (maximum is {BODY_CHARACTERS} characters)"))
}

/// What is wrong with a title that is too long.
pub(crate) fn title(text: &str) -> Option<String> {
    let long = text.chars().count() > TITLE_CHARACTERS;
    long.then(|| format!("title is too long (maximum is {TITLE_CHARACTERS} characters)"))
}
