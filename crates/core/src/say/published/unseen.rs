//! Finds words that a page never shows: definitions of links and footnotes to which nothing on the page leads.

use std::{collections::BTreeSet, ops::Range, sync::LazyLock};

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};
use regex::Regex;

use super::Edit;

/// A definition of a link, where nothing is shown. The first one of a name counts, others only hide words.
#[expect(clippy::expect_used, reason = "the pattern is a constant that the tests compile")]
static DEFINITION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?m)^[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*(?<definition>\[(?:[^\[\]\\]|\\.){1,999}\]:.*)$",
    )
    .expect("the constant pattern compiles")
});

/// Returns how to take unseen definitions of links out of a text, and how to show unseen footnotes.
pub(super) fn unseen(text: &str) -> Vec<Edit> {
    if !text.contains("]:") {
        return Vec::new();
    }
    let options = Options::ENABLE_GFM
        | Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES;
    let parser = Parser::new_ext(text, options);
    let links = parser.reference_definitions().iter();
    let links: Vec<_> = links.map(|(name, link)| (folded(name), link.span.clone())).collect();
    let mut page = Page::default();
    parser.into_offset_iter().for_each(|(event, range)| page.add(&event, range));
    let (used, idle): (Vec<_>, Vec<_>) = links.into_iter().partition(|(name, _)| page.links.contains(name));
    page.shown.extend(used.into_iter().map(|(_, span)| span));
    let repeated = DEFINITION.captures_iter(text).filter_map(|found| found.name("definition"));
    let repeated = repeated.filter(|found| !page.shown.iter().any(|range| range.contains(&found.start())));
    let idle = idle.into_iter().map(|(_, span)| span).chain(repeated.map(|found| found.range()));
    let mut edits: Vec<Edit> = idle.map(|range| (range, String::new())).collect();
    edits.extend(page.unseen_footnotes().map(|start| (start..start, "\\".to_owned())));
    edits
}

/// What a page shows, and where it leads.
#[derive(Default)]
struct Page {
    shown: Vec<Range<usize>>,
    links: BTreeSet<String>,
    footnotes: Vec<(String, usize)>,
    /// Names of footnotes that the page leads to; those within footnotes do not count.
    called: BTreeSet<String>,
    /// How many footnotes are around.
    depth: usize,
}

impl Page {
    fn add(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::Link { link_type, id, .. } | Tag::Image { link_type, id, .. }) => {
                if matches!(link_type, LinkType::Reference | LinkType::Collapsed | LinkType::Shortcut) {
                    self.links.insert(folded(id));
                }
                self.shown.push(range);
            }
            Event::Start(Tag::FootnoteDefinition(name)) => {
                self.footnotes.push((folded(name), range.start));
                self.shown.push(range.start..range.start + 1);
                self.depth += 1;
            }
            Event::End(TagEnd::FootnoteDefinition) => self.depth -= 1,
            Event::FootnoteReference(name) => {
                if self.depth == 0 {
                    self.called.insert(folded(name));
                }
                self.shown.push(range);
            }
            Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock)
            | Event::Text(_)
            | Event::Code(_)
            | Event::Html(_)
            | Event::InlineHtml(_) => self.shown.push(range),
            _ => {}
        }
    }

    /// Returns where footnotes begin that the page does not show; of two with one name, it shows the first.
    fn unseen_footnotes(&self) -> impl Iterator<Item = usize> {
        let mut seen = BTreeSet::new();
        let unseen =
            self.footnotes.iter().filter(move |(name, _)| !self.called.contains(name) || !seen.insert(name));
        unseen.map(|(_, start)| *start)
    }
}

/// Returns a name as it is compared.
fn folded(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
