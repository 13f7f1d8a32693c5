//! Creates the check run that shows findings which cannot stand beside the change.

use fro_core::{Anchor, Clean, Permit};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    client::GitHub,
    error::{Attempted, Error},
};

/// Annotations that GitHub takes at once.
const AT_ONCE: usize = 50;

/// A check run that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRun {
    /// What it is called.
    pub name: &'static str,
    /// How it ended.
    pub conclusion: Conclusion,
    /// One line.
    pub title: Clean,
    /// What it says as a whole.
    pub summary: Clean,
    /// What it says about lines.
    pub annotations: Vec<Annotation>,
}

/// How a check run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// Something has to be settled.
    Failure,
    /// Neither good nor bad.
    Neutral,
}

/// A remark on lines of a file, whether or not they are part of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// The lines.
    pub anchor: Anchor,
    /// How much it asks for.
    pub level: AnnotationLevel,
    /// What stands above it.
    pub title: Clean,
    /// What is said.
    pub message: Clean,
}

/// How much a remark asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnnotationLevel {
    /// To be mended.
    Failure,
    /// To be looked at.
    Warning,
}

#[derive(Deserialize)]
struct WireCheckRun {
    id: u64,
    html_url: Option<String>,
}

impl GitHub {
    /// Writes a check run on a commit, with all its annotations; returns where it is read.
    pub async fn post_check_run(
        &self,
        permit: &Permit,
        commit: &str,
        check: &CheckRun,
    ) -> Result<Option<String>, Error> {
        let aim = Attempted::new(format!("write a check run on {}", permit.repo()), "checks: write");
        let path = format!("/repos/{}/check-runs", permit.repo());
        let mut parts = check.annotations.chunks(AT_ONCE);
        let first = parts.next().unwrap_or_default();
        let run = json!({
            "name": check.name,
            "head_sha": commit,
            "status": "completed",
            "conclusion": check.conclusion.word(),
            "output": check.output(first),
        });
        let answer = self.post(&path).json(&run).send().await.map_err(|error| aim.missed(error))?;
        let wire: WireCheckRun = answer.json().map_err(|error| aim.missed(error))?;
        for part in parts {
            let more = self.patch(&format!("{path}/{}", wire.id));
            let more = more.json(&json!({ "output": check.output(part) }));
            more.send().await.map_err(|error| aim.missed(error))?;
        }
        Ok(wire.html_url)
    }
}

impl CheckRun {
    /// GitHub adds annotations to those that are there.
    fn output(&self, annotations: &[Annotation]) -> Value {
        let annotations: Vec<Value> = annotations.iter().map(Annotation::wire).collect();
        json!({ "title": self.title.as_str(), "summary": self.summary.as_str(), "annotations": annotations })
    }
}

impl Annotation {
    fn wire(&self) -> Value {
        let last = self.anchor.line.max(1);
        json!({
            "path": self.anchor.path,
            "start_line": self.anchor.start_line.unwrap_or(last).clamp(1, last),
            "end_line": last,
            "annotation_level": self.level.word(),
            "title": self.title.as_str(),
            "message": self.message.as_str(),
        })
    }
}

impl Conclusion {
    fn word(self) -> &'static str {
        match self {
            Self::Failure => "failure",
            Self::Neutral => "neutral",
        }
    }
}

impl AnnotationLevel {
    fn word(self) -> &'static str {
        match self {
            Self::Failure => "failure",
            Self::Warning => "warning",
        }
    }
}
