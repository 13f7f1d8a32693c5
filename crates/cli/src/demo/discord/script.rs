//! What people ask in the demo of Discord, and the model's part. It says only what it saw.

use fro_core::Fault;
use fro_sim::{
    World,
    model::{Model, Reply, Seen},
};
use serde_json::json;

use super::super::garden::{self, Request};

pub(super) const FIRST: &str = "@fro-bot how many litres a minute does the greenhouse tap give?";
pub(super) const SECOND: &str = "And with a silicone seal?";
const TITLE: &str = "Which seal for the greenhouse tap?";
const DESCRIPTION: &str = "Somebody must have looked at this before.";
const REQUEST: &str = "@fro-bot what do we know about the seal of the greenhouse tap?";

/// Teaches the model its part.
pub(super) fn rehearse(model: &Model) {
    // Asked what the words mean, outside of the session: they are a question.
    model.answers_aside("no");
    model.calls("bash", json!({ "command": "cat tap.rs", "description": "Looks at the tap" }));
    model.plays(Reply::answering(|seen| Reply::text(first(seen))));
    model.plays(Reply::answering(|seen| Reply::text(second(seen))));
    model.plays(Reply::answering(|seen| Reply::text(third(seen))));
}

/// Opens an issue, and asks on it.
pub(super) fn on_github(world: &World) -> Result<Request, Fault> {
    garden::ask_on_new_issue(world, (TITLE, DESCRIPTION), REQUEST)
}

/// Returns the line of the file that the shell printed, in this session.
fn line_with(seen: &Seen, words: &str) -> String {
    let results = seen.tool_results();
    let mut lines = results.iter().flat_map(|text| text.lines());
    lines.find(|line| line.contains(words)).map(|line| line.trim().to_owned()).unwrap_or_default()
}

fn first(seen: &Seen) -> String {
    let (seal, flow) = (line_with(seen, "let seal"), line_with(seen, "if seal"));
    let litres = between(&flow, "{ ", " }");
    format!(
        "The greenhouse tap gives **{litres} litres a minute**, because of its seal:\n\n```rust\n{seal}\n{flow}\n```"
    )
}

fn second(seen: &Seen) -> String {
    let flow = line_with(seen, "if seal");
    let litres = between(flow.rsplit("else").next().unwrap_or_default(), "{ ", " }");
    format!(
        "With a silicone seal the greenhouse tap gives **{litres} litres a minute**: every seal but rubber does."
    )
}

fn third(seen: &Seen) -> String {
    let prompt = seen.last_user();
    let known = prompt.lines().find(|line| line.contains("With a silicone seal"));
    match known {
        Some(line) => {
            let words = line.find("With a silicone seal").map_or(line, |at| &line[at..]);
            format!("This was asked in a thread on Discord. What I found there:\n\n> {}", words.trim())
        }
        None => "I remember nothing about that.".to_owned(),
    }
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let rest = text.split_once(before).map_or("", |(_, rest)| rest);
    rest.split_once(after).map_or(rest, |(found, _)| found)
}
