//! The findings as SARIF 2.1.0, which code hosts and editors read.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::{Value, json};

use super::{Report, Reported, Weight};
use crate::{finding::Kind, scoring::Thresholds};

/// The version of the format.
const VERSION: &str = "2.1.0";

/// Where the format is described.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// What a path cannot have in an address.
const RESERVED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b':')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

impl Report {
    /// Writes the findings as SARIF, in the name of this version of the program.
    pub fn sarif(&self, version: &str) -> Value {
        let rules = Kind::ALL.map(|kind| json!({ "id": kind.name(), "name": kind.name() }));
        let driver = json!({ "name": "fro-bot", "version": version, "rules": rules });
        let results: Vec<_> =
            self.findings.iter().map(|reported| reported.result(&self.thresholds)).collect();
        let notes = self.stopped.iter().map(|(pass, why)| {
            json!({ "level": "error", "message": { "text": format!("it ended in pass {} of 4: {why}", pass.number()) } })
        });
        let unread = self.left_out.iter().map(|path| {
            json!({ "level": "note", "message": { "text": format!("too large to be shown to the model whole: {path}") } })
        });
        let invocation = json!({
            "executionSuccessful": self.stopped.is_none(),
            "toolExecutionNotifications": notes.chain(unread).collect::<Vec<_>>(),
        });
        let run = json!({
            "tool": { "driver": driver },
            "invocations": [invocation],
            "results": results,
            "columnKind": "unicodeCodePoints",
        });
        json!({ "$schema": SCHEMA, "version": VERSION, "runs": [run] })
    }
}

impl Reported {
    fn result(&self, thresholds: &Thresholds) -> Value {
        let finding = &self.finding;
        let level = match Weight::weigh(finding.score, thresholds) {
            Weight::Blocking => "error",
            Weight::Notable => "warning",
        };
        let anchor = &finding.anchor;
        let last = anchor.line.max(1);
        let first = anchor.start_line.unwrap_or(last).clamp(1, last);
        let uri = utf8_percent_encode(&anchor.path, RESERVED).to_string();
        let place = json!({
            "artifactLocation": { "uri": uri },
            "region": { "startLine": first, "endLine": last },
        });
        let properties =
            json!({ "score": finding.score, "pass": finding.pass, "assessment": finding.assessment });
        json!({
            "ruleId": finding.kind.name(),
            "level": level,
            "message": { "text": finding.finding, "markdown": finding.body },
            "locations": [{ "physicalLocation": place }],
            "properties": properties,
        })
    }
}
