//! A turn as it appears in its thread: words as they are finished, tools at work, and how it ended.
//!
//! What was shown stays where it is: a message's place is its number, so that whoever begins the turn anew says the same
//! places again, and nothing appears twice.

use super::{
    ChannelId, Deed, HandedFile, LONGEST, Notify, TextFile, length, render,
    say::{self, Footer, Verbosity, tool},
};
use crate::{
    clean::Redactor,
    conversation::{heard::Heard, outcome::Outcome},
    say::trouble,
};

/// So many tools in a row are shown; of more, the last ones.
const TOOLS: usize = 12;

/// What a turn has come to so far.
#[derive(Debug, Clone)]
pub struct Transcript {
    verbosity: Verbosity,
    pieces: Vec<Passage>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Passage {
    /// What the model said.
    Said(String),
    /// Tools, one line each.
    Tools(Vec<String>),
    /// A word of ours.
    Note(String),
    /// Files of the agent's, with a line about them.
    Handed(String, Vec<HandedFile>),
    /// The last line, which people hear of.
    Last(String),
}

/// Whether a transcript has something new to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// There is something new to show.
    Some,
    /// Everything was shown already.
    None,
}

/// A message of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadMessage {
    /// What it says.
    pub text: String,
    /// What does not fit.
    pub file: Option<TextFile>,
    /// Files of the agent's.
    pub handed: Vec<HandedFile>,
    /// Whether people hear of it.
    pub notify: Notify,
}

impl Transcript {
    /// Begins one.
    pub fn new(verbosity: Verbosity) -> Self {
        Self { verbosity, pieces: Vec::new() }
    }

    /// Takes in what the engine said.
    pub fn hear(&mut self, heard: &Heard) -> News {
        if let Heard::Said(text) = heard
            && !text.trim().is_empty()
        {
            self.pieces.push(Passage::Said(text.clone()));
            return News::Some;
        }
        let Heard::ToolEnded { tool: call, ok } = heard else { return News::None };
        let Some(line) = tool(&call.name, &call.about, self.verbosity) else { return News::None };
        let line = if *ok { line } else { format!("{line} failed") };
        match self.pieces.last_mut() {
            Some(Passage::Tools(lines)) => lines.push(line),
            Some(Passage::Said(_) | Passage::Note(_) | Passage::Handed(..) | Passage::Last(_)) | None => {
                self.pieces.push(Passage::Tools(vec![line]));
            }
        }
        News::Some
    }

    /// Takes in how the turn ended, what it hands over, and what it took.
    pub fn end(&mut self, outcome: &Outcome, notes: &[String], footer: &Footer) {
        let words = match outcome {
            Outcome::Answered { text, .. } => Some(text),
            Outcome::Refused { partial }
            | Outcome::OutOfTime { partial }
            | Outcome::Failed { partial, .. } => partial.as_ref(),
        };
        if let Some(words) = words.filter(|words| !self.has(words)) {
            self.pieces.push(Passage::Said(words.clone()));
        }
        self.pieces.extend(notes.iter().cloned().map(Passage::Note));
        if let Some(advice) = trouble::advise(outcome) {
            self.note(format!("❌ **{}** (`{}`) {}", advice.what, advice.kind, advice.next));
        }
        self.pieces.push(Passage::Last(footer.line()));
    }

    /// Adds a word of ours.
    pub fn note(&mut self, text: impl Into<String>) {
        self.pieces.push(Passage::Note(text.into()));
    }

    /// Adds files of the agent's, whose bytes are clean, and what became of others.
    pub fn hand(&mut self, files: Vec<HandedFile>, troubles: &[String]) {
        if !files.is_empty() || !troubles.is_empty() {
            let line = say::handed(files.iter().map(|file| (file.name.as_str(), file.bytes.len())), troubles);
            self.pieces.push(Passage::Handed(line, files));
        }
    }

    /// Returns the messages, without what must not be seen. Only the last line is heard of.
    pub fn messages(&self, redactor: &Redactor) -> Vec<ThreadMessage> {
        self.pieces.iter().flat_map(|piece| piece.messages(redactor)).collect()
    }

    fn has(&self, words: &str) -> bool {
        let last = self.pieces.iter().rev().find_map(|piece| match piece {
            Passage::Said(text) => Some(text.trim()),
            Passage::Tools(_) | Passage::Note(_) | Passage::Handed(..) | Passage::Last(_) => None,
        });
        words.trim().is_empty() || last == Some(words.trim())
    }
}

impl Passage {
    fn messages(&self, redactor: &Redactor) -> Vec<ThreadMessage> {
        let notify = match self {
            Self::Last(_) => Notify::Yes,
            Self::Said(_) | Self::Tools(_) | Self::Note(_) | Self::Handed(..) => Notify::No,
        };
        let shown = |text: String| {
            let text = say::fitting(redactor.clean(&text).as_str());
            ThreadMessage { text, file: None, handed: Vec::new(), notify }
        };
        let text = match self {
            Self::Said(text) | Self::Note(text) | Self::Last(text) => text,
            Self::Handed(line, files) => {
                return vec![ThreadMessage { handed: files.clone(), ..shown(line.clone()) }];
            }
            Self::Tools(lines) => return vec![shown(tools(lines))],
        };
        let rendered = render(text, redactor);
        let mut messages: Vec<_> = rendered.messages.into_iter().map(shown).collect();
        if let Some(last) = messages.last_mut() {
            last.file = rendered.file;
        }
        messages
    }
}

/// Returns the last lines, as many as fit into a message.
fn tools(lines: &[String]) -> String {
    let mut room = LONGEST - length(&say::earlier_tools(lines.len()));
    let fits = |line: &&String| {
        let taken = length(line) + 1;
        let fits = taken <= room;
        room = room.saturating_sub(taken);
        fits
    };
    let shown = lines.iter().rev().take(TOOLS).take_while(fits).count();
    let earlier = lines.len() - shown;
    let before = (earlier > 0).then(|| say::earlier_tools(earlier));
    before.iter().chain(&lines[earlier..]).map(String::as_str).collect::<Vec<_>>().join("\n")
}

impl ThreadMessage {
    /// Returns what has to be done for it to be seen in a thread.
    pub fn deed(&self, channel: ChannelId) -> Deed {
        let Self { text, file, handed, notify } = self.clone();
        Deed::Say { channel, text, reply_to: None, buttons: Vec::new(), menu: None, file, handed, notify }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        conversation::{
            heard::Tool,
            outcome::{Trouble, Turn},
        },
        names::RepoName,
        secret::Secret,
    };

    fn footer() -> Footer {
        let repository = RepoName::parse("octo/garden").unwrap();
        let (took, model) = (Duration::from_secs(9), "sim/tulip".to_owned());
        Footer { repository, branch: None, took, tokens: 950, cost: 0, model }
    }

    fn render(transcript: &Transcript) -> String {
        let redactor = Redactor::knowing([&Secret::new("hunter2hunter2")]);
        let messages = transcript.messages(&redactor).into_iter();
        let lines = messages.map(|shown| format!("[{:?}] {}", shown.notify, shown.text));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn ended(name: &str, about: &str, ok: bool) -> Heard {
        Heard::ToolEnded { tool: Tool { name: name.to_owned(), about: about.to_owned() }, ok }
    }

    #[test]
    fn a_turn_appears_like_this() {
        let mut transcript = Transcript::new(Verbosity::Essential);
        let heard = [
            Heard::Busy,
            Heard::Said("I look at the tap.".to_owned()),
            ended("read", "tap.rs", true),
            ended("bash", "cargo test", false),
            ended("bash", "echo hunter2hunter2", true),
            Heard::Said("It leaks at `tap.rs:12`; the key is hunter2hunter2.".to_owned()),
        ];
        let news: Vec<_> = heard.iter().map(|heard| transcript.hear(heard)).collect();
        assert_eq!(news, [News::None, News::Some, News::None, News::Some, News::Some, News::Some]);
        let text = "It leaks at `tap.rs:12`; the key is hunter2hunter2.".to_owned();
        let pull = ["Opened [#3](https://github.com/octo/garden/pull/3).".to_owned()];
        transcript.end(&Outcome::Answered { text, cut_short: false }, &pull, &footer());
        insta::assert_snapshot!(render(&transcript));
    }

    #[test]
    fn what_was_handed_in_and_what_broke_is_shown() {
        let mut transcript = Transcript::new(Verbosity::Text);
        transcript.hear(&Heard::Said("Working on it.".to_owned()));
        let broken = Turn::failed(Trouble::Gone).outcome.with_draft("The draft.".to_owned());
        transcript.end(&broken, &[], &footer());
        insta::assert_snapshot!(render(&transcript));
    }

    #[test]
    fn tools_with_the_longest_names_fit_into_one_message() {
        let mut transcript = Transcript::new(Verbosity::All);
        for _ in 0..40 {
            transcript.hear(&ended(&"n".repeat(200), &"👩‍👩‍👧".repeat(200), false));
        }
        let told = render(&transcript);
        assert!((1_800..=LONGEST + "[No] ".len()).contains(&length(&told)), "{}", length(&told));
    }

    /// A secret that a message would end in, and one that only taking markup away puts together.
    #[test]
    fn a_secret_across_the_end_of_a_message_is_taken_out_whole() {
        let mut transcript = Transcript::new(Verbosity::Text);
        for before in 1_985..2_001 {
            transcript.hear(&Heard::Said(format!("{}hunter2hunter2 and on", "x".repeat(before))));
        }
        let heading = format!("#### {}hun**ter2hun**ter2", "y".repeat(1_990));
        transcript.hear(&Heard::Said(heading));
        let told = render(&transcript);
        assert_eq!(told.matches("[redacted]").count(), 17, "{told}");
        assert!(!told.contains("hunter") && !told.contains("unter2"), "{told}");
    }

    #[test]
    fn many_tools_are_one_message_that_ends_with_the_last() {
        let mut transcript = Transcript::new(Verbosity::All);
        for n in 0..40 {
            transcript.hear(&ended("bash", &format!("step {n}"), true));
        }
        let told = render(&transcript);
        assert!(told.starts_with("[No] -# ⚙ 28 tools before\n"), "{told}");
        assert!(told.ends_with("`step 39`") && !told.contains("`step 27`"), "{told}");
    }
}
