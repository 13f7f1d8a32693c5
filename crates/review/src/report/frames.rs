//! The findings as people read them in a terminal, each with the lines that it is about.
//!
//! Code and words come from outside: what does not show, or moves a cursor, is written as what it is.

use std::fmt::Write as _;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use fro_core::{Bounded, Side, fence};

use super::{Report, Reported, Weight};
use crate::scoring::Thresholds;

/// Lines that are shown before and after those that a finding is about.
const AROUND: usize = 2;

/// Lines that a finding shows at most.
const MOST: usize = 12;

/// Bytes of one line of code.
const WIDEST: usize = 160;

/// Files that are named.
const NAMED: usize = 20;

/// Whether the text has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// As terminals understand them.
    Coloured,
    /// Without colours.
    Plain,
}

impl Report {
    /// Writes the findings for a terminal.
    pub fn frames(&self, paint: Paint) -> String {
        let renderer = match paint {
            Paint::Coloured => Renderer::styled(),
            Paint::Plain => Renderer::plain(),
        };
        let mut text = String::new();
        for reported in &self.findings {
            let _ = writeln!(text, "{}\n", reported.frame(&renderer, &self.thresholds));
        }
        text.push_str(&self.ending());
        text
    }

    fn ending(&self) -> String {
        let (threshold, head) = (self.thresholds.problem, short(&self.head));
        let mut text = match self.findings.len() {
            0 => format!("no finding at or above {threshold}/10 in {head}\n"),
            1 => format!("1 finding at or above {threshold}/10 in {head}\n"),
            many => format!("{many} findings at or above {threshold}/10 in {head}\n"),
        };
        if self.blocking > 0 {
            let (open, blocking) = (self.blocking, self.thresholds.blocking);
            let blocks = if open == 1 { "finding blocks" } else { "findings block" };
            let _ = writeln!(text, "{open} open {blocks}: at or above {blocking}/10");
        }
        if let Some((pass, why)) = &self.stopped {
            let (number, why) = (pass.number(), fence::one_line(why));
            let _ = writeln!(text, "the review is incomplete: it ended in pass {number} of 4 ({why})");
        }
        if !self.left_out.is_empty() {
            let named = self.left_out.iter().take(NAMED).map(|path| fence::one_line(path));
            let named = named.collect::<Vec<_>>().join(", ");
            let more = self.left_out.len().saturating_sub(NAMED);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            let _ = writeln!(text, "too large to be shown to the model whole: {named}{more}");
        }
        text
    }
}

impl Reported {
    fn frame(&self, renderer: &Renderer, thresholds: &Thresholds) -> String {
        let finding = &self.finding;
        let level = match Weight::weigh(finding.score, thresholds) {
            Weight::Blocking => Level::ERROR,
            Weight::Notable => Level::WARNING,
        };
        let title = fence::one_line(&finding.finding);
        let path = fence::one_line(&finding.anchor.path);
        let label = format!("{}/10, pass {}", finding.score, finding.pass.number());
        let shown = self.shown();
        let group = level.primary_title(title).id(finding.kind.name());
        let group = match &shown {
            Some(shown) => group.element(
                Snippet::source(shown.source.as_str())
                    .line_start(shown.first)
                    .path(path)
                    .fold(false)
                    .annotation(AnnotationKind::Primary.span(shown.span.clone()).label(label.as_str())),
            ),
            None => group
                .element(Origin::path(format!("{path}:{}", finding.anchor.line)))
                .element(Level::NOTE.message(label.as_str())),
        };
        let body = fence::visible(finding.body.trim());
        let groups: [Group<'_>; 1] = [group.element(Level::HELP.no_name().message(body))];
        renderer.render(&groups)
    }

    /// Returns the lines that the finding is about. What is gone from the file cannot be shown.
    fn shown(&self) -> Option<Shown> {
        let anchor = &self.finding.anchor;
        if anchor.side == Side::Left {
            return None;
        }
        let lines: Vec<String> = self.text.as_ref()?.lines().map(fit).collect();
        let last = anchor.line.min(anchor.start_line.unwrap_or(anchor.line).max(1) + MOST);
        let start = anchor.start_line.unwrap_or(anchor.line).max(1);
        if start > lines.len() || last < start {
            return None;
        }
        let first = start.saturating_sub(AROUND).max(1);
        let end = (last + AROUND).min(lines.len());
        let source = lines[first - 1..end].join("\n");
        let offset =
            |line: usize| -> usize { lines[first - 1..line - 1].iter().map(|line| line.len() + 1).sum() };
        let last = last.min(lines.len());
        let indent = lines[start - 1].len() - lines[start - 1].trim_start().len();
        let from = offset(start) + indent;
        let to = (offset(last) + lines[last - 1].trim_end().len()).max(from);
        Some(Shown { source, first, span: from..to })
    }
}

/// Lines of a file, and the part of them that is meant.
struct Shown {
    source: String,
    first: usize,
    span: std::ops::Range<usize>,
}

/// Makes a line of code fit for a terminal.
fn fit(line: &str) -> String {
    let line = fence::one_line(&line.replace('\t', "    "));
    let bounded = Bounded::text(&line, WIDEST);
    let more = if bounded.cut() > 0 { "…" } else { "" };
    format!("{}{more}", bounded.value())
}

fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}
