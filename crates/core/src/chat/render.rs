//! Words for Discord: messages of at most 2,000 characters, each of which reads by itself.
//!
//! Discord knows one kind of fence, three headings, no tables, and pairs three backticks wherever they stand. So what a
//! model wrote is taken apart by a parser: code stands in a fence of its own, which is closed at the end of a message and
//! opened again in the next; a table becomes aligned text, or a list where it is too wide; a link shows where it leads.

mod blocks;
mod links;
mod split;

use super::TextFile;
use crate::clean::Redactor;

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

/// Makes messages of what a model wrote, without secrets. Nothing but white space gives no message.
pub fn render(markdown: &str, redactor: &Redactor) -> Rendered {
    let clean = |text: &str| redactor.clean(text).as_str().to_owned();
    let markdown = clean(markdown);
    // Taking markup away can put together what it had kept apart, and a message may end in the middle of it.
    let blocks: Vec<_> = blocks::read(&markdown).into_iter().map(|block| block.map(clean)).collect();
    let messages = split::pack(&blocks, LONGEST);
    if messages.len() <= MOST {
        return Rendered { messages, file: None };
    }
    let note = "-# This is the beginning; all of it is in `answer.md`.";
    let mut messages = split::pack(&blocks, LONGEST - note.len() - 1);
    messages.truncate(1);
    for message in &mut messages {
        message.push('\n');
        message.push_str(note);
    }
    Rendered { messages, file: Some(TextFile { name: "answer.md".to_owned(), text: markdown }) }
}

/// Returns how long Discord finds a text.
pub fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests;
