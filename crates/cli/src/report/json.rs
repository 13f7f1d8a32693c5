//! Each report of progress as one JSON object on one line, for machines.

use fro_agent::Step;
use fro_core::{Redactor, conversation::outcome::Usage};
use fro_memory::{Kept, Recall};
use fro_run::Progress;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::line::{self, Tone};

/// Returns the object for a report of progress, if it is worth one.
pub(super) fn render(news: &Progress, redactor: &Redactor, at: Timestamp, seconds: f64) -> Option<String> {
    let line = line::render(news, redactor);
    let (kind, facts) = facts(news);
    if line.is_none() && facts.is_null() {
        return None;
    }
    let is_warning = line.as_ref().is_some_and(|line| line.tone == Tone::Warning);
    let level = if is_warning { "warning" } else { "info" };
    let text = line.map(|line| line.text.trim().to_owned());
    let seconds = (seconds * 1000.0).round() / 1000.0;
    let object =
        json!({ "at": at, "seconds": seconds, "level": level, "kind": kind, "text": text, "facts": facts });
    Some(object.to_string())
}

/// Returns the object of a warning.
pub(super) fn warning(text: &str, at: Timestamp) -> String {
    json!({ "at": at, "level": "warning", "kind": "warning", "text": text }).to_string()
}

/// Returns the object of a failure.
pub(super) fn error(what: &str, hint: &str, at: Timestamp) -> String {
    json!({ "at": at, "level": "error", "kind": "error", "text": what, "facts": { "hint": hint } })
        .to_string()
}

/// Returns the object of a line of the crates' own log.
pub(crate) fn logged(text: &str, at: Timestamp) -> String {
    json!({ "at": at, "level": "debug", "kind": "log", "text": text }).to_string()
}

/// Returns what kind of report it is, and its facts.
fn facts(news: &Progress) -> (&'static str, Value) {
    match news {
        Progress::Skipped(reason) => ("skipped", json!({ "reason": reason.word() })),
        Progress::Permitted(permit) => (
            "permitted",
            json!({ "repo": permit.repo().to_string(), "subject": permit.subject().to_string(), "asker": permit.asker().as_str() }),
        ),
        Progress::Model(model) => ("model", json!({ "model": model })),
        Progress::Agent(Step::Opened { .. }) => ("opened", Value::Null),
        Progress::Acknowledged => ("acknowledged", json!({})),
        Progress::Agent(Step::Installing(_)) => ("installing", Value::Null),
        Progress::Agent(Step::Installed { version, .. }) => ("installed", json!({ "version": version })),
        Progress::Agent(Step::Recalled(recall)) => ("recalled", json!({ "cache_status": status(recall) })),
        Progress::Hydrated { subject, n_comments } => {
            ("hydrated", json!({ "subject": subject.to_string(), "comments": n_comments }))
        }
        Progress::Attached { name, .. } => ("attached", json!({ "name": name })),
        Progress::Agent(Step::EngineUp { walls, .. }) => ("engine_up", json!({ "walls": walls })),
        Progress::Agent(Step::Reminded(reminder)) => ("reminded", json!({ "sessions": reminder.sessions() })),
        Progress::Agent(Step::Session { id, agent }) => ("session", json!({ "id": id, "agent": agent })),
        Progress::Agent(Step::Heard(_)) => ("heard", Value::Null),
        Progress::Shared { url } => ("shared", json!({ "url": url })),
        Progress::Agent(Step::EngineStopped) => ("engine_stopped", json!({})),
        Progress::Delivered { url } => ("delivered", json!({ "url": url })),
        Progress::Result { json } => ("result", json!({ "bytes": json.len() })),
        Progress::Reviewed(reviewed) => (
            "reviewed",
            json!({
                "status": reviewed.status.word(),
                "issues": reviewed.found,
                "blocking": reviewed.blocking,
                "url": reviewed.url,
            }),
        ),
        Progress::Stopped { by } => ("stopped", json!({ "by": by.as_str() })),
        Progress::Accounted { duration, usage } => (
            "accounted",
            json!({ "seconds": duration.as_secs(), "tokens": tokens(usage), "cost": usage.cost }),
        ),
        Progress::Agent(Step::Kept(kept)) => ("kept", json!({ "saved": matches!(kept, Kept::Saved { .. }) })),
        Progress::Warning(_) | Progress::Agent(Step::Warning(_)) => ("warning", json!({})),
    }
}

/// Returns what was found of the memory, in a word.
pub(crate) fn status(recall: &Recall) -> &'static str {
    match recall {
        Recall::Warm { .. } => "hit",
        Recall::Cold => "miss",
        Recall::Newer { .. } => "newer",
        Recall::Damaged { .. } => "corrupted",
    }
}

/// Returns what the models read and wrote.
pub(crate) fn tokens(usage: &Usage) -> Value {
    json!({
        "input": usage.input,
        "output": usage.output,
        "reasoning": usage.reasoning,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_object_reads_like_this() {
        let told = [
            Progress::Delivered { url: "https://github.com/octo/garden/issues/7#x".to_owned() },
            Progress::Accounted { duration: Duration::from_secs(7), usage: Usage::default() },
            Progress::Warning("a \"quoted\"\n::error::thing".to_owned()),
            Progress::Agent(Step::Opened { private: "x".into() }),
        ];
        let redactor = Redactor::knowing([]);
        let object = |news| render(news, &redactor, Timestamp::UNIX_EPOCH, 1.234_56);
        let told: Vec<_> = told.iter().filter_map(object).collect();
        insta::assert_snapshot!(told.join("\n"));
        assert!(
            told.iter().all(|line| serde_json::from_str::<Value>(line).is_ok_and(|line| line.is_object()))
        );
    }
}
