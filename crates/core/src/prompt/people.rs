//! Recovers people's own words from a message to the agent, without the instructions around them.
//!
//! A search over earlier sessions is about what people and the agent said. Our instructions stand in every session
//! and would be found by every question, and what a run was reminded of would be found again in its name.

use super::{IDENTITY, MODE, PLACE, REQUEST, TASK, follow_up, reminder, task};
use crate::say::sessions::NOTE;

/// Begins each of a reviewer's prompts: the change in it is found where somebody said something about it.
pub const PASS: &str = "# Pass ";

/// What people said in a message to the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PeopleSaid {
    /// The title of the subject.
    pub title: String,
    /// What was asked: the words of the request or the order, or else the description.
    pub request: String,
    /// What else they wrote: description, comments, commits, names of files.
    pub around: String,
}

/// Returns what people said in a message; one that no harness wrote is a request as a whole.
pub fn people_said(message: &str) -> PeopleSaid {
    let text = message.trim();
    if text.starts_with(NOTE)
        || text.starts_with(PASS)
        || text == follow_up::nudge()
        || text == follow_up::go_on()
    {
        return PeopleSaid::default();
    }
    let is_ours = [MODE, IDENTITY].iter().any(|title| heading(text.lines().next()) == Some(*title));
    if !is_ours {
        return PeopleSaid { request: text.to_owned(), ..PeopleSaid::default() };
    }
    let mut reading = PromptReader::default();
    text.lines().for_each(|line| reading.take(line));
    reading.end()
}

fn heading(line: Option<&str>) -> Option<&str> {
    line?.strip_prefix("## ")
}

/// A prompt, read line by line.
#[derive(Default)]
struct PromptReader<'a> {
    section: &'a str,
    /// The name of the fence that is open.
    fence: Option<&'a str>,
    title: &'a str,
    request: Vec<&'a str>,
    around: Vec<&'a str>,
    description: Vec<&'a str>,
    order: Vec<&'a str>,
    /// Quotations of the conversation so far; the first is the description.
    quotations: u32,
}

impl<'a> PromptReader<'a> {
    fn take(&mut self, line: &'a str) {
        match (self.fence, fence(line)) {
            (Some(name), _)
                if line.strip_prefix("</").and_then(|rest| rest.strip_suffix('>')) == Some(name) =>
            {
                self.fence = None;
            }
            (Some(_), _) => self.quote(line),
            (None, Some(name)) => {
                self.fence = Some(name);
                self.quotations += u32::from(self.section == super::CONVERSATION);
            }
            (None, None) => self.instruct(line),
        }
    }

    fn quote(&mut self, line: &'a str) {
        match self.section {
            REQUEST => self.request.push(line),
            // What was recalled belongs to other sessions.
            reminder::TITLE => {}
            super::CONVERSATION if self.quotations == 1 => self.description.push(line),
            _ => self.around.push(line),
        }
    }

    fn instruct(&mut self, line: &'a str) {
        // An order may have headings of its own; it ends with our last sentence.
        let is_in_order = self.section == TASK && !self.order.contains(&task::LAST);
        match heading(Some(line)) {
            Some(title) if !is_in_order => self.section = title,
            Some(_) | None if is_in_order => self.order.push(line),
            Some(_) | None => {}
        }
        if let (PLACE, Some(title)) = (self.section, line.strip_prefix("- Title: `")) {
            self.title = title.strip_suffix('`').unwrap_or(title);
        }
    }

    fn end(self) -> PeopleSaid {
        let said = |lines: &[&str]| match lines {
            ["(no description)" | "(no words)"] => String::new(),
            lines => lines.join("\n").trim().to_owned(),
        };
        let (request, description) = (said(&self.request), said(&self.description));
        let order = said(&self.order);
        let order = order.strip_suffix(task::LAST).unwrap_or(&order).trim();
        let order = if task::is_directive(order) { "" } else { order };
        let around: Vec<_> = self.around.into_iter().filter(|line| *line != "(no words)").collect();
        let (request, around) = match (request.as_str(), order) {
            ("", "") => (description, around.join("\n")),
            ("", order) => (order.to_owned(), around.join("\n")),
            _ => (request, format!("{description}\n{}", around.join("\n")).trim().to_owned()),
        };
        PeopleSaid { title: self.title.to_owned(), request, around }
    }
}

/// Returns the name of a fence that this line opens.
fn fence(line: &str) -> Option<&str> {
    let (name, rest) = line.strip_prefix('<')?.split_once(' ')?;
    let digits = name.strip_prefix("words-")?;
    let is_name = digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    (is_name && rest.starts_with("from=\"") && rest.ends_with("\">")).then_some(name)
}
