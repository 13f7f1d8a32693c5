//! Words for Discord: messages of at most 2,000 characters, each of which reads by itself.
//!
//! Discord knows one kind of fence, three headings, no tables, and pairs three backticks wherever they stand. So what a
//! model wrote is taken apart by a parser: code stands in a fence of its own, which is closed at the end of a message and
//! opened again in the next; a table becomes aligned text, or a list where it is too wide.

mod blocks;
mod split;

use super::TextFile;

/// What Discord takes in one message. It counts as JavaScript does, in UTF-16.
pub const LONGEST: usize = 2_000;

/// So many messages, and the rest is a file.
const MOST: usize = 5;

/// An answer as it is posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The messages, in order.
    pub messages: Vec<String>,
    /// All of it, if that is more than anybody wants to scroll through.
    pub file: Option<TextFile>,
}

/// Makes messages of what a model wrote. Nothing but white space gives no message.
pub fn render(markdown: &str) -> Rendered {
    let mut messages = split::pack(&blocks::read(markdown), LONGEST);
    if messages.len() <= MOST {
        return Rendered { messages, file: None };
    }
    let note = "-# This is the beginning; all of it is in `answer.md`.";
    messages = split::pack(&blocks::read(markdown), LONGEST - note.len() - 1);
    messages.truncate(1);
    for message in &mut messages {
        message.push('\n');
        message.push_str(note);
    }
    let file = TextFile { name: "answer.md".to_owned(), text: markdown.to_owned() };
    Rendered { messages, file: Some(file) }
}

/// Returns how long Discord finds a text.
pub fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests;
