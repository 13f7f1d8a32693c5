//! What a model wrote, taken apart into prose and code.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use unicode_segmentation::UnicodeSegmentation as _;

/// A table that is wider than this breaks in the window.
const WIDEST: usize = 76;

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Block {
    /// Text with Discord's markup.
    Prose(String),
    /// Text that stands as it is.
    Code {
        /// What it is written in, as far as that is a plain word.
        language: String,
        /// The code.
        text: String,
    },
}

/// Takes a text apart.
pub(super) fn read(markdown: &str) -> Vec<Block> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut events = Parser::new_ext(markdown, options).into_offset_iter();
    let (mut blocks, mut done) = (Vec::new(), 0);
    while let Some((event, range)) = events.next() {
        let Event::Start(tag) = event else { continue };
        let block = match tag {
            Tag::CodeBlock(kind) => code(&kind, &mut events),
            Tag::Table(_) => table(&mut events),
            Tag::Heading { level, .. } if level > HeadingLevel::H3 => heading(&mut events),
            _ => continue,
        };
        prose(&mut blocks, &markdown[done.min(range.start)..range.start]);
        blocks.push(block);
        done = range.end;
    }
    prose(&mut blocks, &markdown[done..]);
    blocks
}

/// Adds what stands between: as it was written, but without a fence.
fn prose(blocks: &mut Vec<Block>, text: &str) {
    let text = text.trim_matches('\n').trim_end();
    if !text.trim().is_empty() {
        blocks.push(Block::Prose(unfenced(text)));
    }
}

/// Breaks every run of backticks that Discord would take for a fence, by a character that does not show.
fn unfenced(text: &str) -> String {
    text.replace("```", "`\u{200b}`\u{200b}`")
}

type Events<'a, 'b> = &'b mut dyn Iterator<Item = (Event<'a>, Range<usize>)>;

fn code<'a>(kind: &CodeBlockKind<'a>, events: Events<'a, '_>) -> Block {
    let info = match kind {
        CodeBlockKind::Fenced(info) => info.split([',', ' ', '{']).next().unwrap_or_default(),
        CodeBlockKind::Indented => "",
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-' | '_' | '.');
    let language = if info.len() <= 20 && info.chars().all(plain) { info.to_owned() } else { String::new() };
    let mut text = String::new();
    for (event, _) in events {
        match event {
            Event::Text(words) => text.push_str(&words),
            Event::End(TagEnd::CodeBlock) => break,
            _ => {}
        }
    }
    Block::Code { language, text: unfenced(text.trim_end_matches('\n')) }
}

fn heading(events: Events<'_, '_>) -> Block {
    let words = words(events, |end| matches!(end, TagEnd::Heading(_)));
    Block::Prose(format!("**{}**", unfenced(&words.replace("**", ""))))
}

/// Returns the plain words up to an end.
fn words(events: Events<'_, '_>, is_end: fn(&TagEnd) -> bool) -> String {
    let mut text = String::new();
    for (event, _) in events {
        match event {
            Event::Text(words) | Event::Code(words) => text.push_str(&words),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            Event::End(end) if is_end(&end) => break,
            _ => {}
        }
    }
    text.trim().to_owned()
}

fn table(events: Events<'_, '_>) -> Block {
    let mut rows: Vec<Vec<String>> = Vec::new();
    while let Some((event, _)) = events.next() {
        match event {
            Event::Start(Tag::TableHead | Tag::TableRow) => rows.push(Vec::new()),
            Event::Start(Tag::TableCell) => {
                let cell = words(events, |end| matches!(end, TagEnd::TableCell));
                if let Some(row) = rows.last_mut() {
                    row.push(cell);
                }
            }
            Event::End(TagEnd::Table) => break,
            _ => {}
        }
    }
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| wide(cell)).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    if widths.iter().sum::<usize>() + 2 * columns <= WIDEST {
        return Block::Code { language: String::new(), text: unfenced(&aligned(&rows, &widths)) };
    }
    Block::Prose(unfenced(&listed(&rows)))
}

fn wide(text: &str) -> usize {
    text.graphemes(true).count()
}

/// Writes a table as columns.
fn aligned(rows: &[Vec<String>], widths: &[usize]) -> String {
    let line = |row: &Vec<String>| {
        let cells =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell}{}", " ".repeat(width - wide(cell))));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    lines.insert(1.min(lines.len()), rule.join("  "));
    lines.join("\n")
}

/// Writes a table as a list, each cell with the name of its column.
fn listed(rows: &[Vec<String>]) -> String {
    let Some((head, rows)) = rows.split_first() else { return String::new() };
    let row = |row: &Vec<String>| {
        let cells = head.iter().zip(row).filter(|(_, cell)| !cell.is_empty());
        let cells: Vec<_> = cells.map(|(name, cell)| format!("**{name}:** {cell}")).collect();
        format!("- {}", cells.join("\n  "))
    };
    rows.iter().map(row).collect::<Vec<_>>().join("\n")
}
