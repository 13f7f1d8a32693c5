//! Blocks put into messages, none of which is too long.

use unicode_segmentation::UnicodeSegmentation as _;

use super::{blocks::Block, length};

/// Fills messages, one after the other. A block is broken only if it does not fit into a message by itself.
pub(super) fn pack(blocks: &[Block], limit: usize) -> Vec<String> {
    let mut messages = Messages { done: Vec::new(), open: String::new(), limit };
    for block in blocks {
        match block {
            Block::Prose(text) => messages.add(text, &broken(text, limit, "\n")),
            Block::Code { language, text } => {
                let fence = Fence { open: format!("```{language}\n"), close: "\n```" };
                let room = limit.saturating_sub(length(&fence.open) + length(fence.close));
                let pieces =
                    broken(text, room, "\n").iter().map(|piece| fence.around(piece)).collect::<Vec<_>>();
                messages.add(&fence.around(text), &pieces);
            }
        }
    }
    messages.flush();
    messages.done
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
    /// Adds a block: whole if it fits, else by its pieces.
    fn add(&mut self, whole: &str, pieces: &[String]) {
        if length(whole) <= self.limit {
            return self.put(whole);
        }
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

/// Breaks a text into pieces that fit: at line ends, else at spaces, else between two characters.
fn broken(text: &str, room: usize, separator: &str) -> Vec<String> {
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
        let mut smaller = if separator == "\n" { broken(part, room, " ") } else { cut(part, room) };
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
