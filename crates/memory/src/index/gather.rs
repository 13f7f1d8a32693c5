//! What of a session is searched: its title, what was asked, what was answered, and names and errors of the work.
//!
//! What the harness itself says stands in every session and is left out, and so is most of what tools printed.

use fro_core::prompt::people_said;
use rusqlite::{Connection, OptionalExtension as _};
use serde_json::Value;

use super::words::WordCollector;

/// So many different words of each kind are kept.
const MOST: usize = 1_500;

/// So much of one text is looked at.
const MAX_TEXT: usize = 200_000;

/// A longer run of letters without a space is data and no name.
const MAX_NAME: usize = 120;

/// A line of a tool's output with one of these is kept whole.
const TROUBLE: [&str; 9] =
    ["error", "fail", "panic", "exception", "cannot", "denied", "refused", "timed out", "fatal"];

/// The words of one session.
#[derive(Default)]
pub(super) struct Document {
    pub(super) title: WordCollector,
    pub(super) request: WordCollector,
    pub(super) answer: WordCollector,
    pub(super) around: WordCollector,
    /// How many messages come after the one with the agent's last words.
    pub(super) last_words: Option<u32>,
}

/// Reads a session.
pub(super) fn gather(engine: &Connection, session: &str) -> rusqlite::Result<Document> {
    let mut document = Document::default();
    let mut title = engine.prepare_cached("SELECT title FROM session WHERE id = ?1")?;
    let title: Option<String> = title.query_one([session], |row| row.get(0)).optional()?;
    document.title.add(title.as_deref().unwrap_or_default(), MOST);
    let sql = "SELECT id, iif(json_valid(data), data ->> '$.role', NULL) FROM message WHERE session_id = ?1 \
               ORDER BY time_created, id";
    let mut statement = engine.prepare_cached(sql)?;
    let mut rows = statement.query([session])?;
    while let Some(row) = rows.next()? {
        let (message, role): (String, Option<String>) = (row.get(0)?, row.get(1)?);
        let (parts, _) = parts(engine, &message)?;
        document.last_words = document.last_words.map(|after| after + 1);
        for part in parts {
            match role.as_deref() {
                Some("user") => document.hear(&part),
                Some(_) | None => document.note(&part),
            }
        }
    }
    Ok(document)
}

/// Returns the parts of a message that can be read, and how many rows that took.
pub(super) fn parts(engine: &Connection, message: &str) -> rusqlite::Result<(Vec<Value>, u32)> {
    let sql = "SELECT data FROM part WHERE message_id = ?1 ORDER BY time_created, id";
    let mut statement = engine.prepare_cached(sql)?;
    let mut rows = statement.query([message])?;
    let (mut parts, mut read) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        read += 1;
        parts.extend(serde_json::from_str::<Value>(&row.get::<_, String>(0)?).ok());
    }
    Ok((parts, read))
}

/// Returns the text of a part that somebody said: not what the engine added by itself.
pub(super) fn said(part: &Value) -> Option<&str> {
    let is_said = part["type"] == "text" && part["synthetic"] != true && part["ignored"] != true;
    part["text"].as_str().filter(|text| is_said && !text.trim().is_empty())
}

impl Document {
    /// Takes in what the agent was told.
    fn hear(&mut self, part: &Value) {
        let Some(text) = said(part) else { return };
        let said = people_said(text);
        self.title.add(&said.title, MOST);
        self.request.add(cut(&said.request), MOST);
        self.around.add(cut(&said.around), MOST);
    }

    /// Takes in what the agent said and did.
    fn note(&mut self, part: &Value) {
        if let Some(text) = said(part) {
            self.answer.add(cut(text), MOST);
            self.last_words = Some(0);
        }
        let Some(tool) = part["tool"].as_str() else { return };
        let (input, output) = (&part["state"]["input"], &part["state"]["output"]);
        let is_answer = tool.ends_with("answer_draft");
        strings(input, &mut |text| {
            let bag = if is_answer { &mut self.answer } else { &mut self.around };
            bag.add(cut(text), MOST);
        });
        for text in [output, &part["state"]["error"]] {
            each_notable(cut(text.as_str().unwrap_or_default()), |words| self.around.add(words, MOST));
        }
    }
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

fn strings(value: &Value, with: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => with(text),
        Value::Array(values) => values.iter().for_each(|value| strings(value, with)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, with)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Gives the lines of an output that tell of trouble, and of the others the names in it.
fn each_notable(output: &str, mut with: impl FnMut(&str)) {
    for line in output.lines() {
        let lower = line.to_lowercase();
        if line.len() < 1_000 && TROUBLE.iter().any(|word| lower.contains(word)) {
            with(line);
            continue;
        }
        line.split_whitespace().filter(|word| is_name(word)).for_each(&mut with);
    }
}

/// Tells whether a word names something: a path, a function, a variable.
fn is_name(word: &str) -> bool {
    let inner = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    inner.len() < MAX_NAME
        && inner.contains(char::is_alphabetic)
        && (inner.contains(['_', '/', '.', ':']) || inner.chars().skip(1).any(char::is_uppercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_output_the_names_and_the_errors_are_kept() {
        let output = "some words of a file\nsrc/tap.rs:7: let seal = Seal::rubber();\nerror: no such valve\n";
        let mut kept = Vec::new();
        each_notable(output, |words| kept.push(words.to_owned()));
        assert_eq!(kept, ["src/tap.rs:7:", "Seal::rubber();", "error: no such valve"]);
    }
}
