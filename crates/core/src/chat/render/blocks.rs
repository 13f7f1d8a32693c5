//! What a model wrote, taken apart into prose and code.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};
use unicode_width::UnicodeWidthStr as _;

use super::links::{self, Shown};

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

impl Block {
    /// Returns the same block with its text changed.
    pub(super) fn map(self, change: impl Fn(&str) -> String) -> Self {
        match self {
            Self::Prose(text) => Self::Prose(change(&text)),
            Self::Code { language, text } => Self::Code { language, text: change(&text) },
        }
    }
}

/// Takes a text apart.
pub(super) fn read(markdown: &str) -> Vec<Block> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut events = Parser::new_ext(markdown, options).into_offset_iter();
    let mut prose = Prose { markdown, links: Vec::new() };
    let (mut blocks, mut done) = (Vec::new(), 0);
    while let Some((event, range)) = events.next() {
        let Event::Start(tag) = event else { continue };
        let block = match tag {
            Tag::CodeBlock(kind) => code(&kind, &mut events),
            Tag::Table(_) => table(&mut events),
            Tag::Heading { level, .. } if !is_discord_s(level, &markdown[range.clone()]) => {
                heading(level, &mut events)
            }
            Tag::Link { link_type, dest_url, .. } => {
                let words = words(&mut events, |end| matches!(end, TagEnd::Link));
                prose.note(range, &words, (link_type, &dest_url));
                continue;
            }
            Tag::Image { dest_url, .. } => {
                let words = words(&mut events, |end| matches!(end, TagEnd::Image));
                // Discord shows no picture that is not its own: it is a link with a mark before it.
                prose.note(range, &words, (LinkType::Reference, &dest_url));
                continue;
            }
            _ => continue,
        };
        // A quote or an item of a list that begins with the block: its sign would stand alone.
        let before =
            markdown[done.min(range.start)..range.start].trim_end_matches([' ', '\t', '>', '-', '*', '+']);
        blocks.extend(prose.between(done.min(range.start)..done.min(range.start) + before.len()));
        blocks.push(block);
        done = range.end;
    }
    blocks.extend(prose.between(done..markdown.len()));
    blocks
}

/// Tells whether Discord shows a heading as it was written: three levels, marked by `#`.
fn is_discord_s(level: HeadingLevel, written: &str) -> bool {
    level <= HeadingLevel::H3 && written.starts_with('#')
}

/// What stands between the blocks that are written anew.
struct Prose<'a> {
    markdown: &'a str,
    /// Where links are, and what is shown there.
    links: Vec<(Range<usize>, String)>,
}

impl Prose<'_> {
    fn note(&mut self, range: Range<usize>, words: &str, (kind, address): (LinkType, &str)) {
        let shown = match links::show(kind, words, address) {
            Shown::AsWritten => self.markdown[range.clone()].to_owned(),
            Shown::Instead(text) => text,
        };
        self.links.push((range, shown));
    }

    /// Returns what stands there: as it was written, but without a fence, and with links that hide nothing.
    fn between(&self, range: Range<usize>) -> Option<Block> {
        let (mut text, mut done) = (String::new(), range.start);
        let inside = |link: &&(Range<usize>, String)| link.0.start >= range.start && link.0.end <= range.end;
        for (link, shown) in self.links.iter().filter(inside) {
            text.push_str(&links::broken(&self.markdown[done.min(link.start)..link.start]));
            text.push_str(shown);
            done = link.end;
        }
        text.push_str(&links::broken(&self.markdown[done..range.end]));
        let text = text.trim_matches('\n').trim_end();
        (!text.trim().is_empty()).then(|| Block::Prose(unfenced(text)))
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

fn heading(level: HeadingLevel, events: Events<'_, '_>) -> Block {
    let words = words(events, |end| matches!(end, TagEnd::Heading(_)));
    let words = unfenced(&links::broken(&words.replace("**", "")));
    Block::Prose(match level {
        HeadingLevel::H1 => format!("# {words}"),
        HeadingLevel::H2 => format!("## {words}"),
        HeadingLevel::H3 | HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => format!("**{words}**"),
    })
}

/// Returns the plain words up to an end, each link with its address.
fn words(events: Events<'_, '_>, is_end: fn(&TagEnd) -> bool) -> String {
    let mut text = String::new();
    let mut links = Vec::new();
    for (event, _) in events {
        match event {
            Event::Text(words) | Event::Code(words) => text.push_str(&words),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            Event::End(end) if is_end(&end) => break,
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                links.push((text.len(), dest_url));
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                if let Some((began, address)) = links.pop() {
                    let called = text.split_off(began);
                    text.push_str(&links::spelt_out(&called, &address));
                }
            }
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
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    if widths.iter().sum::<usize>() + 2 * columns <= WIDEST {
        return Block::Code { language: String::new(), text: unfenced(&aligned(&rows, &widths)) };
    }
    Block::Prose(unfenced(&links::broken(&listed(&rows))))
}

/// Writes a table as columns.
fn aligned(rows: &[Vec<String>], widths: &[usize]) -> String {
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(widths);
        let cells = cells.map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.width())));
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
