//! Blocks put into messages, none of which is too long.

mod markup;

use unicode_segmentation::UnicodeSegmentation as _;

use super::{blocks::Block, length};

/// Fills messages, one after the other. A block is broken only if it does not fit into a message by itself.
pub(super) fn pack(blocks: &[Block], limit: usize) -> Vec<String> {
    let mut messages = Messages { done: Vec::new(), open: String::new(), limit };
    for block in blocks {
        match block {
            Block::Prose(text) if length(text) <= limit => messages.put(text),
            Block::Prose(text) => messages.put_all(&prose(text, limit)),
            Block::Code { language, text } => {
                let fence = Fence { open: format!("```{language}\n"), close: "\n```" };
                let room = limit.saturating_sub(length(&fence.open) + length(fence.close));
                if length(text) <= room {
                    messages.put(&fence.around(text));
                } else {
                    let pieces = broken(text, room, "\n", &|line, room| broken(line, room, " ", &cut));
                    messages.put_all(&pieces.iter().map(|piece| fence.around(piece)).collect::<Vec<_>>());
                }
            }
        }
    }
    messages.flush();
    messages.done
}

/// Breaks prose that is too long: what is open where a message ends goes on in the next.
fn prose(text: &str, limit: usize) -> Vec<String> {
    let room = limit.saturating_sub(2 * markup::MOST);
    let line = |line: &str, room: usize| {
        let sign = markup::sign(line);
        let room = room.saturating_sub(sign.len() + 2 * markup::MOST);
        let pieces = broken(&line[sign.len()..], room, " ", &cut);
        markup::balanced(line, pieces, &markup::OF_A_LINE)
            .into_iter()
            .map(|piece| format!("{sign}{piece}"))
            .collect()
    };
    markup::balanced(text, broken(text, room, "\n", &line), &markup::OF_SEVERAL_LINES)
}

/// What stands around code in a message.
struct Fence {
    open: String,
    close: &'static str,
}

impl Fence {
    fn around(&self, code: &str) -> String {
        format!("{}{code}{}", self.open, self.close)
    }
}

struct Messages {
    done: Vec<String>,
    open: String,
    limit: usize,
}

impl Messages {
    fn put_all(&mut self, pieces: &[String]) {
        for piece in pieces {
            self.put(piece);
        }
    }

    fn put(&mut self, piece: &str) {
        // An empty line between, but none around a fence, which brings its own.
        let between = if self.open.is_empty() {
            ""
        } else if self.open.ends_with("```") || piece.starts_with("```") {
            "\n"
        } else {
            "\n\n"
        };
        if length(&self.open) + between.len() + length(piece) > self.limit {
            self.flush();
            self.open.push_str(piece);
        } else {
            self.open.push_str(between);
            self.open.push_str(piece);
        }
    }

    fn flush(&mut self) {
        let message = std::mem::take(&mut self.open);
        if !message.trim().is_empty() {
            self.done.push(message);
        }
    }
}

/// Breaks a text into pieces that fit, at its separators; a part that is too long by itself is broken by `smaller`.
fn broken(
    text: &str,
    room: usize,
    separator: &str,
    smaller: &dyn Fn(&str, usize) -> Vec<String>,
) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let (mut open, mut taken) = (String::new(), 0);
    for part in text.split(separator) {
        let long = length(part);
        if !open.is_empty() && taken + separator.len() + long <= room {
            open.push_str(separator);
            open.push_str(part);
            taken += separator.len() + long;
            continue;
        }
        if !open.is_empty() {
            pieces.push(std::mem::take(&mut open));
        }
        if long <= room {
            part.clone_into(&mut open);
            taken = long;
            continue;
        }
        let mut smaller = smaller(part, room);
        open = smaller.pop().unwrap_or_default();
        taken = length(&open);
        pieces.extend(smaller);
    }
    pieces.push(open);
    pieces.retain(|piece| !piece.trim().is_empty());
    pieces
}

/// Cuts a word, never through a character.
fn cut(word: &str, room: usize) -> Vec<String> {
    let (mut pieces, mut open, mut taken) = (Vec::new(), String::new(), 0);
    for grapheme in word.graphemes(true) {
        // One that is longer than a message by itself: stacked marks, which nobody reads.
        let grapheme = if length(grapheme) <= room { grapheme } else { "…" };
        if taken + length(grapheme) > room {
            pieces.push(std::mem::take(&mut open));
            taken = 0;
        }
        open.push_str(grapheme);
        taken += length(grapheme);
    }
    pieces.push(open);
    pieces
}
